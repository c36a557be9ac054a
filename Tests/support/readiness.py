"""How a started program reports that it is ready: see sd_notify(3)."""

import socket
from pathlib import Path
from typing import Self

from support.waiting import BOUND_SECONDS


class ReadinessSocket:
    """The socket to which the program that is started with `environment` reports."""

    def __init__(self, folder: Path) -> None:
        self.environment = {"NOTIFY_SOCKET": str(folder / "notify")}
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._socket.bind(self.environment["NOTIFY_SOCKET"])
        self._socket.settimeout(BOUND_SECONDS)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()

    def wait(self) -> None:
        """Waits until the program is ready; raises TimeoutError after BOUND_SECONDS."""
        while b"READY=1" not in self._socket.recv(4096).split(b"\n"):
            pass
