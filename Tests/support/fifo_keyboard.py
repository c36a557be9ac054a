"""A keyboard for a daemon on a machine without /dev/input: a FIFO into which tests write keys."""

import atexit
import functools
import os
import subprocess
import tempfile
from pathlib import Path
from typing import Self

from support.checkout import CHECKOUT
from support.clock import boot_time
from support.input_events import PRESS, RELEASE, key_frame


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
    """The FIFO `path`, which a keymoded with `environment` takes for a keyboard, by `library`."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "keyboard"
        self.library = _library()
        self.environment = {"LD_PRELOAD": str(self.library)}
        os.mkfifo(self.path)
        # Open for both, so that neither side's opening waits, and no end is read.
        self.descriptor = os.open(self.path, os.O_RDWR)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self.descriptor)

    def send(self, code: int, value: int, microseconds: int | None = None) -> int:
        """Writes an event of this boot time, by default now, and returns the time."""
        stamp = boot_time() if microseconds is None else microseconds
        os.write(self.descriptor, key_frame(stamp, code, value))
        return stamp

    def press(self, code: int, microseconds: int | None = None) -> int:
        """Writes a press and its release a millisecond later, and returns the time of the press."""
        stamp = self.send(code, PRESS, microseconds)
        self.send(code, RELEASE, stamp + 1000)
        return stamp
