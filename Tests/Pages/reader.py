"""A reader of the pages, with keymoded installed, a keyboard and a home of her own, and `sudo`.

She is root in a mount namespace of her own, in which /usr and /etc are those of this machine with what
`make install` adds. Nothing that she does there reaches this machine.
"""

import contextlib
import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Self

from support.checkout import CHECKOUT, PROGRAMS
from support.connection import Connection, Message
from support.fifo_keyboard import FifoKeyboard
from support.waiting import BOUND_SECONDS, NotInTimeError, wait_until

# She is root already.
SUDO = '#!/bin/sh\nexec "$@"\n'

# Her layers over /usr and /etc go with the namespace.
NAMESPACE = """
cd "$0"
mount -t tmpfs tmpfs layers
for name in usr etc; do
  mkdir -p layers/$name layers/work-$name
  upper="upperdir=$0/layers/$name,workdir=$0/layers/work-$name"
  mount -t overlay overlay -o "lowerdir=$0/installed/$name:/$name,$upper" /$name
done
mount -t tmpfs tmpfs /run
mkdir /run/keymoded
mount --bind "$0/sockets" /run/keymoded
echo ready
exec cat
"""


def install(folder: Path) -> None:
    """Installs keymoded, its examples, and `sudo` into a folder, as a package would."""
    # Only what is built can be installed.
    assert PROGRAMS == CHECKOUT / ".build/release"
    _run("make", "-s", "-C", CHECKOUT, "install", "PREFIX=/usr", f"DESTDIR={folder}")
    skipped = shutil.ignore_patterns(".build", "__pycache__")
    shutil.copytree(CHECKOUT / "examples", folder / "usr/share/doc/keymoded/examples", ignore=skipped)
    (folder / "usr/bin/sudo").write_text(SUDO)
    (folder / "usr/bin/sudo").chmod(0o755)


def _run(*command: str | Path) -> None:
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, timeout=BOUND_SECONDS)


class Reader:
    """The reader; `close` ends what she has started, and removes her home."""

    def __init__(self, installed: Path) -> None:
        self._temporary = tempfile.TemporaryDirectory(prefix="keymoded-reader.")
        folder = Path(self._temporary.name)
        (folder / "installed").symlink_to(installed)
        for name in ("layers", "sockets", "home", "run"):
            (folder / name).mkdir(mode=0o700)
        self.home, self._sockets, self._folder = folder / "home", folder / "sockets", folder
        (self.home / "examples").symlink_to("/usr/share/doc/keymoded/examples")
        for name in ("recordings", "rec"):
            (self.home / name).mkdir()
            shutil.copy(CHECKOUT / "examples/demo.evemu", self.home / name)
        self.environment = {
            "HOME": str(self.home),
            "PATH": "/usr/sbin:/usr/bin:/sbin:/bin",
            "LC_ALL": "C.UTF-8",
            "XDG_RUNTIME_DIR": str(folder / "run"),
        }
        self._keeper = self._keep_namespace(folder)
        self._keyboard: FifoKeyboard | None = None
        self._daemon: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Ends everything."""
        self._end_keymoded()
        self._keeper.communicate()
        self._temporary.cleanup()

    def _keep_namespace(self, folder: Path) -> subprocess.Popen[bytes]:
        own = [] if os.getuid() == 0 else ["--user", "--map-root-user"]
        keeper = subprocess.Popen(
            ["unshare", *own, "--mount", "--propagation", "private", "sh", "-euc", NAMESPACE, folder],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        assert keeper.stdout
        assert keeper.stdout.readline() == b"ready\n"
        return keeper

    # Her programs

    def start(
        self, *command: str | Path, folder: str = "", **environment: str
    ) -> subprocess.Popen[bytes]:
        """Starts a program in a folder, by default her home; `printed` tells what it has printed."""
        own = [] if os.getuid() == 0 else ["--user", "--preserve-credentials"]
        enter = ["nsenter", "--target", str(self._keeper.pid), *own, "--mount", "sh", "-c"]
        with open(self._folder / "output", "wb") as output, open(self._folder / "errors", "wb") as errors:
            return subprocess.Popen(
                # It ends with the tests, whatever ends them.
                ["setpriv", "--pdeathsig", "KILL", *enter, 'cd "$0" && exec "$@"']
                + [folder or self.home, *command],
                env=self.environment | environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=errors,
                process_group=0,
            )

    def run(self, *command: str | Path, folder: str = "") -> tuple[int, str]:
        """Runs a program to its end, and returns its exit status and its output."""
        status = self.start(*command, folder=folder).wait(BOUND_SECONDS)
        return status, self.printed

    @property
    def printed(self) -> str:
        """The output of what was started last."""
        return (self._folder / "output").read_text()

    @property
    def complaints(self) -> str:
        """The messages of what was started last."""
        return (self._folder / "errors").read_text()

    def follow(
        self,
        program: subprocess.Popen[bytes],
        key: int,
        is_told: Callable[[], bool],
        begins: bool = False,
    ) -> int | None:
        """Presses a key once a program follows the states, and waits until it has told of that.

        With `begins` it prints the states at first. Returns the exit status, or None of a program that goes
        on; that is ended.
        """
        try:
            wait_until(lambda: self._clients() == 1, "the program to connect")
            if begins:
                wait_until(lambda: self.printed, "the program to tell of the states")
            # What has connected, and says nothing, may have missed a press.
            for _ in range(20):
                self._press(key)
                with contextlib.suppress(NotInTimeError):
                    wait_until(is_told, "the program to tell of a key", BOUND_SECONDS / 20)
                    break
            assert is_told(), f"{self.printed}{self.complaints}"
            return None if self._clients() else program.wait(BOUND_SECONDS)
        finally:
            if program.poll() is None:
                os.killpg(program.pid, signal.SIGKILL)
            program.wait()

    # Her keymoded

    def start_keymoded(self, leds: int | None = None) -> None:
        """Starts a new keymoded, with a keyboard which may have LEDs; these are on."""
        self._end_keymoded()
        self._keyboard = FifoKeyboard(self._folder, leds)
        device = ("--device", self._keyboard.path, "--socket-dir", "/run/keymoded")
        self._daemon = self.start("keymoded", *device, **self._keyboard.environment)
        # The daemon goes on writing into this file, so the page's commands get a new one.
        shutil.move(self._folder / "errors", self._folder / "keymoded.log")
        wait_until(self._serves, "keymoded")

    def _serves(self) -> bool:
        try:
            return self._clients() >= 0
        except OSError:
            assert self._daemon and self._daemon.poll() is None, (
                self._folder / "keymoded.log"
            ).read_text()
            return False

    def _end_keymoded(self) -> None:
        if self._daemon:
            self._daemon.terminate()
            self._daemon.wait(BOUND_SECONDS)
            self._daemon = None
        if self._keyboard:
            self._keyboard.unplug()
            (self._folder / "keyboard.leds").unlink(missing_ok=True)

    def reload_keymoded(self) -> None:
        """Has keymoded read its configuration again, which must be valid."""
        before = self._statistics()["reloads"]
        assert self._daemon
        self._daemon.send_signal(signal.SIGHUP)
        wait_until(lambda: self._statistics()["reloads"] > before, "a reload")
        log = (self._folder / "keymoded.log").read_text()
        assert "keeping the present configuration" not in log, log

    def _press(self, key: int) -> None:
        assert self._keyboard
        self._keyboard.press(key)

    def _clients(self) -> int:
        """How many clients follow the states."""
        clients: int = self._statistics()["clients"]
        return clients - 1

    def _statistics(self) -> Message:
        with Connection(self._sockets / "control.sock") as asking:
            return asking.call("GetStatistics")

    def ask(self, call: str) -> str:
        """Sends a message, and returns its answer."""
        with Connection(self._sockets / "state.sock") as asking:
            asking.send(call.encode() + b"\0")
            return (asking.message() or b"").decode()
