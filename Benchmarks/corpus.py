"""How long thousands of small recordings take: one by one, together, and with Dask."""

import random
import sys
import tempfile
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from markdown import ranged, table
from measure import peak_kib, side_by_side
from plot import Panel, Row, plot
from spread import Spread
from support.checkout import CHECKOUT

SIZES = (1_000, 10_000, 100_000)
# A process for each recording takes milliseconds each, however many there are.
MOST_ONE_BY_ONE = 1_000

# Each recording has the header of this one, and a part of its events.
MODEL = CHECKOUT / "Tests/EventRecordingsTests/Recordings/typing.redacted.evemu"

PROGRAM = CHECKOUT / "examples/corpus/corpus.py"

COMMANDS = {
    "a process for each": 'for file in "$0"/*; do keymodectl replay --json "$file"; done',
    "replay --each": 'xargs -0 -a "$0.names" keymodectl replay --each --json',
    "xargs -P 2": 'xargs -0 -a "$0.names" -P 2 -n 500 keymodectl replay --each --json',
    "Dask, 2 workers": f'rm -rf "$1"; exec {sys.executable} {PROGRAM} "$0" "$1"',
}


def measure(programs: Path, runs: int, sizes: list[int]) -> dict[str, object]:
    """All figures; the sizes are those of this part."""
    by_size: dict[str, object] = {}
    with tempfile.TemporaryDirectory(prefix="keymoded-bench-") as name:
        recordings = Path(name) / "recordings"
        recordings.mkdir()
        count = size = 0
        for size_wanted in SIZES:
            size += sum(write(recordings, number) for number in range(count, size_wanted))
            count = size_wanted
            names = "".join(f"{path}\0" for path in sorted(recordings.iterdir()))
            recordings.with_suffix(".names").write_text(names, encoding="utf-8")
            arguments = [str(recordings), str(Path(name) / "results")]
            path = f"PATH={programs}:$PATH; "
            commands = {
                what: ["taskset", "-c", "0,1", "sh", "-c", path + script, *arguments]
                for what, script in COMMANDS.items()
                if count <= MOST_ONE_BY_ONE or what != "a process for each"
            }
            figures = side_by_side(commands, runs)
            by_size[str(count)] = {
                what: each.raw() | {"recordings_per_s": round(count / each.median)}
                for what, each in figures.items()
            } | {"bytes": size, "peak_kib": peak_kib(Path(name), commands["replay --each"])}
    return {"by_size": by_size}


@cache
def model() -> list[str]:
    return MODEL.read_text(encoding="utf-8").splitlines(keepends=True)


def write(folder: Path, number: int) -> int:
    """Writes a recording of 20 to 80 lines of events; returns its size."""
    lines = model()
    first = next(index for index, line in enumerate(lines) if line.startswith("E:"))
    chance = random.Random(number)
    length = chance.randrange(20, 80)
    start = chance.randrange(first, len(lines) - length)
    text = "".join(lines[:first] + lines[start : start + length])
    return (folder / f"{number:06}.evemu").write_text(text, encoding="utf-8")


def spread(programs: Mapping[str, Any], what: str) -> Spread:
    """The seconds of a program over all rounds."""
    return Spread.of(programs[what]["runs_s"])


def tables(result: Mapping[str, Any]) -> dict[str, str]:
    """A table of all sizes."""
    rows = [
        (
            f"{int(size):,}",
            what,
            f"{ranged(spread(programs, what))} s",
            f"{programs[what]['recordings_per_s']:,}",
        )
        for size, programs in result["by_size"].items()
        for what in COMMANDS
        if what in programs
    ]
    return {"sizes": table(("recordings", "program", "time", "recordings a second"), rows)}


def picture(result: Mapping[str, Any]) -> str:
    """The times by the number of recordings."""
    panels = [
        Panel(
            f"{int(size):,} recordings",
            [
                Row(what, [spread(programs, what)], what != "a process for each")
                for what in COMMANDS
                if what in programs
            ],
        )
        for size, programs in result["by_size"].items()
    ]
    return plot(
        "Replaying small recordings",
        "One process replays recordings one after the other faster than a process for each.",
        "seconds",
        ("median",),
        panels,
    )
