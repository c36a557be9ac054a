"""People who take turns in front of the guest, as the kernel and the daemon treat them.

`people.py CASE UID:TERMINAL...` runs a case of this module as root and prints a line of JSON.
"""

import contextlib
import errno
import fcntl
import json
import os
import random
import select
import signal
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from support.connection import GET_STATE, MONITOR, Connection
from support.waiting import wait_until

STATE, CONTROL = "/run/keymoded/state.sock", "/run/keymoded/control.sock"
VT_ACTIVATE = 0x5606


@dataclass(frozen=True)
class Person:
    uid: int
    terminal: int

    def comes(self) -> None:
        """Switches to the person's console, without waiting."""
        console = os.open("/dev/tty0", os.O_RDWR | os.O_NOCTTY)
        try:
            fcntl.ioctl(console, VT_ACTIVATE, self.terminal)
        finally:
            os.close(console)

    def connects(self) -> socket.socket | None:
        """A connection of the person, without any group; None if the kernel refuses it."""
        connection = socket.socket(socket.AF_UNIX)
        groups = os.getgroups()
        os.setgroups([])
        os.setresgid(self.uid, self.uid, 0)
        os.seteuid(self.uid)
        try:
            connection.connect(STATE)
        except PermissionError:
            return None
        finally:
            os.seteuid(0)
            os.setresgid(0, 0, 0)
            os.setgroups(groups)
        return connection

    def may_read(self) -> bool:
        with contextlib.suppress(ConnectionError):
            if connection := self.connects():
                with connection:
                    connection.sendall(GET_STATE)
                    return b'"state"' in connection.recv(4096)
        return False

    def settles(self, others: list["Person"]) -> None:
        """Waits until only this person may read."""
        wait_until(lambda: named() == self.uid, f"the right of {self}, not {named()}")
        wait_until(self.may_read, f"{self} to read")
        assert not any(other.may_read() for other in others if other != self)


def named() -> int | None:
    """The user whom the ACL names, or None."""
    try:
        acl = os.getxattr(STATE, "system.posix_acl_access")
    except OSError as error:
        if error.errno in (errno.ENODATA, errno.ENOENT):
            return None
        raise
    users = [uid for tag, _, uid in struct.iter_unpack("<HHI", acl[4:]) if tag == 2]
    assert len(users) == 1, acl
    return users[0]


def ends(connection: socket.socket, seconds: float = 20) -> bytes:
    """What still comes on a connection, up to its end."""
    rest = b""
    deadline = time.monotonic() + seconds
    while select.select([connection], [], [], max(0, deadline - time.monotonic()))[0]:
        try:
            part = connection.recv(65536)
        except ConnectionResetError:
            part = b""
        if not part:
            return rest
        rest += part
    raise TimeoutError("the connection does not end")


def pid(unit: str) -> int:
    command = ["systemctl", "show", "--value", "--property", "MainPID", unit]
    return int(subprocess.run(command, check=True, capture_output=True).stdout)


def reads(people: list[Person]) -> Any:
    """Only the person in front may read."""
    for person in people:
        person.comes()
        person.settles(people)
    return True


def cut(people: list[Person]) -> Any:
    """How many milliseconds after the switch the connections of the person before have ended."""
    times = []
    for number in range(10):
        before, after = people[number % 2], people[1 - number % 2]
        before.comes()
        before.settles(people)
        silent, subscribed = before.connects(), before.connects()
        assert silent and subscribed
        subscribed.sendall(MONITOR)
        assert b'"state"' in subscribed.recv(65536)
        start = time.monotonic()
        after.comes()
        assert ends(silent) == ends(subscribed) == b""
        times.append(round((time.monotonic() - start) * 1000))
        assert not before.connects()
        after.settles(people)
    return sorted(times)


def quick(people: list[Person]) -> Any:
    """A, B and C leave C alone the right; returns how often they were within 50 ms."""
    first, second, third = people
    in_time = 0
    for _ in range(10):
        first.comes()
        first.settles(people)
        start = time.monotonic()
        second.comes()
        time.sleep(0.01)
        third.comes()
        in_time += time.monotonic() - start < 0.05
        third.settles(people)
    return in_time


def backlog(people: list[Person]) -> Any:
    """A connection that waits to be accepted gets nothing once another person is in front."""
    first, second, _ = people
    first.comes()
    first.settles(people)
    daemon = pid("keymoded")
    os.kill(daemon, signal.SIGSTOP)
    try:
        waiting = first.connects()
        assert waiting
        waiting.sendall(GET_STATE)
        second.comes()
        wait_until(lambda: named() is None, "the right to be taken")
        assert not first.connects()
        assert not second.connects(), "the daemon still has the changes of before"
    finally:
        os.kill(daemon, signal.SIGCONT)
    rest = ends(waiting)
    second.settles(people)
    return rest.decode()


def changes(people: list[Person]) -> Any:
    """What the next person gets of the changes that one saw."""
    first, second, _ = people
    first.comes()
    first.settles(people)
    control = Connection(CONTROL)
    before = control.call("GetState")["state"]
    for event in ("tapTextField", "tapBlankArea"):
        assert control.call("Trigger", event=event)["changed"]
    old = control.call("GetState")["state"]
    name = {"instance": old["instance"]}
    seen = Connection(STATE).call("Monitor", more=True, after=before["sequence"], **name)
    assert [change["event"] for change in seen["changes"]] == ["tapTextField", "tapBlankArea"]
    second.comes()
    second.settles(people)
    found = Connection(STATE).call("Monitor", more=True, after=0, **name)
    recent = Connection(STATE).call("Monitor", more=True, after=before["sequence"], **name)
    assert (recent["changes"], recent["missed"]) == ([], 2)
    assert found["state"]["instance"] == old["instance"]
    # A daemon that is killed now leaves them to no other.
    daemon = pid("keymoded")
    os.kill(daemon, signal.SIGKILL)
    wait_until(lambda: pid("keymoded") not in (0, daemon), "the next daemon")
    later = Connection(STATE).call("Monitor", more=True, after=0, **name)
    same = [message["state"]["sequence"] == message["missed"] for message in (found, later)]
    return [found["changes"], later["changes"], *same]


def restarts(people: list[Person]) -> Any:
    """All is right again by itself."""
    first, second, _ = people
    for number, command in enumerate(
        (
            "systemctl restart keymoded-state.socket",
            "systemctl restart systemd-logind",
            "systemctl restart keymoded-seat",
            "kill -9 $(systemctl show --value --property MainPID keymoded-seat)",
            "systemctl restart keymoded",
            # As at a boot, except that a person has logged in already.
            "systemctl stop keymoded keymoded-state.socket keymoded-control.socket; "
            "! systemctl --quiet is-active keymoded-seat && "
            "systemctl start keymoded-control.socket keymoded-state.socket",
        )
    ):
        front, next_one = (first, second)[number % 2], (first, second)[1 - number % 2]
        front.comes()
        front.settles(people)
        subprocess.run(command, shell=True, check=True)
        front.settles(people)
        next_one.comes()
        next_one.settles(people)
    return True


def many(people: list[Person]) -> Any:
    """Switches 200 times; afterwards no connection is left."""
    choice = random.Random(1)
    for _ in range(200):
        last = choice.choice(people)
        last.comes()
        time.sleep(choice.choice((0, 0.002, 0.02)))
    last.settles(people)
    wait_until(lambda: Connection(CONTROL).call("GetStatistics")["clients"] == 1, "idleness")
    return True


def nobody(people: list[Person]) -> Any:
    """The last of these, and an empty console, have no right."""
    first, greeter = people[0], people[-1]
    for absent in (greeter, Person(0, 12)):
        first.comes()
        first.settles(people)
        kept = first.connects()
        assert kept
        absent.comes()
        assert ends(kept) == b""
        assert named() is None and not greeter.connects() and not first.connects()
    return True


def stopped(people: list[Person]) -> Any:
    """The right goes with the service, and so do the connections."""
    first = people[0]
    first.comes()
    first.settles(people)
    kept = first.connects()
    assert kept
    subprocess.run(["systemctl", "stop", "keymoded-seat"], check=True)
    assert ends(kept) == b""
    assert named() is None and not first.connects()
    return oct(os.stat(STATE).st_mode & 0o777)


def has_acl(_: list[Person]) -> Any:
    return named() is not None


CASES: dict[str, Callable[[list[Person]], Any]] = {
    case.__name__: case
    for case in (reads, cut, quick, backlog, changes, restarts, many, nobody, stopped, has_acl)
}

if __name__ == "__main__":
    given = [Person(*map(int, word.split(":"))) for word in sys.argv[2:]]
    print(json.dumps(CASES[sys.argv[1]](given)))
