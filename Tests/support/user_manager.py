"""A real `systemd --user` on a machine whose PID 1 may be anything, with a journal and a user bus.

It runs in namespaces and in a control group of its own, where it sees no process of the machine,
and no file of its `/run`. Needs root, and control groups of version 2 mounted somewhere. PIDs are
those of the namespace, which `proc` shows.
"""

import contextlib
import json
import os
import secrets
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Self

import pytest
from support.checkout import CHECKOUT, PROGRAMS
from support.waiting import BOUND_SECONDS, wait_until

# The user; there is an account with this number everywhere.
NOBODY = 65534

# The control groups as systemd and logind arrange them. The whole slice is the user's: only PID 1
# of systemd could move a process from the session to the manager otherwise.
SLICE = f"user.slice/user-{NOBODY}.slice"
MANAGER, SESSION = f"{SLICE}/user@{NOBODY}.service", f"{SLICE}/session-1.scope"
SERVICES = "services"

# Its root too: the tests themselves may run in a chroot, which the mount namespace does not have.
NAMESPACES = ["--mount", "--root", "--pid", "--cgroup"]

# Debian's place, which is not in PATH.
SYSTEMD = "/lib/systemd/systemd"

# A name for each unit in the log; the manager would have its description alone.
MANAGER_SETTINGS = "[Manager]\nStatusUnitFormat=name\n"

# Only in the namespace's memory, and nothing of the kernel's.
JOURNAL_SETTINGS = """[Journal]
Storage=volatile
ReadKMsg=no
Audit=no
ForwardToWall=no
RateLimitIntervalSec=0
"""

Entry = dict[str, Any]


class UserManager:
    """A user's service manager, her home, and her processes; `close` ends all of it."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="keymoded-user."))
        self.runtime = self.folder / "run"
        self.environment = {
            "HOME": str(self.folder),
            "PATH": "/run/programs:/usr/bin:/bin",
            "LC_ALL": "C.UTF-8",
            "XDG_RUNTIME_DIR": str(self.runtime),
            "DBUS_SESSION_BUS_ADDRESS": f"unix:path={self.runtime}/bus",
            # A client that starts before her daemon would otherwise take the system's place.
            "KEYMODED_SOCKET_DIR": f"{self.runtime}/keymoded",
        }
        self.cgroup = mounted_cgroups() / f"keymoded-{secrets.token_hex(4)}"
        # A session of its own, so that Ctrl+C in the terminal does not reach it.
        self._keeper = subprocess.Popen(
            [sys.executable, "-IS", CHECKOUT / "Tests/support/user_namespace.py"]
            + [self.cgroup, self.folder],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        try:
            assert self._keeper.stdout
            self.first = int(self._keeper.stdout.readline())
            self._prepare()
            self._start_journal()
            self.start_manager()
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Ends all processes, and removes the control groups and the home."""
        self._keeper.communicate()
        assert self._keeper.returncode == 0

    def _prepare(self) -> None:
        for group in (MANAGER, SESSION, SERVICES):
            (self.cgroup / group).mkdir(parents=True)
        for group in (SLICE, MANAGER, SESSION):
            os.chown(self.cgroup / group, NOBODY, NOBODY)
            for file in ("cgroup.procs", "cgroup.threads", "cgroup.subtree_control"):
                os.chown(self.cgroup / group / file, NOBODY, NOBODY)
        os.chown(self.folder, NOBODY, NOBODY)
        self.runtime.mkdir(mode=0o700)
        os.chown(self.runtime, NOBODY, NOBODY)
        # The checkout may be where only root has access.
        self.as_root("mkdir", "/run/programs")
        self.as_root("mount", "--bind", str(PROGRAMS.resolve()), "/run/programs")
        script = CHECKOUT / "data/libexec/keymode-focus"
        self.write("libexec/keymode-focus", script.read_text()).chmod(0o755)
        for unit in (CHECKOUT / "systemd/user").iterdir():
            text = unit.read_text().replace("@bindir@", "/run/programs")
            self.write_unit(unit.name, text.replace("@libexecdir@", f"{self.folder}/libexec"))
        self.write(".config/systemd/user.conf", MANAGER_SETTINGS)

    def _start_journal(self) -> None:
        settings = self.write("journald.conf", JOURNAL_SETTINGS)
        self.as_root("install", "-D", settings, "/run/systemd/journald.conf.d/test.conf")
        self._start(["/lib/systemd/systemd-journald"], SERVICES, os.environ)
        socket = Path(f"/proc/{self.first}/root/run/systemd/journal/stdout")
        wait_until(socket.exists, "the journal")

    # The manager

    def start_manager(self) -> None:
        """Starts the manager, and waits until it has started what belongs to its default target."""
        self._manager = self._start(
            [*self._as_user(), SYSTEMD, "--user"],
            MANAGER,
            {**self.environment, "SYSTEMD_LOG_TARGET": "journal"},
        )
        self.wait("systemctl", "--user", "is-system-running", "--wait")

    def kill_manager(self) -> None:
        """Kills the manager with SIGKILL; what it has started runs on."""
        self.run("pkill", "-KILL", "-x", "systemd")
        self._manager.wait()

    def restart_manager(self) -> None:
        """Has the manager stop all its units and end, and starts the next one."""
        self.run("systemctl", "--user", "exit")
        self._manager.wait()
        self.start_manager()

    def systemctl(self, *arguments: str, check: bool = True) -> str:
        """What `systemctl --user` prints."""
        return self.run("systemctl", "--user", *arguments, check=check).stdout

    def told(self, unit: str, name: str) -> str:
        """A property of a unit."""
        return self.systemctl("show", "--value", "--property", name, unit).rstrip("\n")

    def main_pid(self, unit: str) -> int:
        """The PID of a service's first process; 0 if it does not run."""
        return int(self.told(unit, "MainPID"))

    def active(self, pattern: str) -> list[str]:
        """The active units that match the pattern."""
        return self._first_words("list-units", "--state=active", pattern)

    def jobs(self, pattern: str) -> list[str]:
        """The units that match the pattern and have a job."""
        return self._first_words("list-jobs", pattern)

    def _first_words(self, *arguments: str) -> list[str]:
        shown = self.systemctl("--plain", "--no-legend", "--full", *arguments)
        return [line.split()[0] for line in shown.splitlines()]

    def journal(self, *match: str) -> list[Entry]:
        """The journal's entries, or those that match, such as `_PID=12`."""
        # Those that are on their way, too.
        self.as_root("journalctl", "--sync")
        shown = self.as_root("journalctl", "--output=json", "--all", *match).stdout
        return [json.loads(line) for line in shown.splitlines()]

    # Files

    def write(self, name: str, text: str) -> Path:
        """Writes a file into the home."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        while path != self.folder:
            os.chown(path, NOBODY, NOBODY)
            path = path.parent
        return self.folder / name

    def write_unit(self, name: str, text: str) -> None:
        """Writes a unit file, or a part of one; the manager reads it when it is reloaded."""
        self.write(f".config/systemd/user/{name}", text)

    # Processes

    @property
    def proc(self) -> Path:
        """The folder /proc of the namespace."""
        return Path(f"/proc/{self.first}/root/proc")

    def start(
        self, *command: str, environment: Mapping[str, str] | None = None, **options: Any
    ) -> subprocess.Popen[Any]:
        """Starts a program as the user, in her session; the options are those of Popen."""
        everything = {**self.environment, **(environment or {})}
        return self._start([*self._as_user(), *command], SESSION, everything, **options)

    def run(
        self, *command: str, check: bool = True, **options: Any
    ) -> subprocess.CompletedProcess[str]:
        """Runs a program as the user to its end."""
        return self._completed(self.start(*command, **_COLLECTED, **options), check)

    def as_root(self, *command: str | Path) -> subprocess.CompletedProcess[str]:
        """Runs a program as root to its end, which must be success."""
        words = [str(word) for word in command]
        return self._completed(self._start(words, SERVICES, dict(os.environ), **_COLLECTED), True)

    def wait(self, *command: str) -> None:
        """Runs a program as the user again and again until it succeeds."""
        wait_until(lambda: self.run(*command, check=False).returncode == 0, " ".join(command))

    def pids(self, name: str) -> list[int]:
        """The processes with this name, of at most 15 bytes."""
        found = []
        for folder in self.proc.glob("[0-9]*"):
            with contextlib.suppress(FileNotFoundError, ProcessLookupError):
                if (folder / "comm").read_text() == f"{name}\n":
                    found.append(int(folder.name))
        return sorted(found)

    def kill(self, signal: str, *pids: int) -> None:
        """Sends a signal to processes, as the user; some may have ended."""
        self.run("kill", f"-{signal}", *map(str, pids), check=False)

    def wait_for_end(self, *pids: int) -> None:
        """Waits until processes have ended."""
        ended = lambda: not any((self.proc / str(pid)).exists() for pid in pids)  # noqa: E731
        wait_until(ended, f"the end of {pids}")

    def _start(
        self, command: Sequence[str], cgroup: str, environment: Mapping[str, str], **options: Any
    ) -> subprocess.Popen[Any]:
        procs = self.cgroup / cgroup / "cgroup.procs"

        def prepare() -> None:
            procs.write_text(str(os.getpid()))
            # A shell that runs the tests in the background makes them ignore signals.
            for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT):
                signal.signal(number, signal.SIG_DFL)

        return subprocess.Popen(
            ["nsenter", "--target", str(self.first), *NAMESPACES, *command],
            env=environment,
            preexec_fn=prepare,
            **{"stdin": subprocess.DEVNULL, **options},
        )

    def _as_user(self) -> list[str]:
        become = ["setpriv", "--reuid", str(NOBODY), "--regid", str(NOBODY), "--clear-groups"]
        return [*become, "env", "--chdir", str(self.folder)]

    @staticmethod
    def _completed(
        process: subprocess.Popen[str], check: bool
    ) -> subprocess.CompletedProcess[str]:
        output, errors = process.communicate(timeout=BOUND_SECONDS)
        assert process.returncode == 0 or not check, f"{process.args!r}: {output}\n{errors}"
        return subprocess.CompletedProcess(process.args, process.returncode, output, errors)


_COLLECTED: Mapping[str, Any] = {
    "stdout": subprocess.PIPE,
    "stderr": subprocess.PIPE,
    "text": True,
}


def require_root() -> None:
    """Skips the test where it cannot run, like those in a virtual machine."""
    if os.geteuid() != 0:
        reason = "only root can make the namespaces of these tests"
        if os.environ.get("KEYMODED_REQUIRE_VM") == "1":
            pytest.fail(f"KEYMODED_REQUIRE_VM=1, but {reason}")
        pytest.skip(reason)


def mounted_cgroups() -> Path:
    """Where the control groups of version 2 are."""
    for line in Path("/proc/self/mounts").read_text().splitlines():
        _, place, kind, *_ = line.split()
        if kind == "cgroup2":
            return Path(place)
    raise AssertionError("no control groups of version 2 are mounted")
