"""What keys type while they are held to talk, as the table of docs/configuration.md says."""

from collections.abc import Iterator

import pytest
from seat import Desktop, Seat
from text_fields import AccessibleDesktop

# The key symbols that are typed: those that the table praises, the last two of which are F13 and F14
# by xkb's rules, ...
SILENT = ["Control_R", "Scroll_Lock", "Pause", "XF86Tools", "XF86Launch5"]
# ... and those that it warns of, with what the terminal gets, again and again.
FLOODS = {"F9": b"\x1b[20~", "Insert": b"\x1b[2~", "F24": b"\x1b[24;2~"}

# Longer than the delay before a key repeats.
HELD = "900"


@pytest.fixture
def fields(seat: Seat) -> Iterator[AccessibleDesktop]:
    """The text fields of a desktop that has a keyboard."""
    fields = AccessibleDesktop(seat)
    fields.turn_on()
    Desktop(seat)
    seat.start("wtype", "-s", "100000000")
    yield fields


def hold(seat: Seat, key: str) -> None:
    """Holds a key, releases it, and then types an x."""
    seat.run("wtype", "-P", key, "-s", HELD, "-p", key, "x")


def test_talk_key_types_nothing_in_a_terminal_and_others_flood_it(
    fields: AccessibleDesktop,
) -> None:
    seat = fields.seat
    typed = seat.folder / "typed"
    seat.start("foot", "sh", "-c", "stty raw -echo; cat >typed")
    seat.wait_for(typed.exists, "the terminal")
    for key in [*SILENT, "Menu", *FLOODS]:
        before = len(typed.read_bytes())
        hold(seat, key)
        seat.wait_for(lambda start=before: typed.read_bytes()[start:].endswith(b"x"), key)
        got = typed.read_bytes()[before:-1]
        sequence = FLOODS.get(key, b"")
        assert got.replace(sequence, b"") == b"", key
        assert got.count(sequence) >= 2 if sequence else not got, key


def test_talk_key_types_nothing_in_a_text_field_and_keeps_the_focus(
    fields: AccessibleDesktop,
) -> None:
    fields.open_field("Chat")
    for count, key in enumerate(SILENT, 1):
        hold(fields.seat, key)
        text = "x" * count
        fields.seat.wait_for(lambda text=text: fields.texts() == [text], key)
