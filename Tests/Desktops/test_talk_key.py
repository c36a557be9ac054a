"""Push-to-talk on a whole desktop, whatever has the focus, and behind its lock screen."""

import pytest
from desk import Desk
from desktops import OTHER, PASSWORD, USER
from harness.sessions import EMPTY_TERMINAL, Session, as_user, switch_to_console
from support.waiting import wait_until
from talk import ONCE, hold, hold_again, latch, recorded, wait_for_recorded, wait_for_talk


def test_hold_tap_and_two_taps_record_while_the_terminal_has_the_focus(talker: Desk) -> None:
    hold(talker, "held", [])
    # A tap records what it lasts, and the tail.
    talker.play("tap ctrl_r 60")
    wait_for_recorded(talker, ONCE * 2)
    wait_for_talk(talker, "silent")
    latch(talker)
    wait_for_recorded(talker, [*ONCE * 2, "begin"])
    talker.play("tap ctrl_r 60")
    wait_for_recorded(talker, ONCE * 3)


def test_hold_records_while_the_overview_or_a_menu_is_open(talker: Desk) -> None:
    talker.open_launcher()
    hold(talker, "launcher", [])
    talker.play("tap esc")


def test_nothing_starts_behind_the_lock_screen(talker: Desk) -> None:
    talker.play("down ctrl_r")
    wait_for_recorded(talker, ["begin"])
    # The lock ends it, although the key is held.
    talker.lock()
    wait_for_recorded(talker, ONCE)
    talker.play("up ctrl_r")
    wait_for_talk(talker, "silent")

    talker.look("locked")
    for script, state in (("down ctrl_r", "talking"), ("up ctrl_r", "silent")):
        talker.play(script)
        wait_for_talk(talker, state)
    latch(talker)
    talker.unlock()
    talker.look("unlocked")
    # What was latched behind the lock screen is not heard after it.
    assert recorded(talker) == ONCE
    hold_again(talker, "again")


@pytest.mark.parametrize("is_person", [False, True], ids=["empty", "person"])
def test_nothing_starts_on_another_console(talker: Desk, is_person: bool) -> None:
    """A second person may be in front there, who has the talk key meanwhile."""
    talker.play("down ctrl_r")
    wait_for_recorded(talker, ["begin"])
    if is_person:
        talker.run(f"useradd --create-home {OTHER}")
        other = Session(talker, EMPTY_TERMINAL, OTHER)
        other.bring_to_front()
        assert talker.ask_desktop("keymodectl state", check=False).exit_code != 0
        other.run("keymodectl state")
    else:
        switch_to_console(talker)
    wait_for_recorded(talker, ONCE)
    talker.play("up ctrl_r; wait 500; down ctrl_r")
    wait_for_talk(talker, "talking")
    talker.play("up ctrl_r")
    wait_for_talk(talker, "silent")
    # What is latched there is not heard after the return.
    latch(talker)
    talker.session.bring_to_front()
    assert recorded(talker) == ONCE
    hold_again(talker, "back")


only_xfce = pytest.mark.parametrize("desk", ["xfce"], indirect=True)


@only_xfce
def test_nothing_starts_in_a_locked_session_that_is_in_front(talker: Desk) -> None:
    """light-locker has a login screen in front, from which Ctrl+Alt+F7 leads back."""
    # lightdm requests the lock once its login screen is there, which takes seconds here.
    request = "type='signal',interface='org.freedesktop.login1.Session',member='Lock'"
    talker.run(f'dbus-monitor --system "{request}" >/tmp/requests 2>&1 &')
    talker.lock("DISPLAY=:0 XAUTHORITY=~/.Xauthority light-locker-command --lock")
    talker.wait_until("grep -q member=Lock /tmp/requests")
    talker.session.bring_to_front()
    talker.play("down ctrl_r")
    wait_for_talk(talker, "talking")
    talker.look("locked")
    # The command would have started by the time that logind has answered.
    assert talker.session.properties()["Active"] == "yes"
    talker.play("up ctrl_r")
    wait_for_talk(talker, "silent")
    assert recorded(talker) == []


@only_xfce
def test_nothing_starts_behind_the_other_lock_screen_of_xfce(talker: Desk) -> None:
    talker.run("pkill -x light-locker")
    # The bus starts the other one, which needs a moment until it locks.
    talker.ask_desktop("busctl --user call org.xfce.ScreenSaver /org/xfce/ScreenSaver org.xfce.ScreenSaver GetActive")
    talker.lock("DISPLAY=:0 XAUTHORITY=~/.Xauthority xflock4")
    talker.play("down ctrl_r")
    wait_for_talk(talker, "talking")
    talker.play("up ctrl_r")
    wait_for_talk(talker, "silent")
    talker.unlock()
    assert recorded(talker) == []
    hold(talker, "unlocked", [])


@pytest.mark.parametrize("desk", ["gnome", "plasma", "xfce"], indirect=True)
@pytest.mark.parametrize("is_person", [False, True], ids=["empty", "person"])
def test_nothing_starts_after_a_switch_of_users_by_the_menu(talker: Desk, is_person: bool) -> None:
    """The login screen is in front then, or a second person who has logged in there."""
    talker.run(f"useradd --create-home --shell /bin/bash {OTHER}; echo {OTHER}:{PASSWORD} | chpasswd")
    latch(talker)
    wait_for_recorded(talker, ["begin"])
    talker.switch_users(is_person)
    wait_for_recorded(talker, ONCE)
    talker.play("tap ctrl_r 60")
    wait_for_talk(talker, "silent")
    if is_person:
        state = as_user(OTHER, "keymodectl state")
        talker.enter_password(f"({state}) >/dev/null 2>&1", "the other person to log in")
        assert talker.ask_desktop("keymodectl state", check=False).exit_code != 0
    talker.look("switched")
    talker.play("down ctrl_r")
    wait_for_talk(talker, "talking")
    talker.play("up ctrl_r")
    wait_for_talk(talker, "silent")
    # What is latched there is not heard after the return.
    latch(talker)
    if talker.desktop.tells_of_lock:
        # Ctrl+Alt+F2 leads back, to the lock screen.
        talker.session.bring_to_front()
    elif is_person:
        talker.run(as_user(OTHER, f"{talker.desktop.to_login_screen} switch-to-user {USER}"))
    talker.unlock()
    assert recorded(talker) == ONCE
    hold_again(talker, "back")
