"""How fast recordings are replayed, beside other programs that read them."""

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from markdown import short, table
from measure import PEERS, compiled, instructions, peak_kib, side_by_side
from plot import Panel, Row, plot
from recordings import FORMATS, Recording, recording
from spread import Spread

# How many events the recording of each format has.
REFERENCE = 2_000_000
# The sizes at which instructions are counted; their difference leaves out what the start takes.
COUNTED = (100_000, 200_000)
OURS = "replay --json"

Commands = dict[str, list[str]]


def measure(programs: Path, runs: int, sizes: list[int]) -> dict[str, object]:
    """All figures of replay."""
    keymodectl = str(programs / "keymodectl")
    with tempfile.TemporaryDirectory(prefix="keymoded-bench-") as name:
        folder = Path(name)
        reader = compiled(folder, "evemu_reader", "-levemu")

        def commands(file: Recording, tool: str) -> Commands:
            path = str(file.path)
            ours = {OURS: [keymodectl, "replay", "--json", path]}
            peers = {"wc -l": ["wc", "-l", path]}
            if tool == "evemu-record":
                peers["libevemu"] = [reader, path]
            if tool == "evemu-record" and file.events >= REFERENCE:
                ours["replay"] = [keymodectl, "replay", path]
                peers["python-evdev style"] = ["python3", str(PEERS / "evdev_style.py"), path]
            return ours | peers

        by_format = {tool: recording(folder, tool, REFERENCE) for tool in FORMATS}
        by_size = {str(size): recording(folder, "evemu-record", size) for size in sizes}
        counted = [
            instructions(commands(recording(folder, "evemu-record", size), "")[OURS])
            for size in COUNTED
        ]
        return {
            "formats": figures(
                folder,
                {tool: (file, commands(file, tool)) for tool, file in by_format.items()},
                runs,
            ),
            "evemu_by_size": figures(
                folder,
                {size: (file, commands(file, "evemu-record")) for size, file in by_size.items()},
                runs,
            ),
            "instructions": {
                "per_event": round((counted[1] - counted[0]) / (COUNTED[1] - COUNTED[0]), 1),
                "to_start": 2 * counted[0] - counted[1],
            },
        }


def figures(
    folder: Path, recordings: Mapping[str, tuple[Recording, Commands]], runs: int
) -> dict[str, object]:
    """How long each program takes for each recording, all in the same rounds."""
    times = side_by_side(
        {
            f"{name}: {program}": command
            for name, (_, commands) in recordings.items()
            for program, command in commands.items()
        },
        runs,
    )
    return {
        name: {
            "events": file.events,
            "bytes": file.path.stat().st_size,
            "figures": {
                program: times[f"{name}: {program}"].raw() | {"peak_kib": peak_kib(folder, command)}
                for program, command in commands.items()
            },
        }
        for name, (file, commands) in recordings.items()
    }


@dataclass(frozen=True)
class Format:
    """The figures of one recording."""

    events: int
    size: int
    figures: Mapping[str, Any]

    @classmethod
    def of(cls, result: Mapping[str, Any], name: str, by: str = "formats") -> Self:
        """The recording of the tool in the results."""
        each = result[by][name]
        return cls(each["events"], each["bytes"], each["figures"])

    def seconds(self, program: str = OURS) -> float:
        """The median of the elapsed times."""
        seconds: float = self.figures[program]["median_s"]
        return seconds

    def millions(self, program: str = OURS) -> Spread:
        """Million events a second."""
        return Spread.of(self.events / each / 1e6 for each in self.figures[program]["runs_s"])

    def faster_than(self, program: str) -> float:
        """How many times as fast as the other program."""
        return self.seconds(program) / self.seconds()


def tables(result: Mapping[str, Any]) -> dict[str, str]:
    """Tables of the formats, of the programs that read evemu's, and of the sizes."""
    formats = [(tool, Format.of(result, tool)) for tool in result["formats"]]
    evemu = Format.of(result, "evemu-record")
    sizes = [Format.of(result, size, "evemu_by_size") for size in result["evemu_by_size"]]
    counts = result["instructions"]
    return {
        "formats": table(
            (
                "recorded by",
                "megabytes",
                "time",
                "million events a second",
                "`wc -l`",
                "times `wc -l`",
            ),
            (
                (
                    f"`{tool}`",
                    short(each.size / 1e6),
                    f"{short(each.seconds() * 1000)} ms",
                    short(each.millions().median),
                    f"{short(each.seconds('wc -l') * 1000)} ms",
                    short(each.seconds() / each.seconds("wc -l")),
                )
                for tool, each in formats
            ),
        ),
        "evemu": table(
            ("", "time", "million events a second", "times `replay --json`", "peak memory"),
            (
                (
                    name,
                    f"{short(each['median_s'] * 1000)} ms",
                    short(evemu.millions(name).median),
                    short(evemu.faster_than(name)),
                    f"{each['peak_kib'] / 1000:.1f} MB",
                )
                for name, each in evemu.figures.items()
            ),
        ),
        "sizes": table(
            ("events", "`replay --json`", "libevemu", "`wc -l`", "peak memory of replay"),
            (
                (
                    f"{each.events:,}",
                    *(
                        f"{short(each.seconds(name) * 1000)} ms"
                        for name in (OURS, "libevemu", "wc -l")
                    ),
                    f"{each.figures[OURS]['peak_kib'] / 1000:.1f} MB",
                )
                for each in sizes
            ),
        ),
        "instructions": table(
            ("instructions", ""),
            (
                ("for an event", f"{counts['per_event']:.0f}"),
                ("to start", f"{counts['to_start'] / 1e6:.1f} million"),
            ),
        ),
    }


def picture(result: Mapping[str, Any]) -> str:
    """A plot of how many events each program reads in a second, by format."""
    panels = []
    for tool in result["formats"]:
        each = Format.of(result, tool)
        names = [name for name in (OURS, "libevemu", "wc -l") if name in each.figures]
        rows = [Row(name, [each.millions(name)], is_ours=name == OURS) for name in names]
        panels.append(Panel(f"by {tool}", rows))
    return plot(
        "Reading recordings of typing",
        "Events that each program reads in a second, by the tool that has recorded them.",
        "million events a second",
        ("median",),
        panels,
    )
