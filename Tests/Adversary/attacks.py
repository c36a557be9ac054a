"""Attacks of clients on the daemon, each of which runs for a given time.

Runs as a process of its own, `attacks.py NAME FOLDER SECONDS`, with SCHED_IDLE: the tests measure
the daemon, not how the kernel shares a processor. Its last line is the result as JSON: how often it
attacked, and what went wrong.
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
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

from support.connection import GET_STATE, INTERFACE, MONITOR, Connection
from target import Result, Target, fault, silent_socket

# How many clients the daemon serves on state.sock besides the innocent one.
MOST_CLIENTS = 495

BUSY = f'{{"error":"{INTERFACE}.TooManyClients","parameters":{{}}}}'.encode()


def come_and_go(target: Target) -> Result:
    """Connects and hangs up as fast as it can."""
    result = Result()
    for _ in target.rounds():
        Connection(target.state).close()
        result.count += 1
    return result


def take_all_connections(target: Target) -> Result:
    """Connects more clients than the limit: those beyond it receive an error. Then closes them."""
    result = Result()
    for _ in target.rounds():
        held = [Connection(target.state) for _ in range(MOST_CLIENTS + 40)]
        result.count += len(held)
        for client in held:
            with contextlib.suppress(BrokenPipeError):
                client.send(GET_STATE)
        answers = [client.message() for client in held]
        served = [answer for answer in answers if answer and b'"state":' in answer]
        refused = [answer for answer in answers if answer == BUSY]
        # Clients of the round before may still count for a moment after they were closed.
        if (
            len(served) + len(refused) != len(held)
            or not 1 <= len(served) <= MOST_CLIENTS
            or not refused
        ):
            result.problem = f"{len(served)} served, {len(refused)} refused of {len(held)}"
        with Connection(target.control) as control:
            control.call("GetState")
        for client in held:
            client.close()
    return result


def never_read(target: Target) -> Result:
    """Subscribes with as many clients as the daemon serves, and reads nothing."""
    clients = [silent_socket(target.state) for _ in range(MOST_CLIENTS)]
    for client in clients:
        client.send(MONITOR)
    target.wait()
    return Result(len(clients))


def half_never_read(target: Target) -> Result:
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
    result = Result(len(silent) + len(reading))
    for _ in target.rounds():
        for number, _ in poll.poll(0.1):
            *messages, rest[number] = (rest[number] + by_number[number].recv(65536)).split(b"\0")
            for message in messages:
                parameters = json.loads(message)["parameters"]
                before = latest[number]
                latest[number] = parameters["state"]["sequence"]
                if before is not None:
                    result.problem = result.problem or fault(parameters, before)
    return result


def one_byte_at_a_time(target: Target) -> Result:
    """Sends calls byte by byte, on many connections in turn."""
    clients = [Connection(target.state) for _ in range(100)]
    result = Result()
    for _ in target.rounds():
        for byte in GET_STATE:
            for client in clients:
                client.send(bytes([byte]))
        for client in clients:
            client.reply()
        result.count += len(clients)
    return result


def ask_many_at_once(target: Target) -> Result:
    """Sends as many calls as fit without waiting for replies, but reads those."""
    return _ask(target, reading=True)


def ask_and_never_read(target: Target) -> Result:
    """Sends as many calls as fit, and reads nothing; then does the same on new connections."""
    return _ask(target, reading=False)


def _ask(target: Target, reading: bool) -> Result:
    result = Result()
    calls = GET_STATE * 200
    for _ in target.rounds():
        clients = [silent_socket(target.state) for _ in range(100)]
        for _ in target.rounds(1):
            for client in clients:
                with contextlib.suppress(BlockingIOError):
                    # A call may be cut, but then the rest of it is next on this connection.
                    result.count += client.send(calls) // len(GET_STATE)
                if reading:
                    with contextlib.suppress(BlockingIOError):
                        client.recv(1 << 20)
        for client in clients:
            client.close()
    return result


def close_one_half(target: Target) -> Result:
    """Closes the sending side after a call, or the receiving side before one."""
    result = Result()
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
        result.count += len(sending) + len(receiving)
    return result


def die_in_the_middle(target: Target) -> Result:
    """Is killed in the middle of a message, or of a reply."""
    result = Result()
    for _ in target.rounds():
        child = os.fork()
        if child == 0:
            clients = [silent_socket(target.state) for _ in range(10)]
            for client in clients:
                client.send(MONITOR if result.count % 2 else GET_STATE * 20)
                client.send(GET_STATE[: random.randrange(len(GET_STATE))])
            os.kill(os.getpid(), signal.SIGKILL)
        os.waitpid(child, 0)
        result.count += 1
    return result


def talk_nonsense(target: Target) -> Result:
    """Sends messages that are not valid calls, or that the daemon cannot answer."""
    result = Result()
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
            result.count += 1
    return result


def send_long_messages(target: Target) -> Result:
    """Sends calls of the greatest length, with as many JSON values in them as fit."""
    head = f'{{"method":"{INTERFACE}.GetState","parameters":{{"a":['.encode()
    call = head + b"0," * ((65_536 - len(head) - 4) // 2) + b"0]}}\0"
    clients = [Connection(target.state) for _ in range(100)]
    result = Result()
    for _ in target.rounds():
        for client in clients:
            client.send(call)
            if b"InvalidParameter" not in (client.message() or b""):
                result.problem = "a call was not answered"
        result.count += len(clients)
    return result


def resume_from_long_ago(target: Target) -> Result:
    """Asks again and again for the last 900 changes."""
    result = Result()
    for _ in target.rounds():
        with Connection(target.state) as first:
            state = first.call("GetState")["state"]
        after = max(0, state["sequence"] - 900)
        clients = [Connection(target.state) for _ in range(20)]
        for client in clients:
            reply = client.call("Monitor", more=True, after=after, instance=state["instance"])
            result.problem = result.problem or fault(reply, after)
            client.close()
        result.count += len(clients)
    return result


ATTACKS: dict[str, Callable[[Target], Result]] = {
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
    result = ATTACKS[name](Target(Path(folder), time.monotonic() + float(seconds)))
    print(json.dumps(asdict(result)))
