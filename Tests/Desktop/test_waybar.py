"""Waybar with the example as it is installed, by what is seen of it."""

import os
import re
import signal
from pathlib import Path

import pytest
from picture import Color, Picture
from seat import CHECKOUT, EXAMPLES, Desktop, Seat

# Points of the screen, of which there are two to each of the bar's in each direction.
BAR_HEIGHT = 56

# At least so many points of a module have no letter on them.
PLENTY = 300

# What leads from each pair of states to the next, and back to the first.
WALK = [
    ((), "off", "prepareToEditText"),
    (("shiftPressed",), "on", "prepareToEditText"),
    (("shiftPressed",), "capsLock", "prepareToEditText"),
    (("tapTextField",), "capsLock", "editingText"),
    (("shiftPressed",), "off", "editingText"),
    (("clickMoreButton",), "off", "showingPanel"),
    (("clickSwitchButton",), "off", "prepareToRecord"),
    (("clickMoreButton",), "off", "showingPanel"),
    (("tapBlankArea",), "off", "prepareToEditText"),
]


def shell_blocks(page: Path) -> list[str]:
    """What a page tells to type."""
    return re.findall(r"^```sh\n(.*?)^```$", page.read_text(), re.DOTALL | re.MULTILINE)


def class_colors() -> dict[str, dict[str, Color]]:
    """The background of each class of each module, as the style sheet asks for it."""
    colors: dict[str, dict[str, Color]] = {"shift": {}, "keyboard": {}}
    style = (EXAMPLES / "waybar/keymoded.css").read_text()
    rule = r"#custom-keymoded-(\w+)\.(\w+) \{[^}]*background-color: #(\w{6});"
    for module, name, color in re.findall(rule, style):
        colors[module][name] = (int(color[:2], 16), int(color[2:4], 16), int(color[4:], 16))
    return colors


COLORS = class_colors()


class Bar:
    """The bar at the top of a screen."""

    def __init__(self, seat: Seat) -> None:
        self.seat = seat
        for commands in shell_blocks(EXAMPLES / "waybar/README.md"):
            seat.run("sh", "-euc", commands, folder="examples/waybar")
        self.desktop = Desktop(seat, "bar {\n swaybar_command waybar\n}")

    def wait_for(self, shift: str | None, keyboard: str | None) -> Picture:
        """Waits until it shows these classes and no other, and returns how that looks."""
        wanted = {"shift": shift, "keyboard": keyboard}

        def is_shown(picture: Picture) -> bool:
            seen = picture.cut(0, 0, picture.width, BAR_HEIGHT).colors()
            return all(
                seen[color] > PLENTY if name == wanted[module] else seen[color] == 0
                for module, colors in COLORS.items()
                for name, color in colors.items()
            )

        picture = self.desktop.wait_for(is_shown, f"{shift} and {keyboard}")
        return picture.cut(0, 0, picture.width, BAR_HEIGHT)

    def wait_for_same(self, picture: Picture) -> None:
        """Waits until it looks like this again."""

        def is_same(seen: Picture) -> bool:
            return seen.cut(0, 0, seen.width, BAR_HEIGHT) == picture

        self.desktop.wait_for(is_same, "the same picture")

    def wait_for_watches(self, count: int, old: frozenset[int] = frozenset()) -> frozenset[int]:
        """Waits until so many watches run, none of which is an old one; returns which they are."""
        watches: frozenset[int] = frozenset()

        def are_there() -> bool:
            nonlocal watches
            watches = frozenset(self.seat.processes("keymodectl"))
            return len(watches) == count and not watches & old

        self.seat.wait_for(are_there, f"{count} watches")
        return watches


@pytest.fixture
def bar(seat: Seat) -> Bar:
    """A bar that shows what there was at first."""
    return Bar(seat)


def test_each_state_has_a_look_of_its_own(bar: Bar, pictures_are_remade: bool) -> None:
    assert len({color for colors in COLORS.values() for color in colors.values()}) == 8
    looks: dict[tuple[str, str], Picture] = {}
    for events, shift, keyboard in WALK:
        bar.seat.trigger(*events)
        look = bar.wait_for(shift, keyboard)
        if (shift, keyboard) in looks:
            assert look == looks[shift, keyboard], "the same states have the same look"
        else:
            assert look not in looks.values(), "other states have another look"
        looks[shift, keyboard] = look

    # One of the user's own has no colour, but it is there: Shift is not at the end of the bar.
    bar.seat.trigger("clickStickerButton")
    other = bar.wait_for("off", None)
    assert other not in looks.values()
    assert COLORS["shift"]["off"] not in other.cut(other.width - 20, 0, 20, BAR_HEIGHT).colors()

    bar.seat.kill_keymoded()
    disconnected = bar.wait_for(None, "disconnected")
    assert disconnected not in [*looks.values(), other]
    bar.seat.start_keymoded()
    bar.wait_for_same(looks["off", "prepareToEditText"])

    if pictures_are_remade:
        shown = [
            looks["off", "prepareToEditText"],
            looks["on", "prepareToEditText"],
            looks["capsLock", "editingText"],
            looks["off", "prepareToRecord"],
            looks["off", "showingPanel"],
            disconnected,
        ]
        parts = [look.cut(look.width - 480, 0, 480, BAR_HEIGHT) for look in shown]
        picture = Picture.stack(parts, 8, (255, 255, 255))
        picture.write_png(CHECKOUT / "docs/pictures/waybar.png")


def test_there_is_a_font_for_each_sign(seat: Seat) -> None:
    text = (EXAMPLES / "waybar/keymoded.jsonc").read_text()
    signs = {sign for sign in text if ord(sign) > 127}
    assert len(signs) >= 8
    for sign in signs:
        assert "DejaVuSans.ttf" in seat.run("fc-list", f":charset={ord(sign):x}", "file"), sign


def test_a_bar_may_be_there_before_the_daemon(seat: Seat) -> None:
    seat.kill_keymoded()
    bar = Bar(seat)
    bar.wait_for(None, "disconnected")
    seat.start_keymoded()
    bar.wait_for("off", "prepareToEditText")


def test_a_bar_leaves_nothing_behind(bar: Bar) -> None:
    seat = bar.seat
    look = bar.wait_for("off", "prepareToEditText")
    watches = bar.wait_for_watches(2)
    old = set(seat.processes("waybar"))
    seat.run("swaymsg", "reload")
    seat.wait_for(
        lambda: bool(set(seat.processes("waybar")) - old) and not old & set(seat.processes()),
        "another bar",
    )
    watches = bar.wait_for_watches(2, watches)
    bar.wait_for_same(look)

    # Waybar reads its files again when told so.
    for number in seat.processes("waybar"):
        os.kill(number, signal.SIGUSR2)
    bar.wait_for_watches(2, watches)
    bar.wait_for_same(look)

    for number in seat.processes("waybar"):
        os.kill(number, signal.SIGKILL)
    bar.wait_for_watches(0)


def test_nothing_outlives_the_compositor(bar: Bar) -> None:
    bar.wait_for("off", "prepareToEditText")
    bar.seat.start("swaymsg", "exit")
    bar.seat.wait_for(
        lambda: [*bar.seat.processes()] == [*bar.seat.processes("keymoded")], "an empty desk"
    )
