"""Draws line plots as SVG, with the standard library only."""

import math
from dataclasses import dataclass
from html import escape

COLORS = ("#1b6ca8", "#63a4d4", "#c8553d", "#8a8a8a", "#588157", "#9d4edd")
WIDTH, HEIGHT = 720, 440
LEFT, RIGHT, TOP, BOTTOM = 70, 170, 40, 50


@dataclass(frozen=True)
class Line:
    """A named line through points."""

    name: str
    points: list[tuple[float, float]]


@dataclass(frozen=True)
class Scale:
    """A logarithmic axis of a plot."""

    low: int
    high: int
    start: float
    end: float

    @classmethod
    def of(cls, values: list[float], start: float, end: float) -> "Scale":
        """Returns an axis from the power of ten below `values` to the one above."""
        low = math.floor(math.log10(min(values)))
        return cls(low, max(low + 1, math.ceil(math.log10(max(values)))), start, end)

    def place(self, value: float) -> float:
        """Returns the coordinate of `value`."""
        share = (math.log10(value) - self.low) / (self.high - self.low)
        return self.start + share * (self.end - self.start)


def line_plot(title: str, across: str, up: str, lines: list[Line]) -> str:
    """Draws lines on two logarithmic axes, each with its name at its end."""
    x = Scale.of([a for line in lines for a, _ in line.points], LEFT, WIDTH - RIGHT)
    y = Scale.of([b for line in lines for _, b in line.points], HEIGHT - BOTTOM, TOP)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}"'
        ' font-family="sans-serif" font-size="12" fill="#222">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>',
        f'<text x="{LEFT}" y="22" font-size="15">{escape(title)}</text>',
    ]
    for power in range(x.low, x.high + 1):
        at = x.place(10.0**power)
        parts.append(f'<path d="M{at:.1f} {TOP}V{HEIGHT - BOTTOM}" stroke="#e4e4e4"/>')
        parts.append(_label(at, HEIGHT - BOTTOM + 18, "middle", power))
    for power in range(y.low, y.high + 1):
        at = y.place(10.0**power)
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
        places = [(x.place(a), y.place(b)) for a, b in line.points]
        path = " ".join(f"{a:.1f},{b:.1f}" for a, b in places)
        parts.append(f'<polyline points="{path}" fill="none" stroke="{color}" stroke-width="2"/>')
        parts += [f'<circle cx="{a:.1f}" cy="{b:.1f}" r="3" fill="{color}"/>' for a, b in places]
        across_at, at = places[-1]
        # If lines end close together, their names go below each other.
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
