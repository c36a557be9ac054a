"""The daemon on this machine, with a FIFO that looks like a keyboard, and a client."""

import contextlib
import fcntl
import os
import signal
import subprocess
import tempfile
import termios
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from support.connection import MONITOR, Connection
from support.fifo_keyboard import FifoKeyboard
from support.input_events import LEFTSHIFT, PRESS, RELEASE, A, key_frame
from support.process import Process
from support.readiness import ReadinessSocket

# Two changes: the press of Shift turns it on, and that of the letter off.
CHANGING = [(LEFTSHIFT, PRESS), (LEFTSHIFT, RELEASE), (A, PRESS), (A, RELEASE)]


@dataclass
class TypedOn:
    """A daemon that follows the FIFO."""

    process: Process
    fifo: int
    sockets: Path
    client: Connection
    # From its start until it was ready.
    seconds_to_ready: float
    _time: int = 1_000_000

    def type(self, keys: Sequence[tuple[int, int]], times: int) -> None:
        """Types the keys, each after the daemon is done with the one before."""
        for key in keys * times:
            # These times must not be in the future: the daemon would wait for them.
            self._time += 1000
            os.write(self.fifo, key_frame(self._time, *key))
            self.wait_until_asleep()
            list(self.client.arrived())

    def wait_until_asleep(self) -> None:
        """Waits until the daemon has read all that was written, and waits for more."""
        unread = bytearray(4)
        while True:
            fcntl.ioctl(self.fifo, termios.FIONREAD, unread)
            if not any(unread) and self.process.state() == "S":
                return
            os.sched_yield()


@contextlib.contextmanager
def typed_on(program: Path, *under: str) -> Iterator[TypedOn]:
    """The daemon from its readiness on, run by the program `under` if that is given."""
    with contextlib.ExitStack() as undo:
        folder = Path(undo.enter_context(tempfile.TemporaryDirectory(prefix="keymoded-bench-")))
        keyboard = undo.enter_context(FifoKeyboard(folder))
        ready = undo.enter_context(ReadinessSocket(folder))
        sockets = folder / "sockets"
        options = ["--device", str(keyboard.path), "--socket-dir", str(sockets)]
        started = time.perf_counter()
        process = subprocess.Popen(
            [*under, str(program), *options],
            env={**os.environ, **keyboard.environment, **ready.environment},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        undo.callback(process.wait)
        undo.callback(process.send_signal, signal.SIGTERM)
        ready.wait()
        seconds = time.perf_counter() - started
        client = undo.enter_context(Connection(sockets / "state.sock"))
        client.send(MONITOR)
        client.message()
        yield TypedOn(Process(process.pid), keyboard.descriptor, sockets, client, seconds)
