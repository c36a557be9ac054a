"""The tmux example as installed, in an inner tmux whose status line an outer tmux captures."""

from collections.abc import Callable

import pytest
from seat import EXAMPLES, Seat
from support.fifo_keyboard import FifoKeyboard

SETTINGS = """
set -g status-right '#{E:@keymoded} |'
set -g status-interval 0
# What else is in the line changes by itself.
set -g status-left ''
set -g window-status-current-format ''
"""


def installation() -> list[str]:
    """The installation commands in the comment at the top of the example."""
    text = (EXAMPLES / "tmux/keymoded.conf").read_text().split("\n#\n")[1]
    return [line.removeprefix("#   ") for line in text.splitlines()]


class StatusLine:
    """The status line of an inner tmux, captured by an outer tmux."""

    def __init__(self, seat: Seat) -> None:
        self.seat = seat
        seat.run("sh", "-euc", "\n".join(installation()), folder="examples/tmux")
        home = seat.folder / ".tmux.conf"
        seat.write(".tmux.conf", home.read_text() + SETTINGS)
        self.outer(
            *("-f", "/dev/null", "new-session", "-d", "-x", "80", "-y", "6"),
            f"env -u TMUX tmux -S {seat.folder}/inner",
        )

    def outer(self, *command: str) -> str:
        """Sends a command to the outer tmux."""
        return self.seat.run("tmux", "-S", f"{self.seat.folder}/outer", *command)

    def inner(self, *command: str) -> str:
        """Sends a command to the inner tmux."""
        return self.seat.run("tmux", "-S", f"{self.seat.folder}/inner", *command)

    @property
    def line(self) -> str:
        """The status line, with escape sequences for its colours."""
        lines = self.outer("capture-pane", "-pe").rstrip("\n").splitlines()
        return lines[-1] if lines else ""

    def wait_for(self, is_so: Callable[[str], bool], what: str) -> str:
        """Waits until a condition holds for the line, and returns the line."""
        self.seat.wait_for(lambda: is_so(self.line), f"{what}, rather than {self.line!r}")
        return self.line

    def wait_for_text(self, text: str) -> str:
        """Waits until the line has this text, and returns the line."""
        return self.wait_for(lambda line: text in line, text)


@pytest.fixture
def status(seat: Seat) -> StatusLine:
    """A status line with the example in it."""
    return StatusLine(seat)


def test_status_line_shows_each_state_at_once(status: StatusLine) -> None:
    seat = status.seat
    first = status.wait_for(lambda line: line.rstrip().endswith("text |"), "text")
    looks = {first}
    # With a status-interval of 0, tmux redraws the line only when the example changes it.
    for events, text in [
        (("shiftPressed",), " Shift "),
        (("shiftPressed",), " Shift lock "),
        (("tapTextField",), " editing "),
        (("clickMoreButton",), " panel "),
        (("clickSwitchButton",), " voice "),
        (("clickMoreButton", "tapBlankArea", "clickStickerButton"), "showingStickers"),
        (("talk.press",), " talking "),
        (("talk.release",), "showingStickers |"),
    ]:
        seat.trigger(*events)
        looks.add(status.wait_for_text(text))
    assert len(looks) == 8

    seat.kill_keymoded()
    status.wait_for(lambda line: line.rstrip().endswith("no keymoded |"), "no keymoded")
    seat.start_keymoded()
    status.wait_for(lambda line: line == first, "the same line again")

    # tmux would redraw the output of a #(command) once a second; these presses come faster.
    seat.trigger("shiftPressed", "shiftPressed")
    status.wait_for_text(" Shift lock ")


def test_status_line_shows_locks_while_they_are_on(status: StatusLine) -> None:
    first = status.wait_for(lambda line: line.rstrip().endswith("text |"), "text")
    status.seat.kill_keymoded()
    keyboard = status.seat.start_keymoded_with_keyboard(FifoKeyboard.CAPS_LOCK)
    assert " NUM " not in status.wait_for_text(" CAPS ")
    keyboard.show(FifoKeyboard.NUM_LOCK)
    assert " CAPS " not in status.wait_for_text(" NUM ")
    keyboard.show(0)
    status.wait_for(lambda line: line == first, "the first line again")


@pytest.mark.parametrize("how", ["kill-server", "detached and killed"])
def test_example_ends_with_tmux(status: StatusLine, how: str) -> None:
    status.wait_for(lambda line: line.rstrip().endswith("text |"), "text")
    if how == "kill-server":
        status.inner("kill-server")
    else:
        number = status.inner("display-message", "-p", "#{pid}").strip()
        status.seat.run("kill", "-KILL", number)
        # The example's shell notices that tmux has ended only at the next change.
        status.seat.trigger("tapTextField")
    status.seat.wait_for(lambda: not status.seat.processes("keymodectl"), "the follower to end")
