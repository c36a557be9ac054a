"""Recordings of any length in the shape in which real tools write them, made from real ones.

evemu-record, libinput record, evtest and cat have recorded the same typing, in a virtual machine, for
the tests of the formats. These recordings repeat that typing, each time with later times. There is no
Android to run getevent on; its recordings have evtest's events, printed as its source does.
"""

import math
import re
import struct
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from support.checkout import CHECKOUT
from support.input_events import EVENT

RECORDED = CHECKOUT / "Tests/EventRecordingsTests/Recordings"
# The seconds from one repetition to the next: more than the typing takes. They are whole ones, so
# that the fractions of all times stay as they are.
PERIOD = 11
# The first field of a raw record.
SECONDS = struct.Struct("@l")


@dataclass(frozen=True)
class Recording:
    """A file, and how many events are in it."""

    path: Path
    events: int


# What is before the seconds of a line, the seconds, and what is behind them; a line without a time has
# only what is before.
Line = tuple[bytes, int | None, bytes]


@dataclass(frozen=True)
class Typing:
    """A recording in parts: what is before the first event, the lines, and how seconds are written."""

    header: bytes
    lines: list[Line]
    seconds: Callable[[int], bytes]

    @property
    def events(self) -> int:
        """How many events there are."""
        return sum(seconds is not None for _, seconds, _ in self.lines)

    def repeated(self, times: int) -> Iterator[bytes]:
        """The recording with the typing repeated so many times."""
        yield self.header
        for repetition in range(times):
            later = repetition * PERIOD
            yield b"".join(
                before if seconds is None else before + self.seconds(seconds + later) + behind
                for before, seconds, behind in self.lines
            )


def parted(name: str, start: bytes, line: bytes, seconds: bytes = b"%d") -> Typing:
    """A real recording, whose events begin with `start`, and have their seconds in a group of `line`."""
    whole = (RECORDED / name).read_bytes()
    first = whole.index(start) + 1
    lines: list[Line] = []
    for text in whole[first:].splitlines(keepends=True):
        if found := re.match(line, text):
            lines.append((text[: found.start(1)], int(found[1]), text[found.end(1) :]))
        else:
            lines.append((text, None, b""))
    return Typing(whole[:first], lines, lambda each: seconds % each)


def evemu() -> Typing:
    return parted("typing.evemu", b"\nE: ", rb"E: (\d+)")


def libinput() -> Typing:
    return parted("typing.libinput.yaml", b"\n  - evdev:", rb"    - \[( *\d+),", b"%3d")


def evtest() -> Typing:
    return parted("typing.evtest", b"\nEvent: time", rb"Event: time (\d+)")


def raw64() -> Typing:
    recorded = (RECORDED / "typing.raw64").read_bytes()
    starts = range(0, len(recorded), EVENT.size)
    events = [recorded[start : start + EVENT.size] for start in starts]
    lines: list[Line] = [
        (b"", SECONDS.unpack_from(each)[0], each[SECONDS.size :]) for each in events
    ]
    return Typing(b"", lines, SECONDS.pack)


def getevent(written: Callable[[Sequence[str]], str]) -> Typing:
    """Where `written` prints the type, the code, the value, and the names of the type and the code."""
    lines: list[Line] = []
    for _, seconds, behind in evtest().lines:
        fraction = behind[1:7].decode()
        found = re.search(
            r"type (\d+) \((\w+)\), code (\d+) \((\w+)\), value (\w+)", behind.decode()
        )
        kind, kind_name, code, code_name, value = (
            found.groups() if found else ("0", "EV_SYN", "0", "SYN_REPORT", "0")
        )
        text = written((kind, code, value, kind_name, code_name))
        lines.append((b"[", seconds, f".{fraction}] /dev/input/event2: {text}\n".encode()))
    header = b'add device 1: /dev/input/event2\n  name:     "AT Translated Set 2 keyboard"\n'
    return Typing(header, lines, lambda each: b"%8d" % each)


def numbers(event: Sequence[str]) -> str:
    kind, code, value, *_ = event
    return f"{int(kind):04x} {int(code):04x} {_value(event):08x}"


def names(event: Sequence[str]) -> str:
    *_, kind_name, code_name = event
    value = _value(event)
    shown = ("UP", "DOWN", "REPEAT")[value] if kind_name == "EV_KEY" else f"{value:08x}"
    return f"{kind_name:<12} {code_name:<20} {shown:<20}"


def _value(event: Sequence[str]) -> int:
    """evtest prints scan codes, and only these, in hexadecimal."""
    return int(event[2], 16 if event[4] == "MSC_SCAN" else 10)


# By what the tool is called.
FORMATS: dict[str, Callable[[], Typing]] = {
    "evemu-record": evemu,
    "libinput record": libinput,
    "evtest": evtest,
    "getevent -t": lambda: getevent(numbers),
    "getevent -lt": lambda: getevent(names),
    "cat": raw64,
}


def recording(folder: Path, tool: str, count: int) -> Recording:
    """The recording of the tool, with the typing repeated until it has at least `count` events."""
    typing = FORMATS[tool]()
    times = math.ceil(count / typing.events)
    path = folder / f"{tool.replace(' ', '-')}.{count}"
    with path.open("wb") as file:
        file.writelines(typing.repeated(times))
    return Recording(path, times * typing.events)
