"""The example for on-screen keyboards, with wvkbd, squeekboard and text fields."""

import json
import os
import signal
import subprocess

import pytest
from seat import Desktop, Seat
from support.checkout import CHECKOUT
from support.waiting import BOUND_SECONDS
from text_fields import AccessibleDesktop, focused_window

# In rows of the desktop, which has a scale of 2.
HEIGHT = 180

WALK = [
    ("tapTextField", True),
    ("clickMoreButton", False),
    ("tapTextField", True),
    ("clickSwitchButton", False),
    ("clickSwitchButton", True),
    ("tapBlankArea", False),
]


class OnScreenKeyboard:
    """A desktop on which one of the programs of the example is to run."""

    def __init__(self, seat: Seat) -> None:
        self.seat = seat
        seat.install("on-screen-keyboard")
        self.desktop = Desktop(seat, width=1200, height=800)
        self.full = self.free_height()

    def start(self) -> subprocess.Popen[bytes]:
        """Starts the program for wvkbd."""
        options = ("-L", str(HEIGHT), "-H", str(HEIGHT))
        return self.seat.start(".local/bin/on-screen-keyboard", *options)

    def free_height(self) -> int:
        """How many rows of the desktop are left to the windows."""
        workspaces = json.loads(self.seat.run("swaymsg", "-t", "get_workspaces"))
        height: int = workspaces[0]["rect"]["height"]
        return height

    def wait_for(self, is_shown: bool) -> None:
        """Waits until the keyboard is shown or hidden."""
        self.seat.wait_for(
            lambda: (self.free_height() < self.full) == is_shown, f"shown: {is_shown}"
        )


@pytest.fixture
def keyboard(seat: Seat) -> OnScreenKeyboard:
    """A desktop with the example installed."""
    return OnScreenKeyboard(seat)


def test_keyboard_is_shown_while_editing(keyboard: OnScreenKeyboard) -> None:
    seat = keyboard.seat
    keyboard.start()
    for event, is_shown in WALK:
        seat.trigger(event)
        keyboard.wait_for(is_shown)

    # Without the daemon, the state is unknown.
    seat.trigger("tapTextField")
    keyboard.wait_for(True)
    seat.kill_keymoded()
    keyboard.wait_for(False)
    seat.start_keymoded()
    seat.trigger("tapTextField")
    keyboard.wait_for(True)


def test_keyboard_is_shown_at_the_start(keyboard: OnScreenKeyboard) -> None:
    seat = keyboard.seat
    seat.trigger("tapTextField")
    for _ in range(5):
        example = keyboard.start()
        keyboard.wait_for(True)
        # As systemd does: a signal to all processes of the example at once.
        os.killpg(example.pid, signal.SIGTERM)
        example.wait(BOUND_SECONDS)
        keyboard.wait_for(False)
        seat.wait_for(
            lambda: not {**seat.processes("wvkbd-mobintl"), **seat.processes("keymodectl")},
            "all processes of the example to end",
        )


def test_example_ends_if_its_keyboard_does(keyboard: OnScreenKeyboard) -> None:
    seat = keyboard.seat
    example = keyboard.start()
    seat.trigger("tapTextField")
    keyboard.wait_for(True)
    for number in seat.processes("wvkbd-mobintl"):
        os.kill(number, signal.SIGKILL)
    keyboard.wait_for(False)
    seat.trigger("tapBlankArea", "tapTextField")
    assert example.wait(BOUND_SECONDS) != 0, "its unit starts it again"


def test_squeekboard_is_shown_while_editing(keyboard: OnScreenKeyboard) -> None:
    seat = keyboard.seat
    seat.start_bus()
    seat.start("squeekboard")
    seat.wait_for(lambda: "sm.puri.OSK0" in seat.bus_names(), "squeekboard")
    seat.start(".local/bin/squeekboard-follow")
    for event, is_shown in WALK:
        seat.trigger(event)
        keyboard.wait_for(is_shown)


def test_focus_of_a_text_field_shows_the_keyboard(
    keyboard: OnScreenKeyboard, pictures_are_remade: bool
) -> None:
    seat = keyboard.seat
    fields = AccessibleDesktop(seat)
    keyboard.start()
    seat.start("keymode-focus")
    seat.wait_for(fields.is_on, "the accessibility bus to be turned on")
    field = fields.open_field("Chat")
    keyboard.wait_for(True)
    assert seat.keyboard == "editingText"

    # A window without a text field.
    question = seat.start("zenity", "--question", "--title=Question", "--text=Really?")
    seat.wait_for(lambda: focused_window(seat) == "Question", "the question")
    keyboard.wait_for(False)
    assert seat.keyboard == "prepareToEditText"

    question.kill()
    keyboard.wait_for(True)
    assert seat.keyboard == "editingText"

    # A whole page of text, instead of a line.
    editor = seat.start("mousepad")
    seat.wait_for(lambda: "Mousepad" in (focused_window(seat) or ""), "the editor")
    field.kill()
    seat.run("wtype", "Hello")
    seat.wait_for(lambda: fields.texts() == ["Hello"], "the text")
    keyboard.wait_for(True)
    if pictures_are_remade:
        picture = keyboard.desktop.picture()
        picture.write_png(CHECKOUT / "docs/pictures/on-screen-keyboard.png")
    editor.kill()
    keyboard.wait_for(False)
    assert seat.keyboard == "prepareToEditText"
