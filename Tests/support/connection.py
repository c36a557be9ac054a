"""A Varlink connection to the daemon, for calls and for arbitrary bytes."""

import json
import select
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Self

from support.waiting import BOUND_SECONDS

INTERFACE = "org.keymoded.Controller"

GET_STATE = f'{{"method":"{INTERFACE}.GetState"}}'.encode() + b"\0"
MONITOR = f'{{"method":"{INTERFACE}.Monitor","more":true}}'.encode() + b"\0"

Message = dict[str, Any]


class Connection:
    """One connection to one of the daemon's sockets."""

    def __init__(self, path: str | Path) -> None:
        self.socket = socket.socket(socket.AF_UNIX)
        # Blocks while the daemon's backlog is full; with a timeout, connect() would fail instead.
        self.socket.connect(str(path))
        self.socket.settimeout(BOUND_SECONDS)
        self._received = b""
        self.bytes_received = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Closes the connection."""
        self.socket.close()

    def send(self, message: bytes) -> None:
        """Sends bytes as they are."""
        self.socket.sendall(message)

    def send_call(self, method: str, more: bool = False, **parameters: Any) -> None:
        """Sends a call; a method without a dot is one of keymoded's interface."""
        name = method if "." in method else f"{INTERFACE}.{method}"
        call = {"method": name, "parameters": parameters, "more": more}
        self.send(json.dumps(call).encode() + b"\0")

    def message(self) -> bytes | None:
        """The next message, without its NUL; None at the end of the connection."""
        while b"\0" not in self._received:
            try:
                chunk = self.socket.recv(65536)
            except ConnectionResetError:
                return None
            if not chunk:
                return None
            self._received += chunk
            self.bytes_received += len(chunk)
        message, self._received = self._received.split(b"\0", 1)
        return message

    def reply(self) -> Message:
        """The parameters of the next reply, which must not be an error.

        Raises ConnectionError at the end of the connection.
        """
        message = self.message()
        if message is None:
            raise ConnectionError("the daemon has ended the connection")
        reply: Message = json.loads(message)
        assert "error" not in reply, reply
        parameters: Message = reply["parameters"]
        return parameters

    def call(self, method: str, more: bool = False, **parameters: Any) -> Message:
        """Calls a method, and returns the first reply's parameters."""
        self.send_call(method, more, **parameters)
        return self.reply()

    def arrived(self) -> Iterator[Message]:
        """The parameters of all replies that have arrived."""
        while b"\0" in self._received or select.select([self.socket], [], [], 0)[0]:
            yield self.reply()
