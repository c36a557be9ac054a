"""Kills the daemon again and again while its states change, and checks that nobody can tell.

Runs in the guest, as root, with nothing but Python's own library: `kill_daemon.py COUNT`. One thread
sends events, one follows all changes and reconnects with the number of the last one it has. The last
line that it prints says how many times the daemon was killed and how many changes came.
"""

import json
import os
import random
import signal
import socket
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

INTERFACE = "org.keymoded.Controller"
BOUND_SECONDS = 30.0

Message = dict[str, Any]


class Connection:
    """A Varlink connection to one of the daemon's sockets."""

    def __init__(self, name: str) -> None:
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.settimeout(BOUND_SECONDS)
        self._socket.connect(f"/run/keymoded/{name}.sock")
        self._rest = b""

    def __enter__(self) -> "Connection":
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()

    def call(self, method: str, parameters: Message, more: bool = False) -> Iterator[Message]:
        """Sends a call and yields its replies until the daemon hangs up."""
        call = {"method": f"{INTERFACE}.{method}", "parameters": parameters, "more": more}
        self._socket.sendall(json.dumps(call).encode() + b"\0")
        while chunk := self._socket.recv(65536):
            *messages, self._rest = (self._rest + chunk).split(b"\0")
            for message in messages:
                reply = json.loads(message)
                assert "error" not in reply, reply
                yield reply["parameters"]


class Follower(threading.Thread):
    """Follows the changes, over as many connections as it takes."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.instance: str | None = None
        self.latest = 0
        self.connections = 0
        self.problem: str | None = None
        self.changed = threading.Condition()

    def run(self) -> None:
        while self.problem is None:
            try:
                with Connection("state") as connection:
                    self.connections += 1
                    self._follow(connection)
            except ConnectionError:
                pass  # killed: again
            except (AssertionError, TimeoutError) as error:
                self._fail(f"{type(error).__name__}: {error}")

    def _follow(self, connection: Connection) -> None:
        known = self.instance is not None
        after = {"after": self.latest, "instance": self.instance} if known else {}
        for reply in connection.call("Monitor", after, more=True):
            self._take(reply)

    def _take(self, reply: Message) -> None:
        state = reply["state"]
        if self.instance is None:
            self.instance, self.latest = state["instance"], state["sequence"]
        assert state["instance"] == self.instance, "the daemon has forgotten who it is"
        assert reply["missed"] == 0, f"{reply['missed']} changes are lost"
        with self.changed:
            for change in reply["changes"]:
                assert change["sequence"] == self.latest + 1, f"{change} after {self.latest}"
                self.latest += 1
            assert state["sequence"] == self.latest, f"{state} after {self.latest}"
            self.changed.notify_all()

    def _fail(self, problem: str) -> None:
        with self.changed:
            self.problem = problem
            self.changed.notify_all()

    def wait_for(self, sequence: int) -> None:
        """Waits until it has all changes up to this one."""
        with self.changed:
            arrived = self.changed.wait_for(
                lambda: self.problem or self.latest >= sequence, BOUND_SECONDS
            )
        assert self.problem is None, self.problem
        assert arrived, f"change {sequence} does not come: {self.latest} is the last"


class Sender(threading.Thread):
    """Sends events that each change a state, and remembers what the daemon said of them."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.acknowledged = 0
        self.stopping = False

    def run(self) -> None:
        while not self.stopping:
            try:
                with Connection("control") as connection:
                    while not self.stopping:
                        self._send(connection)
            except ConnectionError:
                pass

    def _send(self, connection: Connection) -> None:
        for reply in connection.call("Trigger", {"event": "shiftPressed"}):
            self.acknowledged = max(self.acknowledged, reply["state"]["sequence"])
            return
        raise ConnectionError


def next_daemon(killed: int) -> int:
    """Waits for the daemon that comes after the one that was killed, which may still be a zombie."""
    end = time.monotonic() + BOUND_SECONDS
    while time.monotonic() < end:
        if pid := next((pid for pid in daemons() if pid != killed), None):
            return pid
        time.sleep(0.002)
    raise TimeoutError("no daemon comes after the one that was killed")


def daemons() -> Iterator[int]:
    for process in Path("/proc").iterdir():
        try:
            if process.name.isdigit() and (process / "comm").read_text() == "keymoded\n":
                yield int(process.name)
        except OSError:
            pass  # it ended meanwhile


def main(count: int) -> None:
    follower, sender = Follower(), Sender()
    follower.start()
    sender.start()
    source = random.Random(count)
    begin = time.monotonic()
    pid = 0
    for _ in range(count):
        pid = next_daemon(pid)
        # It has to change something before it is killed. What was on its way from the one before is
        # here by now.
        follower.wait_for(follower.latest + 1)
        time.sleep(source.uniform(0, 0.02))
        os.kill(pid, signal.SIGKILL)
    follower.wait_for(follower.latest + 1)
    sender.stopping = True
    sender.join(BOUND_SECONDS)
    follower.wait_for(sender.acknowledged)
    print(
        f"killed {count} times in {time.monotonic() - begin:.0f} s; {follower.latest} changes came, "
        f"none lost, over {follower.connections} connections"
    )


if __name__ == "__main__":
    main(int(sys.argv[1]))
