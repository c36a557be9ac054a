"""Push-to-talk as a user has it, with a recorder that writes time stamps."""

from collections.abc import Callable

from support.time_stamps import NAME, Recording, recordings

from harness.guest_process import GuestProcess
from harness.service import program
from harness.sessions import UPTIME, microseconds
from harness.talking import TALKING
from harness.vm import VirtualMachine

RUNS = f"pgrep -x {NAME} >/dev/null"
"""Succeeds in the guest while a recorder runs."""


class PushToTalk:
    """`keymodectl while` with the recorder, started in a session or otherwise."""

    def __init__(
        self,
        vm: VirtualMachine,
        start: Callable[[str], GuestProcess],
        options: str = "",
        recorder: str = "",
    ) -> None:
        self._vm = vm
        stamps = program(vm, "stamps").replace("python3", "python3 -IS")
        self.process = start(
            f"exec keymodectl while keyboard={TALKING} --grace 500ms {options} -- "
            f"{stamps} {recorder}"
        )

    def recordings(self) -> list[Recording]:
        """All recordings so far, in order of their beginnings."""
        return recordings(self.process.lines())

    def wait_for_recording(self, number: int, stamps: int = 1) -> Recording:
        """Waits until the recorder has begun so many times, and has written so many time stamps.

        The stamps are those of the last recording so far, which it returns.
        """

        def is_long_enough(_: str) -> bool:
            recordings = self.recordings()
            return len(recordings) >= number and len(recordings[-1].stamps) >= stamps

        self.process.wait_for(is_long_enough)
        recordings = self.recordings()
        assert len(recordings) == number, recordings
        return recordings[-1]

    def wait_for_end(self) -> Recording:
        """Waits until no recorder runs, and returns the last recording."""
        self._vm.wait_until(f"! {RUNS}")
        return self.recordings()[-1]


def now(vm: VirtualMachine, command: str = "") -> int:
    """Runs a command in the guest as root; returns the time just before it, in microseconds."""
    return microseconds(vm.run(f"{UPTIME}; {command}"))
