"""How fast recordings are replayed, beside other programs that read them."""

import tempfile
from pathlib import Path

from measure import compiled, instructions, peak_kib, side_by_side
from plot import Panel, Row, plot
from recordings import recording
from spread import Spread

# The most events for Python, which would take minutes for more and show nothing new.
PYTHON_LIMIT = 1_000_000
REFERENCE = 2_000_000


def measure(programs: Path, runs: int, sizes: list[int]) -> dict[str, object]:
    """All figures of replay."""
    keymodectl = str(programs / "keymodectl")
    with tempfile.TemporaryDirectory(prefix="keymoded-bench-") as name:
        folder = Path(name)
        reader = compiled(folder, "evemu_reader", "-levemu")
        by_size: dict[str, object] = {}
        for size in sizes:
            file = str(recording(folder, "evemu", size))
            commands = {
                "keymodectl --json": [keymodectl, "replay", "--json", file],
                "keymodectl": [keymodectl, "replay", file],
                "libevemu": [reader, file],
                "wc -l": ["wc", "-l", file],
            }
            if size <= PYTHON_LIMIT:
                evdev_style = str(Path(__file__).parent / "peers" / "evdev_style.py")
                commands["python-evdev style"] = ["python3", evdev_style, file]
            figures = side_by_side(commands, runs)
            by_size[str(size)] = {
                what: figures[what].raw() | {"peak_kib": peak_kib(folder, command)}
                for what, command in commands.items()
            }
            if size > REFERENCE:
                Path(file).unlink()
        formats: dict[str, object] = {}
        for format_name in ("evemu", "evemu-commented", "raw64", "evtest", "libinput"):
            # The slowest formats take some seconds for each million events.
            count = REFERENCE if format_name in ("evemu", "evemu-commented", "raw64") else 200_000
            file = str(recording(folder, format_name, count))
            commands = {
                "keymodectl --json": [keymodectl, "replay", "--json", file],
                "keymodectl --version": [keymodectl, "--version"],
                "wc -l": ["wc", "-l", file],
            }
            figures = side_by_side(commands, runs)
            seconds = figures["keymodectl --json"].median
            formats[format_name] = {
                "events": count,
                "bytes": Path(file).stat().st_size,
                "events_per_s": round(count / seconds),
                "times_wc": round(seconds / figures["wc -l"].median, 2),
                "figures": {what: each.raw() for what, each in figures.items()},
            }
        counts = [
            instructions([keymodectl, "replay", "--json", str(recording(folder, "evemu", count))])
            for count in (100_000, 200_000)
        ]
    return {
        "evemu_by_size": by_size,
        "formats": formats,
        "instructions": {
            "per_event": round((counts[1] - counts[0]) / 100_000, 1),
            "to_start": 2 * counts[0] - counts[1],
        },
    }


def summary(result: dict[str, object]) -> list[str]:
    """The most important figures, as text."""
    lines = [f"{'events':>9}  {'program':20} {'median':>9} {'events/s':>12} {'peak':>9}"]
    by_size = result["evemu_by_size"]
    formats = result["formats"]
    assert isinstance(by_size, dict)
    assert isinstance(formats, dict)
    for size, programs in by_size.items():
        for name, each in programs.items():
            rate = int(size) / each["median_s"]
            lines.append(
                f"{size:>9}  {name:20} {each['median_s'] * 1000:6.1f} ms {rate:12,.0f}"
                f" {each['peak_kib']:5} KiB"
            )
        ours = programs["keymodectl --json"]["median_s"]
        lines.append(
            f"{size:>9}  replay is {programs['libevemu']['median_s'] / ours:.1f} times as fast as"
            f" libevemu, and takes {ours / programs['wc -l']['median_s']:.1f} times as long as wc"
        )
    for name, each in formats.items():
        lines.append(f"{each['events']:>9}  {name:20} {each['events_per_s']:12,} events/s")
    return [*lines, f"instructions: {result['instructions']}"]


def picture(result: dict[str, object]) -> str:
    """A plot of how many events each program reads in a second, by format."""
    formats = result["formats"]
    assert isinstance(formats, dict)
    panels = []
    for format_name, each in formats.items():
        rows = [
            Row(
                name,
                [Spread.of(each["events"] / seconds / 1e6 for seconds in figures["runs_s"])],
                is_ours=name.startswith("keymodectl"),
            )
            for name, figures in each["figures"].items()
            if name != "keymodectl --version"
        ]
        panels.append(Panel(format_name, rows))
    return plot(
        "Reading recordings",
        "Events that each program reads in a second, by the format of the recording.",
        "million events a second; whiskers from the slowest to the fastest run",
        ("median",),
        panels,
    )
