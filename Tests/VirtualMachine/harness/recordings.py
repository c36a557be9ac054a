"""What recordings replay to, and random typing to record."""

import json
import random
import re
import subprocess
from collections.abc import Iterable
from itertools import dropwhile
from pathlib import Path

from support.checkout import PROGRAMS
from support.input_events import EV_KEY

from harness.watch import Change

# Type, code and value of an event in a recording.
Event = tuple[int, int, int]


def replay(recording: Path, *options: str | Path) -> subprocess.CompletedProcess[str]:
    """Runs `keymodectl replay --json` on this host, because the emulated guest is slow."""
    return subprocess.run(
        [PROGRAMS / "keymodectl", "replay", "--json", *options, recording],
        check=False,
        capture_output=True,
        text=True,
    )


def changes_in(recording: Path, *options: str | Path) -> list[Change]:
    """The changes of a recording, which must not have faults.

    Without the locks at its start, which the daemon that was running then knew before.
    """
    replayed = replay(recording, *options)
    assert (replayed.returncode, replayed.stderr) == (0, "")
    return numbered(dropwhile(lambda change: change["from"] == "unknown", changes_of(replayed.stdout)))


def changes_of(lines: str) -> list[Change]:
    """The changes that `--json` printed, without the states at the start and at the end."""
    return [line for line in map(json.loads, lines.splitlines()) if "machine" in line]


def numbered(changes: Iterable[Change]) -> list[Change]:
    """The changes, numbered from 1."""
    return [{**change, "sequence": number} for number, change in enumerate(changes, 1)]


def without_locks(changes: list[Change]) -> list[Change]:
    """The changes of Shift and of the keyboard, numbered from 1."""
    return numbered(change for change in changes if change["machine"] in ("shift", "keyboard"))


def without_times(changes: list[Change]) -> list[Change]:
    """The changes without their times, which differ when the same keys are typed again."""
    return [{**change, "time": None} for change in changes]


def assert_same_but_for_time_base(changes: list[Change], others: list[Change]) -> None:
    """Checks that the changes differ only by a constant time, apart from rounding to 1 µs.

    Locks do not count: a program that records does not tell the LEDs at its start.
    """
    changes, others = without_locks(changes), without_locks(others)
    assert without_times(changes) == without_times(others)
    bases = [other["time"] - change["time"] for change, other in zip(changes, others, strict=True)]
    assert max(bases) - min(bases) <= 1


def event_lines(recording: bytes) -> list[bytes]:
    """The lines with events of a recording in evemu's or libinput's format."""
    return re.findall(rb"^(?:E:| *- \[).*$", recording, re.MULTILINE)


def events_in(recording: bytes) -> list[Event]:
    """The events of a recording in evemu's or libinput's format, without their times."""
    events = []
    for line in event_lines(recording):
        kind, code, value = re.split(rb"[\s,\[\]]+", line.partition(b"#")[0].strip(b" ]\t"))[-3:]
        base = 16 if line.startswith(b"E:") else 10
        events.append((int(kind, base), int(code, base), int(value)))
    return events


def codes_in(recording: bytes) -> set[int]:
    """The codes of all keys in a recording."""
    return {code for kind, code, _ in events_in(recording) if kind == EV_KEY}


def typing(source: random.Random, count: int) -> str:
    """A script of `count` random steps that press, hold and combine keys with a meaning."""
    steps = [
        *("tap shift 30; wait 150; tap shift 30", "tap shift 30; wait 560; tap shift_r 30"),
        *("tap a 20", "tap e 20; tap kp_5 20", "hold b 400", "down shift; tap c 20; up shift"),
        *("down ctrl; tap c 20; up ctrl", "down ctrl; down shift; tap v 20; up shift; up ctrl"),
        *("down alt_r; tap e 20; up alt_r", "down meta_l; tap v 20; up meta_l"),
        *("tap scroll_lock 20", "tap compose 20", "tap insert 20", "tap esc 20", "tap f5 20"),
        *("down shift; tap insert 20; up shift", "hold esc 350"),
    ]
    return "; ".join(f"{source.choice(steps)}; wait {source.randint(10, 60)}" for _ in range(count))
