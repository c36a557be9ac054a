"""`keymoded_unmap_code` drops whole pages: none of them may have anything that is written to.

The kernel's pages have 4, 16 or 64 KiB on arm64, and 4 KiB on amd64. The daemon unmaps its code from
`__executable_start` to `etext`, and the kernel rounds the end up to a page.
"""

import struct
from dataclasses import dataclass
from pathlib import Path

import pytest
from package import unpacked
from support.checkout import PROGRAMS

KIB = 1024
LOADED = 1
EXECUTABLE, WRITABLE = 1, 2


@dataclass(frozen=True)
class Segment:
    """What the kernel maps of a program: its program header of the type PT_LOAD."""

    flags: int
    begin: int
    end: int


def segments(program: Path) -> list[Segment]:
    """Of an ELF file of 64 bits, little-endian; see elf(5)."""
    content = program.read_bytes()
    (headers,) = struct.unpack_from("<Q", content, 32)
    size, count = struct.unpack_from("<HH", content, 54)
    found = []
    for number in range(count):
        kind, flags, _, address, _, _, length, _ = struct.unpack_from(
            "<IIQQQQQQ", content, headers + number * size
        )
        if kind == LOADED:
            found.append(Segment(flags, address, address + length))
    return found


def keeps_what_is_written(program: Path, page: int) -> bool:
    """Whether pages of this size from the program's start to the end of its code have only code and constants."""
    mapped = segments(program)
    begin = min(segment.begin for segment in mapped)
    # `etext` is the end of the last section with code, so it is not behind this.
    end = max(segment.end for segment in mapped if segment.flags & EXECUTABLE)
    unmapped = -(-end // page) * page
    written = min(segment.begin for segment in mapped if segment.flags & WRITABLE)
    return begin % page == 0 and unmapped <= written // page * page


@pytest.fixture(scope="module", params=["keymoded", "keymodectl"])
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.mark.parametrize("page", [4 * KIB, 16 * KIB, 64 * KIB])
def test_code_for_arm64_shares_no_page_with_what_is_written(name: str, page: int) -> None:
    assert keeps_what_is_written(unpacked() / name, page)


def test_code_for_this_machine_shares_no_page_of_4_kib(name: str) -> None:
    assert keeps_what_is_written(PROGRAMS / name, 4 * KIB)


def test_larger_pages_than_the_linker_knows_are_found() -> None:
    # The linker aligns segments for pages of up to 64 KiB on arm64, and of 4 KiB on amd64.
    assert not keeps_what_is_written(unpacked() / "keymoded", 1024 * KIB)
