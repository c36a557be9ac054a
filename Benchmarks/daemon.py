"""What the daemon costs on this machine: at rest, and for each key."""

import re
import tempfile
import time
from pathlib import Path

from figures import Rounds, alone
from typed_on import CHANGING, typed_on

KEYSTROKES = 200
REST_SECONDS = 60


def measure(programs: Path, runs: int) -> Rounds:
    """All figures of the daemon."""
    keymoded = programs / "keymoded"
    return alone(at_rest(keymoded, runs) | for_each_key(keymoded))


def at_rest(program: Path, runs: int) -> dict[str, list[float]]:
    """The memory of some daemons, and the wakeups of one, each with a keyboard and a client."""
    memory = []
    for _ in range(runs):
        with typed_on(program) as daemon:
            memory.append(daemon.process.memory_kib())
    with typed_on(program) as daemon:
        daemon.wait_until_asleep()
        before = int(daemon.process.status("voluntary_ctxt_switches"))
        time.sleep(REST_SECONDS)
        wakeups = int(daemon.process.status("voluntary_ctxt_switches")) - before
    return {
        "resident memory at rest, KiB": [each["rss"] for each in memory],
        "anonymous part of it, KiB": [each["anonymous"] for each in memory],
        f"wakeups in {REST_SECONDS} s at rest": [wakeups],
    }


def for_each_key(program: Path) -> dict[str, list[float]]:
    """Instructions in user space and allocations for a key event, of which every second is a change."""
    once, twice = (counts(program, times) for times in (KEYSTROKES, 2 * KEYSTROKES))
    # The difference leaves out what the start costs.
    return {
        f"{what} for a key event": [(twice[what] - once[what]) / (KEYSTROKES * len(CHANGING))]
        for what in once
    }


def counts(program: Path, times: int) -> dict[str, int]:
    """The instructions and the allocations of a whole run, by callgrind."""
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / "out"
        callgrind = ["valgrind", "--tool=callgrind", "-q", f"--callgrind-out-file={output}"]
        with typed_on(program, *callgrind) as daemon:
            daemon.type(CHANGING, times)
        text = output.read_text(encoding="utf-8")
    total = re.search(r"^(?:totals|summary): (\d+)", text, re.MULTILINE)
    assert total
    # A name is beside its number only at its first use; the count of a call is in the next line.
    numbers = set(re.findall(r"^c?fn=\((\d+)\) (?:malloc|calloc|realloc)$", text, re.MULTILINE))
    called = re.findall(r"^cfn=\((\d+)\).*\ncalls=(\d+)", text, re.MULTILINE)
    allocations = sum(int(count) for number, count in called if number in numbers)
    return {"instructions": int(total[1]), "allocations": allocations}
