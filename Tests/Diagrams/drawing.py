"""What a program made of a diagram."""

import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass, field

_SVG = "{http://www.w3.org/2000/svg}"


@dataclass(frozen=True)
class Drawing:
    """The lines of text in a drawing, or why there is none."""

    lines: list[str] = field(default_factory=list)
    error: str | None = None

    @staticmethod
    def of_svg(svg: str) -> "Drawing":
        """The drawing that has each line as one element `text`."""
        texts = ElementTree.fromstring(svg).iter(f"{_SVG}text")
        return Drawing(["".join(text.itertext()) for text in texts])

    @property
    def text(self) -> list[str]:
        """The lines that are not blank, sorted, without spaces at their ends."""
        return sorted(line for line in map(plain, self.lines) if line)


def plain(line: str) -> str:
    """A line without spaces at its ends, and without no-break spaces."""
    return line.replace("\N{NO-BREAK SPACE}", " ").strip(" ")
