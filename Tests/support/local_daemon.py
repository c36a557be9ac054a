"""The daemon on this machine, serving a recording as if it were a keyboard."""

import contextlib
import os
import resource
import signal
import subprocess
from pathlib import Path

from support.checkout import PROGRAMS
from support.connection import Connection
from support.input_events import LEFTSHIFT, PRESS, RELEASE, evemu_key_frame
from support.process import Process
from support.readiness import ReadinessSocket
from support.waiting import BOUND_SECONDS


def write_recording(path: Path, seconds: float, interval_us: int = 5000) -> None:
    """Writes presses of Shift at this interval, each of which changes a state."""
    with open(path, "w") as file:
        file.write("# EVEMU 1.3\n")
        for number in range(int(seconds * 1_000_000 / interval_us)):
            pressed = 1_000_000 + number * interval_us
            file.write(evemu_key_frame(pressed, LEFTSHIFT, PRESS))
            file.write(evemu_key_frame(pressed + interval_us // 2, LEFTSHIFT, RELEASE))


class LocalDaemon(Process):
    """A running keymoded with its sockets in `folder`."""

    def __init__(
        self, folder: Path, recording: Path, speed: str = "1", files: int | None = None
    ) -> None:
        self.state_socket = folder / "state.sock"
        self.control_socket = folder / "control.sock"
        configuration = folder / "keymoded.yaml"
        configuration.touch()
        options = ["--config", str(configuration), "--socket-dir", str(folder)]
        options += ["--recording", str(recording), "--speed", speed]
        with ReadinessSocket(folder) as ready, open(folder / "log", "w") as log:
            self._process = subprocess.Popen(
                [str(PROGRAMS / "keymoded"), *options],
                stderr=log,
                env=ready.environment,
                preexec_fn=lambda: _prepare(files),
            )
            ready.wait()
        super().__init__(self._process.pid)

    @property
    def is_running(self) -> bool:
        """Whether the daemon still runs."""
        return self._process.poll() is None

    def clients(self) -> int:
        """How many clients are connected, without the connection of this call."""
        with Connection(self.control_socket) as asking:
            count: int = asking.call("GetStatistics")["clients"]
        return count - 1

    def stop(self) -> int:
        """Ends the daemon as a service manager would, and returns its exit status."""
        self._process.send_signal(signal.SIGTERM)
        return self._process.wait(BOUND_SECONDS)

    def kill(self) -> None:
        """Kills the daemon."""
        self._process.kill()
        self._process.wait()


def _prepare(files: int | None) -> None:
    take_time_from_others()
    if files is not None:
        resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))


def take_time_from_others() -> None:
    """Gives this process a higher priority than others, where that is allowed.

    The tests measure the daemon, not how the kernel shares two processors among attackers.
    """
    with contextlib.suppress(PermissionError):
        os.nice(-15)
