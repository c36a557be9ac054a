"""Recordings of a real kernel's keyboards by several programs, replayed and played again."""

import contextlib
import random
import re
from collections.abc import Iterator

import pytest
from harness import recorder, service
from harness.guest_process import GuestProcess
from harness.keyboards import followed_keyboard
from harness.recorder import MARKER, Recorder, Tool, record
from harness.recordings import (
    assert_same_but_for_time_base,
    changes_in,
    changes_of,
    codes_in,
    event_lines,
    events_in,
    replay,
    typing,
    typing_to_be_played,
    without_times,
)
from harness.service import wait_until_following
from harness.vm import PS2_KEYBOARD, VirtualMachine
from harness.watch import Change, Watch
from support.input_events import LEFTMETA, V


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
            return recorders, watch.rest(guest)[:-1]
    raise recorder.HostTooBusy("the host was too busy every time")


def test_recording_of_keymodectl_plays_on_a_uinput_keyboard(guest: VirtualMachine) -> None:
    tools = (recorder.KEYMODECTL, recorder.REDACTED)
    recorders = record(guest, typing_to_be_played(1, 15), tools)
    for recording in recorders:
        replayed = without_times(changes_in(recording.path))
        for _ in range(service.MOST_TRIES):
            live = played(guest, recording)
            # A slow host may play a second Shift too late.
            if without_times(live) == replayed:
                break
        assert len(live) > 5
        assert without_times(live) == replayed


def played(guest: VirtualMachine, recording: Recorder) -> list[Change]:
    """The daemon's changes on a recording that is played on a keyboard of uinput.

    Checks that they follow from the kernel's timestamps, with a recording of the played keys.
    """
    service.restart(guest)
    with followed_keyboard(guest, "Played keyboard", like=recording.file) as keyboard:
        watch = Watch(guest)
        again = Recorder(guest, recorder.KEYMODECTL, keyboard.path)
        keyboard.play(recording.file)
        again.wait_for_marker()
        again.stop()
        live = watch.rest(guest)[:-1]
    assert changes_in(again.path) == live
    return live


def test_recording_of_two_keyboards_plays_with_libinput_replay(guest: VirtualMachine) -> None:
    with service.configured(guest, service.PATIENT):
        play_two_keyboards_with_libinput(guest)


def play_two_keyboards_with_libinput(guest: VirtualMachine) -> None:
    tools = (recorder.LIBINPUT, recorder.KEYMODECTL_YAML)
    used = ("--config", guest.shared / "keymoded.yaml")
    with followed_keyboard(guest, "Second keyboard") as second:
        watch = Watch(guest)
        recorders = [Recorder(guest, tool, PS2_KEYBOARD, second.path) for tool in tools]
        guest.play("tap shift 40; wait 160; tap shift 40; wait 60; tap insert; wait 60")
        second.send("LEFTSHIFT+", "LEFTSHIFT-", "LEFTCTRL+")
        # libinput replay plays each device in a process of its own, whose time starts when it does:
        # the second device's events come late, so later events of the first have to wait.
        # Compose means nothing while Ctrl is held.
        guest.play("wait 1500; tap compose; wait 60")
        second.send("LEFTCTRL-")
        guest.play("wait 1500; tap shift; wait 60")
        second.send("A+", "A-", "COMPOSE+", "COMPOSE-")
        guest.play(f"wait 1500; tap esc; wait 60; {MARKER}")
        # The second keyboard sent all its events before the marker.
        for recording in recorders:
            recording.wait_for_marker()
            recording.stop()
        recorded = watch.rest(guest)[:-1]
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
        live = without_times(watch.rest(guest)[:-1])
        if live == without_times(recorded):
            break
    assert live == without_times(recorded)


@pytest.mark.parametrize("typing_first", [True, False], ids=["grabbed last", "grabbed first"])
def test_recording_of_two_keyboards_has_a_release_that_a_grab_hid_where_it_took_effect(
    guest: VirtualMachine, typing_first: bool
) -> None:
    tools = (recorder.KEYMODECTL_YAML, recorder.REDACTED_YAML)
    with (
        followed_keyboard(guest, "Typing keyboard") as typed,
        followed_keyboard(guest, "Grabbed keyboard") as grabbed,
    ):
        devices = [typed.path, grabbed.path]
        watch = Watch(guest)
        recorders = [
            Recorder(guest, tool, *(devices if typing_first else reversed(devices)))
            for tool in tools
        ]
        typed.send("LEFTSHIFT+", "LEFTSHIFT-")
        grabbed.send("LEFTCTRL+")
        grab = guest.start(f"exec stdbuf -oL evtest --grab {grabbed.path}")
        grab.wait_for("Testing")
        grabbed.send("LEFTCTRL-")
        grab.wait_for(r"KEY_LEFTCTRL\), value 0")
        grab.terminate()
        grab.wait()
        typed.send("A+", "A-", "RIGHTMETA+", "RIGHTMETA-")
        # Of several devices, only the events of the first are written at once.
        grabbed.send("RIGHTMETA+", "RIGHTMETA-")
        for recording in recorders:
            recording.wait_for_marker()
            recording.stop()
        live = watch.rest(guest)[:-1]
    assert [change["to"] for change in live] == ["on", "off"]
    for recording in recorders:
        assert "keymoded: missed" in recording.recording().decode()
        assert changes_in(recording.path) == live


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
    (installed.shared / "bound.yaml").write_text(
        "keyboard: {bindings: {clickSwitchButton: [KEY_LEFTMETA+KEY_V]}}\n"
    )
    tools = [
        tool.with_options("--config /host/bound.yaml")
        for tool in (recorder.KEYMODECTL, recorder.REDACTED, recorder.REDACTED_YAML)
    ]
    recorders = record(installed, f"{TYPED}; {CHORD}; tap v; {CHORD}", tools)
    shown, *redacted = recorders
    assert codes_in(shown.recording()) >= set(TYPED_CODES.values())
    changes = changes_in(shown.path, "--config", installed.shared / "bound.yaml")
    assert [change["event"] for change in changes].count("clickSwitchButton") == 2
    for recording in redacted:
        assert_nothing_typed(recording.recording())
        assert changes_in(recording.path, "--config", installed.shared / "bound.yaml") == changes


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


def test_recording_is_private_and_complete_after_any_signal(installed: VirtualMachine) -> None:
    tools = (recorder.KEYMODECTL, recorder.REDACTED, recorder.KEYMODECTL_YAML)
    recorders = [Recorder(installed, tool) for tool in tools]
    installed.play(f"tap shift; wait 60; tap a; wait 60; {MARKER}")
    for recording in recorders:
        recording.wait_for_marker()
    ends = (GuestProcess.interrupt, GuestProcess.terminate, GuestProcess.interrupt)
    for recording, end in zip(recorders, ends, strict=True):
        end(recording.process)
        assert recording.process.wait().exit_code == 0
        assert recording.path.stat().st_mode & 0o777 == 0o600
        assert recording.recording().endswith(b"\n")
        assert [change["to"] for change in changes_in(recording.path)] == ["on", "off"]

    before = recorders[0].recording()
    refused = installed.run(f"keymodectl record --output {recorders[0].file}", check=False)
    assert refused.exit_code != 0
    assert recorders[0].file in refused.stderr
    assert recorders[0].recording() == before


def test_recording_an_unplugged_keyboard_fails_and_keeps_its_events(
    installed: VirtualMachine,
) -> None:
    keyboard = installed.plug_usb_keyboard("recorded")
    recorders = [
        Recorder(installed, tool, keyboard)
        for tool in (recorder.KEYMODECTL, recorder.KEYMODECTL_YAML)
    ]
    installed.play(f"tap shift; wait 60; tap a; wait 60; {MARKER}")
    for recording in recorders:
        recording.wait_for_marker()
    installed.unplug("recorded")
    for recording in recorders:
        ended = recording.process.wait()
        assert ended.exit_code != 0
        assert "QEMU USB Keyboard" in ended.stderr
        assert [change["to"] for change in changes_in(recording.path)] == ["on", "off"]


def test_recording_of_all_keyboards_ignores_one_that_is_plugged_in_later(
    installed: VirtualMachine,
) -> None:
    recording = Recorder(installed, recorder.KEYMODECTL_YAML, "")
    path = installed.plug_usb_keyboard("newcomer")
    installed.play("tap shift; wait 60")
    installed.unplug("newcomer")
    installed.wait_until(f"! test -e {path}")
    installed.play(f"tap shift; wait 60; tap a; wait 60; {MARKER}")
    recording.wait_for_marker()
    ended = recording.stop()
    assert "is gone" not in ended.stderr
    assert ended.exit_code == 0


def test_recording_to_a_full_disk_fails_and_keeps_what_was_written(guest: VirtualMachine) -> None:
    guest.run("mkdir -p /run/tiny && mount -t tmpfs -o size=16k tmpfs /run/tiny")
    try:
        watch = Watch(guest)
        full = "/run/tiny/full.evemu"
        recording = Recorder(guest, recorder.KEYMODECTL, file=full)
        guest.play("tap shift 10; tap a 10;" * 100)
        ended = recording.process.wait()
        guest.run(f"cp {full} /host/")
    finally:
        guest.run("umount /run/tiny")
    assert ended.exit_code != 0
    assert "No space left on device" in ended.stderr
    # If the file ends within a line, replay reports that after the changes before it.
    kept = changes_of(replay(guest.shared / "full.evemu").stdout)
    live = watch.rest(guest)[:-1]
    assert 10 < len(kept) < len(live)
    assert kept == live[: len(kept)]


@pytest.mark.parametrize(
    "tool", [recorder.KEYMODECTL, recorder.REDACTED, recorder.REDACTED_YAML], ids=lambda t: t.suffix
)
def test_recording_has_the_modifiers_held_at_its_start(
    installed: VirtualMachine, tool: Tool
) -> None:
    installed.play("down ctrl; wait 20")
    recording = Recorder(installed, tool)
    installed.play(f"tap insert; wait 20; up ctrl; wait 20; tap insert; wait 20; {MARKER}")
    recording.wait_for_marker()
    recording.stop()
    assert [change["to"] for change in changes_in(recording.path)] == ["editingText"]


def test_recording_has_the_key_states_after_an_overflow(guest: VirtualMachine) -> None:
    with followed_keyboard(guest, "Fast keyboard") as keyboard:
        tools = (recorder.KEYMODECTL, recorder.REDACTED, recorder.REDACTED_YAML)
        recorders = [Recorder(guest, tool, keyboard.path) for tool in tools]
        watch = Watch(guest)
        keyboard.send("LEFTCTRL+")
        # All recorders have read everything so far, so all lose the same events.
        for recording in recorders:
            recording.wait_for(29, 1)
        assert service.settled_state(guest)["sequence"] == 0
        readers = " ".join(str(recording.process.pid) for recording in recorders)
        guest.run(f"systemctl kill --signal STOP keymoded; kill -STOP {readers}")
        keyboard.overflow()
        guest.run(f"systemctl kill --signal CONT keymoded; kill -CONT {readers}")
        live = watch.changes(1)
        keyboard.send("COMPOSE-", "INSERT+", "INSERT-", "RIGHTMETA+", "RIGHTMETA-")
        live += watch.changes(1)
        for recording in recorders:
            recording.wait_for_marker()
            recording.stop()
    assert [change["to"] for change in live] == ["showingPanel", "editingText"]
    for recording in recorders:
        assert changes_in(recording.path) == live
