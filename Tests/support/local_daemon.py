"""The daemon on this machine, as systemd runs it: its sockets and stored descriptors outlive it."""

import array
import contextlib
import os
import signal
import socket
import subprocess
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType

from support.checkout import PROGRAMS
from support.connection import Connection
from support.input_events import LEFTSHIFT, PRESS, RELEASE, evemu_key_frame
from support.passed_sockets import start_with_sockets
from support.waiting import BOUND_SECONDS

NOTHING: Mapping[str, str] = MappingProxyType({})


def write_recording(path: Path, seconds: float, interval_us: int = 5000) -> None:
    """Writes presses of Shift at this interval, each of which changes a state."""
    with open(path, "w") as file:
        file.write("# EVEMU 1.3\n")
        for number in range(int(seconds * 1_000_000 / interval_us)):
            pressed = 1_000_000 + number * interval_us
            file.write(evemu_key_frame(pressed, LEFTSHIFT, PRESS))
            file.write(evemu_key_frame(pressed + interval_us // 2, LEFTSHIFT, RELEASE))


class LocalDaemon:
    """A keymoded with its files in `folder`, which a test can kill and start again."""

    def __init__(
        self,
        folder: Path,
        *options: str | Path,
        settings: str = "",
        environment: Mapping[str, str] = NOTHING,
        prepare: Callable[[], None] | None = None,
    ) -> None:
        """Starts it with these options, configuration and environment, once `prepare` has run in it."""
        self._folder = folder
        self._environment = environment
        self._prepare = prepare
        self.state_socket, self.control_socket = folder / "state.sock", folder / "control.sock"
        self.settings = folder / "keymoded.yaml"
        self.settings.write_text(settings)
        self._command = [PROGRAMS / "keymoded", "--config", self.settings]
        self._command += ["--socket-dir", folder, *options]
        self._sockets = {
            name: _listen(folder / f"{name}.sock", socket.SOCK_STREAM)
            for name in ("state", "control")
        }
        self._manager = _listen(folder / "notify", socket.SOCK_DGRAM)
        self._stored: dict[str, int] = {}
        self._ready = threading.Event()
        threading.Thread(target=self._manage, daemon=True).start()
        self.process: subprocess.Popen[bytes] | None = None
        self.start()

    def start(self) -> None:
        """Starts the daemon, and waits until it is ready."""
        self._ready.clear()
        passed = {name: each.fileno() for name, each in self._sockets.items()} | self._stored
        environment = {**self._environment, "NOTIFY_SOCKET": str(self._folder / "notify")}
        with open(self._folder / "keymoded.log", "ab") as log:
            self.process = start_with_sockets(
                self._command, passed, environment, stderr=log, preexec_fn=self._prepare
            )
        is_ready = self._ready.wait(BOUND_SECONDS)
        assert is_ready, (self._folder / "keymoded.log").read_text()

    @property
    def pid(self) -> int:
        """The number of its process, which must run."""
        assert self.process and self.process.poll() is None, "keymoded has ended"
        return self.process.pid

    def clients(self) -> int:
        """How many clients are connected, without the connection of this call."""
        with Connection(self.control_socket) as asking:
            count: int = asking.call("GetStatistics")["clients"]
        return count - 1

    def kill(self) -> None:
        """Ends the daemon by SIGKILL."""
        self._end(signal.SIGKILL)

    def reload(self) -> None:
        """Has the daemon read its configuration again, and waits until it has."""
        self._ready.clear()
        os.kill(self.pid, signal.SIGHUP)
        assert self._ready.wait(BOUND_SECONDS), (self._folder / "keymoded.log").read_text()

    def close(self) -> int | None:
        """Ends the daemon if it runs, and gives up what was kept for it; returns its exit status."""
        status = self._end(signal.SIGTERM)
        for each in self._sockets.values():
            each.close()
        # Ends the thread.
        self._manager.shutdown(socket.SHUT_RDWR)
        return status

    def _end(self, number: signal.Signals) -> int | None:
        if self.process is None:
            return None
        self.process.send_signal(number)
        # A test may have stopped it.
        self.process.send_signal(signal.SIGCONT)
        status = self.process.wait(BOUND_SECONDS)
        self.process = None
        return status

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


def _listen(path: Path, kind: socket.SocketKind) -> socket.socket:
    listener = socket.socket(socket.AF_UNIX, kind)
    listener.bind(str(path))
    if kind == socket.SOCK_STREAM:
        # As systemd does.
        listener.listen(socket.SOMAXCONN)
    return listener


def take_time_from_others() -> None:
    """Gives this process a higher priority than others, where that is allowed.

    The tests measure the daemon, not how the kernel shares two processors among attackers.
    """
    with contextlib.suppress(PermissionError):
        os.nice(-15)
