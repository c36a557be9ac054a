"""How far the arrows of a diagram of Graphviz are from the labels."""

import json
import math
import re
import subprocess
from dataclasses import dataclass
from typing import Any

from support.waiting import BOUND_SECONDS

_LABEL_SIZE = 11.0

Point = tuple[float, float]


@dataclass(frozen=True)
class Distances:
    """The distances in points from a label to its own arrow, and to the nearest other one."""

    own: float
    other: float


@dataclass(frozen=True)
class _Box:
    """What the lines of a label cover."""

    left: float
    bottom: float
    right: float
    top: float

    def distance(self, points: list[Point]) -> float:
        return min((math.hypot(*self._to(point)) for point in points), default=math.inf)

    def _to(self, point: Point) -> Point:
        x = max(self.left - point[0], 0, point[0] - self.right)
        y = max(self.bottom - point[1], 0, point[1] - self.top)
        return x, y


def label_distances(dot: str) -> dict[str, Distances]:
    """The distances of each label, by its text and its arrow."""
    ended = subprocess.run(
        ["dot", "-Tjson"],
        input=dot.encode(),
        capture_output=True,
        timeout=BOUND_SECONDS,
        check=True,
    )
    drawn = json.loads(ended.stdout)
    edges = [(edge, _points(edge["pos"])) for edge in drawn["edges"]]
    distances = {}
    # A label belongs to an edge, or is a node on the way of an arrow.
    for item in [*drawn["objects"], *drawn["edges"]]:
        box = _label_box(item.get("_ldraw_", []))
        if not box:
            continue
        sides: dict[bool, list[Point]] = {True: [], False: []}
        for edge, points in edges:
            is_own = edge is item or "name" in item and item["_gvid"] in (edge["tail"], edge["head"])
            sides[is_own] += points
        distances[f"{item['label']} {len(distances)}"] = Distances(
            box.distance(sides[True]), box.distance(sides[False])
        )
    return distances


def _points(position: str) -> list[Point]:
    """Points on an arrow: a chain of cubic Bezier curves, and its ends."""
    tips = [_point(text) for text in re.findall(r"[es],(\S+)", position)]
    knots = [_point(text) for text in position.split() if text[0] not in "es"]
    points = tips
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


def _label_box(drawing: list[dict[str, Any]]) -> _Box | None:
    """What a label covers, by how it is drawn. The names of states have another size."""
    boxes = []
    size = 0.0
    for step in drawing:
        if step["op"] == "F":
            size = step["size"]
        # An empty line has the width of a space.
        if step["op"] == "T" and size == _LABEL_SIZE and step["width"] > size / 2:
            (x, y), width = step["pt"], step["width"]
            boxes.append(_Box(x - width / 2, y - 0.2 * size, x + width / 2, y + 0.75 * size))
    if not boxes:
        return None
    return _Box(
        min(box.left for box in boxes),
        min(box.bottom for box in boxes),
        max(box.right for box in boxes),
        max(box.top for box in boxes),
    )
