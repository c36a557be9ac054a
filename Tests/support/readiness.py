"""The word of a started program that it is ready, as systemd gets it."""

import socket
from pathlib import Path
from typing import Self

from support.waiting import BOUND_SECONDS


class ReadinessSocket:
    """Has the program that is started with its environment say when it is ready."""

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
        """Waits until the program is ready; raises TimeoutError if it does not become so."""
        while b"READY=1" not in self._socket.recv(4096).split(b"\n"):
            pass
