"""Pictures of a screen: reading, cutting, comparing, stacking and writing them."""

import struct
import zlib
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

Color = tuple[int, int, int]


@dataclass(frozen=True)
class Picture:
    """Rows of red, green and blue bytes."""

    width: int
    rows: tuple[bytes, ...]

    @property
    def height(self) -> int:
        """The number of rows."""
        return len(self.rows)

    @staticmethod
    def read(path: Path) -> "Picture":
        """Reads a binary PPM, as grim writes it."""
        kind, size, depth, data = path.read_bytes().split(b"\n", 3)
        assert (kind, depth) == (b"P6", b"255")
        width, height = (int(number) for number in size.split())
        assert len(data) == 3 * width * height
        rows = (data[3 * width * row : 3 * width * (row + 1)] for row in range(height))
        return Picture(width, tuple(rows))

    def cut(self, left: int, top: int, width: int, height: int) -> "Picture":
        """The rectangle of this size, from its upper left corner on."""
        rows = self.rows[top : top + height]
        return Picture(width, tuple(row[3 * left : 3 * (left + width)] for row in rows))

    def colors(self) -> Counter[Color]:
        """The number of pixels of each colour."""
        data = b"".join(self.rows)
        return Counter(zip(data[::3], data[1::3], data[2::3], strict=True))

    @staticmethod
    def stack(pictures: list["Picture"], gap: int, color: Color) -> "Picture":
        """The pictures stacked from top to bottom, with gaps of this many rows and this colour."""
        width = pictures[0].width
        assert {picture.width for picture in pictures} == {width}
        between = (bytes(color) * width,) * gap
        rows = pictures[0].rows
        for picture in pictures[1:]:
            rows += between + picture.rows
        return Picture(width, rows)

    def write_png(self, path: Path) -> None:
        """Writes a PNG with a palette; rounds the colours until 256 are enough."""
        coarseness = next(step for step in (1, 2, 4, 8, 16, 32) if len(self._palette(step)) <= 256)
        palette = self._palette(coarseness)
        number = {color: index for index, color in enumerate(palette)}
        lines = [
            b"\0" + bytes(number[color] for color in _rounded(row, coarseness)) for row in self.rows
        ]
        with open(path, "wb") as file:
            file.write(b"\x89PNG\r\n\x1a\n")
            for kind, data in (
                (b"IHDR", struct.pack(">IIBBBBB", self.width, self.height, 8, 3, 0, 0, 0)),
                (b"PLTE", b"".join(bytes(color) for color in palette)),
                (b"IDAT", zlib.compress(b"".join(lines), 9)),
                (b"IEND", b""),
            ):
                file.write(struct.pack(">I", len(data)) + kind + data)
                file.write(struct.pack(">I", zlib.crc32(kind + data)))

    def _palette(self, coarseness: int) -> list[Color]:
        return sorted({color for row in self.rows for color in _rounded(row, coarseness)})


def _rounded(row: bytes, coarseness: int) -> list[Color]:
    """The colours of a row, each component rounded to a multiple of `coarseness`, or to 255."""
    parts = [min(255, (part + coarseness // 2) // coarseness * coarseness) for part in row]
    return list(zip(parts[::3], parts[1::3], parts[2::3], strict=True))
