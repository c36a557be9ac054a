"""`keymodectl while --anew` when the session is locked or left, and when the machine sleeps.

Tests/SessionTests has the table of it, Tests/UserManager what the daemon changes. The screen savers
here are stand-ins; Tests/Desktops has those of Xfce.
"""

import os
import signal
from collections.abc import Iterator

import pytest
from seat import Seat
from support.user_manager import require_root

IN_FRONT = "seat0 Active"
LOCKED, LEFT, ASLEEP = "seat0 Active LockedHint", "seat0", "seat0 Active Asleep"
SAVERS = ["freedesktop", "gnome", "xfce", "mate", "cinnamon"]
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


@pytest.mark.parametrize("kind", SAVERS)
def test_state_counts_as_left_while_a_screen_saver_is_active(anew: Anew, kind: str) -> None:
    anew.seat.start_saver(kind, "active")
    anew.start()
    anew.seat.trigger("clickMoreButton")
    assert not anew.runs
    anew.seat.write(f"saver-{kind}", "")
    anew.expect_start_by_a_change()
    for _ in range(3):
        anew.seat.write(f"saver-{kind}", "active")
        anew.wait_for_end()
        anew.seat.trigger("clickMoreButton")
        anew.seat.write(f"saver-{kind}", "")
        anew.expect_start_by_a_change()


def test_screen_saver_that_comes_or_ends_closes_nothing(anew: Anew) -> None:
    anew.start()
    anew.expect_start_by_a_change()
    saver = anew.seat.start_saver("xfce", "")
    other = anew.seat.start_saver("mate", "")
    assert anew.runs
    anew.seat.write("saver-xfce", "active")
    anew.wait_for_end()
    anew.seat.write("saver-mate", "active")
    anew.seat.wait_for(lambda: "saver-mate has told" in anew.seat.log, "mate")
    saver.kill()
    anew.seat.trigger("clickMoreButton")
    assert not anew.runs, "the other one covers the screen still"
    other.kill()
    anew.expect_start_by_a_change()
    assert len(anew.lines) == 2
    anew.seat.start_saver("gnome", "active")
    anew.wait_for_end()


def test_screen_saver_that_hangs_counts_as_active_until_it_ends(anew: Anew) -> None:
    saver = anew.seat.start_saver("xfce", "")
    os.kill(saver.pid, signal.SIGSTOP)
    anew.start()
    anew.seat.trigger("clickMoreButton")
    assert not anew.runs
    saver.kill()
    anew.expect_start_by_a_change()


def test_session_is_locked_as_long_as_one_of_both_says_so(anew: Anew) -> None:
    anew.seat.start_saver("xfce", "")
    anew.start()
    anew.expect_start_by_a_change()
    anew.seat.write("session", LOCKED)
    anew.wait_for_end()
    anew.seat.write("saver-xfce", "active")
    anew.seat.write("session", IN_FRONT)
    anew.seat.trigger("clickMoreButton")
    assert not anew.runs
    anew.seat.write("saver-xfce", "")
    anew.expect_start_by_a_change()


def test_request_to_lock_counts_until_one_to_unlock_where_light_locker_follows_it(
    anew: Anew,
) -> None:
    anew.start()
    anew.expect_start_by_a_change()
    anew.seat.write("session", f"{IN_FRONT} Lock")
    anew.seat.wait_for(lambda: "requests Lock" in anew.seat.log, "a request")
    anew.seat.write("session", IN_FRONT)
    assert anew.runs, "a request alone locks no screen"
    locker = anew.seat.start_saver("freedesktop", "", "gnome")
    anew.wait_for_end()
    anew.seat.write("session", f"{IN_FRONT} Unlock")
    anew.expect_start_by_a_change()
    anew.seat.write("session", f"{IN_FRONT} Lock")
    anew.wait_for_end()
    anew.seat.write("session", LEFT)
    anew.seat.trigger("clickMoreButton")
    anew.seat.write("session", IN_FRONT)
    anew.seat.trigger("clickMoreButton")
    assert not anew.runs
    locker.kill()
    anew.expect_start_by_a_change()
    assert len(anew.lines) == 3


def test_states_count_again_once_the_lost_session_bus_is_back(anew: Anew) -> None:
    anew.start()
    anew.expect_start_by_a_change()
    (bus,) = (number for number, line in anew.seat.processes().items() if "dbus-daemon" in line)
    os.kill(bus, signal.SIGKILL)
    anew.wait_for_end()
    (anew.seat.folder / "run/bus").unlink()
    # Here it is that of logind, too.
    anew.seat.start_bus()
    anew.seat.start_logind(IN_FRONT)
    anew.seat.start_saver("xfce", "active")
    anew.seat.write("saver-xfce", "")
    anew.expect_start_by_a_change()
