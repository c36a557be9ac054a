"""What rounds of the same measurement gave: for results, tables, plots and aims.

The guest of `in_guest.py` has a copy of this file.
"""

import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Self


@dataclass(frozen=True)
class Spread:
    """The median of all rounds, the lowest and the highest."""

    median: float
    low: float
    high: float

    @classmethod
    def of(cls, values: Iterable[float]) -> Self:
        """The spread of at least one value."""
        values = list(values)
        return cls(statistics.median(values), min(values), max(values))

    @classmethod
    def of_rounds(cls, rounds: Iterable[Mapping[str, float]], what: str) -> Self:
        """The spread of one figure over all rounds."""
        return cls.of(figures[what] for figures in rounds)


def percentiles(times: Sequence[float], digits: int) -> dict[str, float]:
    """The median of a round, the time that 99 of 100 do not exceed, and the longest."""
    ordered = sorted(times)
    places = {"p50": len(ordered) // 2, "p99": len(ordered) * 99 // 100, "max": len(ordered) - 1}
    return {what: round(ordered[place], digits) for what, place in places.items()}
