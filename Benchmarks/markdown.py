"""Figures and tables as text, for the terminal, for docs/performance.md and for plots."""

import math
from collections.abc import Iterable, Sequence

from spread import Spread


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table with a line for each row; cells hold no `|`."""
    lines = [header, ["---"] * len(header), *rows]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)


def short(value: float) -> str:
    """A number with three digits, or with all of its integer."""
    rounded = float(f"{value:.3g}")
    decimals = max(0, 2 - math.floor(math.log10(rounded))) if rounded > 0 else 0
    return f"{value:,.{decimals}f}"


def ranged(spread: Spread) -> str:
    """The median, and behind it the lowest and the highest."""
    return f"{short(spread.median)} ({short(spread.low)}–{short(spread.high)})"
