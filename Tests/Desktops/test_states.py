"""The states, as the person in front reads them in a terminal of the desktop without being in a group."""

from desk import Desk


def test_terminal_shows_the_states_and_caps_lock_as_the_key_has_it(desk: Desk) -> None:
    assert "keymoded" not in desk.session.run("id").stdout
    print(desk.ask_desktop(desk.desktop.version).stdout)
    desk.type("keymodectl state\n")
    desk.wait_for(r"shift +off")
    desk.wait_for(r"caps +off")
    desk.look("state")

    desk.type("keymodectl watch\n")
    desk.wait_for("prepareToEditText")
    desk.play("tap caps_lock")
    desk.ask_desktop("keymodectl wait caps=on --timeout 100")
    # The time of the change, and the state.
    desk.wait_for(r"\d\d:\d\d\.\d{3}\W*on\b")
    desk.look("watch-caps")
    desk.play("tap caps_lock")
    desk.ask_desktop("keymodectl wait caps=off --timeout 100")
    desk.type("q")
    desk.wait_for(r"\$ ")
