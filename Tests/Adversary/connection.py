"""A Varlink connection that sends whatever bytes a test wants."""

import json
import socket
from typing import Any

INTERFACE = "org.keymoded.Controller"

# A timeout for what has to happen. No test measures the daemon by it.
BOUND_SECONDS = 120.0

GET_STATE = f'{{"method":"{INTERFACE}.GetState"}}'.encode() + b"\0"
MONITOR = f'{{"method":"{INTERFACE}.Monitor","more":true}}'.encode() + b"\0"

Message = dict[str, Any]


class Connection:
    """One connection to one of the daemon's sockets."""

    def __init__(self, path: str) -> None:
        self.socket = socket.socket(socket.AF_UNIX)
        # Blocks while the daemon's backlog is full; with a timeout, connect() would fail instead.
        self.socket.connect(path)
        self.socket.settimeout(BOUND_SECONDS)
        self._rest = b""

    def send(self, message: bytes) -> None:
        """Sends bytes as they are."""
        self.socket.sendall(message)

    def message(self) -> bytes | None:
        """The next message, without its NUL; None at the end of the connection."""
        while b"\0" not in self._rest:
            try:
                chunk = self.socket.recv(65536)
            except ConnectionResetError:
                return None
            if not chunk:
                return None
            self._rest += chunk
        message, self._rest = self._rest.split(b"\0", 1)
        return message

    def reply(self) -> Message:
        """The next message, parsed as JSON."""
        message = self.message()
        assert message is not None, "the daemon has ended the connection"
        reply: Message = json.loads(message)
        return reply

    def call(self, method: str, more: bool = False, **parameters: Any) -> Message:
        """Calls a method, and returns the first reply's parameters."""
        call = {"method": f"{INTERFACE}.{method}", "parameters": parameters, "more": more}
        self.send(json.dumps(call).encode() + b"\0")
        reply = self.reply()
        assert "error" not in reply, reply
        parameters_of_reply: Message = reply["parameters"]
        return parameters_of_reply

    def close(self) -> None:
        """Closes the connection."""
        self.socket.close()
