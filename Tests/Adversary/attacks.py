"""Attacks of clients on the daemon, each of which runs for a given time.

Runs as a process of its own, `attacks.py NAME FOLDER SECONDS`, with SCHED_IDLE: the tests measure
the daemon, not how the kernel shares a processor. It prints how often it attacked, and fails if
something went wrong.
"""

import contextlib
import json
import os
import random
import select
import signal
import socket
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from support.connection import GET_STATE, INTERFACE, MONITOR, Connection
from target import Target, fault, silent_socket

# How often it was made, again and again.
Attack = Iterator[int]

# How many clients the daemon serves on state.sock besides the innocent one.
MOST_CLIENTS = 495

BUSY = f'{{"error":"{INTERFACE}.TooManyClients","parameters":{{}}}}'.encode()


def come_and_go(target: Target) -> Attack:
    """Connects and hangs up as fast as it can."""
    for _ in target.rounds():
        Connection(target.state).close()
        yield 1


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


def never_read(target: Target) -> Attack:
    """Subscribes with as many clients as the daemon serves, and reads nothing."""
    clients = [silent_socket(target.state) for _ in range(MOST_CLIENTS)]
    for client in clients:
        client.send(MONITOR)
    yield len(clients)
    target.wait()


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


def one_byte_at_a_time(target: Target) -> Attack:
    """Sends calls byte by byte, on many connections in turn."""
    clients = [Connection(target.state) for _ in range(100)]
    for _ in target.rounds():
        for byte in GET_STATE:
            for client in clients:
                client.send(bytes([byte]))
        for client in clients:
            client.reply()
        yield len(clients)


def ask_many_at_once(target: Target) -> Attack:
    """Sends as many calls as fit without waiting for replies, but reads those."""
    return _ask(target, reading=True)


def ask_and_never_read(target: Target) -> Attack:
    """Sends as many calls as fit, and reads nothing; then does the same on new connections."""
    return _ask(target, reading=False)


def _ask(target: Target, reading: bool) -> Attack:
    calls = GET_STATE * 200
    for _ in target.rounds():
        clients = [silent_socket(target.state) for _ in range(100)]
        for _ in target.rounds(1):
            for client in clients:
                with contextlib.suppress(BlockingIOError):
                    # A call may be cut, but then the rest of it is next on this connection.
                    yield client.send(calls) // len(GET_STATE)
                if reading:
                    with contextlib.suppress(BlockingIOError):
                        client.recv(1 << 20)
        for client in clients:
            client.close()


def close_one_half(target: Target) -> Attack:
    """Closes the sending side after a call, or the receiving side before one."""
    for _ in target.rounds():
        sending = [Connection(target.state) for _ in range(50)]
        for number, client in enumerate(sending):
            client.send(GET_STATE if number % 2 else MONITOR)
            client.socket.shutdown(socket.SHUT_WR)
        receiving = [Connection(target.state) for _ in range(50)]
        for client in receiving:
            client.socket.shutdown(socket.SHUT_RD)
            client.send(GET_STATE)
        for client in sending:
            client.reply()
        for client in [*sending, *receiving]:
            client.close()
        yield len(sending) + len(receiving)


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


def talk_nonsense(target: Target) -> Attack:
    """Sends messages that are not valid calls, or that the daemon cannot answer."""
    nonsense = [
        b"\0",
        b"{\0",
        b"[" * 10_000 + b"\0",
        b'{"method":"\xff"}\0',
        b'{"method":7}\0',
        b'{"method":"x","parameters":{"a":9223372036854775808}}\0',
        b"A" * 65_537 + b"\0",
        b'{"method":"a.b"}\0',
        GET_STATE[:-1] + b" " * 60_000,
    ]
    for _ in target.rounds():
        for message in nonsense:
            with (
                Connection(target.state) as client,
                contextlib.suppress(BrokenPipeError, ConnectionResetError),
            ):
                client.send(message)
        yield len(nonsense)


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


ATTACKS: dict[str, Callable[[Target], Attack]] = {
    attack.__name__: attack
    for attack in (
        come_and_go,
        take_all_connections,
        never_read,
        half_never_read,
        one_byte_at_a_time,
        ask_many_at_once,
        ask_and_never_read,
        close_one_half,
        die_in_the_middle,
        talk_nonsense,
        send_long_messages,
        resume_from_long_ago,
    )
}


if __name__ == "__main__":
    os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
    name, folder, seconds = sys.argv[1:]
    print(sum(ATTACKS[name](Target(Path(folder), time.monotonic() + float(seconds)))))
