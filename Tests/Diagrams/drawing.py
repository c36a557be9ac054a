"""What a program made of a diagram."""

import xml.etree.ElementTree as ElementTree
from collections.abc import Iterable
from dataclasses import dataclass, field

_SVG = "{http://www.w3.org/2000/svg}"


@dataclass(frozen=True)
class Drawing:
    """An SVG and the lines of text in it, or why there is none."""

    svg: str = ""
    lines: list[str] = field(default_factory=list)
    error: str | None = None

    @staticmethod
    def of_svg(svg: str) -> "Drawing":
        """The drawing that has each line as one element `text`."""
        texts = ElementTree.fromstring(svg).iter(f"{_SVG}text")
        return Drawing(svg, ["".join(text.itertext()) for text in texts])

    @property
    def text(self) -> list[str]:
        """The visible lines."""
        return visible(self.lines)


def visible(lines: Iterable[str]) -> list[str]:
    """The lines that are not blank, sorted, without spaces at their ends.

    No-break spaces are spaces: some languages need them at the ends of a line.
    """
    stripped = [line.replace("\N{NO-BREAK SPACE}", " ").strip(" ") for line in lines]
    return sorted(line for line in stripped if line)
