"""Programs beside each other in the same run: how long each takes, and how much memory."""

import os
import re
import statistics
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

PEERS = Path(__file__).parent / "peers"


@dataclass
class Figures:
    """The times of all runs of a program."""

    seconds: list[float] = field(default_factory=list)
    cpu_seconds: list[float] = field(default_factory=list)

    @property
    def median(self) -> float:
        """The median of all elapsed times."""
        return statistics.median(self.seconds)

    def raw(self) -> dict[str, object]:
        """All figures, for the file of results."""
        return {
            "median_s": round(self.median, 6),
            "median_cpu_s": round(statistics.median(self.cpu_seconds), 6),
            "runs_s": [round(seconds, 6) for seconds in self.seconds],
        }


def side_by_side(commands: Mapping[str, Sequence[str]], runs: int) -> dict[str, Figures]:
    """Runs each command in turn, `runs` times.

    Other work of the machine then slows all of them alike. The first round only brings files and
    programs into memory, and is not counted.
    """
    figures = {name: Figures() for name in commands}
    for round_number in range(runs + 1):
        for name, command in commands.items():
            seconds, cpu_seconds = once(command)
            if round_number > 0:
                figures[name].seconds.append(seconds)
                figures[name].cpu_seconds.append(cpu_seconds)
    return figures


def once(command: Sequence[str]) -> tuple[float, float]:
    """The elapsed time and the CPU time of one run, in seconds; its output is discarded."""
    devnull = os.open(os.devnull, os.O_WRONLY)
    try:
        actions = [(os.POSIX_SPAWN_DUP2, devnull, 1)]
        started = time.perf_counter()
        process = os.posix_spawnp(command[0], list(command), os.environ, file_actions=actions)
        _, status, usage = os.wait4(process, 0)
        seconds = time.perf_counter() - started
    finally:
        os.close(devnull)
    if status != 0:
        raise RuntimeError(f"{command[0]} ended with {os.waitstatus_to_exitcode(status)}")
    return seconds, usage.ru_utime + usage.ru_stime


def compiled(folder: Path, name: str, *libraries: str) -> str:
    """The program of `peers/NAME.c`, compiled as its users would."""
    program = folder / name
    source = PEERS / f"{name}.c"
    subprocess.run(["cc", "-O2", "-o", program, source, *libraries], check=True)
    return str(program)


def peak_kib(folder: Path, command: Sequence[str]) -> int:
    """The peak of resident memory of a run of `command`, in KiB."""
    peak = str(folder / "peak")
    if not Path(peak).exists():
        compiled(folder, "peak")
    return int(subprocess.run([peak, *command], check=True, capture_output=True).stdout)


def instructions(command: Sequence[str]) -> int:
    """How many instructions a run takes in user space; every run on any machine takes as many."""
    with tempfile.TemporaryDirectory() as folder:
        output = f"--callgrind-out-file={folder}/out"
        done = subprocess.run(
            ["valgrind", "--tool=callgrind", output, *command],
            check=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
    found = re.search(r"Collected : (\d+)", done.stderr)
    if not found:
        raise RuntimeError("valgrind counted nothing")
    return int(found[1])


def machine() -> dict[str, object]:
    """The machine that was measured."""
    lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    models = {line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")}
    system = os.uname()
    return {
        "processor": ", ".join(sorted(models)),
        "processors": os.cpu_count(),
        "kernel": f"{system.sysname} {system.release}",
        "load": [round(load, 2) for load in os.getloadavg()],
    }
