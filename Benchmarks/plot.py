"""Points with whiskers as SVG, with Python's standard library alone.

Each row is what was measured, with a point for each of one or two figures; panels group rows. The
colors follow the reader's preference for light or dark. The figures are beside the rows as text, so
that no label can cover another.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

from markdown import short
from spread import Spread

WIDTH = 760
MARGIN, TOP, ROW, BOTTOM = 16, 74, 24, 62
# The widest that a character is on average, in bold DejaVu Sans.
CHARACTER = 8.4

STYLE = """
text { fill: #1f2328; stroke: none }
.quiet { fill: #59636e }
.heading { fill: #59636e; stroke: #ffffff; stroke-width: 6; paint-order: stroke }
.background { fill: #ffffff }
.grid { stroke: #d1d9e0 }
.ours { stroke: #0969da; fill: #0969da }
.other { stroke: #59636e; fill: #59636e }
.hollow { fill: #ffffff }
@media (prefers-color-scheme: dark) {
  text { fill: #f0f6fc }
  .quiet { fill: #9198a1 }
  .heading { fill: #9198a1; stroke: #0d1117 }
  .background { fill: #0d1117 }
  .grid { stroke: #3d444d }
  .ours { stroke: #58a6ff; fill: #58a6ff }
  .other { stroke: #9198a1; fill: #9198a1 }
  .hollow { fill: #0d1117 }
}
"""


@dataclass(frozen=True)
class Row:
    """What was measured, and a point for each figure; None where it was not measured."""

    name: str
    points: Sequence[Spread | None]
    is_ours: bool = False


@dataclass(frozen=True)
class Panel:
    """Rows under a heading, which may be empty."""

    name: str
    rows: Sequence[Row]

    @classmethod
    def of_latencies(
        cls,
        name: str,
        rounds: Mapping[str, Sequence[Mapping[str, float]]],
        names: Mapping[str, str],
    ) -> "Panel":
        """The median and the slow presses of each program; `names` has what readers call them."""
        return cls(
            name,
            [
                Row(
                    text,
                    [Spread.of_rounds(rounds[program], what) for what in ("p50", "p99")],
                    is_ours=text == "keymoded",
                )
                for program, text in names.items()
            ],
        )


@dataclass(frozen=True)
class Scale:
    """A logarithmic scale between two of its ticks, which are 1, 2 and 5 times powers of ten."""

    ticks: Sequence[float]
    start: float
    end: float

    @classmethod
    def around(cls, values: Sequence[float], start: float, end: float) -> "Scale":
        """The narrowest scale that has all values, which are above zero."""
        low, high = math.log10(min(values)), math.log10(max(values))
        steps = (1, 2, 5) if high - low < 2 else (1,)
        powers = range(math.floor(low), math.ceil(high) + 2)
        ticks = [step * 10.0**power for power in powers for step in steps]
        first = max(place for place, tick in enumerate(ticks) if tick <= min(values))
        last = next(place for place, tick in enumerate(ticks) if tick >= max(values))
        return cls(ticks[first : max(first + 1, last) + 1], start, end)

    def at(self, value: float) -> float:
        """The coordinate of `value`."""
        low, high = math.log10(self.ticks[0]), math.log10(self.ticks[-1])
        return self.start + (math.log10(value) - low) / (high - low) * (self.end - self.start)


def plot(
    title: str, description: str, unit: str, figures: Sequence[str], panels: Sequence[Panel]
) -> str:
    """The plot of one or two figures in rows.

    The description says in a sentence what can be seen. For those who cannot see it, all figures are
    behind it.
    """
    rows = [row for panel in panels for row in panel.rows]
    points = [point for row in rows for point in row.points if point]
    left = MARGIN + 12 + CHARACTER * max(len(row.name) for row in rows)
    # The columns of figures are on the right, each under its name and the form of its points.
    widest = max([len(name) + 2 for name in figures] + [len(short(each.median)) for each in points])
    column = CHARACTER * widest + 14
    right = WIDTH - MARGIN - column * len(figures)
    scale = Scale.around([end for point in points for end in (point.low, point.high)], left, right)
    bottom = TOP + ROW * (len(rows) + sum(panel.name != "" for panel in panels))
    parts = [_text(MARGIN, 28, title, size=16)]
    for place, name in enumerate(figures):
        x = right + column * (place + 1)
        parts.append(_text(x, TOP - 16, name, anchor="end"))
        parts.append(_point(x - CHARACTER * len(name) - 8, TOP - 20, place, "other"))
    for tick in scale.ticks:
        parts.append(f'<path class="grid" d="M{scale.at(tick):.1f} {TOP}V{bottom}"/>')
        parts.append(_text(scale.at(tick), bottom + 18, f"{tick:,.9g}", "middle", "quiet"))
    axis = f"{unit}; whiskers from the lowest to the highest round"
    parts.append(_text((left + right) / 2, bottom + 44, axis, "middle", "quiet"))
    y = TOP - ROW // 2
    for panel in panels:
        if panel.name:
            y += ROW
            parts.append(_text(MARGIN, y + 6, panel.name, "start", "heading"))
        for row in panel.rows:
            y += ROW
            parts += _row(row, y, scale, left, (right, column))
    told = "; ".join(
        f"{panel.name}: {row.name}: ".removeprefix(": ")
        + ", ".join(
            f"{figure} {short(point.median)}"
            for figure, point in zip(figures, row.points, strict=True)
            if point
        )
        for panel in panels
        for row in panel.rows
    )
    height = bottom + BOTTOM
    head = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img"'
        ' aria-labelledby="title description" font-family="sans-serif" font-size="13">',
        f'<title id="title">{escape(title)}</title>',
        f'<desc id="description">{escape(description)} {escape(told)}.</desc>',
        f"<style>{STYLE}</style>",
        f'<rect class="background" width="{WIDTH}" height="{height}"/>',
    ]
    return "\n".join([*head, *parts, "</svg>"]) + "\n"


def _row(row: Row, y: float, scale: Scale, left: float, columns: tuple[float, float]) -> list[str]:
    """A row of the plot; `columns` is where the figures begin, and how wide each column is."""
    kind = "ours" if row.is_ours else "other"
    parts = [_text(left - 12, y + 5, row.name, "end", weight="bold" if row.is_ours else "")]
    for place, point in enumerate(row.points):
        if not point:
            continue
        # Two figures of a row may have the same whiskers.
        at = y + 7 * (place - (len(row.points) - 1) / 2)
        low, middle, high = (scale.at(value) for value in (point.low, point.median, point.high))
        ends = f"M{low:.1f} {at - 3}v6M{low:.1f} {at}H{high:.1f}M{high:.1f} {at - 3}v6"
        parts.append(f'<path class="{kind}" d="{ends}" stroke-width="1.5"/>')
        parts.append(_point(middle, at, place, kind))
        end = columns[0] + columns[1] * (place + 1)
        weight = "bold" if row.is_ours else ""
        parts.append(_text(end, y + 5, short(point.median), "end", weight=weight))
    return parts


def _point(x: float, y: float, place: int, kind: str) -> str:
    """The point of the first figure is filled, that of the second is not."""
    hollow = " hollow" if place > 0 else ""
    return f'<circle class="{kind}{hollow}" cx="{x:.1f}" cy="{y}" r="4" stroke-width="1.5"/>'


def _text(
    x: float,
    y: float,
    text: str,
    anchor: str = "start",
    kind: str = "",
    weight: str = "",
    size: int = 0,
) -> str:
    attributes = {
        "class": kind,
        "text-anchor": "" if anchor == "start" else anchor,
        "font-weight": weight,
        "font-size": str(size or ""),
    }
    given = "".join(f' {name}="{value}"' for name, value in attributes.items() if value)
    return f'<text x="{x:.1f}" y="{y:.1f}"{given}>{escape(text)}</text>'
