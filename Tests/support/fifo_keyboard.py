"""A keyboard for a daemon on a machine without /dev/input: a FIFO into which tests write keys."""

import array
import atexit
import fcntl
import functools
import os
import subprocess
import tempfile
import termios
from collections.abc import Iterable
from pathlib import Path
from typing import Self

from support.checkout import CHECKOUT
from support.clock import boot_time
from support.input_events import EV_LED, PRESS, RELEASE, frame, key_frame


@functools.cache
def _library() -> Path:
    """What has a program take a FIFO for a keyboard; every user may read it."""
    folder = tempfile.TemporaryDirectory(prefix="keymoded-keyboard.")
    atexit.register(folder.cleanup)
    os.chmod(folder.name, 0o755)
    library = Path(folder.name) / "fifo_keyboard.so"
    source = CHECKOUT / "Tests/support/fifo_keyboard.c"
    subprocess.run(["gcc", "-O2", "-shared", "-fPIC", "-o", library, source], check=True)
    return library


class FifoKeyboard:
    """The FIFO `path`, which a keymoded with `environment` takes for a keyboard, by `library`.

    With `leds` it has those of Num Lock and Caps Lock, of which these are on: see NUM_LOCK and CAPS_LOCK.
    """

    NUM_LOCK, CAPS_LOCK = 1, 2
    # KEY_COMPOSE; it has all keys before.
    LAST_KEY = 127

    def __init__(self, folder: Path, leds: int | None = None) -> None:
        self.path = folder / "keyboard"
        self.library = _library()
        self.environment = {"LD_PRELOAD": str(self.library)}
        os.mkfifo(self.path)
        if leds is not None:
            self._leds.write_text(str(leds))
        # Open for both, so that neither side's opening waits, and no end is read.
        self.descriptor = os.open(self.path, os.O_RDWR)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.unplug()

    def unplug(self) -> None:
        """Removes the keyboard, with the keys that are held on it."""
        if self.descriptor >= 0:
            self.path.unlink(missing_ok=True)
            os.close(self.descriptor)
            self.descriptor = -1

    def send(self, code: int, value: int, microseconds: int | None = None) -> int:
        """Writes an event of this boot time, by default now, and returns the time."""
        stamp = boot_time() if microseconds is None else microseconds
        os.write(self.descriptor, key_frame(stamp, code, value))
        return stamp

    def hold(self, codes: Iterable[int]) -> None:
        """Has exactly these keys down for the program that opens the keyboard next."""
        bits = sum(1 << code for code in codes)
        self.path.with_name(f"{self.path.name}.down").write_bytes(bits.to_bytes(96, "little"))

    def is_read(self) -> bool:
        """Whether all events have been read."""
        waiting = array.array("i", [0])
        fcntl.ioctl(self.descriptor, termios.FIONREAD, waiting)
        return waiting[0] == 0

    @property
    def _leds(self) -> Path:
        """The file from which the daemon has what is on."""
        return self.path.with_name(f"{self.path.name}.leds")

    def show(self, leds: int) -> None:
        """Has exactly these LEDs on, and writes the events of those that change."""
        changed = int(self._leds.read_text()) ^ leds
        self._leds.write_text(str(leds))
        # The number of an LED is that of its bit.
        events = [(EV_LED, led, leds >> led & 1) for led in (0, 1) if changed >> led & 1]
        os.write(self.descriptor, frame(boot_time(), *events))

    def press(self, code: int, microseconds: int | None = None) -> int:
        """Writes a press and its release a millisecond later, and returns the time of the press."""
        stamp = self.send(code, PRESS, microseconds)
        self.send(code, RELEASE, stamp + 1000)
        return stamp
