"""Types, plugs, unplugs, connects and hangs up for a long time, and checks that nothing grows.

Runs in the guest, as root: `soak.py SECONDS`. A keyboard types a thousand events a second; another
is plugged and unplugged every second, with keys held; 64 subscribers come and go, each of which
resumes where it left off and must get every change once, in order. The last line that is printed
has the outcome, as JSON.
"""

import itertools
import json
import re
import select
import sys
import time
from dataclasses import dataclass, field

from daemon import STATE, Daemon
from support.connection import Connection
from support.input_events import COMPOSE, INSERT, LEFTCTRL, LEFTSHIFT, PRESS, RELEASE, B
from support.waiting import wait_until
from uinput import Keyboard

SUBSCRIBERS = 64

EVENTS_PER_SECOND = 1000
STEPS_PER_SECOND = 50
EVENTS_PER_STEP = EVENTS_PER_SECOND // STEPS_PER_SECOND

# The share of the time in which allocator, caches and first use of pages may add memory. Only
# anonymous memory counts: the kernel takes pages of the program back, and maps them again.
WARM_UP = 0.2
ALLOWED_GROWTH_KIB = 256

CHANGE = re.compile(rb'"sequence":(\d+),"time":\d+,"machine"')
SEQUENCE = re.compile(rb'"sequence":(\d+),"time":\d+,"shiftTrigger"')
NOT_MISSED = b'"missed":0'


@dataclass
class Subscriber:
    """A subscriber that uses one connection after another."""

    instance: str
    latest: int
    connection: Connection = field(init=False)
    rest: bytes = b""
    changes: int = 0

    def connect(self) -> None:
        """Connects, and subscribes from the last change that it has."""
        self.connection = Connection(STATE)
        self.connection.send_call("Monitor", more=True, after=self.latest, instance=self.instance)
        self.rest = b""

    def take(self) -> None:
        """Reads what has arrived, and checks that it has the next changes."""
        chunk = self.connection.socket.recv(65536)
        assert chunk, "the daemon has hung up"
        *messages, self.rest = (self.rest + chunk).split(b"\0")
        for message in messages:
            assert NOT_MISSED in message, message[-100:]
            for number in CHANGE.findall(message):
                assert int(number) == self.latest + 1, f"{number!r} after {self.latest}"
                self.latest += 1
                self.changes += 1
            (sequence,) = SEQUENCE.findall(message)
            assert int(sequence) == self.latest, f"{sequence!r}, not {self.latest}"


class Subscribers:
    """All subscribers, some of which reconnect every second."""

    def __init__(self, instance: str, latest: int) -> None:
        self.all = [Subscriber(instance, latest) for _ in range(SUBSCRIBERS)]
        self._poll = select.epoll()
        self._by_number: dict[int, Subscriber] = {}
        for subscriber in self.all:
            self._connect(subscriber)
        self._next = itertools.cycle(self.all)
        self.connections = SUBSCRIBERS

    def _connect(self, subscriber: Subscriber) -> None:
        subscriber.connect()
        number = subscriber.connection.socket.fileno()
        self._by_number[number] = subscriber
        self._poll.register(number, select.EPOLLIN)

    def take(self, seconds: float) -> None:
        """Reads what arrives within this time."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            for number, _ in self._poll.poll(left):
                self._by_number[number].take()

    def take_until(self, latest: int) -> None:
        """Reads until all subscribers have the change of this sequence."""

        def have_all() -> bool:
            self.take(0.01)
            return all(subscriber.latest >= latest for subscriber in self.all)

        wait_until(have_all, "the rest of the changes")

    def change_some(self, count: int) -> None:
        """Closes the connections of some subscribers at any point, and connects them again."""
        for subscriber in itertools.islice(self._next, count):
            number = subscriber.connection.socket.fileno()
            self._poll.unregister(number)
            del self._by_number[number]
            subscriber.connection.close()
            self._connect(subscriber)
        self.connections += count


def typing() -> list[list[tuple[int, int]]]:
    """The events of each step of a second: 1000 in all, some of which change states."""
    steps = []
    for step in range(STEPS_PER_SECOND):
        events = [(key, value) for key in (LEFTSHIFT, B) for value in (PRESS, RELEASE)]
        bound = INSERT if step % 2 else COMPOSE
        events += [(bound, PRESS), (bound, RELEASE)]
        letters = (EVENTS_PER_STEP - len(events)) // 2
        steps.append(events + [(B, PRESS), (B, RELEASE)] * letters)
    return steps


def soak(seconds: int) -> dict[str, int | str]:
    daemon = Daemon()
    descriptors_before = daemon.process.descriptors()
    # One for each subscriber, two for each keyboard: the previous visitor may still be followed.
    most = descriptors_before + SUBSCRIBERS + 3 * 2
    with Connection(STATE) as asking:
        state = asking.call("GetState")["state"]
    subscribers = Subscribers(state["instance"], state["sequence"])
    steps = typing()
    anonymous: list[int] = []
    started = time.monotonic()
    with Keyboard("soak") as keyboard:
        daemon.wait_until_followed(keyboard)
        visitor = Keyboard("visitor 0")
        for second in range(seconds):
            for number, events in enumerate(steps, 1):
                keyboard.send(*events)
                due = started + second + number / STEPS_PER_SECOND
                subscribers.take(max(0.001, due - time.monotonic()))
            # The visitor may not be followed yet. Its keys are released when it is removed.
            visitor.press(LEFTCTRL, LEFTSHIFT)
            visitor.remove()
            visitor = Keyboard(f"visitor {second + 1}")
            subscribers.change_some(8)
            if second >= seconds * WARM_UP:
                anonymous.append(daemon.process.anonymous_kib())
                # The daemon may not have closed all ended connections yet.
                wait_until(
                    lambda: daemon.process.descriptors() <= most, f"at most {most} descriptors"
                )
        took = time.monotonic() - started
        visitor.remove()
    wait_until(
        lambda: not [name for name in daemon.devices() if name.startswith("visitor")],
        "the visitors to be gone",
    )
    latest = daemon.state()["sequence"]
    subscribers.take_until(latest)
    assert {subscriber.latest for subscriber in subscribers.all} == {latest}
    growth = max(anonymous) - min(anonymous)
    assert growth <= 2 * ALLOWED_GROWTH_KIB, anonymous
    for subscriber in subscribers.all:
        subscriber.connection.close()
    wait_until(
        lambda: daemon.process.descriptors() == descriptors_before, "the descriptors to be closed"
    )
    changes = latest - state["sequence"]
    return {
        "count": seconds * EVENTS_PER_SECOND,
        "outcome": f"{took:.0f} s, {changes} changes, {subscribers.connections} connections, "
        f"{min(anonymous)} to {max(anonymous)} KiB, {descriptors_before} descriptors",
    }


if __name__ == "__main__":
    print(json.dumps(soak(int(sys.argv[1]))))
