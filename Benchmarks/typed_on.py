"""The daemon on this machine, with a pipe that looks like a keyboard, and subscribers."""

import contextlib
import fcntl
import os
import signal
import socket
import subprocess
import tempfile
import termios
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from support.connection import MONITOR, Connection
from support.fifo_keyboard import FifoKeyboard
from support.input_events import LEFTSHIFT, PRESS, RELEASE, A, key_frame
from support.process import Process
from support.readiness import ReadinessSocket

# A letter changes nothing while Shift is off; the first Shift turns it on, and the letter off.
QUIET = [(A, PRESS), (A, RELEASE)]
CHANGING = [(LEFTSHIFT, PRESS), (LEFTSHIFT, RELEASE), (A, PRESS), (A, RELEASE)]
CHANGES = 2

# How many clients the daemon serves on state.sock.
MOST_CLIENTS = 496


def subscribed(path: Path) -> socket.socket:
    """A connection that gets every change, with its first message already read."""
    connection = Connection(path)
    connection.send(MONITOR)
    connection.message()
    # Without a timeout, a read is one system call.
    connection.socket.settimeout(None)
    return connection.socket


@dataclass
class TypedOn:
    """A daemon that follows the pipe."""

    process: Process
    pipe: int
    sockets: Path
    subscribers: list[socket.socket] = field(default_factory=list)
    _time: int = 1_000_000

    def subscribe(self, count: int) -> None:
        """Connects until there are `count` subscribers; the last use the other socket."""
        while len(self.subscribers) < count:
            name = "state.sock" if len(self.subscribers) < MOST_CLIENTS else "control.sock"
            self.subscribers.append(subscribed(self.sockets / name))

    def type(self, keys: Sequence[tuple[int, int]]) -> None:
        """Writes the key events, each in a report of its own, all at once."""
        reports = []
        for code, value in keys:
            # The last of these times must not be in the future: the daemon would wait for it.
            self._time += 1000
            reports.append(key_frame(self._time, code, value))
        os.write(self.pipe, b"".join(reports))

    def receive(self, changes: int) -> None:
        """Reads as many messages at every subscriber."""
        for subscriber in self.subscribers:
            rest = changes
            while rest > 0:
                rest -= subscriber.recv(65536).count(b"\0")

    def wait_until_asleep(self) -> None:
        """Waits until the daemon has read all that was written, and waits for more."""
        unread = bytearray(4)
        while True:
            fcntl.ioctl(self.pipe, termios.FIONREAD, unread)
            if not any(unread) and self.process.state() == "S":
                return
            os.sched_yield()

    def cpu_seconds(self) -> float:
        """The CPU time of the daemon's only thread, to the nanosecond."""
        return int((self.process.folder / "schedstat").read_text().split()[0]) / 1e9


@contextlib.contextmanager
def typed_on(program: Path | str, *under: str) -> Iterator[TypedOn]:
    """The daemon from its readiness on, run by the program `under` if that is given."""
    with contextlib.ExitStack() as undo:
        folder = Path(undo.enter_context(tempfile.TemporaryDirectory(prefix="keymoded-bench-")))
        keyboard = undo.enter_context(FifoKeyboard(folder))
        sockets = folder / "sockets"
        with ReadinessSocket(folder) as ready:
            command = [*under, str(program), "--device", str(keyboard.path)]
            process = subprocess.Popen(
                [*command, "--socket-dir", str(sockets)],
                env={**os.environ, **keyboard.environment, **ready.environment},
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            undo.callback(process.wait)
            undo.callback(process.send_signal, signal.SIGTERM)
            ready.wait()
        daemon = TypedOn(Process(_daemon(process.pid)), keyboard.descriptor, sockets)
        yield daemon
        for subscriber in daemon.subscribers:
            subscriber.close()


def _daemon(pid: int) -> int:
    """The PID of the daemon: of the process itself, or of its child if it runs the daemon."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()
    return int(children[0]) if children else pid
