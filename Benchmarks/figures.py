"""What parts measure, and how it is written: into results/PART.csv, and as tables of Markdown."""

import csv
import math
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

# What was measured and its unit, then the program, then its value in each round.
Rounds = dict[str, dict[str, list[float]]]

# The column of parts that have only one program for each figure.
ALONE = "measured"

HEADER = ("what", "program", "median", "low", "high")


@dataclass(frozen=True)
class Figure:
    """The median of the rounds, the lowest and the highest."""

    what: str
    program: str
    median: float
    low: float
    high: float

    @classmethod
    def of(cls, what: str, program: str, values: Sequence[float]) -> Self:
        """The figure of at least one round."""
        return cls(what, program, statistics.median(values), min(values), max(values))

    def cell(self) -> str:
        """The median, and behind it the range if the rounds differ."""
        if self.low == self.high:
            return short(self.median)
        return f"{short(self.median)} ({short(self.low)}–{short(self.high)})"


def with_ratio(rounds: Rounds, ours: str, peer: str) -> Rounds:
    """Adds how many times the peer's value ours is, where both were measured and the peer's is not 0.

    The programs of a round run in turn on the same machine, so the ratio varies less than they do.
    """
    for programs in rounds.values():
        if ours in programs and all(programs.get(peer, [0])):
            both = zip(programs[ours], programs[peer], strict=True)
            programs[f"{ours} / {peer}"] = [mine / theirs for mine, theirs in both]
    return rounds


def alone(values: Mapping[str, list[float]]) -> Rounds:
    """The rounds of what has no program beside it."""
    return {what: {ALONE: each} for what, each in values.items()}


def figures(rounds: Rounds) -> list[Figure]:
    """The figures of all programs."""
    return [
        Figure.of(what, program, values)
        for what, programs in rounds.items()
        for program, values in programs.items()
    ]


def write(path: Path, note: str, found: Iterable[Figure]) -> None:
    """Writes figures, with four digits, behind a line that says when and where they were taken."""
    with path.open("w", encoding="utf-8", newline="") as file:
        file.write(f"# {note}\n")
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(HEADER)
        for each in found:
            numbers = [f"{value:.4g}" for value in (each.median, each.low, each.high)]
            rows.writerow([each.what, each.program, *numbers])


def read(path: Path) -> tuple[str, list[Figure]]:
    """The note and the figures of a file."""
    note, _, *rows = path.read_text(encoding="utf-8").splitlines()
    return note.removeprefix("# "), [
        Figure(what, program, *map(float, numbers))
        for what, program, *numbers in csv.reader(rows)
    ]


def table(note: str, found: Sequence[Figure]) -> str:
    """A row for what was measured, a column for each program; the day and the commit of the note."""
    programs = list(dict.fromkeys(each.program for each in found))
    cells = {(each.what, each.program): each.cell() for each in found}
    lines = [[note.partition(":")[0], *programs], ["---"] * (len(programs) + 1)]
    for what in dict.fromkeys(each.what for each in found):
        lines.append([what, *(cells.get((what, program), "") for program in programs)])
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def short(value: float) -> str:
    """A number with three digits, or with all of its integer."""
    rounded = float(f"{value:.3g}")
    decimals = max(0, 2 - math.floor(math.log10(rounded))) if rounded > 0 else 0
    return f"{value:,.{decimals}f}"
