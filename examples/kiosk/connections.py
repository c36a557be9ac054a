"""Who may connect to keymode-kiosk, and what a connection may take before it has shown the token."""

import asyncio
import logging
import os
import socket
import struct
import sys
from collections.abc import Coroutine
from contextlib import suppress
from functools import partial

from aiohttp import web

MOST = 128  # Connections that have not shown the token.
SECONDS = 10  # For the first request, until it has shown the token or is answered.
LONGEST = 1 << 14  # Bytes of headers; aiohttp alone would take megabytes.
BUFFERS = {socket.SO_RCVBUF: 1 << 14, socket.SO_SNDBUF: 1 << 16}  # Bytes; the kernel doubles them.

SOCK_DIAG, BY_FAMILY, REQUEST = 4, 20, 1  # See sock_diag(7).


class Listener(socket.socket):
    """Closes a connection at once if the kernel says that another user made it."""

    is_resting = True

    def __init__(self, fileno: int) -> None:
        super().__init__(fileno=fileno)
        for option, size in BUFFERS.items():  # Connections inherit them, if they come later.
            self.setsockopt(socket.SOL_SOCKET, option, size)

    def accept(self) -> tuple[socket.socket, tuple]:
        # One at a time: asyncio would accept a hundred before it reads what the first one sent.
        self.is_resting = not self.is_resting
        if self.is_resting:
            raise BlockingIOError
        connection, peer = super().accept()
        allowed = {os.getuid(), None}
        if self.family == socket.AF_INET and user(peer, self.getsockname()) not in allowed:
            connection.close()
            raise BlockingIOError
        return connection, peer


def user(source: tuple[str, int], destination: tuple[str, int]) -> int | None:
    """The user who has the socket of a connection of this machine."""
    ports = struct.pack("!HH", source[1], destination[1])
    hosts = [socket.inet_aton(host) for host, _ in (source, destination)]
    kind = (socket.AF_INET, socket.IPPROTO_TCP, 0, -1)  # In any state.
    end = struct.pack("=BBHi4s4s12x4s16x8s", *kind, ports, *hosts, b"\xff" * 8)
    question = struct.pack("=IHHII", 16 + len(end), BY_FAMILY, REQUEST, 0, 0) + end
    with suppress(OSError), socket.socket(socket.AF_NETLINK, socket.SOCK_DGRAM, SOCK_DIAG) as kernel:
        kernel.sendto(question, (0, 0))
        answer = kernel.recv(4096)
        if struct.unpack_from("=IH", answer)[1] == BY_FAMILY:
            return struct.unpack_from("=I", answer, 80)[0]
    # A kernel without the module tcp_diag tells it here, which may take 30 ms.
    binary = [int.from_bytes(host, sys.byteorder) for host in hosts]
    wanted = [f"{binary[0]:08X}:{source[1]:04X}", f"{binary[1]:08X}:{destination[1]:04X}"]
    with suppress(OSError), open("/proc/net/tcp") as table:
        found = [fields for fields in map(str.split, table) if fields[1:3] == wanted]
        return int(found[0][7]) if found else None
    return None


class Connection(web.RequestHandler):
    """Gives aiohttp what arrives once the headers of the request are complete.

    Of the connections that have not shown the token, the oldest gives way to a new one.
    """

    newcomers: dict["Connection", asyncio.TimerHandle] = {}
    stream: asyncio.Task | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:
        super().connection_made(transport)
        self.head: bytearray | None = bytearray()
        if len(self.newcomers) >= MOST:
            next(iter(self.newcomers)).end()
        later = asyncio.get_running_loop().call_later
        self.newcomers[self] = later(SECONDS, self.end)

    def data_received(self, data: bytes) -> None:
        if self.head is not None:
            self.head += data
            if self.head.find(b"\r\n\r\n", 0, LONGEST) < 0:
                return self.end() if len(self.head) >= LONGEST else None
            data, self.head = bytes(self.head), None
            self.transport.pause_reading()  # A body is read only after the token.
        super().data_received(data)

    def connection_lost(self, error: BaseException | None) -> None:
        super().connection_lost(error)
        self.admit()
        if self.stream:  # aiohttp would leave it waiting for the next change.
            self.stream.cancel()

    def admit(self) -> None:
        """It has shown the token, or is gone."""
        if timer := self.newcomers.pop(self, None):
            timer.cancel()
        if self.transport:
            self.transport.resume_reading()

    def end(self) -> None:
        self.admit()
        if self.transport:
            self.transport.abort()


async def serve(application: web.Application, listener: Listener, *others: Coroutine) -> None:
    """Serves until a signal raises `web.GracefulExit`, or one of the others fails."""
    logging.getLogger("aiohttp").setLevel(logging.CRITICAL)  # It would log bytes of bad requests.
    runner, loop = web.AppRunner(application, handle_signals=True), asyncio.get_running_loop()
    await runner.setup()
    # A compressed body could grow a thousandfold before the token is looked at.
    options = {"loop": loop, "access_log": None, "auto_decompress": False}
    options["lingering_time"] = 1  # Seconds in which aiohttp keeps what waits for an unread body.
    factory = partial(Connection, runner.server, **options)
    server = await loop.create_server(factory, sock=listener, backlog=128)
    await asyncio.gather(server.serve_forever(), *others)
