"""`keymodectl while --anew` when the session is locked or left, and when the machine sleeps.

Tests/SessionTests has the table of it, Tests/UserManager what the daemon changes.
"""

from collections.abc import Iterator

import pytest
from seat import Seat
from support.user_manager import require_root

IN_FRONT = "seat0 Active"
LOCKED, LEFT, ASLEEP = "seat0 Active LockedHint", "seat0", "seat0 Active Asleep"
COMMAND = 'echo "$KEYMODE_STATE $KEYMODE_EVENT" >>log.anew; exec sleep 1000'


class Anew:
    """A person whose command runs by `keymodectl while --anew`."""

    def __init__(self, seat: Seat) -> None:
        self.seat = seat
        seat.write("log.anew", "")
        seat.start_bus()
        seat.start_logind(IN_FRONT)
        seat.start_keymoded()

    def start(self, *options: str) -> None:
        """Starts it."""
        states = "keyboard=prepareToEditText,editingText,showingPanel"
        command = ("keymodectl", "while", "--anew", *options, "--grace", "200ms", states, "--")
        self.seat.start_managed(*command, "sh", "-c", COMMAND)

    @property
    def lines(self) -> list[str]:
        """Why it was started, each time."""
        return (self.seat.folder / "log.anew").read_text().splitlines()

    @property
    def runs(self) -> bool:
        """Whether the command runs."""
        lines = self.seat.processes().values()
        return any(line.startswith(("sh -c echo", "sleep 1000")) for line in lines)

    def expect_start_by_a_change(self) -> None:
        """Changes the state, within those that count, until the command starts by a change."""
        count = len(self.lines)

        def has_started() -> bool:
            self.seat.trigger("clickMoreButton")
            return len(self.lines) > count

        assert not self.runs
        self.seat.wait_for(has_started, "the command")
        assert self.lines[count].endswith(" clickMoreButton")

    def wait_for_end(self) -> None:
        """Waits until the command has ended."""
        self.seat.wait_for(lambda: not self.runs, "the end of the command")


@pytest.fixture
def anew() -> Iterator[Anew]:
    require_root()
    seat = Seat()
    try:
        yield Anew(seat)
    finally:
        seat.close()


def test_state_that_lasts_through_a_lock_or_a_sleep_starts_nothing(anew: Anew) -> None:
    anew.start()
    anew.expect_start_by_a_change()
    for away in (LOCKED, LEFT, ASLEEP):
        anew.seat.write("session", away)
        anew.wait_for_end()
        # Nor does what is entered meanwhile.
        anew.seat.trigger("clickMoreButton")
        anew.seat.write("session", IN_FRONT)
        anew.expect_start_by_a_change()


def test_sleep_ends_the_command_in_any_session_and_a_lock_does_not(anew: Anew) -> None:
    anew.start("--any-session")
    anew.expect_start_by_a_change()
    anew.seat.write("session", LOCKED)
    anew.seat.trigger("clickMoreButton")
    assert anew.runs
    anew.seat.write("session", LOCKED + " Asleep")
    anew.wait_for_end()
    assert len(anew.lines) == 1, "the lock ended nothing"
    anew.seat.write("session", LOCKED)
    anew.expect_start_by_a_change()
