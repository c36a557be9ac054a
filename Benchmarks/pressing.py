"""The program that presses keys, and what runs beside it: on this machine and in the guest."""

import contextlib
import subprocess
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path


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
        """Connects to each program, as `peers/latency.c` describes it, and warms it up."""
        self._say("".join(f"{inputs[name]}\n" for name in self._names))
        self.measure("", 1, 20, 15_000)

    def measure(
        self, case: str, rounds: int, samples: int, pause: int
    ) -> dict[str, dict[str, list[float]]]:
        """Microseconds from a press to a client, by what was measured, program and round.

        The program presses on all keyboards in turn, so many times in each round, and waits `pause`
        microseconds before each press.
        """
        self._say(f"go {rounds} {samples} {pause}\n")
        taken = {name: [[] for _ in range(rounds)] for name in self._names}
        while (line := self._line()) != "done":
            name, number, nanoseconds = line.split()
            taken[name][int(number)].append(int(nanoseconds) / 1000)
        return {
            f"{case}, {which}, µs": {
                name: [percentiles(each)[which] for each in times] for name, times in taken.items()
            }
            for which in ("p50", "p99")
        }

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


def percentiles(times: Sequence[float]) -> dict[str, float]:
    """The median of a round, and the time that 99 of 100 do not exceed."""
    ordered = sorted(times)
    return {"p50": ordered[len(ordered) // 2], "p99": ordered[len(ordered) * 99 // 100]}


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
