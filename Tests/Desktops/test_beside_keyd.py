"""keyd beside the daemon on a whole desktop: it grabs the keyboard, and the daemon follows its own."""

from desk import Desk

VIRTUAL = "keyd virtual keyboard"


def test_states_locks_and_capitals_are_the_same_with_keyd(desk: Desk) -> None:
    # Otherwise keyd makes the left Ctrl of the right one.
    keys = "[ids]\\n*\\n[main]\\nrightcontrol = rightcontrol\\n"
    desk.run(
        f"mkdir -p /etc/keyd; printf '{keys}' >/etc/keyd/default.conf; "
        "systemctl unmask keyd; systemctl start keyd; systemctl enable --now keymoded-shift"
    )
    for name in (VIRTUAL, "keymoded Shift"):
        desk.wait_for_keyboard(name)
    desk.run("keymodectl recipe push-to-talk")
    desk.play("tap caps_lock")
    desk.run("keymodectl wait caps=on --timeout 100")
    desk.play("tap caps_lock")
    desk.run("keymodectl wait caps=off --timeout 100")
    desk.play("down ctrl_r")
    desk.run("keymodectl wait talk=talking --timeout 100")
    desk.play("up ctrl_r")
    desk.run("keymodectl wait talk=silent --timeout 100")
    desk.play("tap shift 30; wait 70; tap shift 30")
    desk.run("keymodectl wait shift=capsLock caps=on --timeout 100")
    desk.type("hello 1\n")
    desk.wait_for("HELLO 1")
    desk.look("keyd")
