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
        """Writes a PNG, which has a palette if 256 colours are enough."""
        palette = sorted(self.colors())
        number = {color: index for index, color in enumerate(palette)}
        has_palette = len(palette) <= 256

        def line(row: bytes) -> bytes:
            pixels = zip(row[::3], row[1::3], row[2::3], strict=True)
            return b"\0" + (bytes(number[pixel] for pixel in pixels) if has_palette else row)

        kind = 3 if has_palette else 2
        chunks = [(b"IHDR", struct.pack(">IIBBBBB", self.width, self.height, 8, kind, 0, 0, 0))]
        if has_palette:
            chunks.append((b"PLTE", b"".join(bytes(color) for color in palette)))
        chunks.append((b"IDAT", zlib.compress(b"".join(map(line, self.rows)), 9)))
        with open(path, "wb") as file:
            file.write(b"\x89PNG\r\n\x1a\n")
            for name, data in [*chunks, (b"IEND", b"")]:
                file.write(struct.pack(">I", len(data)) + name + data)
                file.write(struct.pack(">I", zlib.crc32(name + data)))
