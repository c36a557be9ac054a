"""How long the programs take to start."""

import os
import time
from collections.abc import Sequence
from pathlib import Path

from figures import Rounds, alone
from typed_on import typed_on


def measure(programs: Path, runs: int) -> Rounds:
    """Times from the start of a program; the first round only brings files into memory."""
    keymoded, keymodectl = programs / "keymoded", str(programs / "keymodectl")
    found: dict[str, list[float]] = {
        "from `exec` to `READY=1`, ms": [],
        "`keymodectl state`, ms": [],
    }
    for number in range(3 * runs + 1):
        with typed_on(keymoded) as daemon:
            command = [keymodectl, "state", "--socket-dir", str(daemon.sockets)]
            times = (daemon.seconds_to_ready, seconds(command))
        if number > 0:
            for values, taken in zip(found.values(), times, strict=True):
                values.append(taken * 1000)
    return alone(found)


def seconds(command: Sequence[str]) -> float:
    """The elapsed time of a command, which must succeed; its output is discarded."""
    with open(os.devnull, "wb") as devnull:
        actions = [(os.POSIX_SPAWN_DUP2, devnull.fileno(), 1)]
        started = time.perf_counter()
        pid = os.posix_spawnp(command[0], command, os.environ, file_actions=actions)
        _, status = os.waitpid(pid, 0)
        taken = time.perf_counter() - started
    if status != 0:
        raise RuntimeError(f"{command[0]} ended with {os.waitstatus_to_exitcode(status)}")
    return taken
