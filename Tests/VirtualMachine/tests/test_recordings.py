"""Recordings of a real kernel's keyboards by several programs, replayed and played again."""

import contextlib
import random
import re
from collections.abc import Iterator

from harness import recorder, service
from harness.guest_process import GuestProcess
from harness.recorder import MARKER, Recorder, record
from harness.recordings import (
    assert_same_but_for_time_base,
    changes_in,
    codes_in,
    event_lines,
    events_in,
    numbered,
    typing,
    without_times,
)
from harness.service import wait_until_following
from harness.typing import followed
from harness.vm import PS2_KEYBOARD, VirtualMachine
from harness.watch import Change, Watch
from support.input_events import BTN_LEFT, EV_KEY, EV_SYN, LEFTMETA, V
from support.push_to_talk import TABLE


def test_recordings_of_every_program_replay_to_the_changes_of_the_daemon(
    guest: VirtualMachine,
) -> None:
    recorders, live = recorded_and_live(guest)
    assert len(live) > 20
    for recording in recorders:
        replayed = changes_in(recording.path)
        if recording.tool in recorder.FOREIGN:
            assert_same_but_for_time_base(live, replayed)
        else:
            assert replayed == live, "keymodectl has the daemon's clock"


def recorded_and_live(guest: VirtualMachine) -> tuple[list[Recorder], list[Change]]:
    """Recordings of random typing by all programs, and the daemon's changes on it."""
    for seed in range(20261121, 20261121 + service.MOST_TRIES):
        watch = Watch(guest)
        try:
            recorders = record(guest, typing(random.Random(seed), 100))
        except recorder.HostTooBusy:
            service.restart(guest)
        else:
            return recorders, numbered(watch.rest(guest)[:-1])
    raise recorder.HostTooBusy("the host was too busy every time")


# Presses, releases, holds and taps, bounces, the timeout of Shift, and clicks.
SETTINGS = f"""
debounce: 50ms
shift: {{ timeout: 200ms }}
{TABLE}
  bindings:
    startTalking: [F9, Super+F9]
    stopTalking: [F9 release, Super+F9 release]
    clickMoreButton: [F10 tap, Super+V hold 200ms]
    tapTextField: [F10 hold 300ms, Insert]
"""
STEPS = [
    *("hold f9 500", "tap f9 30", "tap f10 30", "hold f10 500", "tap f10 30; wait 90; tap f10 30"),
    *("down f10; wait 40; tap a 20; wait 40; up f10", "down f9; wait 40; tap f10 30; up f9"),
    *("down f10; wait 40; tap f9 30; wait 340; up f10", "tap a 20", "tap esc 20"),
    *("down meta_l; wait 20; tap v 300; up meta_l", "down meta_l; tap v 30; up meta_l"),
    *("down meta_l; down f9; wait 40; up meta_l; wait 40; up f9", "tap insert 20"),
    *("down shift; tap tab 20; up shift", "down shift; tap f9 30; up shift"),
    *("tap shift 30; wait 60; tap shift 30", "down f9; wait 20; down shift; up f9; up shift"),
    *("down shift; tap left 20; up shift", "down ctrl; tap shift 20; up ctrl"),
    *("tap shift 30; wait 40; tap shift 30; wait 300",) * 5,
    *("down shift; wait 20; tap btn_left 20; up shift", "tap btn_left 20") * 3,
    *("down btn_left; wait 20; tap shift 20; up btn_left",) * 3,
    *("down f10; tap btn_left 20; up f10",) * 3,
]
# No deadline may be pending at the end, because a replay ends with the last event.
END = "wait 500; tap a 20; wait 150"


def test_recordings_of_every_use_and_of_a_mouse_replay_to_the_changes_of_the_daemon(
    guest: VirtualMachine, mouse: str
) -> None:
    service.reload(guest, SETTINGS)
    # A slow host may type too late for bounces; then it types again.
    seeds = range(10, 10 + service.MOST_TRIES)
    assert any(recorded_bounces(guest, seed) for seed in seeds)


def recorded_bounces(guest: VirtualMachine, seed: int) -> bool:
    """Checks that recordings replay to the daemon's changes; returns whether they have bounces."""
    source = random.Random(seed)
    script = "; ".join(
        f"{step}; wait {source.randint(10, 60)}" for step in source.sample(STEPS, len(STEPS))
    )
    watch = Watch(guest)
    recorders = [Recorder(guest, tool, "") for tool in recorder.CONFIGURED]
    guest.move(5, 5)
    guest.play(f"{script}; {END}; {MARKER}")
    for recording in recorders:
        recording.wait_for_marker()
        assert recording.stop().exit_code == 0
    live = numbered(watch.rest(guest)[:-1])
    assert {"startTalking", "stopTalking", "tapTextField", "shiftUsed", "timedOut"} <= {
        change["event"] for change in live
    }
    for recording in recorders:
        assert changes_in(recording.path, "--config", guest.shared / "keymoded.yaml") == live
        kinds = {kind for kind, _, _ in events_in(recording.recording())}
        assert kinds == {EV_SYN, EV_KEY}, "no motion"
    assert BTN_LEFT in codes_in(recorders[0].recording())
    # Without debounce, nothing but a bounce makes other changes.
    bouncing = guest.shared / "bouncing.yaml"
    bouncing.write_text(SETTINGS.replace("debounce: 50ms\n", ""))
    return changes_in(recorders[0].path, "--config", bouncing) != live


def test_recording_of_two_keyboards_plays_with_libinput_replay(guest: VirtualMachine) -> None:
    service.reload(guest, service.PATIENT)
    tools = (recorder.LIBINPUT, recorder.KEYMODECTL)
    used = ("--config", guest.shared / "keymoded.yaml")
    with followed(guest, "Second keyboard") as second:
        watch = Watch(guest)
        recorders = [Recorder(guest, tool, PS2_KEYBOARD, second.node) for tool in tools]
        guest.play("tap shift 40; wait 160; tap shift 40; wait 60; tap insert; wait 60")
        second.play("tap shift; down ctrl")
        # libinput replay plays each device in a process of its own, whose time starts when it does:
        # the second device's events come late, so later events of the first have to wait.
        # Compose means nothing while Ctrl is held.
        guest.play("wait 1500; tap compose; wait 60")
        second.play("up ctrl")
        guest.play("wait 1500; tap shift; wait 60")
        second.play("tap a; tap compose")
        guest.play(f"wait 1500; tap esc; wait 60; {MARKER}")
        # The second keyboard sent all its events before the marker.
        for recording in recorders:
            recording.wait_for_marker()
            recording.stop()
        recorded = numbered(watch.rest(guest)[:-1])
    states = ["on", "capsLock", "editingText", "off", "on", "off", "showingPanel"]
    assert [change["to"] for change in recorded] == [*states, "prepareToEditText"]
    libinput, keymodectl = recorders
    assert_same_but_for_time_base(recorded, changes_in(libinput.path, *used))
    assert changes_in(keymodectl.path, *used) == recorded

    # On a busy host, events of one device may be played after later events of the other.
    for _ in range(service.MOST_TRIES):
        service.restart(guest)
        with played_by_libinput(guest, keymodectl, devices=2):
            watch = Watch(guest)
            guest.run("echo >/run/enter")
        live = without_times(numbered(watch.rest(guest)[:-1]))
        if live == without_times(recorded):
            break
    assert live == without_times(recorded)


@contextlib.contextmanager
def played_by_libinput(vm: VirtualMachine, recording: Recorder, devices: int) -> Iterator[None]:
    """`libinput replay`, whose devices the daemon follows: a line in /run/enter makes it play.

    It leaves out the recorded autorepeats. The kernel repeats the held keys at other times than
    the recorded keyboard did, so autorepeats must not matter.
    """
    # Opened for reading and writing, the pipe never ends, so that the program can ask again.
    process = vm.start(
        f"rm -f /run/enter; mkfifo /run/enter; exec libinput replay {recording.file} 0<>/run/enter"
    )
    try:
        process.wait_for("Hit enter")
        wait_until_following(vm, 1 + devices)
        yield
        process.wait_for("(?s)Hit enter.*Hit enter")
    finally:
        # Interrupted, not killed: at its end it removes its configuration of libinput.
        process.interrupt_until_it_ends()
    wait_until_following(vm, 1)


# The keys that the test types, by QEMU's and by the kernel's names. The two pairs of letters
# overlap, one released in order and one crosswise. The test does not type the first codes, KEY_1
# and so on, which a redacted recording has instead of letters.
TYPED = """
    tap shift; wait 30; tap a; wait 30; tap q; tap z; tap p; tap 9; tap 7; tap kp_5; wait 30
    down shift; wait 30; down d; wait 20; down f; wait 20; up d; wait 20; up f; up shift; wait 30
    down g; wait 20; down h; wait 20; up h; wait 20; up g; wait 30
    tap v; tap f5; tap pause 20; hold j 400
"""
TYPED_CODES = {
    **{"KEY_A": 30, "KEY_Q": 16, "KEY_Z": 44, "KEY_P": 25, "KEY_9": 10, "KEY_7": 8, "KEY_KP5": 76},
    **{"KEY_D": 32, "KEY_F": 33, "KEY_G": 34, "KEY_H": 35, "KEY_J": 36},
    **{"KEY_V": V, "KEY_F5": 63, "KEY_PAUSE": 119},
}
CHORD = "down meta_l; wait 20; tap v; wait 20; up meta_l; wait 30"


def test_redacted_recording_has_no_typed_key(installed: VirtualMachine) -> None:
    (installed.shared / "keymoded.yaml").write_text(
        "keyboard: {bindings: {clickSwitchButton: [KEY_LEFTMETA+KEY_V]}}\n"
    )
    used = ("--config", installed.shared / "keymoded.yaml")
    shown, redacted = record(installed, f"{TYPED}; {CHORD}; tap v; {CHORD}", recorder.CONFIGURED)
    assert codes_in(shown.recording()) >= set(TYPED_CODES.values())
    changes = changes_in(shown.path, *used)
    assert [change["event"] for change in changes].count("clickSwitchButton") == 2
    assert changes_in(redacted.path, *used) == changes
    assert_nothing_typed(redacted.recording())


def assert_nothing_typed(recording: bytes) -> None:
    """Checks that of the typed keys the recording has only V, where it was pressed with Meta."""
    events = events_in(recording)
    assert codes_in(recording) & set(TYPED_CODES.values()) == {V}
    chord = [(1, LEFTMETA, 1), (1, V, 1), (1, V, 0), (1, LEFTMETA, 0)]
    assert [event for event in events if event[1] in (LEFTMETA, V)] == chord * 2
    assert {kind for kind, _, _ in events} == {0, 1}, "no scan codes"
    text = b"\n".join(event_lines(recording)).decode()
    assert set(re.findall(r"\bKEY_\w+", text)) & set(TYPED_CODES) == {"KEY_V"}
    assert "MSC" not in recording.decode().rpartition("events:")[2]


def test_recording_is_private_and_complete_after_any_signal_and_has_the_modifiers_of_its_start(
    installed: VirtualMachine,
) -> None:
    ends = {
        recorder.REDACTED: GuestProcess.interrupt,
        recorder.KEYMODECTL: GuestProcess.terminate,
    }
    installed.play("down ctrl; wait 20")
    recorders = [Recorder(installed, tool) for tool in ends]
    installed.play(f"tap insert; wait 20; up ctrl; wait 20; tap insert; wait 20; {MARKER}")
    for recording in recorders:
        recording.wait_for_marker()
        ends[recording.tool](recording.process)
        assert recording.process.wait().exit_code == 0
        assert recording.path.stat().st_mode & 0o777 == 0o600
        assert recording.recording().endswith(b"\n")
        assert [change["to"] for change in changes_in(recording.path)] == ["editingText"]


def test_recording_an_unplugged_keyboard_fails_and_keeps_its_events(
    installed: VirtualMachine,
) -> None:
    keyboard = installed.plug_usb_keyboard("recorded")
    recorders = [
        Recorder(installed, tool, keyboard)
        for tool in (recorder.KEYMODECTL, recorder.REDACTED)
    ]
    installed.play(f"tap shift; wait 60; tap a; wait 60; {MARKER}")
    for recording in recorders:
        recording.wait_for_marker()
    installed.unplug("recorded")
    for recording in recorders:
        ended = recording.process.wait()
        assert ended.exit_code != 0
        assert "QEMU USB Keyboard" in ended.stderr
        assert [change["to"] for change in changes_in(recording.path)] == [
            *("on", "off"),
            # Its LEDs go with it.
            *("unknown", "unknown"),
        ]


def test_recording_of_all_keyboards_ignores_one_that_is_plugged_in_later(
    installed: VirtualMachine,
) -> None:
    recording = Recorder(installed, recorder.KEYMODECTL, "")
    path = installed.plug_usb_keyboard("newcomer")
    installed.play("tap shift; wait 60")
    installed.unplug("newcomer")
    installed.wait_until(f"! test -e {path}")
    installed.play(f"tap shift; wait 60; tap a; wait 60; {MARKER}")
    recording.wait_for_marker()
    ended = recording.stop()
    assert "is gone" not in ended.stderr
    assert ended.exit_code == 0
