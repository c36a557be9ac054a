"""Connections that attack the kiosk's bridge without its token: `crowd.py PORT COUNT SHAPE`.

Opens COUNT connections, of which each sends what SHAPE says and reads nothing. Those that the bridge
ends are opened again, 500 in a second: a faster attacker would do no more than use the processor, which
needs no bridge. Prints "there" once so many have been open, goes on until SIGTERM, and prints how many
connections it opened. It imports nothing of the tests, so that any user and any machine can run it.
"""

import contextlib
import gzip
import resource
import select
import signal
import socket
import sys
import time

HEAD = b"POST /trigger HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n"
LENGTH = b"Content-Length: 1000000\r\n"

# What each connection sends: the beginning, and what it repeats for as long as it is taken.
SHAPES = {
    "idle": (b"", b""),
    "half a request": (HEAD, b""),
    "headers without end": (HEAD, b"A: " + b"x" * 8000 + b"\r\n"),
    "a line without end": (b"GET /", b"x" * 8000),
    "a body that does not come": (HEAD + LENGTH + b"\r\n", b""),
    "a body without end": (HEAD + LENGTH + b"\r\n", b" " * 8000),
    "a compressed body": (
        HEAD + LENGTH + b"Content-Encoding: gzip\r\n\r\n",
        gzip.compress(bytes(20_000_000)),
    ),
    "a file that is not read": (b"GET /kiosk.js HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n\r\n", b""),
}


def main() -> None:
    port, count, shape = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    beginning, repeated = SHAPES[shape]
    if b"%d" in beginning:
        beginning = beginning % port
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    waiting = select.epoll()
    clients: dict[int, tuple[socket.socket, bytes]] = {}
    opened = connected = 0
    again = time.monotonic()
    is_told = False
    new: set[int] = set()

    def end(*_: object) -> None:
        print(opened, flush=True)
        raise SystemExit

    signal.signal(signal.SIGTERM, end)

    def open_one() -> None:
        nonlocal opened
        client = socket.socket()
        client.setblocking(False)
        with contextlib.suppress(BlockingIOError):
            client.connect(("127.0.0.1", port))
        clients[client.fileno()] = (client, beginning)
        new.add(client.fileno())
        waiting.register(client, select.EPOLLOUT | select.EPOLLRDHUP)
        opened += 1

    for _ in range(count):
        open_one()
    while True:
        for number, events in waiting.poll(0.1):
            if number in new:
                new.discard(number)
                connected += 1
            client, rest = clients[number]
            try:
                if events & (select.EPOLLRDHUP | select.EPOLLHUP | select.EPOLLERR):
                    raise ConnectionError
                rest = rest or repeated
                if rest:
                    rest = rest[client.send(rest) :]
                clients[number] = (client, rest)
                if not rest and not repeated:
                    waiting.modify(client, select.EPOLLRDHUP)
            except BlockingIOError:
                pass
            except OSError:
                waiting.unregister(client)
                del clients[number]
                client.close()
        if not is_told and connected >= count:
            is_told = True
            print("there", flush=True)
        while len(clients) < count and again < time.monotonic():
            again = max(again, time.monotonic() - 0.1) + 0.002
            open_one()
        time.sleep(0.005)


if __name__ == "__main__":
    main()
