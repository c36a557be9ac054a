"""The Waybar example as installed, by pictures of the bar."""

import os
import re
import signal

import pytest
from seat import EXAMPLES, Desktop, Seat
from support import readme
from support.checkout import CHECKOUT
from support.fifo_keyboard import FifoKeyboard
from support.picture import Color, Picture

# In pixels of the screen; its scale is 2, so this is twice the bar's own height.
BAR_HEIGHT = 56

# A module shows more than this many pixels of its background around the letters.
PLENTY = 300

# The events that lead to each pair of states from the one before, and the states.
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


def class_colors() -> dict[str, dict[str, Color]]:
    """The background of each class of each module in the style sheet."""
    colors: dict[str, dict[str, Color]] = {"shift": {}, "keyboard": {}, "caps": {}, "num": {}}
    style = (EXAMPLES / "waybar/keymoded.css").read_text()
    rule = r"#custom-keymoded-(\w+)\.([\w-]+) \{[^}]*background-color: #(\w{6});"
    for module, name, color in re.findall(rule, style):
        colors[module][name] = (int(color[:2], 16), int(color[2:4], 16), int(color[4:], 16))
    return colors


COLORS = class_colors()

# The background of the module for push-to-talk.
TALK = (0xCC, 0x29, 0x36)


def begin(picture: Picture, color: Color) -> int:
    """How far from the left this colour begins."""
    return next(
        left
        for left in range(picture.width)
        if color in picture.cut(left, 0, 1, BAR_HEIGHT).colors()
    )


class Bar:
    """The bar at the top of a screen."""

    def __init__(self, seat: Seat) -> None:
        seat.install("waybar")
        self._start_desktop(seat, "bar {\n swaybar_command waybar\n}")

    def _start_desktop(self, seat: Seat, settings: str = "") -> None:
        self.seat = seat
        # Without a session bus, Waybar 0.12 ends at once.
        seat.start_bus()
        self.desktop = Desktop(seat, settings)

    @classmethod
    def of_readme(cls, seat: Seat) -> "Bar":
        """The bar that the commands of README start on a desktop without one."""
        bar = cls.__new__(cls)
        bar._start_desktop(seat)
        *copying, show, _ = readme.commands("See it")
        lines = "\n".join([*copying, f"exec {show}"])
        installed = "/usr/share/doc/keymoded/examples"
        assert installed in lines
        seat.start("sh", "-euc", lines.replace(installed, f"{seat.folder}/examples"))
        return bar

    def picture(self) -> Picture:
        """What the bar shows now."""
        picture = self.desktop.picture()
        return picture.cut(0, 0, picture.width, BAR_HEIGHT)

    def wait_for(
        self, shift: str | None, keyboard: str | None, *locks: str, talk: bool = False
    ) -> Picture:
        """Waits until the bar shows these classes and no other, and returns a picture of it."""
        wanted = {"shift": shift, "keyboard": keyboard} | {lock: f"{lock}-on" for lock in locks}

        def is_shown(picture: Picture) -> bool:
            seen = picture.cut(0, 0, picture.width, BAR_HEIGHT).colors()
            return (seen[TALK] > PLENTY if talk else seen[TALK] == 0) and all(
                seen[color] > PLENTY if name == wanted.get(module) else seen[color] == 0
                for module, colors in COLORS.items()
                for name, color in colors.items()
            )

        picture = self.desktop.wait_for(is_shown, f"{shift} and {keyboard}")
        return picture.cut(0, 0, picture.width, BAR_HEIGHT)

    def wait_for_same(self, picture: Picture) -> None:
        """Waits until the bar looks like this picture again."""

        def is_same(seen: Picture) -> bool:
            return seen.cut(0, 0, seen.width, BAR_HEIGHT) == picture

        self.desktop.wait_for(is_same, "the same picture")

    def wait_for_watches(self, count: int, old: frozenset[int] = frozenset()) -> frozenset[int]:
        """Waits until `count` watches run, none of them in `old`; returns their PIDs."""
        watches: frozenset[int] = frozenset()

        def are_there() -> bool:
            nonlocal watches
            watches = frozenset(self.seat.processes("keymodectl"))
            return len(watches) == count and not watches & old

        self.seat.wait_for(are_there, f"{count} watches")
        return watches


@pytest.fixture
def bar(seat: Seat) -> Bar:
    """A bar with the example in it."""
    return Bar(seat)


def test_each_state_has_a_different_look(bar: Bar, pictures_are_remade: bool) -> None:
    assert len({color for colors in COLORS.values() for color in colors.values()}) == 10
    looks: dict[tuple[str, str], Picture] = {}
    for events, shift, keyboard in WALK:
        bar.seat.trigger(*events)
        look = bar.wait_for(shift, keyboard)
        if (shift, keyboard) in looks:
            assert look == looks[shift, keyboard], "the same states have the same look"
        else:
            assert look not in looks.values(), "other states have a different look"
        looks[shift, keyboard] = look

    # A state of the user's own table has no colour, but its name is shown at the end of the bar.
    bar.seat.trigger("clickStickerButton")
    other = bar.wait_for("off", None)
    assert other not in looks.values()
    assert COLORS["shift"]["off"] not in other.cut(other.width - 20, 0, 20, BAR_HEIGHT).colors()
    # What comes before it stands further left, since the name is long.
    short = looks["off", "prepareToEditText"]
    assert begin(other, COLORS["shift"]["off"]) < begin(short, COLORS["shift"]["off"]) - 50
    bar.seat.trigger("clickStickerButton")
    bar.wait_for_same(short)

    # At rest, nothing is in the bar for push-to-talk.
    bar.seat.trigger("talk.press")
    talking = bar.wait_for("off", "prepareToEditText", talk=True)
    bar.seat.trigger("talk.tap")
    bar.seat.wait_for(lambda: bar.picture() not in (talking, short), "another look while it is open")
    assert bar.wait_for("off", "prepareToEditText", talk=True) != talking
    bar.seat.trigger("talk.press", "clickStickerButton")
    bar.wait_for_same(other)

    bar.seat.kill_keymoded()
    disconnected = bar.wait_for(None, "disconnected")
    assert disconnected not in [*looks.values(), other]
    bar.seat.start_keymoded()
    bar.wait_for_same(looks["off", "prepareToEditText"])

    # A keyboard with LEDs. Neither lock changes what is shown of Shift and of the keyboard.
    bar.seat.kill_keymoded()
    keyboard = bar.seat.start_keymoded_with_keyboard(FifoKeyboard.CAPS_LOCK)
    caps = bar.wait_for("off", "prepareToEditText", "caps")
    keyboard.show(FifoKeyboard.CAPS_LOCK | FifoKeyboard.NUM_LOCK)
    both = bar.wait_for("off", "prepareToEditText", "caps", "num")
    keyboard.show(0)
    bar.wait_for_same(looks["off", "prepareToEditText"])
    assert len({caps, both, looks["off", "prepareToEditText"]}) == 3

    if pictures_are_remade:
        shown = [
            looks["off", "prepareToEditText"],
            looks["on", "prepareToEditText"],
            looks["capsLock", "editingText"],
            looks["off", "prepareToRecord"],
            looks["off", "showingPanel"],
            caps,
            disconnected,
        ]
        parts = [look.cut(look.width - 480, 0, 480, BAR_HEIGHT) for look in shown]
        picture = Picture.stack(parts, 8, (255, 255, 255))
        picture.write_png(CHECKOUT / "docs/pictures/waybar.png")


def test_commands_of_readme_show_a_bar(seat: Seat) -> None:
    bar = Bar.of_readme(seat)
    bar.wait_for("off", "prepareToEditText")
    seat.trigger("clickMoreButton")
    bar.wait_for("off", "showingPanel")


def test_reloaded_or_killed_bar_leaves_no_process_behind(bar: Bar) -> None:
    seat = bar.seat
    look = bar.wait_for("off", "prepareToEditText")
    watches = bar.wait_for_watches(5)
    old = set(seat.processes("waybar"))
    seat.run("swaymsg", "reload")
    seat.wait_for(
        lambda: bool(set(seat.processes("waybar")) - old) and not old & set(seat.processes()),
        "the new bar",
    )
    watches = bar.wait_for_watches(5, watches)
    bar.wait_for_same(look)

    # Waybar reloads its files on SIGUSR2.
    for number in seat.processes("waybar"):
        os.kill(number, signal.SIGUSR2)
    bar.wait_for_watches(5, watches)
    bar.wait_for_same(look)

    for number in seat.processes("waybar"):
        os.kill(number, signal.SIGKILL)
    bar.wait_for_watches(0)


def test_every_program_of_the_bar_ends_with_the_compositor(bar: Bar) -> None:
    bar.wait_for("off", "prepareToEditText")
    bar.seat.start("swaymsg", "exit")
    bar.seat.wait_for(
        lambda: (
            set(bar.seat.processes())
            == {*bar.seat.processes("keymoded"), *bar.seat.processes("dbus-daemon")}
        ),
        "every program but the daemon and the session bus to end",
    )
