"""Recordings of typing, the same for the same number of events, in all formats."""

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from support.input_events import (
    COMPOSE,
    ESC,
    EVENT,
    INSERT,
    LEFTSHIFT,
    SCROLLLOCK,
    evemu_line,
)

BOUND = (ESC, SCROLLLOCK, INSERT, COMPOSE)
CHARACTERS = [*range(2, 14), *range(16, 28), *range(30, 42), *range(44, 54), *[57] * 12]

# As evemu-record writes it; every reader needs the description of a device.
EVEMU_HEADER = """# EVEMU 1.3
# Input device name: "AT Translated Set 2 keyboard"
N: AT Translated Set 2 keyboard
I: 0011 0001 0001 ab41
P: 00 00 00 00 00 00 00 00
B: 00 0b 00 00 00 00 00 00 00
B: 01 fe ff ff ff ff ff ff ff
"""
LIBINPUT_HEADER = """# libinput record
version: 1
ndevices: 1
devices:
- node: /dev/input/event3
  evdev:
    name: "AT Translated Set 2 keyboard"
    id: [17, 1, 1, 43841]
  events:
"""


@dataclass(frozen=True)
class Event:
    """One event of the kernel, its time in microseconds."""

    time: int
    type: int
    code: int
    value: int


def typing(count: int) -> Iterator[Event]:
    """`count` events: of keys, with a SYN_REPORT behind each.

    As in prose, one press in 25 is of Shift; one in 250 is of a bound key; the others type
    characters. So one event in 50 changes a state.
    """
    chance = random.Random(1)
    time = 1_000_000
    left = count
    while left > 0:
        draw = chance.random()
        if draw < 0.04:
            key = LEFTSHIFT
        elif draw < 0.044:
            key = chance.choice(BOUND)
        else:
            key = chance.choice(CHARACTERS)
        for value in (1, 0):
            time += chance.randrange(10_000, 40_000)
            yield from (Event(time, 1, key, value), Event(time, 0, 0, 0))[: max(0, left)]
            left -= 2


def evemu(event: Event) -> bytes:
    return evemu_line(event.time, event.type, event.code, event.value).encode()


def evemu_commented(event: Event) -> bytes:
    """As evemu-record itself writes it."""
    comment = (
        f"EV_KEY / KEY_{event.code:<16} {event.value}"
        if event.type
        else "------------ SYN_REPORT (0) ---------- +25ms"
    )
    return evemu(event)[:-1] + f"\t# {comment}\n".encode()


def libinput(event: Event) -> bytes:
    seconds, fraction = divmod(event.time, 1_000_000)
    numbers = f"{seconds:3}, {fraction:6}, {event.type:3}, {event.code:3}, {event.value:7}"
    return f"{'  - evdev:' + chr(10) if event.type else ''}    - [{numbers}]\n".encode()


def evtest(event: Event) -> bytes:
    seconds, fraction = divmod(event.time, 1_000_000)
    what = (
        f"type 1 (EV_KEY), code {event.code} (KEY_{event.code}), value {event.value}"
        if event.type
        else "-------------- SYN_REPORT ------------"
    )
    return f"Event: time {seconds}.{fraction:06}, {what}\n".encode()


def raw64(event: Event) -> bytes:
    return EVENT.pack(*divmod(event.time, 1_000_000), event.type, event.code, event.value)


FORMATS: dict[str, tuple[str, Callable[[Event], bytes]]] = {
    "evemu": (EVEMU_HEADER, evemu),
    "evemu-commented": (EVEMU_HEADER, evemu_commented),
    "libinput": (LIBINPUT_HEADER, libinput),
    "evtest": ("Input driver version is 1.0.1\n", evtest),
    "raw64": ("", raw64),
}


def recording(folder: Path, format_name: str, count: int) -> Path:
    """The recording of `count` events in `folder`, which is written at the first call."""
    path = folder / f"{count}.{format_name}"
    if path.exists():
        return path
    header, written = FORMATS[format_name]
    unfinished = path.with_suffix(".part")
    with unfinished.open("wb", buffering=1 << 20) as file:
        file.write(header.encode())
        file.writelines(map(written, typing(count)))
    unfinished.rename(path)
    return path
