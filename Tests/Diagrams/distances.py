"""How far the arrows of a diagram of Graphviz are from the labels."""

import math
import re
import subprocess
from dataclasses import dataclass

from support.waiting import BOUND_SECONDS

# In DOT with the drawing attributes of xdot: the spline of an arrow, and a text with its place,
# width and size.
_SPLINE = re.compile(r'pos="e,([-\d.,]+) ([^"]*)"')
_LABEL = re.compile(r'_ldraw_="([^"]*)"')
_TEXT = re.compile(r"F ([\d.]+) \d+ -|T ([-\d.e+]+) ([-\d.e+]+) -?\d+ ([\d.]+) \d+ -")
_LABEL_SIZE = 11.0

Point = tuple[float, float]


@dataclass(frozen=True)
class _Box:
    """What a line of text covers."""

    left: float
    bottom: float
    right: float
    top: float

    def distance(self, point: Point) -> float:
        x = max(self.left - point[0], 0, point[0] - self.right)
        y = max(self.bottom - point[1], 0, point[1] - self.top)
        return math.hypot(x, y)


def label_distances(dot: str) -> list[float]:
    """For each line of a label, the distance in points to the nearest arrow."""
    ended = subprocess.run(
        ["dot", "-Txdot"],
        input=dot.encode(),
        capture_output=True,
        timeout=BOUND_SECONDS,
        check=True,
    )
    drawn = ended.stdout.decode().replace("\\\n", "")
    points = [point for found in _SPLINE.finditer(drawn) for point in _arrow(*found.groups())]
    boxes = [box for found in _LABEL.finditer(drawn) for box in _boxes(found.group(1))]
    return [min(box.distance(point) for point in points) for box in boxes]


def _arrow(end: str, spline: str) -> list[Point]:
    """Points on an arrow: a chain of cubic Bezier curves, and its end."""
    knots = [_point(text) for text in [*spline.split(), end]]
    points = [knots.pop()]
    for first in range(0, len(knots) - 1, 3):
        curve = knots[first : first + 4]
        for step in range(33):
            part = step / 32
            weights = (
                (1 - part) ** 3,
                3 * part * (1 - part) ** 2,
                3 * part**2 * (1 - part),
                part**3,
            )
            points.append(
                (
                    sum(weight * knot[0] for weight, knot in zip(weights, curve, strict=True)),
                    sum(weight * knot[1] for weight, knot in zip(weights, curve, strict=True)),
                )
            )
    return points


def _point(text: str) -> Point:
    x, y = text.split(",")
    return float(x), float(y)


def _boxes(drawing: str) -> list[_Box]:
    """The visible lines of a label. Those of states have another size."""
    boxes = []
    size = 0.0
    for found in _TEXT.finditer(drawing):
        if found.group(1):
            size = float(found.group(1))
            continue
        x, y, width = (float(text) for text in found.group(2, 3, 4))
        # An empty line has the width of a space.
        if size == _LABEL_SIZE and width > size / 2:
            boxes.append(_Box(x - width / 2, y - 0.2 * size, x + width / 2, y + 0.75 * size))
    return boxes
