"""Kills the daemon repeatedly while its states change, and checks that no change is lost.

Runs in the guest, as root: `kill_daemon.py COUNT`. One thread sends events; one subscribes to all
changes and reconnects with the sequence of its last one. The last line that it prints says how many
times the daemon was killed and how many changes arrived.
"""

import os
import random
import signal
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

from daemon import CONTROL, STATE
from support.connection import Connection, Message
from support.waiting import BOUND_SECONDS


class Follower(threading.Thread):
    """A subscriber that reconnects whenever the daemon is killed."""

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
                with Connection(STATE) as client:
                    self.connections += 1
                    self._follow(client)
            except ConnectionError:
                pass  # the daemon was killed: reconnect
            except (AssertionError, TimeoutError) as error:
                self._fail(f"{type(error).__name__}: {error}")

    def _follow(self, client: Connection) -> None:
        known = self.instance is not None
        after = {"after": self.latest, "instance": self.instance} if known else {}
        client.send_call("Monitor", more=True, **after)
        while True:
            self._take(client.reply())

    def _take(self, reply: Message) -> None:
        state = reply["state"]
        if self.instance is None:
            self.instance, self.latest = state["instance"], state["sequence"]
        assert state["instance"] == self.instance, "the daemon has lost its states"
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
        """Waits until the change of this sequence has arrived."""
        with self.changed:
            arrived = self.changed.wait_for(
                lambda: self.problem or self.latest >= sequence, BOUND_SECONDS
            )
        assert self.problem is None, self.problem
        assert arrived, f"change {sequence} did not arrive: {self.latest} is the last"


class Sender(threading.Thread):
    """Sends events that each change a state, and keeps the last sequence acknowledged."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.acknowledged = 0
        self.stopping = False

    def run(self) -> None:
        while not self.stopping:
            try:
                with Connection(CONTROL) as client:
                    while not self.stopping:
                        self._send(client)
            except ConnectionError:
                pass

    def _send(self, client: Connection) -> None:
        reply = client.call("Trigger", event="shiftPressed")
        self.acknowledged = max(self.acknowledged, reply["state"]["sequence"])


def next_daemon(killed: int) -> int:
    """Waits for the daemon after the killed one, which may still be a zombie."""
    end = time.monotonic() + BOUND_SECONDS
    while time.monotonic() < end:
        if pid := next((pid for pid in daemons() if pid != killed), None):
            return pid
        time.sleep(0.002)
    raise TimeoutError("no daemon follows the one that was killed")


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
        # The daemon must make a change before it is killed. Changes of the daemon before it have
        # arrived by now.
        follower.wait_for(follower.latest + 1)
        time.sleep(source.uniform(0, 0.02))
        os.kill(pid, signal.SIGKILL)
    follower.wait_for(follower.latest + 1)
    sender.stopping = True
    sender.join(BOUND_SECONDS)
    follower.wait_for(sender.acknowledged)
    print(
        f"killed {count} times in {time.monotonic() - begin:.0f} s; {follower.latest} changes "
        f"came, none lost, over {follower.connections} connections"
    )


if __name__ == "__main__":
    main(int(sys.argv[1]))
