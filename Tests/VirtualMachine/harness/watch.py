"""The changes of keymoded in the guest, as a client gets them."""

import json
from typing import Any

from harness.guest_process import GuestProcess
from harness.service import MOST_TRIES, answer, as_user
from harness.vm import VirtualMachine
from support.connection import INTERFACE

Change = dict[str, Any]

THRESHOLD_US = 500_000

# The tolerance for the distance of two presses.
ALLOWED_US = 100_000


class Watch:
    """`keymodectl watch --json`, run by an ordinary user in the group keymoded-state."""

    def __init__(self, vm: VirtualMachine, options: str = "") -> None:
        self._process: GuestProcess = vm.start(
            as_user("reader", f"keymodectl watch --json {options}")
        )
        # The first line has the states, not a change.
        self._process.read_lines(1)

    def changes(self, count: int) -> list[Change]:
        """Waits for the next `count` changes."""
        return [json.loads(line) for line in self._process.read_lines(count)]

    def states(self, count: int) -> list[str]:
        """Waits for the next `count` changes, and returns the states that they lead to."""
        return [change["to"] for change in self.changes(count)]

    def rest(self, vm: VirtualMachine) -> list[Change]:
        """The remaining changes, up to and including one that this method triggers."""
        sequence = answer(vm, "Trigger", event="clickMoreButton")["state"]["sequence"]
        self._process.wait_for(rf'^{{"sequence":{sequence},.*\n')
        return [json.loads(line) for line in self._process.read_complete_lines()]


class Monitor:
    """The replies to a call of `Monitor`, by an ordinary user in the group keymoded-state."""

    def __init__(self, vm: VirtualMachine, **parameters: Any) -> None:
        call = {"method": f"{INTERFACE}.Monitor", "more": True, "parameters": parameters}
        (vm.shared / "call").write_text(f"{json.dumps(call)}\0")
        (vm.shared / "monitor").write_text(
            "(cat /host/call; exec sleep infinity) | "
            "socat - UNIX-CONNECT:/run/keymoded/state.sock | stdbuf -oL tr '\\0' '\\n'\n"
        )
        for name in ("call", "monitor"):
            (vm.shared / name).chmod(0o644)
        self._process: GuestProcess = vm.start(as_user("reader", "sh /host/monitor"))
        self.told = self.reply()
        """The first reply."""
        self._changes: list[Change] = self.told["changes"]

    def reply(self) -> dict[str, Any]:
        """Waits for the next reply, and returns its parameters."""
        (line,) = self._process.read_lines(1)
        parameters: dict[str, Any] = json.loads(line)["parameters"]
        return parameters

    def changes(self, count: int) -> list[Change]:
        """Waits for the next `count` changes, of which none was missed."""
        while len(self._changes) < count:
            reply = self.reply()
            assert (reply["missed"], reply["restarted"]) == (0, False), reply
            self._changes += reply["changes"]
        found, self._changes = self._changes[:count], self._changes[count:]
        return found


def press_twice(vm: VirtualMachine, watch: Watch, distance_ms: int) -> tuple[Change, Change]:
    """Presses Shift twice at this distance, from off; returns the changes of both presses.

    The changes must follow from the kernel's timestamps. If the host was late, it tries again.
    """
    for _ in range(MOST_TRIES):
        vm.play(f"tap shift 40; wait {distance_ms - 40}; tap shift 40")
        first, then = watch.changes(2)
        distance = then["time"] - first["time"]
        expected = "capsLock" if distance < THRESHOLD_US else "off"
        assert [first["to"], then["to"]] == ["on", expected], (first, then)
        if abs(distance - distance_ms * 1000) <= ALLOWED_US:
            return first, then
        if expected == "capsLock":
            vm.play("tap shift")
            watch.states(1)
    raise AssertionError(f"presses were never {distance_ms} ms apart")
