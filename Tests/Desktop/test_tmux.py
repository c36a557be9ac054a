"""tmux with the example as it is installed: one tmux in another, which sees its status line."""

from collections.abc import Callable

import pytest
from seat import EXAMPLES, Seat

SETTINGS = """
set -g status-right '#{E:@keymoded} |'
set -g status-interval 0
# What else is in the line changes by itself.
set -g status-left ''
set -g window-status-current-format ''
"""


def installation() -> list[str]:
    """What the comment at the beginning of the example tells to type."""
    text = (EXAMPLES / "tmux/keymoded.conf").read_text().split("\n#\n")[1]
    return [line.removeprefix("#   ") for line in text.splitlines()]


class StatusLine:
    """The status line of a tmux that somebody looks at."""

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
        """Tells the tmux that sees."""
        return self.seat.run("tmux", "-S", f"{self.seat.folder}/outer", *command)

    def inner(self, *command: str) -> str:
        """Tells the tmux that is seen."""
        return self.seat.run("tmux", "-S", f"{self.seat.folder}/inner", *command)

    @property
    def line(self) -> str:
        """The right part of it, with colours."""
        lines = self.outer("capture-pane", "-pe").rstrip("\n").splitlines()
        return lines[-1] if lines else ""

    def wait_for(self, is_so: Callable[[str], bool], what: str) -> str:
        """Waits until it is so."""
        self.seat.wait_for(lambda: is_so(self.line), f"{what}, rather than {self.line!r}")
        return self.line

    def wait_for_text(self, text: str) -> str:
        """Waits until this is in it."""
        return self.wait_for(lambda line: text in line, text)


@pytest.fixture
def status(seat: Seat) -> StatusLine:
    """A status line with the example in it."""
    return StatusLine(seat)


def test_the_status_line_shows_each_state_at_once(status: StatusLine) -> None:
    seat = status.seat
    first = status.wait_for(lambda line: line.rstrip().endswith("text |"), "text")
    looks = {first}
    # tmux never draws this line by itself here: what is seen was told.
    for events, text in [
        (("shiftPressed",), " Shift "),
        (("shiftPressed",), " CAPS "),
        (("tapTextField",), " editing "),
        (("clickMoreButton",), " panel "),
        (("clickSwitchButton",), " voice "),
        (("clickMoreButton", "tapBlankArea", "clickStickerButton"), "showingStickers"),
    ]:
        seat.trigger(*events)
        looks.add(status.wait_for_text(text))
    assert len(looks) == 7

    seat.kill_keymoded()
    status.wait_for(lambda line: line.rstrip().endswith("no keymoded |"), "no keymoded")
    seat.start_keymoded()
    status.wait_for(lambda line: line == first, "the same line again")

    # Both presses come in one second, and more often than tmux would draw a command's output.
    seat.trigger("shiftPressed", "shiftPressed")
    status.wait_for_text(" CAPS ")


def test_one_follows_however_often_it_is_configured(status: StatusLine) -> None:
    status.wait_for(lambda line: line.rstrip().endswith("text |"), "text")
    before = status.seat.processes("keymodectl")
    assert len(before) == 1
    status.inner("source-file", f"{status.seat.folder}/.tmux.conf")
    status.inner("source-file", f"{status.seat.folder}/.tmux.conf")
    status.seat.trigger("tapTextField")
    status.wait_for_text(" editing ")
    assert status.seat.processes("keymodectl") == before


@pytest.mark.parametrize("how", ["kill-server", "detached and killed"])
def test_nothing_outlives_tmux(status: StatusLine, how: str) -> None:
    status.wait_for(lambda line: line.rstrip().endswith("text |"), "text")
    if how == "kill-server":
        status.inner("kill-server")
    else:
        number = status.inner("display-message", "-p", "#{pid}").strip()
        status.seat.run("kill", "-KILL", number)
        # Nobody tells the shell that reads before there is something to be told.
        status.seat.trigger("tapTextField")
    status.seat.wait_for(lambda: not status.seat.processes("keymodectl"), "an empty desk")
