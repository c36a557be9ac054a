"""A running `keymodectl while`, and all processes of its command, wherever they have gone."""

import contextlib
import itertools
import os
import signal
from pathlib import Path

from person import Person
from support.user_manager import MANAGER
from support.waiting import BOUND_SECONDS, wait_until

# Each descendant starts another one and ends, again and again.
_HOP = """
import os, time
for _ in range(8):
  if os.fork() == 0:
    os.setsid()
    while True:
      if os.fork(): os._exit(0)
open("log", "a").write("up\\n")
time.sleep(1000)
"""
HOPPERS = ("--grace", "300ms", "keyboard=editingText", "--", "/usr/bin/python3", "-c", _HOP)
GRACE_AND_A_SECOND_US = 1_300_000

_numbers = itertools.count(1)


class RunningWhile:
    """`keymodectl while` in the person's session, in a folder of its own. PIDs are those of the tests."""

    def __init__(
        self,
        person: Person,
        *arguments: str,
        shell: str = "",
        under: tuple[str, ...] = (),
        any_session: bool = True,
    ) -> None:
        """Starts it with these arguments, and waits until it has a unit for its command or has ended.

        With `shell` the command is a script for editingText. `under` is a program that executes
        keymodectl in its place.
        """
        self.person = person
        self.folder = person.write(f"while-{next(_numbers)}/log", "").parent
        session = ["--any-session"] if any_session else []
        if shell:
            arguments = (*arguments, "keyboard=editingText", "--", "sh", "-c", shell)
        before = set(self._units())
        with open(self.folder / "errors", "wb") as errors:
            self.process = person.start(
                *("env", "--chdir", str(self.folder), *under),
                *("keymodectl", "while", *session, *arguments),
                stderr=errors,
            )
        self.unit: Path | None = None
        wait_until(lambda: self._found_unit(before) or self.has_ended, "the command's unit")

    def _units(self) -> list[Path]:
        slices = self.person.cgroup / MANAGER / "app.slice"
        return list(slices.glob("keymode-while-*-command.service"))

    def _found_unit(self, before: set[Path]) -> bool:
        found = [unit for unit in self._units() if unit not in before and processes(unit)]
        if found:
            self.unit = found[0]
        return bool(found)

    @property
    def has_ended(self) -> bool:
        """Whether keymodectl has ended."""
        return self.process.poll() is not None

    @property
    def log(self) -> list[str]:
        """What the command has written into the file `log`, by lines."""
        return (self.folder / "log").read_text().splitlines()

    @property
    def errors(self) -> str:
        """What keymodectl has written to standard error."""
        return (self.folder / "errors").read_text().rstrip("\n")

    @property
    def number(self) -> int:
        """The PID of keymodectl."""
        assert self.unit
        (number,) = processes(self.scope)
        return number

    @property
    def scope(self) -> Path:
        """The control group of keymodectl, in a session."""
        return Path(str(self.unit).replace("-command.service", ".scope"))

    @property
    def keeper(self) -> int:
        """The PID of what keeps the unit."""
        assert self.unit
        (number,) = map(int, (self.unit / "cgroup.procs").read_text().split())
        return number

    @property
    def runs(self) -> list[Path]:
        """The control groups of the command's runs."""
        if self.unit:
            # The unit's group may go while it is read.
            with contextlib.suppress(FileNotFoundError):
                return list(self.unit.glob("run-*"))
        return []

    @property
    def command(self) -> set[int]:
        """The PIDs of the command."""
        return {pid for run in self.runs for pid in processes(run)}

    def named(self, name: str) -> set[int]:
        """The PIDs of the command that have this name."""
        return {pid for pid in self.command if process_name(pid) == name}

    def wait_for_log(self, *lines: str) -> None:
        """Waits until the command has written just these lines."""
        try:
            wait_until(lambda: self.log == list(lines), f"{lines}")
        except AssertionError as error:
            raise AssertionError(f"{self.log}, {self.errors}") from error

    def wait_for_no_command(self) -> None:
        """Waits until nothing of the command is left."""
        wait_until(lambda: not self.command, "the end of the command")

    def wait_for_nothing(self) -> None:
        """Waits until neither keymodectl nor anything that it has started is left."""
        self.process.wait(BOUND_SECONDS)
        try:
            wait_until(lambda: not self._units(), "the end of the unit")
        except AssertionError as error:
            left = {unit: processes(unit) for unit in self._units()}
            raise AssertionError(f"{left} are left") from error

    def end(self) -> int:
        """Waits for the end of keymodectl, and returns its exit status, or a shell's for a signal."""
        status: int = self.process.wait(BOUND_SECONDS)
        return status if status >= 0 else 128 - status

    def signal(self, number: int) -> None:
        """Sends a signal to keymodectl."""
        os.kill(self.number, number)

    def close(self) -> None:
        """Ends all of it."""
        for pid in processes(self.scope):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.process.kill()
        self.wait_for_nothing()


def processes(cgroup: Path) -> list[int]:
    """The PIDs in a control group, and in those inside it."""
    found = []
    for folder, _, files in os.walk(cgroup):
        if "cgroup.procs" in files:
            try:
                found += map(int, (Path(folder) / "cgroup.procs").read_text().split())
            except OSError:
                continue  # It was removed meanwhile.
    return found


def process_name(pid: int) -> str:
    """The name of a process; empty if it has ended."""
    try:
        return Path(f"/proc/{pid}/comm").read_text().rstrip("\n")
    except OSError:
        return ""
