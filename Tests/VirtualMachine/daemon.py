"""The daemon as a program in the guest sees it: replies, changes and resources.

For programs that run in the guest, as root, with only Python's standard library.
"""

import contextlib
import json
import os
import select
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from uinput import INSERT, LEFTSHIFT, SCROLLLOCK, A, Keyboard

INTERFACE = "org.keymoded.Controller"
BOUND_SECONDS = 120.0

Message = dict[str, Any]


def wait_until(condition: Callable[[], object], what: str, seconds: float = BOUND_SECONDS) -> None:
    """Polls the condition, for what no event reports."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, f"waited {seconds} s for {what}"
        time.sleep(0.01)


class Client:
    """A Varlink connection to one of the daemon's sockets."""

    def __init__(self, path: str) -> None:
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.settimeout(BOUND_SECONDS)
        self._socket.connect(path)
        self._received = b""
        self.bytes_received = 0

    def close(self) -> None:
        self._socket.close()

    def send(self, method: str, parameters: Message | None = None, more: bool = False) -> None:
        name = method if "." in method else f"{INTERFACE}.{method}"
        call = {"method": name, "parameters": parameters or {}, "more": more}
        self._socket.sendall(json.dumps(call).encode() + b"\0")

    def reply(self) -> Message:
        """The parameters of the next reply."""
        while b"\0" not in self._received:
            self._take(self._socket.recv(65536))
        return self._next()

    def replies_there(self) -> Iterator[Message]:
        """The parameters of all replies that have arrived."""
        while select.select([self._socket], [], [], 0)[0]:
            self._take(self._socket.recv(65536))
        while b"\0" in self._received:
            yield self._next()

    def call(self, method: str, parameters: Message | None = None) -> Message:
        self.send(method, parameters)
        return self.reply()

    def _take(self, chunk: bytes) -> None:
        if not chunk:
            raise ConnectionError("the daemon has hung up")
        self._received += chunk
        self.bytes_received += len(chunk)

    def _next(self) -> Message:
        message, self._received = self._received.split(b"\0", 1)
        reply: Message = json.loads(message)
        assert "error" not in reply, reply
        parameters: Message = reply["parameters"]
        return parameters


class Daemon:
    """The running daemon, with a subscription to all its changes from now on."""

    def __init__(self, sockets: str = "/run/keymoded") -> None:
        self.control = Client(f"{sockets}/control.sock")
        self._stream = Client(f"{sockets}/state.sock")
        self._stream.send("Monitor", more=True)
        self._sequence: int = self._stream.reply()["state"]["sequence"]
        self.seen: list[Message] = []
        (pid,) = subprocess.run(
            ["pgrep", "-x", "keymoded"], check=True, capture_output=True, text=True
        ).stdout.split()
        self.pid = int(pid)
        self.process = Path("/proc") / pid

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

    def wait_until_named(self, name: str) -> None:
        wait_until(lambda: name in self.devices(), f"{name} to be followed")

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
        return self.control.call("Trigger", {"event": event})

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
        assert not [*self._stream.replies_there()], "more changes than the state knows of"
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
        now = self.state()
        last = {change["machine"]: change["to"] for change in changes}
        assert {machine: now[machine] for machine in last} == last, (changes, now)

    def bytes_streamed(self) -> int:
        """The number of bytes that this subscriber has received in all."""
        assert not [*self._stream.replies_there()], "nothing is left to come"
        return self._stream.bytes_received

    # The process

    @contextlib.contextmanager
    def stopped(self) -> Iterator[None]:
        """Stops the daemon with SIGSTOP, and continues it at the end."""
        os.kill(self.pid, signal.SIGSTOP)
        try:
            wait_until(lambda: self._status("State").startswith("T"), "the daemon to stop")
            yield
        finally:
            os.kill(self.pid, signal.SIGCONT)

    def descriptors(self) -> int:
        return len(list((self.process / "fd").iterdir()))

    def resident_kib(self) -> int:
        return int(self._status("VmRSS").split()[0])

    def switches(self) -> dict[str, list[int]]:
        """The voluntary and involuntary context switches of each thread."""
        return {
            task.name: [
                int(line.split()[1])
                for line in (task / "status").read_text().splitlines()
                if "ctxt_switches" in line
            ]
            for task in (self.process / "task").iterdir()
        }

    def expect_asleep(self, seconds: float) -> str:
        """Checks that only the watchdog wakes the daemon during this time; returns a summary."""
        wait_until(self._sleeps, "the daemon to sleep")
        begin, before = time.monotonic(), self.switches()
        time.sleep(seconds)
        after, took = self.switches(), time.monotonic() - begin
        assert after.keys() == before.keys()
        moved = sum(sum(after[task]) - sum(before[task]) for task in after)
        period = self.watchdog_seconds()
        # The watchdog wakes it after half the period at the earliest, for up to two switches.
        allowed = 2 * (int(took / (period / 2)) + 1) if period else 0
        assert moved <= allowed, f"{moved} switches in {took} s, not {allowed}: {before} {after}"
        return f"{moved} context switches of {len(after)} thread, watchdog {period or 'off'}"

    def _sleeps(self) -> bool:
        """Whether the daemon did nothing for 0.2 s: it may still be busy after its last reply."""
        before = self.switches()
        time.sleep(0.2)
        return self._status("State").startswith("S") and self.switches() == before

    def watchdog_seconds(self) -> float:
        """The watchdog timeout in seconds; 0 without a watchdog."""
        environment = (self.process / "environ").read_bytes().split(b"\0")
        values = [
            int(line.split(b"=")[1]) for line in environment if line.startswith(b"WATCHDOG_USEC")
        ]
        return values[0] / 1e6 if values else 0.0

    def _status(self, field: str) -> str:
        lines = (self.process / "status").read_text().splitlines()
        return next(line.split(":", 1)[1].strip() for line in lines if line.startswith(field))


def forget(daemon: Daemon, keyboard: Keyboard) -> None:
    """Leads the Shift machine back to off."""
    if daemon.state()["shift"] == "on":
        keyboard.tap(A)
    elif daemon.state()["shift"] == "capsLock":
        keyboard.tap(LEFTSHIFT)
    daemon.changes()
    assert daemon.state()["shift"] == "off"


def expect_no_stuck_key(daemon: Daemon, keyboard: Keyboard) -> None:
    """Checks that no modifier is held: with one, Insert would not be bound and be ignored."""
    forget(daemon, keyboard)
    keyboard.tap(LEFTSHIFT, A)
    daemon.expect("on", "off")
    before = daemon.state()["keyboard"]
    if before == "prepareToRecord":
        daemon.trigger("clickMoreButton")
        daemon.trigger("clickMoreButton")
    keyboard.tap(INSERT)
    wait_until(lambda: daemon.state()["keyboard"] == "editingText", "Insert to mean something")
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
    journal = ["journalctl", "--boot", "--output=cat", f"_PID={daemon.pid}"]
    return subprocess.run(journal, check=True, capture_output=True, text=True).stdout.split("\n")[
        :-1
    ]


def settle() -> None:
    """Waits until udev has processed all events."""
    subprocess.run(["udevadm", "settle", "--timeout=600"], check=True)
