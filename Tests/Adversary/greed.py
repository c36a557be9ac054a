"""Searches for the calls that cost the daemon most memory, with as many clients as it serves.

Runs as a process of its own, here or in the guest: `greed.py FOLDER PID SECONDS [COUNT]`. FOLDER
has the sockets. It tries the shapes that are known to
cost most, or the first COUNT of them, and then varies those that cost most until SECONDS have
passed. All clients send a shape at once, and none reads more than the shape says. All shapes are
tried on the same daemon, so that memory left over from one counts for the next. The last line is
the result as JSON.
"""

import contextlib
import json
import random
import resource
import socket
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from support.connection import INTERFACE, Connection
from support.process import Process
from support.waiting import wait_until

# How many clients the daemon serves on each socket; on control.sock, one more is this program.
MOST_CLIENTS = {"state": 496, "control": 15}
LONGEST = 65_536
SERVICE = "org.varlink.service"
SETTLED_SECONDS = 0.05

# What a name or text is made of: DEL is one byte in a call and six in a reply.
FILLINGS = {
    "letters": "a",
    "DEL": "\x7f",
    "escaped": "\\u0001",
    "wide": "\\ud83d\\ude00",
    "quotes": '\\"',
    "two bytes": "é",
}

# List elements that take much more memory as parsed JSON than as text.
TREES = {"objects": "{}", "lists": "[]", "numbers": "0", "texts": '""', "members": '{"a":0}'}


@dataclass(frozen=True)
class Shape:
    """What one client sends, and how much it reads."""

    call: str = "parameter"
    filling: str = "DEL"
    length: int = 65_000
    tail: int = 4_000
    """How many bytes of another, unfinished call follow."""
    reading: int = 0
    back: int = 1000
    """How many changes before the latest one a subscriber resumes."""
    repeated: int = 1

    def message(self, state: dict[str, object]) -> bytes:
        """All that the client sends."""
        call = self._call(state)[: LONGEST - 1].encode()[:LONGEST] + b"\0"
        start = f'{{"method":"{INTERFACE}.GetState","parameters":{{"'.encode()
        tail = (start + FILLINGS["letters"].encode() * self.tail)[: self.tail]
        return call * self.repeated + tail

    def _call(self, state: dict[str, object]) -> str:
        unit = FILLINGS[self.filling]
        name = unit * max(1, (self.length - 200) // len(unit.encode()))
        match self.call:
            case "parameter":
                return _text("GetState", f'"{name}":1')
            case "method":
                return _text(name)
            case "interface":
                return _text("a", interface=name)
            case "description":
                return _text("GetInterfaceDescription", f'"interface":"{name}"', SERVICE)
            case "own description":
                return _text("GetInterfaceDescription", f'"interface":"{INTERFACE}"', SERVICE)
            case "trigger":
                return _text("Trigger", f'"event":"{name}"')
            case "resume":
                sequence, instance = state["sequence"], state["instance"]
                assert isinstance(sequence, int)
                after = max(0, sequence - self.back)
                return _text("Monitor", f'"after":{after},"instance":"{instance}"')
            case tree if tree in TREES:
                unit = TREES[tree]
                values = ",".join([unit] * max(1, (self.length - 200) // (len(unit) + 1)))
                return _text("GetState", f'"a":[{values}]')
            case method:
                return _text(method)


def _text(method: str, parameters: str = "", interface: str = INTERFACE) -> str:
    """A call with these members as its parameters."""
    more = '"more":true,' if method == "Monitor" else ""
    return f'{{"method":"{interface}.{method}",{more}"parameters":{{{parameters}}}}}'


CALLS = (
    *("parameter", "method", "interface", "description", "own description", "trigger"),
    *("resume", "ListMachines", "ListDevices", "GetStatistics", *TREES),
)

KNOWN = (
    # Names that an error repeats, each byte as six.
    Shape(),
    # As many replies as the socket has room for, and an unfinished call of the greatest length.
    Shape(call="own description", repeated=6, tail=LONGEST),
    # The longest unfinished call, after a call that takes much memory once parsed.
    Shape(call="objects", tail=LONGEST),
    Shape(call="method"),
    Shape(call="interface"),
    Shape(call="description"),
    # Unfinished calls of the greatest length.
    Shape(call="own description", tail=LONGEST),
    Shape(call="ListDevices", tail=LONGEST),
    # The changes that the daemon keeps, for each client from a different one on.
    Shape(call="resume", back=1000, tail=LONGEST),
    Shape(call="resume", back=1000, tail=LONGEST, reading=20_000),
    Shape(call="members", tail=LONGEST),
)


def mutated(shape: Shape, source: random.Random) -> Shape:
    """The shape with one or two of its parts changed."""
    changes: dict[str, Callable[[], Any]] = {
        "call": lambda: source.choice(CALLS),
        "filling": lambda: source.choice(list(FILLINGS)),
        "length": lambda: source.choice([300, 2_000, 4_096, 16_000, 32_768, 65_000, LONGEST]),
        "tail": lambda: source.choice([0, 1, 4_000, 8_193, 32_769, 60_000, LONGEST]),
        "reading": lambda: source.choice([0, 0, 100, 4_096, 20_000, 100_000]),
        "back": lambda: source.choice([0, 1, 32, 33, 500, 1000, 1024]),
        "repeated": lambda: source.choice([1, 1, 2, 10]),
    }
    names = source.sample(sorted(changes), source.choice([1, 2]))
    return replace(shape, **{name: changes[name]() for name in names})


class Daemon(Process):
    """The daemon that serves in `folder`, and this program's connection for its own calls."""

    def __init__(self, folder: Path, pid: int) -> None:
        super().__init__(pid)
        self.sockets = folder
        self.control = Connection(folder / "control.sock")

    def settle(self) -> None:
        """Waits until the daemon uses no more CPU time."""

        def is_settled() -> bool:
            before = self.cpu_seconds()
            time.sleep(SETTLED_SECONDS)
            self.control.call("GetState")
            return self.cpu_seconds() == before

        wait_until(is_settled, "the daemon to be done")

    def wait_until_alone(self) -> None:
        """Waits until this program's own connection is the daemon's only one."""
        wait_until(
            lambda: self.control.call("GetStatistics")["clients"] == 1,
            "closed connections to be released",
        )


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


def cost(daemon: Daemon, shape: Shape) -> int:
    """The most anonymous memory of the daemon while all clients send this shape, in KiB."""
    state = daemon.control.call("GetState")["state"]
    worst = 0
    with clients(daemon.sockets) as held:
        rest = {}
        for number, client in enumerate(held):
            # Each client resumes from a different change, or they could share a reply's bytes.
            own = replace(shape, back=max(0, shape.back - number % 500))
            rest[client] = own.message(state)
        unread = dict.fromkeys(held, shape.reading)
        for _ in range(8):
            for client in held:
                with contextlib.suppress(BlockingIOError, BrokenPipeError, ConnectionResetError):
                    while rest[client]:
                        rest[client] = rest[client][client.send(rest[client]) :]
                with contextlib.suppress(BlockingIOError, ConnectionResetError):
                    while unread[client] > 0 and (read := client.recv(unread[client])):
                        unread[client] -= len(read)
            daemon.settle()
            worst = max(worst, daemon.anonymous_kib())
            if not any(rest.values()) and not any(unread.values()):
                break
    daemon.wait_until_alone()
    return worst


def main(folder: Path, pid: int, seconds: float, count: int = len(KNOWN)) -> None:
    files = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))
    daemon = Daemon(folder, pid)
    deadline = time.monotonic() + seconds
    source = random.Random(int(seconds))
    quiet = daemon.anonymous_kib()
    ranking: list[tuple[int, Shape]] = []
    tried = 0
    for shape in KNOWN[:count]:
        ranking.append((cost(daemon, shape), shape))
        print(*ranking[-1], flush=True)
        tried += 1
    while time.monotonic() < deadline:
        ranking = sorted(ranking, key=lambda entry: -entry[0])[:10]
        shape = mutated(source.choice(ranking)[1], source)
        ranking.append((cost(daemon, shape), shape))
        print(*ranking[-1], flush=True)
        tried += 1
    worst, shape = max(ranking, key=lambda entry: entry[0])
    daemon.control.call("GetState")
    found = {"tried": tried, "quiet_kib": quiet, "worst_kib": worst, "shape": asdict(shape)}
    print(json.dumps({**found, "left_kib": daemon.anonymous_kib()}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3]), *map(int, sys.argv[4:]))
