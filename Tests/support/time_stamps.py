"""What recorders write that say what time it is while they are alive: see guest/stamps.py."""

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from support.checkout import CHECKOUT
from support.waiting import wait_until

PROGRAM = CHECKOUT / "Tests/VirtualMachine/guest/stamps.py"

NAME = "stamps"
"""The name of the process of a recorder."""

# How often a step is tried whose timing a busy machine may spoil. A real fault fails every time.
MOST_TRIES = 10


@dataclass
class Recording:
    """What one run of the recorder has written. Times are in microseconds, of CLOCK_BOOTTIME."""

    pid: int
    event: str
    since: int
    stamps: list[int] = field(default_factory=list)


def recordings(lines: Iterable[str]) -> list[Recording]:
    """All recordings, in order of their beginnings."""
    found: dict[int, Recording] = {}
    for line in lines:
        match line.split():
            case ["began", pid, time, event, since]:
                found[int(pid)] = Recording(int(pid), event, int(since), [int(time)])
            case [pid, time]:
                found[int(pid)].stamps.append(int(time))
    return list(found.values())


class Talker:
    """A `keymodectl while` that runs the recorder while F9 is held; subclasses say where."""

    def lines(self) -> list[str]:
        """The complete lines that the recorders have written so far."""
        raise NotImplementedError

    def is_recording(self) -> bool:
        """Whether a recorder runs."""
        raise NotImplementedError

    def press(self) -> None:
        """Presses the key, and waits until the daemon knows."""
        raise NotImplementedError

    def release(self) -> None:
        """Releases the key."""
        raise NotImplementedError

    def recordings(self) -> list[Recording]:
        """All recordings so far, in order of their beginnings."""
        return recordings(self.lines())

    def wait_for_recording(self, number: int, stamps: int = 1) -> None:
        """Waits until the last of so many recordings has so many time stamps."""

        def is_long_enough() -> bool:
            found = self.recordings()
            return len(found) >= number and len(found[-1].stamps) >= stamps

        wait_until(is_long_enough, f"recording {number}")
        assert len(self.recordings()) == number

    def wait_for_end(self) -> Recording:
        """Waits until no recorder runs, and returns the last recording."""
        wait_until(lambda: not self.is_recording(), "the end of the recorder")
        return self.recordings()[-1]

    def begin(self) -> None:
        """Presses the key, and waits until a recorder runs."""
        number = len(self.recordings()) + 1
        self.press()
        self.wait_for_recording(number)

    def record(self) -> None:
        """Holds the key until a recorder runs, and waits for the end of the recording."""
        self.begin()
        self.release()
        self.wait_for_end()

    def expect_silence(self) -> None:
        """Checks that no recorder runs, and that none begins within 300 ms."""
        before = self.recordings()
        assert not self.is_recording()
        time.sleep(0.3)
        assert not self.is_recording()
        assert self.recordings() == before


def in_time(attempt: Callable[[], int], limit_us: int) -> None:
    """Repeats an attempt until what it measures is below the limit."""
    measured = []
    for _ in range(MOST_TRIES):
        measured.append(attempt())
        if measured[-1] < limit_us:
            return
    raise AssertionError(f"{measured} µs, never below {limit_us}")
