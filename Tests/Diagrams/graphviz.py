"""Graphviz."""

import subprocess

from drawing import Drawing
from support.waiting import BOUND_SECONDS


def draw(diagrams: dict[str, str]) -> dict[str, Drawing]:
    """Draws diagrams, each under its name."""
    return {name: _drawing(text) for name, text in diagrams.items()}


def _drawing(text: str) -> Drawing:
    ended = subprocess.run(
        ["dot", "-Tsvg"], input=text.encode(), capture_output=True, timeout=BOUND_SECONDS
    )
    if ended.returncode != 0 or ended.stderr:
        return Drawing(error=ended.stderr.decode())
    return Drawing.of_svg(ended.stdout.decode())
