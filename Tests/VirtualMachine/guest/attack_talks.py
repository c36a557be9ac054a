"""Dictation: what a person said is typed by a virtual keyboard, while the talk key is used."""

import itertools
import time

from daemon import Daemon, settle, turn_shift_off
from support.input_events import F9, LEFTSHIFT, PRESS, RELEASE, A, B, C
from support.waiting import wait_until
from uinput import Keyboard

SENTENCE = [A, B, B, C, A, C, B, B, A, C] * 6

# The steps of a virtual keyboard's life. A talk begins before one of them, and ends before the same
# or a later one, or at the end.
STEPS = 5
TALKS = [*itertools.combinations_with_replacement(range(STEPS), 2)]


def talks(daemon: Daemon, count: int) -> str:
    """Holds a talk key while a virtual keyboard is created, types a sentence and goes.

    F9 must enter prepareToRecord, and its release prepareToEditText.
    """
    begin, followed = time.monotonic(), 0
    with daemon.following("Talking keyboard") as (hand,):
        hand.observe()
        for number in range(count):
            pressed, released = TALKS[number % len(TALKS)]
            name = f"Dictation {number % 7}"
            typist: Keyboard | None = None
            for step in range(STEPS):
                if step == pressed:
                    hand.press(F9)
                if step == released:
                    hand.release(F9)
                match step:
                    case 1:
                        typist = Keyboard(name)
                    # A program that waits before it types, and one that does not.
                    case 2 if typist and number % 4 == 3:
                        daemon.wait_until_followed(typist)
                        followed += 1
                    case 3 if typist:
                        typist.press(LEFTSHIFT)
                        typist.tap(A)
                        typist.release(LEFTSHIFT)
                        typist.tap(*SENTENCE)
                    case 4 if typist:
                        typist.remove()
            expected = [
                (stamp, "prepareToRecord" if value else "prepareToEditText")
                for stamp, code, value in hand.stamps()
                if code == F9 and value in (PRESS, RELEASE)
            ]
            changes = [change for change in daemon.changes() if change["machine"] == "keyboard"]
            heard = [(change["time"], change["to"]) for change in changes]
            assert heard == expected and len(heard) == 2, (number, heard, expected)
        seconds = time.monotonic() - begin
        settle()
        # The daemon may have seen a press of Shift, but not the letter after it.
        turn_shift_off(daemon, hand)
    wait_until(lambda: "Dictation" not in " ".join(daemon.devices()), "all to be gone")
    assert daemon.state()["states"]["keyboard"] == "prepareToEditText"
    return f"each talk began and ended once, in {seconds:.0f} s; {followed} typed as followed devices"
