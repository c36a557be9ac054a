"""Commands running in the guest, and the connection to the agent there that runs them."""

import contextlib
import re
import socket
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from support.waiting import BOUND_SECONDS

POLL_SECONDS = 0.01
AGAIN_SECONDS = 1.0


class GuestDied(Exception):
    """The guest ended while it was needed."""


@dataclass(frozen=True)
class Completed:
    """The result of an ended command. Its exit code is 128 + N if signal N ended it."""

    command: str
    exit_code: int
    stdout: str
    stderr: str


class CommandFailed(Exception):
    """A command in the guest failed, or did not do in time what the test waited for."""

    def __init__(self, problem: str, command: str, stdout: str, stderr: str) -> None:
        super().__init__(
            f"{problem}\n--- command\n{command}\n"
            f"--- end of stdout\n{stdout[-4000:]}\n--- end of stderr\n{stderr[-4000:]}"
        )


class Agent:
    """The host's end of the line protocol described in guest/agent."""

    def __init__(self, connection: socket.socket, console: Path) -> None:
        self._connection = connection
        self._console = console
        self._changed = threading.Condition()
        self._has_ended = False
        self.system_state = ""
        self.has_begun = False
        self.is_paused = False
        self.pids: dict[int, int] = {}
        self.exit_codes: dict[int, int] = {}
        self.replies: dict[int, str] = {}
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def send(self, request: str) -> None:
        """Sends one line."""
        self._connection.sendall(request.encode() + b"\n")

    def wait_for(self, condition: Callable[[], bool], timeout: float, what: str) -> None:
        """Waits until what the agent reported makes the condition true."""
        with self._changed:
            self._changed.wait_for(lambda: condition() or self._has_ended, timeout)
        if not condition():
            self.check_alive()
            raise TimeoutError(f"waited {timeout} s for {what}\n{self.console_tail()}")

    def check_alive(self) -> None:
        """Raises, with the end of the console, if the guest is gone."""
        if self._has_ended:
            raise GuestDied(f"the guest is gone; its console ended with\n{self.console_tail()}")

    def close(self) -> None:
        """Closes the connection. Only the end of QEMU, which must come first, ends the reader."""
        self._reader.join()
        self._connection.close()

    def console_tail(self) -> str:
        """The end of what the guest has written on its console."""
        return self._console.read_bytes().decode(errors="replace")[-4000:]

    def _read(self) -> None:
        with self._connection.makefile("r") as lines:
            for line in lines:
                with self._changed:
                    match line.split(maxsplit=2):
                        case ["ready", state]:
                            self.system_state = state
                        case ["begun"]:
                            self.has_begun, self.is_paused = True, False
                        case ["paused"]:
                            self.is_paused = True
                        case ["started", number, pid]:
                            self.pids[int(number)] = int(pid)
                        case ["exit", number, status]:
                            self.exit_codes[int(number)] = int(status)
                        case ["reply", number, *reply]:
                            self.replies[int(number)] = "".join(reply)
                    self._changed.notify_all()
        with self._changed:
            self._has_ended = True
            self._changed.notify_all()


class GuestProcess:
    """A bash command running in the guest, as the leader of its own session."""

    def __init__(self, agent: Agent, number: int, folder: Path, command: str) -> None:
        self._agent = agent
        self._number = number
        self._folder = folder
        self.command = command
        folder.mkdir(parents=True)
        (folder / "command").write_text(command)
        self._lines_read = 0
        agent.send(f"run {number}")
        agent.wait_for(lambda: number in agent.pids, BOUND_SECONDS, f"the start of {command!r}")
        self.pid = agent.pids[number]

    @property
    def stdout(self) -> str:
        """All it has printed so far (most programs hold lines back: see `stdbuf -oL`)."""
        return self._read("stdout")

    @property
    def stderr(self) -> str:
        """All it has written to stderr so far."""
        return self._read("stderr")

    def lines(self) -> list[str]:
        """The lines of stdout that are complete so far."""
        return self.stdout.split("\n")[:-1]

    def read_lines(self, count: int) -> list[str]:
        """Waits for the next `count` lines of stdout, after those that were read before."""
        wanted = self._lines_read + count
        self.wait_until(lambda text: text.count("\n") >= wanted, f"{count} lines")
        return self._read_to(wanted)

    def read_complete_lines(self) -> list[str]:
        """The lines of stdout that are complete so far, after those that were read before."""
        return self._read_to(len(self.lines()))

    def _read_to(self, end: int) -> list[str]:
        begin, self._lines_read = self._lines_read, end
        return self.lines()[begin:end]

    @property
    def exit_code(self) -> int | None:
        """The exit code; None while the command runs."""
        return self._agent.exit_codes.get(self._number)

    def wait_for(self, pattern: str, timeout: float = BOUND_SECONDS) -> re.Match[str]:
        """Waits until stdout matches the regular expression, and returns the match.

        ^ and $ stand for the ends of lines.
        """
        search = re.compile(pattern, re.MULTILINE).search
        self.wait_until(lambda text: search(text) is not None, repr(pattern), timeout)
        found = search(self.stdout)
        assert found
        return found

    def wait_until(
        self, condition: Callable[[str], bool], what: str, timeout: float = BOUND_SECONDS
    ) -> None:
        """Waits until the function accepts stdout.

        Fails after the timeout, or at once if the command ends without the wanted output.
        """
        deadline = time.monotonic() + timeout
        while True:
            # Read before stdout, so that no output of an ended command is missed.
            exit_code = self.exit_code
            is_late = time.monotonic() > deadline
            if condition(self.stdout):
                return
            if exit_code is not None:
                raise self._failure(f"ended with exit code {exit_code} before {what}")
            if is_late:
                raise self._failure(f"no {what} within {timeout} s")
            self._agent.check_alive()
            time.sleep(POLL_SECONDS)

    def wait(self, timeout: float = BOUND_SECONDS) -> Completed:
        """Waits until the command ends by itself; kills it and fails when the time is up."""
        try:
            self._agent.wait_for(
                lambda: self.exit_code is not None, timeout, f"the end of {self.command!r}"
            )
        except TimeoutError:
            self.kill()
            raise self._failure(f"did not end within {timeout} s") from None
        exit_code = self.exit_code
        assert exit_code is not None
        return Completed(self.command, exit_code, self.stdout, self.stderr)

    def interrupt_until_it_ends(self) -> Completed:
        """Sends SIGINT repeatedly, to a program that a single signal may not end.

        The handler of evemu-record only interrupts a wait for events, and that of Python does not
        run while the program is in a wait for input that began after the signal.
        """
        deadline = time.monotonic() + BOUND_SECONDS
        while self.exit_code is None and time.monotonic() < deadline:
            self.interrupt()
            with contextlib.suppress(TimeoutError):
                self._agent.wait_for(lambda: self.exit_code is not None, AGAIN_SECONDS, "the end")
        return self.wait(AGAIN_SECONDS)

    def interrupt(self) -> None:
        """Sends SIGINT to the command and all it started in its process group."""
        self._signal("INT")

    def terminate(self) -> None:
        """Sends SIGTERM to the same processes."""
        self._signal("TERM")

    def kill(self) -> None:
        """Sends SIGKILL to the same processes."""
        self._signal("KILL")

    def _signal(self, name: str) -> None:
        if self.exit_code is None:
            self._agent.send(f"signal {self.pid} {name}")

    def _failure(self, problem: str) -> CommandFailed:
        return CommandFailed(problem, self.command, self.stdout, self.stderr)

    def _read(self, name: str) -> str:
        path = self._folder / name
        return path.read_bytes().decode(errors="replace") if path.exists() else ""
