"""What recorders write that say what time it is while they are alive: see guest/stamps.py."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from support.checkout import CHECKOUT

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


def in_time(attempt: Callable[[], int], limit_us: int) -> None:
    """Repeats an attempt until what it measures is below the limit."""
    measured = []
    for _ in range(MOST_TRIES):
        measured.append(attempt())
        if measured[-1] < limit_us:
            return
    raise AssertionError(f"{measured} µs, never below {limit_us}")
