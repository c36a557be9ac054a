"""Recordings of presses, releases, holds, taps and clicks replay to the daemon's changes."""

import random

import pytest
from harness.recorder import MARKER, Recorder, record
from harness.recordings import codes_in
from harness.service import reload
from harness.talking import RECORDERS, ended, replayed, talking_guest
from harness.vm import VirtualMachine
from harness.watch import Watch
from support.input_events import BTN_LEFT
from support.push_to_talk import TABLE

USES = f"""{TABLE}
  bindings:
    startTalking: [F9, Super+F9]
    stopTalking: [F9 release, Super+F9 release]
    clickMoreButton: [F10 tap, Super+V hold 200ms]
    tapTextField: [F10 hold 300ms, Insert]
"""

STEPS = [
    *("hold f9 500", "tap f9 30", "tap f10 30", "hold f10 500", "tap f10 30; wait 30; tap f10 30"),
    *("down f10; wait 40; tap a 20; wait 40; up f10", "down f9; wait 40; tap f10 30; up f9"),
    *("down f10; wait 40; tap f9 30; wait 340; up f10", "tap a 20", "tap esc 20"),
    *("down meta_l; wait 20; tap v 300; up meta_l", "down meta_l; tap v 30; up meta_l"),
    *("down meta_l; down f9; wait 40; up meta_l; wait 40; up f9", "tap insert 20"),
    *("down shift; tap tab 20; up shift", "down shift; tap f9 30; up shift"),
    *("tap shift 30; wait 60; tap shift 30", "down f9; wait 20; down shift; up f9; up shift"),
    *("down shift; tap left 20; up shift", "down ctrl; tap shift 20; up ctrl"),
]
CLICKS = [
    *("down shift; wait 20; tap btn_left 20; up shift", "tap btn_left 20"),
    *("down btn_left; wait 20; tap shift 20; up btn_left", "down f10; tap btn_left 20; up f10"),
]
# No deadline may be pending at the end, because a replay ends with the last event.
END = "wait 500; tap a 20; wait 150"


guest = talking_guest


@pytest.mark.parametrize("debounce", ["off", "20ms"])
def test_recordings_of_uses_replay_to_the_changes_of_the_daemon(
    guest: VirtualMachine, debounce: str
) -> None:
    reload(guest, f"debounce: {debounce}\n{USES}")
    source = random.Random(9)
    script = "; ".join(f"{step}; wait {source.randint(10, 60)}" for step in STEPS * 2)
    watch = Watch(guest)
    recorders = record(guest, f"{script}; {END}", RECORDERS)
    live = watch.rest(guest)[:-1]
    assert {"startTalking", "stopTalking", "clickMoreButton", "tapTextField", "shiftUsed"} <= {
        change["event"] for change in live
    }
    for recording in recorders:
        assert replayed(guest, recording) == live


def test_recordings_of_uses_with_a_mouse_replay_to_the_changes_of_the_daemon(
    guest: VirtualMachine, mouse: str
) -> None:
    reload(guest, USES)
    source = random.Random(10)
    steps = source.sample([*STEPS, *CLICKS * 3], len(STEPS) + 3 * len(CLICKS))
    script = "; ".join(f"{step}; wait {source.randint(10, 60)}" for step in steps)
    watch = Watch(guest)
    recorders = [Recorder(guest, tool, "") for tool in RECORDERS[2:]]
    guest.play(f"{script}; {END}; {MARKER}")
    replays = [ended(guest, recording) for recording in recorders]
    live = watch.rest(guest)[:-1]
    assert len(live) > 20
    for replay in replays:
        assert replay == live
    assert BTN_LEFT in codes_in(recorders[0].recording())
