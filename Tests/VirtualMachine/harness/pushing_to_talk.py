"""Push-to-talk as a user has it, with a recorder that writes time stamps."""

from collections.abc import Callable
from dataclasses import dataclass, field

from harness.guest_process import GuestProcess
from harness.service import MOST_TRIES, program
from harness.sessions import UPTIME, microseconds
from harness.talking import TALKING
from harness.vm import VirtualMachine

RUNS = "pgrep -x stamps >/dev/null"
"""Succeeds in the guest while a recorder runs. stamps.py has that name."""


@dataclass
class Recording:
    """What one run of the recorder has written. Times are in microseconds, of CLOCK_BOOTTIME."""

    pid: int
    event: str
    since: int
    stamps: list[int] = field(default_factory=list)


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
        found: dict[int, Recording] = {}
        for line in self.process.lines():
            match line.split():
                case ["began", pid, time, event, since]:
                    found[int(pid)] = Recording(int(pid), event, int(since), [int(time)])
                case [pid, time]:
                    found[int(pid)].stamps.append(int(time))
        return list(found.values())

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


def in_time(attempt: Callable[[], int], limit_us: int) -> None:
    """Repeats an attempt until what it measures is below the limit: a busy host may be late."""
    measured = []
    for _ in range(MOST_TRIES):
        measured.append(attempt())
        if measured[-1] < limit_us:
            return
    raise AssertionError(f"{measured} µs, never below {limit_us}")
