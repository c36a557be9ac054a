"""Attacks of clients on the daemon, each of which runs for a given time.

Runs as a process of its own, `attacks.py NAME FOLDER SECONDS`, with SCHED_IDLE: the tests measure
the daemon, not how the kernel shares a processor. With `--normal` it has the usual priority. It prints
how often it attacked, and fails if something went wrong.
"""

import contextlib
import json
import os
import random
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from support.checkout import ENVIRONMENT
from support.connection import GET_STATE, INTERFACE, MONITOR, Connection
from target import Target, fault, silent_socket

# How often it was made, again and again.
Attack = Iterator[int]

# How many clients the daemon serves on state.sock besides the innocent one.
MOST_CLIENTS = 495

BUSY = f'{{"error":"{INTERFACE}.TooManyClients","parameters":{{}}}}'.encode()


def take_all_connections(target: Target) -> Attack:
    """Connects more clients than the limit: those beyond it receive an error. Then closes them."""
    for _ in target.rounds():
        held = [Connection(target.state) for _ in range(MOST_CLIENTS + 40)]
        yield len(held)
        for client in held:
            with contextlib.suppress(BrokenPipeError):
                client.send(GET_STATE)
        answers = [client.message() for client in held]
        served = [answer for answer in answers if answer and b'"state":' in answer]
        refused = [answer for answer in answers if answer == BUSY]
        # Clients of the round before may still count for a moment after they were closed.
        found = f"{len(served)} served, {len(refused)} refused of {len(held)}"
        assert len(served) + len(refused) == len(held), found
        assert 1 <= len(served) <= MOST_CLIENTS and refused, found
        with Connection(target.control) as control:
            control.call("GetState")
        for client in held:
            client.close()


def half_never_read(target: Target) -> Attack:
    """Subscribes with as many clients as served; half of them read, and must get everything."""
    silent = [silent_socket(target.state) for _ in range(MOST_CLIENTS // 2)]
    reading = [silent_socket(target.state) for _ in range(MOST_CLIENTS - len(silent))]
    for client in [*silent, *reading]:
        client.send(MONITOR)
    poll = select.epoll()
    latest: dict[int, int | None] = {client.fileno(): None for client in reading}
    for client in reading:
        poll.register(client, select.EPOLLIN)
    by_number = {client.fileno(): client for client in reading}
    rest = dict.fromkeys(latest, b"")
    yield len(silent) + len(reading)
    for _ in target.rounds():
        for number, _ in poll.poll(0.1):
            *messages, rest[number] = (rest[number] + by_number[number].recv(65536)).split(b"\0")
            for message in messages:
                parameters = json.loads(message)["parameters"]
                before = latest[number]
                latest[number] = parameters["state"]["sequence"]
                assert before is None or not fault(parameters, before), fault(parameters, before)


def ask_many_at_once(target: Target) -> Attack:
    """Sends as many calls as fit; half of the clients read replies. Then again, on new connections."""
    calls = GET_STATE * 200
    for _ in target.rounds():
        clients = [silent_socket(target.state) for _ in range(100)]
        for _ in target.rounds(1):
            for number, client in enumerate(clients):
                with contextlib.suppress(BlockingIOError):
                    # A call may be cut, but then the rest of it is next on this connection.
                    yield client.send(calls) // len(GET_STATE)
                if number % 2:
                    with contextlib.suppress(BlockingIOError):
                        client.recv(1 << 20)
        for client in clients:
            client.close()


def die_in_the_middle(target: Target) -> Attack:
    """Is killed in the middle of a message, or of a reply."""
    for number, _ in enumerate(target.rounds()):
        child = os.fork()
        if child == 0:
            clients = [silent_socket(target.state) for _ in range(10)]
            for client in clients:
                client.send(MONITOR if number % 2 else GET_STATE * 20)
                client.send(GET_STATE[: random.randrange(len(GET_STATE))])
            os.kill(os.getpid(), signal.SIGKILL)
        os.waitpid(child, 0)
        yield 1


def send_long_messages(target: Target) -> Attack:
    """Sends calls of the greatest length, with as many JSON values in them as fit."""
    head = f'{{"method":"{INTERFACE}.GetState","parameters":{{"a":['.encode()
    call = head + b"0," * ((65_536 - len(head) - 4) // 2) + b"0]}}\0"
    clients = [Connection(target.state) for _ in range(100)]
    for _ in target.rounds():
        for client in clients:
            client.send(call)
            assert b"InvalidParameter" in (client.message() or b"")
        yield len(clients)


def resume_from_long_ago(target: Target) -> Attack:
    """Asks again and again for the last 900 changes."""
    for _ in target.rounds():
        with Connection(target.state) as first:
            state = first.call("GetState")["state"]
        after = max(0, state["sequence"] - 900)
        clients = [Connection(target.state) for _ in range(20)]
        for client in clients:
            reply = client.call("Monitor", more=True, after=after, instance=state["instance"])
            assert not fault(reply, after), fault(reply, after)
            client.close()
        yield len(clients)


def call_and_connect(target: Target) -> Attack:
    """Sends as many calls as fit on 30 connections, and connects five times a pass."""
    calls = GET_STATE * 200
    clients = [silent_socket(target.state) for _ in range(30)]
    rest = dict.fromkeys(clients, b"")
    for _ in target.rounds():
        for client in clients:
            with contextlib.suppress(BlockingIOError):
                client.recv(1 << 20)
            with contextlib.suppress(BlockingIOError):
                rest[client] = rest[client] or calls
                sent = client.send(rest[client])
                rest[client] = rest[client][sent:]
                yield sent // len(GET_STATE)
        for _ in range(5):
            Connection(target.state).close()


def hold_all_silently(target: Target) -> Attack:
    """Has as many connections as the daemon allows, says nothing, and connects for each that ends."""
    held = [silent_socket(target.state) for _ in range(MOST_CLIENTS + 1)]
    poll = select.poll()
    by_number = {}
    yield len(held)
    for _ in target.rounds():
        for client in held:
            by_number[client.fileno()] = client
            poll.register(client, select.POLLRDHUP)
        held = []
        for number, _ in poll.poll(100):
            poll.unregister(number)
            by_number.pop(number).close()
            held.append(silent_socket(target.state))
        yield len(held)


def call_and_hold_all(target: Target) -> Attack:
    """Does both at once."""
    child = os.fork()
    if child == 0:
        for _ in hold_all_silently(target):
            pass
        os._exit(0)
    yield from call_and_connect(target)
    assert os.waitpid(child, 0)[1] == 0


# What delays the answers to other clients most.
CROWDS = (call_and_connect, hold_all_silently, call_and_hold_all)

ATTACKS: dict[str, Callable[[Target], Attack]] = {
    attack.__name__: attack
    for attack in (
        take_all_connections,
        half_never_read,
        ask_many_at_once,
        die_in_the_middle,
        send_long_messages,
        resume_from_long_ago,
        *CROWDS,
    )
}

# How much longer than its time an attack may take: with SCHED_IDLE it gets little on a busy machine.
PATIENCE_SECONDS = 120


def attack(name: str, folder: Path, seconds: float, *options: str) -> int:
    """Attacks the daemon that serves in a folder, in another process; returns how often."""
    ended = subprocess.run(
        [sys.executable, __file__, name, folder, str(seconds), *options],
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        timeout=seconds + PATIENCE_SECONDS,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    return int(ended.stdout)



if __name__ == "__main__":
    name, folder, seconds, *options = sys.argv[1:]
    if options != ["--normal"]:
        os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
    print(sum(ATTACKS[name](Target(Path(folder), time.monotonic() + float(seconds)))))
