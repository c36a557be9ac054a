"""Input events as the kernel and evemu write them, and the codes of keys.

The numbers are from the kernel's headers linux/input.h and linux/input-event-codes.h.
"""

import struct

EVIOCSCLOCKID = 0x400445A0
EVIOCGRAB = 0x40044590

# struct input_event: seconds, microseconds, type, code, value.
EVENT = struct.Struct("@llHHi")

EV_SYN, EV_KEY, EV_REL, EV_ABS, EV_LED = 0, 1, 2, 3, 17
SYN_REPORT, SYN_DROPPED = 0, 3
RELEASE, PRESS, REPEAT = 0, 1, 2

ESC, A, B, C, V, F5, F8, F9 = 1, 30, 48, 46, 47, 63, 66, 67
LEFTCTRL, RIGHTCTRL, LEFTSHIFT, RIGHTSHIFT, LEFTALT, RIGHTALT = 29, 97, 42, 54, 56, 100
LEFTMETA, RIGHTMETA = 125, 126
INSERT, SCROLLLOCK, COMPOSE, DICTATE = 110, 70, 127, 0x24A
BTN_LEFT, BTN_RIGHT, BTN_TOOL_FINGER, BTN_TOUCH = 0x110, 0x111, 0x145, 0x14A
REL_X, REL_Y, REL_WHEEL = 0, 1, 8
ABS_X, ABS_Y = 0, 1


def frame(microseconds: int, *events: tuple[int, int, int]) -> bytes:
    """Events of these types, codes and values with the SYN_REPORT behind them."""
    time = divmod(microseconds, 1_000_000)
    return b"".join(
        EVENT.pack(*time, *event) for event in (*events, (EV_SYN, SYN_REPORT, 0))
    )


def key_frame(microseconds: int, code: int, value: int) -> bytes:
    """One key event with the SYN_REPORT behind it, as a device sends them."""
    return frame(microseconds, (EV_KEY, code, value))


def evemu_line(microseconds: int, kind: int, code: int, value: int) -> str:
    """An event as evemu-record writes it, without its comment."""
    seconds, fraction = divmod(microseconds, 1_000_000)
    return f"E: {seconds}.{fraction:06} {kind:04x} {code:04x} {value:04}\n"


def evemu_key_frame(microseconds: int, code: int, value: int) -> str:
    """One key event with the SYN_REPORT behind it, as evemu-record writes them."""
    report = evemu_line(microseconds, EV_SYN, SYN_REPORT, 0)
    return evemu_line(microseconds, EV_KEY, code, value) + report
