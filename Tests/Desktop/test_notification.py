"""The notification example, with a notification daemon (mako) that shows it."""

import os
import re
import signal
import subprocess

import pytest
from seat import Desktop, Seat
from support.picture import Picture
from support.waiting import BOUND_SECONDS


class Notifications:
    """A desktop that shows notifications, with the example running."""

    def __init__(self, seat: Seat) -> None:
        self.seat = seat
        seat.start_bus()
        self.desktop = Desktop(seat)
        self.empty = self.desktop.picture()
        seat.start("mako")
        seat.wait_for(lambda: "org.freedesktop.Notifications" in seat.bus_names(), "mako")
        self.example = self.start()

    def start(self) -> subprocess.Popen[bytes]:
        """Starts the example."""
        return self.seat.start("examples/notification/keymoded-notify")

    @property
    def shown(self) -> list[str]:
        """The summaries of the notifications that are shown."""
        mako = ("--dest", "org.freedesktop.Notifications", "--object-path", "/fr/emersion/Mako")
        # `makoctl list` prints JSON or not, depending on its version.
        method = ("--method", "fr.emersion.Mako.ListNotifications")
        listed = self.seat.run("gdbus", "call", "--session", *mako, *method)
        return re.findall(r"'summary': <'(.*?)'>", listed)

    def wait_for(self, *shown: str) -> Picture:
        """Waits until exactly these summaries are shown, and returns a picture of them."""
        self.seat.wait_for(lambda: self.shown == [*shown], f"{shown}")
        return self.desktop.wait_for(
            lambda picture: (picture == self.empty) != bool(shown), f"a picture of {shown}"
        )


@pytest.fixture
def notifications(seat: Seat) -> Notifications:
    """A desktop that shows notifications, with the example running."""
    return Notifications(seat)


def test_notification_is_shown_while_shift_is_locked(notifications: Notifications) -> None:
    seat = notifications.seat
    seat.trigger("shiftPressed", "shiftPressed", "tapTextField")
    notifications.wait_for("Shift is locked")
    seat.trigger("shiftPressed")
    notifications.wait_for()

    # A notification that the user closes stays closed until Shift is locked again.
    seat.trigger("shiftPressed", "shiftPressed")
    notifications.wait_for("Shift is locked")
    seat.run("makoctl", "dismiss", "--all")
    notifications.wait_for()
    seat.trigger("shiftPressed", "shiftPressed", "shiftPressed")
    notifications.wait_for("Shift is locked")

    # Without the daemon, the state of Shift is unknown.
    seat.kill_keymoded()
    notifications.wait_for()
    seat.start_keymoded()
    seat.trigger("shiftPressed", "shiftPressed")
    notifications.wait_for("Shift is locked")


def test_ending_the_example_closes_its_notification(notifications: Notifications) -> None:
    seat = notifications.seat
    seat.trigger("shiftPressed", "shiftPressed")
    notifications.wait_for("Shift is locked")
    # As systemd and a terminal do: a signal to all processes of the example at once.
    os.killpg(notifications.example.pid, signal.SIGINT)
    notifications.wait_for()
    notifications.example.wait(BOUND_SECONDS)
    seat.wait_for(
        lambda: not {**seat.processes("keymodectl"), **seat.processes("keymoded-notify")},
        "all processes of the example to end",
    )

    # If it starts while Shift is locked, it shows the notification at once.
    notifications.start()
    notifications.wait_for("Shift is locked")


def test_example_fails_without_a_notification_daemon(seat: Seat) -> None:
    example = seat.start("examples/notification/keymoded-notify")
    seat.trigger("shiftPressed", "shiftPressed")
    assert example.wait(BOUND_SECONDS) != 0, "only after a failure does the unit start it again"
    seat.wait_for(lambda: not seat.processes("keymodectl"), "all processes of the example to end")
