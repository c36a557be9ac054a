"""The program that presses keys, and what runs beside it: on this machine and in the guest."""

import contextlib
import re
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from spread import percentiles
from support.waiting import wait_until

# The percentiles of each round in microseconds, for each program that was measured.
Rounds = dict[str, list[dict[str, float]]]


class Pressing:
    """`peers/latency.c`, which presses keys on each program's keyboard, or FIFO, in turn."""

    def __init__(self, program: Path, names: Iterable[str], fifos: Mapping[str, Path] = {}) -> None:
        """Makes a keyboard for each program, or opens its FIFO."""
        self._names = list(names)
        keyboards = [f"{name}={fifos[name]}" if name in fifos else name for name in self._names]
        # With a higher priority than all that is measured, or it would measure its own waits.
        self._process = subprocess.Popen(
            ["chrt", "-f", "60", str(program), *keyboards],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.nodes = {name: self._line().split()[1] for name in self._names}

    def connect(self, inputs: Mapping[str, str]) -> None:
        """Connects to each program, as `peers/latency.c` describes it."""
        self._say("".join(f"{inputs[name]}\n" for name in self._names))

    def measure(self, rounds: int, samples: int, pause: int) -> Rounds:
        """Presses on all keyboards in turn, so many times in each round.

        The pause before each press is in microseconds.
        """
        self._say(f"go {rounds} {samples} {pause}\n")
        taken: dict[str, list[list[float]]] = {
            name: [[] for _ in range(rounds)] for name in self._names
        }
        while (line := self._line()) != "done":
            name, number, nanoseconds = line.split()
            taken[name][int(number)].append(int(nanoseconds) / 1000)
        return {name: [percentiles(times, 1) for times in each] for name, each in taken.items()}

    def end(self) -> None:
        """Ends the program, and removes the keyboards."""
        self._process.kill()
        self._process.wait()

    def _say(self, text: str) -> None:
        assert self._process.stdin
        self._process.stdin.write(text)
        self._process.stdin.flush()

    def _line(self) -> str:
        assert self._process.stdout
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError("the program that presses keys has ended")
        return line.strip()


def listening(path: Path) -> Path:
    """The socket, once a program listens on it."""

    def is_there() -> bool:
        # The flags of a socket that a program listens on; before, connecting is refused.
        table = Path("/proc/net/unix").read_text(encoding="utf-8")
        return bool(re.search(rf" 00010000 .* {path}$", table, re.MULTILINE))

    wait_until(is_there, f"the socket {path}")
    return path


@contextlib.contextmanager
def busy(count: int) -> Iterator[None]:
    """So many programs that never rest."""
    loops = [subprocess.Popen(["sh", "-c", "while :; do :; done"]) for _ in range(count)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()
