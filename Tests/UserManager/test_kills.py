"""`kill -9` of each process that takes part, again and again: nothing of the command is left."""

import contextlib
import os
import random
import signal
import statistics
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from person import DAEMON, Person
from running_while import GRACE_AND_A_SECOND_US, HOPPERS, RunningWhile, processes
from support.attack_table import AttackTable
from support.connection import Connection, Message
from support.waiting import wait_until

pytestmark = pytest.mark.attack

COUNT = int(os.environ.get("KEYMODED_KILLS", "5"))


def tell(told: AttackTable, attack: str, delays: list[float]) -> None:
    """Tells of the worst delay. A busy machine may spoil some; a fault would delay most."""
    told(attack, len(delays), "nothing left", delay=f"{max(delays) * 1000:.0f} ms")
    assert statistics.median(delays) * 1_000_000 < GRACE_AND_A_SECOND_US


def kill_keymodectl(person: Person) -> None:
    person.kill("KILL", *person.pids("keymodectl"))


def kill_daemon(person: Person) -> None:
    person.systemctl("kill", "--signal=KILL", DAEMON)


@pytest.mark.parametrize("kill", [kill_keymodectl, kill_daemon, Person.kill_manager])
def test_nothing_is_left(told: AttackTable, kill: Callable[[Person], None]) -> None:
    delays = []
    with Person() as person:
        for _ in range(COUNT):
            running = RunningWhile(person, *HOPPERS)
            person.trigger("tapTextField")
            running.wait_for_log("up")
            assert running.scope
            run = running.scope / "run-1"
            begin = time.monotonic()
            kill(person)
            wait_until(lambda run=run: not processes(run), "the end")
            delays.append(time.monotonic() - begin)
            if kill is Person.kill_manager:
                assert running.end() == 1
                ended = "the service manager has ended; so has the command"
                assert running.errors == f"keymodectl: {ended}"
                # Its services run on, and the next manager would not start them.
                person.kill("KILL", *person.pids("keymoded"))
                person.start_manager()
                person.systemctl("start", DAEMON)
            else:
                running.close()
                person.wait("keymodectl", "state")
                person.trigger("tapBlankArea")
            assert not person.active("keymode-while-*")
    tell(told, kill.__name__.replace("_", " "), delays)


VICTIMS = ["keymodectl", "the keeper", "both", "the scope"]


def test_random_kills_while_states_change_leave_nothing(told: AttackTable) -> None:
    """The kill may come before the command, while it starts, runs or ends, and after it."""
    dice = random.Random(30)
    delays = []
    with Person() as person:
        for _ in range(4 * COUNT):
            running = RunningWhile(person, *HOPPERS)
            numbers = {"keymodectl": running.number, "the keeper": running.keeper}
            with Connection(person.sockets / "control.sock") as control:
                for _ in range(dice.randint(1, 30)):
                    control.call("Trigger", event=dice.choice(["tapTextField", "tapBlankArea"]))
                    time.sleep(dice.uniform(0, 0.02))
            victim = dice.choice(VICTIMS)
            begin = time.monotonic()
            for name, number in numbers.items():
                if victim in (name, "both"):
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(number, signal.SIGKILL)
            if victim == "the scope":
                assert running.scope
                person.systemctl("stop", running.scope.name, check=False)
            running.wait_for_nothing()
            delays.append(time.monotonic() - begin)
    tell(told, "random kills", delays)


@contextlib.contextmanager
def connected(path: Path) -> Iterator[Connection]:
    """A connection, once there is a daemon; its end ends the block."""
    # The manager keeps no sockets, so there may be none between two daemons.
    wait_until(path.exists, "a daemon")
    with contextlib.suppress(ConnectionError, FileNotFoundError), Connection(path) as connection:
        yield connection


class Follower(threading.Thread):
    """A subscriber that resumes after its last change whenever the daemon is killed."""

    def __init__(self, person: Person) -> None:
        super().__init__(daemon=True)
        self._state = person.sockets / "state.sock"
        self.instance: str | None = None
        self.latest = 0
        self.connections = 0
        self.problem: BaseException | None = None

    def run(self) -> None:
        while self.problem is None:
            try:
                with connected(self._state) as client:
                    self.connections += 1
                    self._follow(client)
            except AssertionError as error:
                self.problem = error

    def _follow(self, client: Connection) -> None:
        known = {} if self.instance is None else {"after": self.latest, "instance": self.instance}
        client.send_call("Monitor", more=True, **known)
        while True:
            self._take(client.reply())

    def _take(self, reply: Message) -> None:
        state = reply["state"]
        if self.instance is None:
            self.instance, self.latest = state["instance"], state["sequence"]
        assert state["instance"] == self.instance, "the daemon has lost its states"
        assert reply["missed"] == 0, f"{reply['missed']} changes are lost"
        for change in reply["changes"]:
            assert change["sequence"] == self.latest + 1, f"{change} after {self.latest}"
            self.latest += 1
        assert state["sequence"] == self.latest, f"{state} after {self.latest}"

    def wait_for(self, sequence: int) -> None:
        """Waits until the change of this sequence has arrived."""
        wait_until(lambda: self.problem or self.latest >= sequence, f"change {sequence}")
        assert self.problem is None, self.problem


def test_killing_the_daemon_again_and_again_loses_no_change(told: AttackTable) -> None:
    with Person() as person:
        follower = Follower(person)
        acknowledged = 0
        is_ending = threading.Event()

        def send() -> None:
            nonlocal acknowledged
            while not is_ending.is_set():
                with connected(person.sockets / "control.sock") as control:
                    while not is_ending.is_set():
                        answer = control.call("Trigger", event="shiftPressed")
                        acknowledged = answer["state"]["sequence"]

        sender = threading.Thread(target=send, daemon=True)
        follower.start()
        sender.start()
        dice = random.Random(COUNT)
        killed = 0
        for _ in range(6 * COUNT):
            wait_until(lambda: set(person.pids("keymoded")) - {killed}, "the next daemon")  # noqa: B023
            (killed,) = set(person.pids("keymoded")) - {killed}
            # The daemon makes a change before it is killed. Those of the one before have arrived.
            follower.wait_for(follower.latest + 1)
            time.sleep(dice.uniform(0, 0.02))
            person.kill("KILL", killed)
        follower.wait_for(follower.latest + 1)
        is_ending.set()
        sender.join()
        follower.wait_for(acknowledged)
    told(
        "kill keymoded", 6 * COUNT, f"{follower.latest} changes, {follower.connections} connections"
    )
