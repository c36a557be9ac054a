"""The daemon's memory has a bound, however greedy its clients are. MemoryMax= is based on it."""

import contextlib
import resource
import socket
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from support.attack_table import AttackTable
from support.connection import INTERFACE, Connection
from support.local_daemon import LocalDaemon, write_recording
from support.process import Process
from support.waiting import wait_until

pytestmark = pytest.mark.attack

# How many clients the daemon serves on each socket; on control.sock, one more is this test.
MOST_CLIENTS = {"state": 496, "control": 15}
LONGEST = 65_536

# At most 64 MB with all clients connected, and 8 MB after they have gone.
MOST_KIB = 64_000_000 // 1024
MOST_LEFT_KIB = 8_000_000 // 1024

# DEL is one byte in a call and six in the reply that repeats it.
NAME = "\x7f" * 64_800


def text(method: str, parameters: str = "", interface: str = INTERFACE) -> str:
    """A call with these members as its parameters."""
    more = '"more":true,' if method == "Monitor" else ""
    return f'{{"method":"{interface}.{method}",{more}"parameters":{{{parameters}}}}}'


DESCRIPTION = text("GetInterfaceDescription", f'"interface":"{INTERFACE}"', "org.varlink.service")


@dataclass(frozen=True)
class Shape:
    """What one client sends, and how much it reads."""

    call: str
    tail: int = 4_000
    """How many bytes of another, unfinished call follow."""
    reading: int = 0
    back: int | None = None
    """How many changes before the latest one a subscriber resumes, which is its call."""
    repeated: int = 1

    def message(self, state: dict[str, object]) -> bytes:
        """All that the client sends."""
        call = self.call
        if self.back is not None:
            sequence = state["sequence"]
            assert isinstance(sequence, int)
            after = max(0, sequence - self.back)
            call = text("Monitor", f'"after":{after},"instance":"{state["instance"]}"')
        tail = (text("GetState", '"').removesuffix("}}") + "a" * self.tail)[: self.tail]
        return (call.encode()[: LONGEST - 1] + b"\0") * self.repeated + tail.encode()


SHAPES = [
    # Names that an error repeats, each byte as six.
    Shape(text("GetState", f'"{NAME}":1')),
    Shape(text(NAME)),
    # As many replies as the socket has room for, and an unfinished call of the greatest length.
    Shape(DESCRIPTION, repeated=6, tail=LONGEST),
    # The longest unfinished call, after a call that takes much memory once parsed.
    Shape(text("GetState", f'"a":[{",".join(["{}"] * 21_600)}]'), tail=LONGEST),
    # The changes that the daemon keeps, for each client from a different one on.
    Shape("", back=1000, tail=LONGEST),
    Shape("", back=1000, tail=LONGEST, reading=20_000),
]


@contextlib.contextmanager
def clients(folder: Path) -> Iterator[list[socket.socket]]:
    """Connects as many clients as the daemon serves, and closes them at the end."""
    held: list[socket.socket] = []
    try:
        for name, count in MOST_CLIENTS.items():
            for _ in range(count):
                held.append(Connection(folder / f"{name}.sock").socket)
                held[-1].setblocking(False)
        yield held
    finally:
        for client in held:
            client.close()


def settle(process: Process, control: Connection) -> None:
    """Waits until the daemon uses no more CPU time."""

    def is_settled() -> bool:
        before = process.cpu_seconds()
        time.sleep(0.05)
        control.call("GetState")
        return process.cpu_seconds() == before

    wait_until(is_settled, "the daemon to be done")


def cost(folder: Path, process: Process, control: Connection, shape: Shape) -> int:
    """The most anonymous memory of the daemon while all clients send this shape, in KiB."""
    state = control.call("GetState")["state"]
    worst = 0
    with clients(folder) as held:
        rest = {}
        for number, client in enumerate(held):
            # Each client resumes from a different change, or they could share a reply's bytes.
            own = shape.back and max(0, shape.back - number % 500)
            rest[client] = replace(shape, back=own).message(state)
        unread = dict.fromkeys(held, shape.reading)
        for _ in range(8):
            for client in held:
                with contextlib.suppress(BlockingIOError, BrokenPipeError, ConnectionResetError):
                    while rest[client]:
                        rest[client] = rest[client][client.send(rest[client]) :]
                with contextlib.suppress(BlockingIOError, ConnectionResetError):
                    while unread[client] > 0 and (read := client.recv(unread[client])):
                        unread[client] -= len(read)
            settle(process, control)
            worst = max(worst, process.anonymous_kib())
            if not any(rest.values()) and not any(unread.values()):
                break
    wait_until(lambda: control.call("GetStatistics")["clients"] == 1, "the clients to be gone")
    return worst


def test_memory_with_512_greedy_clients_has_a_bound(tmp_path: Path, told: AttackTable) -> None:
    files = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))
    recording = tmp_path / "recording.evemu"
    # More changes than are kept, without waiting.
    write_recording(recording, 10)
    daemon = LocalDaemon(tmp_path, "--recording", recording, "--speed", "max")
    try:
        process = Process(daemon.pid)
        with Connection(daemon.control_socket) as control:
            # On the same daemon, so that memory left over from one counts for the next.
            worst = [cost(tmp_path, process, control, shape) for shape in SHAPES]
            left = process.anonymous_kib()
        assert daemon.pid
    finally:
        daemon.kill()
    outcome = f"{max(worst)} KiB anonymous at most, {left} KiB afterwards"
    told("take memory", len(SHAPES) * 512, outcome)
    assert max(worst) <= MOST_KIB, worst
    assert left <= MOST_LEFT_KIB
