"""Push-to-talk on a whole desktop, whatever has the focus, and behind its lock screen."""

from collections.abc import Iterator

import pytest
from desk import Desk
from harness.sessions import switch_to_console
from support.waiting import wait_until

TALKING = "talk=talking,trailing,again,open,closing"
RECORDED = "/tmp/recorded"
"""What the recorder writes: a line when it begins, and one when it ends."""
RECORDER = f"""
echo begin >>{RECORDED}
trap 'echo end >>{RECORDED}; exit' TERM
sleep infinity & wait
"""
ONCE = ["begin", "end"]


@pytest.fixture
def talker(desk: Desk) -> Iterator[Desk]:
    """The desktop, with push-to-talk by its recipe, and the command of the README in the terminal."""
    desk.run("keymodectl recipe push-to-talk")
    desk.write_home("recorder", RECORDER)
    desk.write_home("talk", f"keymodectl while --anew {TALKING} --grace 500ms -- sh ~/recorder\n")
    desk.type("sh talk\n")
    desk.wait_for("waiting|Waiting|waits")
    yield desk


def recorded(desk: Desk) -> list[str]:
    """The lines of the recorder up to now."""
    return desk.run(f"cat {RECORDED} 2>/dev/null", check=False).stdout.split()


def wait_for_recorded(desk: Desk, lines: list[str]) -> None:
    """Waits until the recorder has written these lines, and no others."""
    wait_until(lambda: len(recorded(desk)) >= len(lines), f"the recorder's {lines}")
    assert recorded(desk) == lines


def wait_for_talk(desk: Desk, state: str) -> None:
    """Waits until the machine `talk` is in this state."""
    desk.run(f"keymodectl wait talk={state} --timeout 100")


def hold(desk: Desk, name: str, before: list[str]) -> None:
    """Holds the talk key until the recorder runs, and checks that it ends after the release."""
    desk.play("down ctrl_r")
    wait_for_recorded(desk, [*before, "begin"])
    desk.look(name)
    desk.play("up ctrl_r")
    wait_for_recorded(desk, [*before, *ONCE])
    wait_for_talk(desk, "silent")


def test_hold_tap_and_two_taps_record_while_the_terminal_has_the_focus(talker: Desk) -> None:
    hold(talker, "held", [])
    # A tap records what it lasts, and the tail.
    talker.play("tap ctrl_r 60")
    wait_for_recorded(talker, ONCE * 2)
    wait_for_talk(talker, "silent")
    talker.play("tap ctrl_r 60; wait 80; tap ctrl_r 60")
    wait_for_talk(talker, "open")
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
    talker.play("tap ctrl_r 60; wait 80; tap ctrl_r 60")
    wait_for_talk(talker, "open")
    talker.unlock()
    talker.look("unlocked")
    # What was latched behind the lock screen is not heard after it.
    assert recorded(talker) == ONCE
    # The tap that ends the latch counts only if the unlock is known by then.
    talker.play("tap ctrl_r 60")
    wait_for_talk(talker, "silent")
    talker.play("down ctrl_r")
    wait_until(lambda: recorded(talker)[len(ONCE) :][-1:] == ["begin"], "the recorder after the unlock")
    talker.look("again")
    talker.play("up ctrl_r")
    wait_until(lambda: recorded(talker)[-1] == "end", "the recorder's end")


def test_nothing_starts_on_another_console(talker: Desk) -> None:
    talker.play("down ctrl_r")
    wait_for_recorded(talker, ["begin"])
    switch_to_console(talker)
    wait_for_recorded(talker, ONCE)
    talker.play("up ctrl_r; wait 500; down ctrl_r")
    wait_for_talk(talker, "talking")
    talker.play("up ctrl_r")
    wait_for_talk(talker, "silent")
    talker.session.bring_to_front()
    assert recorded(talker) == ONCE
    hold(talker, "back", ONCE)


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
