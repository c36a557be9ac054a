"""The daemon as a program in the guest sees it, as root: replies, changes and resources."""

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from support.connection import Connection, Message
from support.input_events import INSERT, LEFTSHIFT, SCROLLLOCK, A
from support.process import Process
from support.waiting import wait_until
from uinput import Keyboard

SOCKETS = Path("/run/keymoded")
STATE, CONTROL = SOCKETS / "state.sock", SOCKETS / "control.sock"


class Daemon:
    """The running daemon, with a subscription to all its changes from now on."""

    def __init__(self, sockets: Path = SOCKETS) -> None:
        self.control = Connection(sockets / CONTROL.name)
        self._stream = Connection(sockets / STATE.name)
        self._sequence: int = self._stream.call("Monitor", more=True)["state"]["sequence"]
        self.seen: list[Message] = []
        (pid,) = subprocess.run(
            ["pgrep", "-x", "keymoded"], check=True, capture_output=True, text=True
        ).stdout.split()
        self.process = Process(int(pid))

    # Replies

    def state(self) -> Message:
        """The present states, without the time of the reply."""
        state: Message = self.control.call("GetState")["state"]
        del state["time"]
        return state

    def statistics(self) -> Message:
        return self.control.call("GetStatistics")

    def devices(self) -> list[str]:
        """The names of the devices that are followed."""
        return [device["name"] for device in self.control.call("ListDevices")["devices"]]

    def wait_until_followed(self, *keyboards: Keyboard) -> None:
        nodes = {keyboard.node for keyboard in keyboards}
        wait_until(lambda: nodes <= self.nodes(), "the keyboards to be followed")

    def nodes(self) -> set[str]:
        """The nodes of the devices that are followed."""
        return {device["node"] for device in self.control.call("ListDevices")["devices"]}

    @contextlib.contextmanager
    def following(self, *names: str) -> Iterator[list[Keyboard]]:
        """Keyboards of these names; waits until they are followed, and at the end until not."""
        with contextlib.ExitStack() as stack:
            keyboards = [stack.enter_context(Keyboard(name)) for name in names]
            self.wait_until_followed(*keyboards)
            yield keyboards
        wait_until(lambda: not {*names} & {*self.devices()}, "the keyboards to be gone")

    def trigger(self, event: str) -> Message:
        return self.control.call("Trigger", event=event)

    def changes(self) -> list[Message]:
        """The changes since the last call, after all typed keys have acted.

        Sends an event before which the daemon reads all devices, and which is ignored while the
        keyboard machine shows nothing.
        """
        answer = self.trigger("tapBlankArea")
        assert not answer["changed"], "only for a keyboard that shows nothing"
        changes: list[Message] = []
        while self._sequence < answer["state"]["sequence"]:
            changes += self._next_changes()
        return changes

    def _next_changes(self) -> list[Message]:
        reply = self._stream.reply()
        assert reply["missed"] == 0, reply
        changes: list[Message] = reply["changes"]
        for change in changes:
            self._sequence += 1
            assert change["sequence"] == self._sequence, f"{change}, not {self._sequence}"
        assert reply["state"]["sequence"] == self._sequence, reply
        self.seen.append(reply)
        return changes

    def states(self) -> list[str]:
        """The states to which the changes since the last call lead."""
        return [change["to"] for change in self.changes()]

    def expect(self, *states: str) -> None:
        """Checks the states of the changes since the last call, and that GetState has the last."""
        changes = self.changes()
        assert [change["to"] for change in changes] == [*states], (states, changes)
        now = self.state()["states"]
        last = {change["machine"]: change["to"] for change in changes}
        assert {machine: now[machine] for machine in last} == last, (changes, now)

    def bytes_streamed(self) -> int:
        """The number of bytes that this subscriber has received in all."""
        assert not [*self._stream.arrived()], "nothing is left to come"
        return self._stream.bytes_received

    # The process

    @contextlib.contextmanager
    def stopped(self) -> Iterator[None]:
        """Stops the daemon with SIGSTOP, and continues it at the end."""
        os.kill(self.process.pid, signal.SIGSTOP)
        try:
            wait_until(lambda: self.process.state() == "T", "the daemon to stop")
            yield
        finally:
            os.kill(self.process.pid, signal.SIGCONT)

    def expect_asleep(
        self, seconds: float, meanwhile: Callable[[], object] = lambda: None
    ) -> str:
        """Checks that only the watchdog wakes the daemon during this time; returns a summary.

        Calls `meanwhile` again and again, every 10 ms or so.
        """
        wait_until(self._sleeps, "the daemon to sleep")
        begin, before = time.monotonic(), self.process.switches()
        while time.monotonic() < begin + seconds:
            meanwhile()
            time.sleep(0.01)
        after, took = self.process.switches(), time.monotonic() - begin
        assert after.keys() == before.keys()
        switched = sum(after.values()) - sum(before.values())
        period = self.watchdog_seconds()
        # The watchdog wakes it after half the period at the earliest, for up to two switches.
        allowed = 2 * (int(took / (period / 2)) + 1) if period else 0
        assert switched <= allowed, (
            f"{switched} switches in {took} s, not {allowed}: {before} {after}"
        )
        return f"{switched} context switches of {len(after)} thread, watchdog {period or 'off'}"

    def _sleeps(self) -> bool:
        """Whether the daemon did nothing for 0.2 s: it may still be busy after its last reply."""
        before = self.process.switches()
        time.sleep(0.2)
        return self.process.state() == "S" and self.process.switches() == before

    def watchdog_seconds(self) -> float:
        """The watchdog timeout in seconds; 0 without a watchdog."""
        environment = (self.process.folder / "environ").read_bytes().split(b"\0")
        values = [
            int(line.split(b"=")[1]) for line in environment if line.startswith(b"WATCHDOG_USEC")
        ]
        return values[0] / 1e6 if values else 0.0


def turn_shift_off(daemon: Daemon, keyboard: Keyboard) -> None:
    """Leads the Shift machine back to off."""
    if daemon.state()["states"]["shift"] == "on":
        keyboard.tap(A)
    elif daemon.state()["states"]["shift"] == "capsLock":
        keyboard.tap(LEFTSHIFT)
    daemon.changes()
    assert daemon.state()["states"]["shift"] == "off"


def expect_no_stuck_key(daemon: Daemon, keyboard: Keyboard) -> None:
    """Checks that no modifier is held: with one, Insert would not be bound and be ignored."""
    turn_shift_off(daemon, keyboard)
    keyboard.tap(LEFTSHIFT, A)
    daemon.expect("on", "off")
    before = daemon.state()["states"]["keyboard"]
    if before == "prepareToRecord":
        daemon.trigger("clickMoreButton")
        daemon.trigger("clickMoreButton")
    keyboard.tap(INSERT)
    wait_until(
        lambda: daemon.state()["states"]["keyboard"] == "editingText", "Insert to mean something"
    )
    daemon.trigger("tapBlankArea")
    assert daemon.states()[-2:] == ["editingText", "prepareToEditText"]


def use(daemon: Daemon, keyboard: Keyboard) -> None:
    """Uses a bound key, which needs that no modifier is held; then restores the state."""
    keyboard.press(SCROLLLOCK)
    daemon.expect("prepareToRecord")
    keyboard.release(SCROLLLOCK)
    daemon.trigger("clickMoreButton")
    daemon.trigger("clickMoreButton")
    daemon.expect("showingPanel", "prepareToEditText")


def log(daemon: Daemon) -> list[str]:
    """The lines that the daemon has logged."""
    subprocess.run(["journalctl", "--sync"], check=True)
    journal = ["journalctl", "--boot", "--output=cat", f"_PID={daemon.process.pid}"]
    return subprocess.run(journal, check=True, capture_output=True, text=True).stdout.split("\n")[
        :-1
    ]


def settle() -> None:
    """Waits until udev has processed all events."""
    subprocess.run(["udevadm", "settle", "--timeout=600"], check=True)
