"""Runs the daemon on this machine, with a pipe that looks like a keyboard, and subscribers."""

import contextlib
import fcntl
import json
import os
import re
import signal
import socket
import struct
import subprocess
import tempfile
import termios
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from measure import PEERS

EVENT = struct.Struct("@llHHi")
EV_SYN, EV_KEY = 0, 1
LETTER, SHIFT = 30, 42

# A letter changes nothing while Shift is off. Shift turns Shift on, and then a letter turns it off.
QUIET = [(LETTER, 1), (LETTER, 0)]
CHANGING = [(SHIFT, 1), (SHIFT, 0), (LETTER, 1), (LETTER, 0)]
CHANGES = 2

# The daemon's limit of clients on state.sock.
ON_STATE_SOCKET = 496

START_SECONDS = 60


def frame(microseconds: int, code: int, value: int) -> bytes:
    """Returns a key event and the end of its report."""
    when = divmod(microseconds, 1_000_000)
    return EVENT.pack(*when, EV_KEY, code, value) + EVENT.pack(*when, EV_SYN, 0, 0)


def fake_keyboard(folder: Path) -> Path:
    """Compiles the library that makes a pipe look like a keyboard."""
    library = folder / "fake_keyboard.so"
    source = PEERS / "fake_keyboard.c"
    subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-o", library, source], check=True)
    return library


def subscribed(path: Path) -> socket.socket:
    """Subscribes, reads the first reply, and returns the connection."""
    client = socket.socket(socket.AF_UNIX)
    client.connect(str(path))
    call = {"method": "org.keymoded.Controller.Monitor", "more": True}
    client.sendall(json.dumps(call).encode() + b"\0")
    answer = b""
    while not answer.endswith(b"\0"):
        answer += client.recv(65536)
    return client


@dataclass
class TypedOn:
    """A daemon that follows the pipe."""

    process: subprocess.Popen[bytes]
    pid: int
    pipe: int
    sockets: Path
    subscribers: list[socket.socket] = field(default_factory=list)
    _time: int = 1_000_000

    def subscribe(self, count: int) -> None:
        """Connects until there are `count` subscribers; the last ones use control.sock."""
        while len(self.subscribers) < count:
            name = "state.sock" if len(self.subscribers) < ON_STATE_SOCKET else "control.sock"
            self.subscribers.append(subscribed(self.sockets / name))

    def type(self, keys: Sequence[tuple[int, int]]) -> None:
        """Writes all key events in one call, each in a separate report."""
        reports = []
        for code, value in keys:
            self._time += 700_000
            reports.append(frame(self._time, code, value))
        os.write(self.pipe, b"".join(reports))

    def receive(self, changes: int) -> None:
        """Reads this many messages at every subscriber."""
        for subscriber in self.subscribers:
            rest = changes
            while rest > 0:
                rest -= subscriber.recv(65536).count(b"\0")

    def wait_until_asleep(self) -> None:
        """Waits until the daemon has read everything and sleeps."""
        unread = bytearray(4)
        while True:
            fcntl.ioctl(self.pipe, termios.FIONREAD, unread)
            if not any(unread) and self._field(0) == "S":
                return
            os.sched_yield()

    def cpu_seconds(self) -> float:
        """Returns the processor time that the daemon has used, in seconds."""
        spent = (Path("/proc") / str(self.pid) / "schedstat").read_text(encoding="ascii")
        return int(spent.split()[0]) / 1e9

    def memory_kib(self) -> dict[str, int]:
        """Returns the daemon's memory: resident, proportional (PSS) and anonymous."""
        rollup = (Path("/proc") / str(self.pid) / "smaps_rollup").read_text(encoding="ascii")
        wanted = {"rss": "Rss", "pss": "Pss", "anonymous": "Anonymous"}
        found = dict(re.findall(r"^(\w+): +(\d+) kB$", rollup, re.MULTILINE))
        return {name: int(found[field]) for name, field in wanted.items()}

    def _field(self, place: int) -> str:
        status = (Path("/proc") / str(self.pid) / "stat").read_text(encoding="utf-8")
        return status.rpartition(")")[2].split()[place]


@contextlib.contextmanager
def typed_on(program: Path | str, *under: str) -> Iterator[TypedOn]:
    """Starts a daemon, optionally under a program such as valgrind, and waits for READY=1."""
    with contextlib.ExitStack() as undo:
        folder = Path(undo.enter_context(tempfile.TemporaryDirectory(prefix="keymoded-bench-")))
        library = fake_keyboard(folder)
        keyboard = folder / "keyboard"
        os.mkfifo(keyboard)
        pipe = os.open(keyboard, os.O_RDWR)
        undo.callback(os.close, pipe)
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as notices:
            notices.bind(str(folder / "notify"))
            notices.settimeout(START_SECONDS)
            command = [*under, str(program), "--device", str(keyboard)]
            process = subprocess.Popen(
                [*command, "--socket-dir", str(folder / "sockets")],
                env={
                    **os.environ,
                    "LD_PRELOAD": str(library),
                    "NOTIFY_SOCKET": str(folder / "notify"),
                },
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            undo.callback(process.wait)
            undo.callback(process.send_signal, signal.SIGTERM)
            while b"READY=1" not in notices.recv(4096):
                pass
        daemon = TypedOn(process, _daemon(process.pid), pipe, folder / "sockets")
        yield daemon
        for subscriber in daemon.subscribers:
            subscriber.close()


def _daemon(pid: int) -> int:
    """Returns the daemon's process ID: the child's, if the daemon runs under a program."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()
    return int(children[0]) if children else pid
