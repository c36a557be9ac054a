"""The example for on-screen keyboards, with wvkbd and squeekboard."""

import json
import signal
import subprocess

import pytest
from picture import Picture
from seat import Desktop, Seat
from support.checkout import CHECKOUT
from support.waiting import BOUND_SECONDS

HEIGHT = 160


class OnScreenKeyboard:
    """A desktop with the example running."""

    def __init__(self, seat: Seat) -> None:
        self.seat = seat
        self.desktop = Desktop(seat)
        self.full = self.free_height()
        self.example = self.start()

    def start(self) -> subprocess.Popen[bytes]:
        """Starts the example."""
        command = "examples/on-screen-keyboard/on-screen-keyboard"
        return self.seat.start(command, "-L", str(HEIGHT), "-H", str(HEIGHT))

    def free_height(self) -> int:
        """How many rows of the screen the windows may use."""
        workspaces = json.loads(self.seat.run("swaymsg", "-t", "get_workspaces"))
        height: int = workspaces[0]["rect"]["height"]
        return height

    def wait_for(self, is_shown: bool) -> None:
        """Waits until the keyboard is shown or hidden."""
        wanted = self.full - (HEIGHT if is_shown else 0)
        self.seat.wait_for(lambda: self.free_height() == wanted, f"{wanted} rows")


@pytest.fixture
def keyboard(seat: Seat) -> OnScreenKeyboard:
    """A desktop with the example running."""
    return OnScreenKeyboard(seat)


def test_keyboard_is_shown_while_editing(keyboard: OnScreenKeyboard) -> None:
    seat = keyboard.seat
    for events, is_shown in [
        (("tapTextField",), True),
        (("clickMoreButton",), False),
        (("tapTextField",), True),
        (("clickSwitchButton",), False),
        (("clickSwitchButton",), True),
        (("tapBlankArea",), False),
    ]:
        seat.trigger(*events)
        keyboard.wait_for(is_shown)
