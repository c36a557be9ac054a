"""`keymodectl while --anew` when the session is locked or left, and when the machine sleeps.

Tests/SessionTests has the table of it, Tests/UserManager what the daemon changes. The screen savers
here are stand-ins; Tests/Desktops has those of Xfce.
"""

import contextlib
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

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

    def start(self, *options: str, command: str = COMMAND) -> None:
        """Starts it."""
        states = "keyboard=prepareToEditText,editingText,showingPanel"
        words = ("keymodectl", "while", "--anew", *options, "--grace", "200ms", states, "--")
        self.seat.start_managed(*words, "sh", "-c", command)

    @property
    def lines(self) -> list[str]:
        """Why it was started, each time."""
        return (self.seat.folder / "log.anew").read_text().splitlines()

    @property
    def runs(self) -> bool:
        """Whether the command runs."""
        lines = self.seat.processes().values()
        return any(line.startswith(("sh -c echo", "sleep 1000")) for line in lines)

    def tell(self, name: str, words: str) -> None:
        """Has a stand-in tell these words, and waits until `keymodectl` has heard them."""
        self.seat.tell(name, words)
        self._wait_until_heard()

    def trigger(self, event: str) -> None:
        """Sends an event instead of a key, and waits until `keymodectl` has heard of it."""
        self.seat.trigger(event)
        self._wait_until_heard()

    def _wait_until_heard(self) -> None:
        self.seat.wait_for(self._sleeps, "keymodectl to sleep")

    def _sleeps(self) -> bool:
        # It does once it has read all that it was sent.
        states = []
        for pid in self.seat.processes("keymodectl"):
            with contextlib.suppress(FileNotFoundError, ProcessLookupError):
                states.append(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0])
        return states == ["S"]

    def expect_start_by_a_change(self) -> None:
        """Changes the state, within those that count, until the command starts by a change."""
        count = len(self.lines)

        def has_started() -> bool:
            self.trigger("clickMoreButton")
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
        anew.tell("session", away)
        anew.wait_for_end()
        # Nor does what is entered meanwhile.
        anew.trigger("clickMoreButton")
        anew.tell("session", IN_FRONT)
        anew.expect_start_by_a_change()


def test_sleep_ends_the_command_in_any_session_and_a_lock_does_not(anew: Anew) -> None:
    anew.start("--any-session")
    anew.expect_start_by_a_change()
    anew.tell("session", LOCKED)
    anew.trigger("clickMoreButton")
    assert anew.runs
    anew.tell("session", LOCKED + " Asleep")
    anew.wait_for_end()
    assert len(anew.lines) == 1, "the lock ended nothing"
    anew.tell("session", LOCKED)
    anew.expect_start_by_a_change()


def test_sleep_waits_until_the_command_has_ended(anew: Anew) -> None:
    begins, command_ends, ends = "delay of sleep begins", "the command ends", "delay of sleep ends"
    trap = f"""trap 'sleep 0.1; echo "{command_ends}"' TERM; """
    anew.start(command=trap + COMMAND.replace("exec sleep 1000", "sleep 1000 & wait; wait"))
    expected: list[str] = []

    def wait_for(*lines: str) -> None:
        expected.extend(lines)

        def has_told() -> bool:
            told = anew.seat.log.splitlines()
            return [line for line in told if line in (begins, command_ends, ends)] == expected

        anew.seat.wait_for(has_told, " ".join(lines))

    wait_for(begins)
    for _ in range(2):
        anew.expect_start_by_a_change()
        anew.tell("session", ASLEEP)
        wait_for(command_ends, ends)
        anew.tell("session", IN_FRONT)
        wait_for(begins)
    anew.expect_start_by_a_change()
    anew.tell("session", LOCKED)
    wait_for(command_ends)
    # Nothing has to end.
    anew.tell("session", LOCKED + " Asleep")
    wait_for(ends)


@pytest.mark.parametrize("kind", SAVERS)
def test_state_counts_as_left_while_a_screen_saver_is_active(anew: Anew, kind: str) -> None:
    anew.seat.start_saver(kind, "active")
    anew.start()
    anew.trigger("clickMoreButton")
    assert not anew.runs
    anew.tell(f"saver-{kind}", "")
    anew.expect_start_by_a_change()
    for _ in range(3):
        anew.tell(f"saver-{kind}", "active")
        anew.wait_for_end()
        anew.trigger("clickMoreButton")
        anew.tell(f"saver-{kind}", "")
        anew.expect_start_by_a_change()


def test_screen_saver_that_comes_or_ends_closes_nothing(anew: Anew) -> None:
    anew.start()
    anew.expect_start_by_a_change()
    saver = anew.seat.start_saver("xfce", "")
    other = anew.seat.start_saver("mate", "")
    assert anew.runs
    anew.tell("saver-xfce", "active")
    anew.wait_for_end()
    anew.tell("saver-mate", "active")
    saver.kill()
    anew.trigger("clickMoreButton")
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
    anew.trigger("clickMoreButton")
    assert not anew.runs
    saver.kill()
    anew.expect_start_by_a_change()


def test_session_is_locked_as_long_as_one_of_both_says_so(anew: Anew) -> None:
    anew.seat.start_saver("xfce", "")
    anew.start()
    anew.expect_start_by_a_change()
    anew.tell("session", LOCKED)
    anew.wait_for_end()
    anew.tell("saver-xfce", "active")
    anew.tell("session", IN_FRONT)
    anew.trigger("clickMoreButton")
    assert not anew.runs
    anew.tell("saver-xfce", "")
    anew.expect_start_by_a_change()


def test_request_to_lock_counts_until_one_to_unlock_where_light_locker_follows_it(
    anew: Anew,
) -> None:
    anew.start()
    anew.expect_start_by_a_change()
    anew.tell("session", f"{IN_FRONT} Lock")
    anew.tell("session", IN_FRONT)
    assert anew.runs, "a request alone locks no screen"
    locker = anew.seat.start_saver("freedesktop", "", "gnome")
    anew.wait_for_end()
    anew.tell("session", f"{IN_FRONT} Unlock")
    anew.expect_start_by_a_change()
    anew.tell("session", f"{IN_FRONT} Lock")
    anew.wait_for_end()
    anew.tell("session", LEFT)
    anew.trigger("clickMoreButton")
    anew.tell("session", IN_FRONT)
    anew.trigger("clickMoreButton")
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
    # The first try to connect again fails.
    time.sleep(6)
    # Here it is that of logind, too.
    anew.seat.start_bus()
    anew.seat.start_logind(IN_FRONT)
    anew.seat.start_saver("xfce", "active")
    anew.seat.wait_for(lambda: "saver-xfce was asked" in anew.seat.log, "a question")
    anew.trigger("clickMoreButton")
    assert not anew.runs
    anew.tell("saver-xfce", "")
    anew.expect_start_by_a_change()
