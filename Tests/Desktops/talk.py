"""Push-to-talk by the recipe and the command of README, with a recorder that only says that it runs."""

from desk import Desk
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


def start(desk: Desk) -> None:
    """Begins push-to-talk in the terminal."""
    desk.run("keymodectl recipe push-to-talk")
    desk.write_home("recorder", RECORDER)
    desk.write_home("talk", f"keymodectl while --anew {TALKING} --grace 500ms -- sh ~/recorder\n")
    desk.type("sh talk\n")
    desk.wait_for("waiting|Waiting|waits")


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


def latch(desk: Desk) -> None:
    """Taps the talk key twice, and waits until it is latched."""
    desk.play("tap ctrl_r 60; wait 80; tap ctrl_r 60")
    wait_for_talk(desk, "open")


def hold_again(desk: Desk, name: str) -> None:
    """Ends a latch by a tap, and holds the key until the recorder runs, for the second time at least.

    The tap is recorded too if the person is known to be back by then.
    """
    desk.play("tap ctrl_r 60")
    wait_for_talk(desk, "silent")
    desk.play("down ctrl_r")
    wait_until(lambda: recorded(desk)[len(ONCE) :][-1:] == ["begin"], "the recorder to run again")
    desk.look(name)
    desk.play("up ctrl_r")
    wait_until(lambda: recorded(desk)[-1] == "end", "the recorder's end")
