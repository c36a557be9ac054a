"""QEMU's control protocol (QMP): JSON lines over a socket, one command at a time."""

import json
import shlex
import socket
import time
from pathlib import Path
from typing import Any

from support.waiting import BOUND_SECONDS, wait_until


class QmpError(Exception):
    """QEMU refused a command."""


class Qmp:
    """The client's end of a QMP connection."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._received = b""
        self._events: list[dict[str, Any]] = []

    def negotiate(self) -> None:
        """Reads the greeting and negotiates; QEMU accepts no other command before."""
        self._next_message(time.monotonic() + BOUND_SECONDS)
        self.command("qmp_capabilities")

    def command(self, name: str, **arguments: Any) -> Any:
        """Runs one command and returns its reply; stores events that arrive meanwhile."""
        request = {"execute": name, "arguments": arguments}
        deadline = time.monotonic() + BOUND_SECONDS
        self._connection.settimeout(BOUND_SECONDS)
        self._connection.sendall(json.dumps(request).encode() + b"\n")
        while True:
            message = self._next_message(deadline)
            if "event" in message:
                self._events.append(message)
            elif "error" in message:
                raise QmpError(f"{name} {arguments}: {message['error']['desc']}")
            else:
                return message["return"]

    def remove_device(self, identifier: str) -> None:
        """Unplugs a device and waits until it is gone: device_del only requests that."""
        deadline = time.monotonic() + BOUND_SECONDS
        self._events.clear()
        self.command("device_del", id=identifier)
        while not any(
            event["event"] == "DEVICE_DELETED" and event["data"].get("device") == identifier
            for event in self._events
        ):
            self._events.append(self._next_message(deadline))

    def save(self, file: Path) -> None:
        """Stops the guest, and writes its state into a file, with which QEMU can start."""
        self.command("stop")
        self.command("migrate-set-parameters", **{"max-bandwidth": 1 << 40})
        self.command("migrate", uri=f"exec:cat >{shlex.quote(str(file))}")
        wait_until(lambda: self.command("query-migrate")["status"] == "completed", "the state")

    def go_on(self) -> None:
        """Waits until QEMU has loaded the guest that `save` stopped, and lets it go on.

        What is sent to its ports before is lost.
        """
        loading = "inmigrate"
        wait_until(lambda: self.command("query-status")["status"] != loading, "the saved state")
        self.command("cont")

    def _next_message(self, deadline: float) -> dict[str, Any]:
        while b"\n" not in self._received:
            self._connection.settimeout(max(0.001, deadline - time.monotonic()))
            received = self._connection.recv(65536)
            if not received:
                raise ConnectionError("QEMU closed its control connection")
            self._received += received
        line, self._received = self._received.split(b"\n", 1)
        message: dict[str, Any] = json.loads(line)
        return message
