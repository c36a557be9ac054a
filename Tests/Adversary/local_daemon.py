"""The daemon under attack: on this machine, serving a recording as if it were a keyboard."""

import contextlib
import os
import resource
import signal
import socket
import subprocess
from pathlib import Path

from connection import BOUND_SECONDS, Connection

CHECKOUT = Path(__file__).resolve().parents[2]
PROGRAMS = Path(os.environ.get("KEYMODED_PROGRAMS", CHECKOUT / ".build/release"))

KEY_LEFTSHIFT = 42


def write_recording(path: Path, seconds: float, interval_us: int = 5000) -> int:
    """Writes presses of Shift at this interval, each a change; returns their number."""
    count = int(seconds * 1_000_000 / interval_us)
    with open(path, "w") as file:
        file.write("# EVEMU 1.3\n")
        for number in range(count):
            pressed = 1_000_000 + number * interval_us
            for value, at in ((1, pressed), (0, pressed + interval_us // 2)):
                stamp = f"{at // 1_000_000}.{at % 1_000_000:06}"
                file.write(f"E: {stamp} 0001 {KEY_LEFTSHIFT:04x} {value}\n")
                file.write(f"E: {stamp} 0000 0000 0\n")
    return count


class Daemon:
    """A running keymoded, and what /proc says about it."""

    def __init__(
        self, folder: Path, recording: Path, speed: str = "1", files: int | None = None
    ) -> None:
        self.folder = folder
        notifications = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        notifications.bind(str(folder / "notify"))
        notifications.settimeout(BOUND_SECONDS)
        (folder / "keymoded.yaml").touch()
        options = ["--config", str(folder / "keymoded.yaml"), "--socket-dir", str(folder)]
        with open(folder / "log", "w") as log:
            self._process = subprocess.Popen(
                [
                    str(PROGRAMS / "keymoded"),
                    *options,
                    "--recording",
                    str(recording),
                    "--speed",
                    speed,
                ],
                stderr=log,
                env={"NOTIFY_SOCKET": str(folder / "notify")},
                preexec_fn=lambda: _prepare(files),
            )
        self.pid = self._process.pid
        while b"READY=1" not in notifications.recv(4096).split(b"\n"):
            pass
        notifications.close()

    @property
    def state_socket(self) -> str:
        """The path of state.sock."""
        return str(self.folder / "state.sock")

    @property
    def control_socket(self) -> str:
        """The path of control.sock."""
        return str(self.folder / "control.sock")

    @property
    def is_running(self) -> bool:
        """Whether the daemon still runs."""
        return self._process.poll() is None

    @property
    def clients(self) -> int:
        """How many clients are connected, without the connection of this call."""
        asking = Connection(self.control_socket)
        count: int = asking.call("GetStatistics")["clients"]
        asking.close()
        return count - 1

    @property
    def open_files(self) -> int:
        """How many descriptors the daemon has open; only root can see them."""
        return len(os.listdir(f"/proc/{self.pid}/fd"))

    @property
    def resident_kib(self) -> int:
        """The daemon's resident memory, in KiB."""
        return self._status("VmRSS")

    @property
    def wakeups(self) -> int:
        """How often the daemon has waited: its voluntary context switches."""
        return self._status("voluntary_ctxt_switches")

    @property
    def cpu_seconds(self) -> float:
        """The daemon's CPU time, user and system, in seconds."""
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def _status(self, name: str) -> int:
        lines = Path(f"/proc/{self.pid}/status").read_text().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith(f"{name}:"))

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
