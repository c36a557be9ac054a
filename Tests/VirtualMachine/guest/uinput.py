"""Keyboards and pointers that a program in the guest creates, uses and removes, as fast as it can.

The numbers are from the kernel's headers linux/uinput.h and linux/input.h.
"""

import contextlib
import fcntl
import os
import struct
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Self

from support.input_events import (
    EV_ABS,
    EV_KEY,
    EV_LED,
    EV_REL,
    EVENT,
    EVIOCSCLOCKID,
    PRESS,
    RELEASE,
    frame,
    key_frame,
)

UI_DEV_CREATE = 0x5501
UI_DEV_SETUP = 0x405C5503
UI_SET_EVBIT = 0x40045564
UI_SET_KEYBIT = 0x40045565
UI_SET_RELBIT = 0x40045566
UI_SET_ABSBIT = 0x40045567
UI_SET_LEDBIT = 0x40045569
UI_SET_PHYS = 0x4008556C
UI_SET_PROPBIT = 0x4004556E
UI_ABS_SETUP = 0x401C5504
UI_GET_SYSNAME = 0x8040552C  # with room for 64 bytes

# The keys that make udev see a full keyboard.
KEYBOARD_KEYS = (*range(1, 128),)
LONGEST_NAME = 79


class Keyboard:
    """A device of uinput, which exists until `remove`, even with keys held."""

    def __init__(
        self,
        name: str | bytes,
        keys: Iterable[int] = KEYBOARD_KEYS,
        leds: Iterable[int] = (),
        relative: Iterable[int] = (),
        absolute: Iterable[int] = (),
        properties: Iterable[int] = (),
        port: str = "",
    ) -> None:
        self.name = name.encode() if isinstance(name, str) else name
        self._descriptor = os.open("/dev/uinput", os.O_RDWR | os.O_CLOEXEC)
        self._observer: int | None = None
        absolute = [*absolute]
        for kind, request, codes in (
            (EV_KEY, UI_SET_KEYBIT, keys),
            (EV_LED, UI_SET_LEDBIT, leds),
            (EV_REL, UI_SET_RELBIT, relative),
            (EV_ABS, UI_SET_ABSBIT, absolute),
        ):
            for code in codes:
                fcntl.ioctl(self._descriptor, UI_SET_EVBIT, kind)
                fcntl.ioctl(self._descriptor, request, code)
        for axis in absolute:
            # struct uinput_abs_setup: axis, then value, minimum, maximum, fuzz, flat, resolution.
            limits = struct.pack("@H2x6i", axis, 0, 0, 1000, 0, 0, 10)
            fcntl.ioctl(self._descriptor, UI_ABS_SETUP, limits)
        for number in properties:
            fcntl.ioctl(self._descriptor, UI_SET_PROPBIT, number)
        if port:
            # What the driver of a real device says, such as `usb-0000:00:14.0-3/input0`.
            fcntl.ioctl(self._descriptor, UI_SET_PHYS, port.encode() + b"\0")
        setup = struct.pack("@HHHH80sI", 3, 0x1209, 1, 1, self.name, 0)
        fcntl.ioctl(self._descriptor, UI_DEV_SETUP, setup)
        fcntl.ioctl(self._descriptor, UI_DEV_CREATE)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.remove()

    @property
    def node(self) -> str:
        """The path of the node, such as /dev/input/event3."""
        name = bytearray(64)
        fcntl.ioctl(self._descriptor, UI_GET_SYSNAME, name)
        device = Path("/sys/devices/virtual/input") / name.rstrip(b"\0").decode()
        (event,) = device.glob("event*")
        return f"/dev/input/{event.name}"

    def send(self, *events: tuple[int, int]) -> None:
        """Sends codes with values, each in a frame of its own."""
        os.write(self._descriptor, b"".join(key_frame(0, code, value) for code, value in events))

    def send_frame(self, *events: tuple[int, int, int]) -> None:
        """Sends types, codes and values, all in one frame."""
        os.write(self._descriptor, frame(0, *events))

    def press(self, *codes: int) -> None:
        """Presses keys, one after the other."""
        self.send(*((code, PRESS) for code in codes))

    def release(self, *codes: int) -> None:
        """Releases keys, one after the other."""
        self.send(*((code, RELEASE) for code in codes))

    def tap(self, *codes: int) -> None:
        """Presses and releases one key after the other."""
        self.send(*((code, value) for code in codes for value in (PRESS, RELEASE)))

    def observe(self) -> None:
        """Records the events from now on for `stamps`, in boot time, like keymoded."""
        self._observer = os.open(self.node, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        fcntl.ioctl(self._observer, EVIOCSCLOCKID, struct.pack("@i", time.CLOCK_BOOTTIME))

    def stamps(self) -> Sequence[tuple[int, int, int]]:
        """The kernel's time in µs, the code and the value of each key event since the last call."""
        assert self._observer is not None, "not observed"
        data = b""
        with contextlib.suppress(BlockingIOError):
            while True:
                data += os.read(self._observer, EVENT.size * 64)
        return [
            (seconds * 1_000_000 + micros, code, value)
            for seconds, micros, kind, code, value in EVENT.iter_unpack(data)
            if kind == EV_KEY
        ]

    def remove(self) -> None:
        """Removes the device. Further calls do nothing."""
        if self._observer is not None:
            os.close(self._observer)
            self._observer = None
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1
