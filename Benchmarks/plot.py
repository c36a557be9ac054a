"""Plots as SVG, with Python's standard library alone."""

import math
from dataclasses import dataclass
from html import escape

COLORS = ("#1b6ca8", "#63a4d4", "#c8553d", "#8a8a8a", "#588157", "#9d4edd")
WIDTH, HEIGHT = 720, 440
LEFT, RIGHT, TOP, BOTTOM = 70, 170, 40, 50


@dataclass(frozen=True)
class Line:
    """A named series of points."""

    name: str
    points: list[tuple[float, float]]


@dataclass(frozen=True)
class Scale:
    """Powers of ten along one side of a plot."""

    low: int
    high: int
    start: float
    end: float

    @classmethod
    def of(cls, values: list[float], start: float, end: float) -> "Scale":
        """The powers of ten around `values`."""
        low = math.floor(math.log10(min(values)))
        return cls(low, max(low + 1, math.ceil(math.log10(max(values)))), start, end)

    def at(self, value: float) -> float:
        """The coordinate of `value`."""
        share = (math.log10(value) - self.low) / (self.high - self.low)
        return self.start + share * (self.end - self.start)


def line_plot(title: str, across: str, up: str, lines: list[Line]) -> str:
    """Lines, both scales logarithmic, each with its name at its end."""
    x = Scale.of([a for line in lines for a, _ in line.points], LEFT, WIDTH - RIGHT)
    y = Scale.of([b for line in lines for _, b in line.points], HEIGHT - BOTTOM, TOP)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}"'
        ' font-family="sans-serif" font-size="12" fill="#222">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>',
        f'<text x="{LEFT}" y="22" font-size="15">{escape(title)}</text>',
    ]
    for power in range(x.low, x.high + 1):
        at = x.at(10.0**power)
        parts.append(f'<path d="M{at:.1f} {TOP}V{HEIGHT - BOTTOM}" stroke="#e4e4e4"/>')
        parts.append(_label(at, HEIGHT - BOTTOM + 18, "middle", power))
    for power in range(y.low, y.high + 1):
        at = y.at(10.0**power)
        parts.append(f'<path d="M{LEFT} {at:.1f}H{WIDTH - RIGHT}" stroke="#e4e4e4"/>')
        parts.append(_label(LEFT - 8, at + 4, "end", power))
    middle = (LEFT + WIDTH - RIGHT) / 2
    parts.append(
        f'<text x="{middle}" y="{HEIGHT - 12}" text-anchor="middle">{escape(across)}</text>'
    )
    height = (TOP + HEIGHT - BOTTOM) / 2
    parts.append(
        f'<text transform="translate(18 {height}) rotate(-90)" text-anchor="middle">'
        f"{escape(up)}</text>"
    )
    used: list[float] = []
    for line, color in zip(lines, COLORS, strict=False):
        points = [(x.at(a), y.at(b)) for a, b in line.points]
        path = " ".join(f"{a:.1f},{b:.1f}" for a, b in points)
        parts.append(f'<polyline points="{path}" fill="none" stroke="{color}" stroke-width="2"/>')
        parts += [f'<circle cx="{a:.1f}" cy="{b:.1f}" r="3" fill="{color}"/>' for a, b in points]
        across_at, at = points[-1]
        # Names of lines that end side by side stand one below the other.
        while any(abs(at - other) < 14 for other in used):
            at += 14
        used.append(at)
        parts.append(
            f'<text x="{across_at + 8:.1f}" y="{at + 4:.1f}" fill="{color}">'
            f"{escape(line.name)}</text>"
        )
    return "\n".join([*parts, "</svg>"]) + "\n"


def _label(x: float, y: float, anchor: str, power: int) -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">10'
        f'<tspan dy="-5" font-size="9">{power}</tspan></text>'
    )
