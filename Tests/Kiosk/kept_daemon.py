"""The daemon as systemd runs it: its sockets and stored descriptors outlive it."""

import array
import os
import signal
import socket
import subprocess
import threading
from pathlib import Path

from support.checkout import PROGRAMS
from support.fifo_keyboard import FifoKeyboard
from support.passed_sockets import start_with_sockets


class KeptDaemon:
    """A keymoded that follows a keyboard, and that a test can kill and start again."""

    def __init__(self, folder: Path, keyboard: FifoKeyboard, settings: str) -> None:
        self._folder = folder
        self._keyboard = keyboard
        (folder / "keymoded.yaml").write_text(settings)
        self._sockets = {name: _listen(folder / f"{name}.sock") for name in ("state", "control")}
        self._manager = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._manager.bind(str(folder / "notify"))
        self._stored: dict[str, int] = {}
        self._ready = threading.Event()
        threading.Thread(target=self._manage, daemon=True).start()
        self.process: subprocess.Popen[bytes] | None = None
        self.start()

    def start(self) -> None:
        """Starts the daemon, and waits until it is ready."""
        self._ready.clear()
        passed = {name: each.fileno() for name, each in self._sockets.items()} | self._stored
        command = [PROGRAMS / "keymoded", "--device", self._keyboard.path]
        command += ["--config", self._folder / "keymoded.yaml", "--socket-dir", self._folder]
        environment = {
            **self._keyboard.environment,
            "NOTIFY_SOCKET": str(self._folder / "notify"),
        }
        with open(self._folder / "keymoded.log", "ab") as log:
            self.process = start_with_sockets(command, passed, environment, stderr=log)
        assert self._ready.wait(60), (self._folder / "keymoded.log").read_text()

    def kill(self) -> None:
        """Ends the daemon by SIGKILL."""
        self._end(signal.SIGKILL)

    def close(self) -> None:
        """Ends the daemon, and gives up what was kept for it."""
        self._end(signal.SIGTERM)
        for each in self._sockets.values():
            each.close()
        self._manager.shutdown(socket.SHUT_RDWR)

    def _end(self, number: signal.Signals) -> None:
        if self.process is not None:
            self.process.send_signal(number)
            # A test may have stopped it.
            self.process.send_signal(signal.SIGCONT)
            self.process.wait(60)
            self.process = None

    def _manage(self) -> None:
        """Does what systemd does with the daemon's messages: see sd_notify(3)."""
        while True:
            text, control, _, _ = self._manager.recvmsg(4096, socket.CMSG_SPACE(4 * 4))
            if not text:
                return
            values = dict(line.split("=", 1) for line in text.decode().splitlines() if "=" in line)
            descriptors = array.array("i")
            for _, _, data in control:
                descriptors.frombytes(data)
            if "FDNAME" in values:
                old = self._stored.pop(values["FDNAME"], None)
                if old is not None:
                    os.close(old)
                if "FDSTORE" in values:
                    self._stored[values["FDNAME"]] = descriptors[0]
            if values.get("READY") == "1":
                self._ready.set()


def _listen(path: Path) -> socket.socket:
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(path))
    listener.listen(128)
    return listener
