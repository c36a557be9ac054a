"""The release of a key ends what its press began, however the release is hidden from the daemon."""

import contextlib
import random
from collections.abc import Callable, Iterator

import pytest
from harness import recorder, service
from harness.guest_process import GuestProcess
from harness.keyboards import VirtualKeyboard, followed_keyboard
from harness.recorder import MARKER, Recorder, record
from harness.recordings import changes_in, codes_in, events_in
from harness.service import (
    MOST_TRIES,
    program,
    reload,
    wait_until_followed,
    wait_until_following,
)
from harness.talking import (
    PUSH_TO_TALK,
    SILENT,
    TABLE,
    TALKING,
    expect_one_stop,
    settled,
    talk,
)
from harness.vm import PS2_KEYBOARD, USB_KEYBOARD_NAME, VirtualMachine
from harness.watch import Watch
from support.input_events import BTN_LEFT, F9, PRESS, RELEASE, B, evemu_key_frame

OPTIONS = "--config /host/keymoded.yaml"
RECORDERS = [
    tool.with_options(OPTIONS)
    for tool in (
        recorder.KEYMODECTL,
        recorder.REDACTED,
        recorder.KEYMODECTL_YAML,
        recorder.REDACTED_YAML,
    )
]

# How long after its release a hidden release may take to be found.
CHECK_US = 250_000


@pytest.fixture
def guest(installed: VirtualMachine) -> Iterator[VirtualMachine]:
    """The guest, with a service that was just started for push-to-talk."""
    with service.cleared_away(installed):
        service.configure(installed, PUSH_TO_TALK)
        service.restart(installed)
        yield installed


@contextlib.contextmanager
def usb_keyboard(guest: VirtualMachine) -> Iterator[Callable[[], None]]:
    """A USB keyboard, on which all keys are typed; yields what unplugs it before the end."""
    path = guest.plug_usb_keyboard("talk")
    with contextlib.ExitStack() as plugged:
        plugged.callback(guest.wait_until, f"! test -e {path}")
        plugged.callback(guest.unplug, "talk")
        wait_until_followed(guest, USB_KEYBOARD_NAME)
        yield plugged.close


def start_grab(guest: VirtualMachine) -> GuestProcess:
    """Grabs the PS/2 keyboard until the process ends."""
    grabber = guest.start(f"exec {program(guest, 'grab')} {PS2_KEYBOARD}")
    assert grabber.read_lines(1) == ["grabbed"]
    return grabber


def end_grab(grabber: GuestProcess) -> None:
    grabber.kill()
    grabber.wait()


def test_key_talks_while_it_is_held(guest: VirtualMachine) -> None:
    watch = Watch(guest)
    recorders = record(guest, "hold f9 900; wait 200; tap f9", RECORDERS)
    live = watch.rest(guest)[:-1]
    assert [(change["to"], change["event"]) for change in live] == [
        (TALKING, "startTalking"),
        (SILENT, "stopTalking"),
    ] * 2
    # The recordings have the kernel's times of the presses and the releases.
    for recording in recorders:
        assert changes_in(recording.path, "--config", guest.shared / "keymoded.yaml") == live


def test_key_talks_on_a_usb_keyboard(guest: VirtualMachine) -> None:
    watch = Watch(guest)
    with usb_keyboard(guest):
        # The kernel repeats the key.
        guest.play("down f9; wait 900; up f9; wait 60")
        assert watch.states(2) == [TALKING, SILENT]
        assert settled(guest)["sequence"] == 2


def test_unplugging_the_keyboard_ends_talking_within_a_second(guest: VirtualMachine) -> None:
    watch = Watch(guest)
    # A busy host may take long to unplug it.
    assert any(seconds_to_stop_when_unplugged(guest, watch) < 1 for _ in range(MOST_TRIES))


def seconds_to_stop_when_unplugged(guest: VirtualMachine, watch: Watch) -> float:
    with usb_keyboard(guest) as unplug:
        before = talk(guest)
        assert watch.states(1) == [TALKING]
        uptime = float(guest.run("cut -d' ' -f1 /proc/uptime").stdout)
        unplug()
        (stopped,) = watch.changes(1)
    assert (stopped["to"], stopped["event"]) == (SILENT, "stopTalking")
    guest.play("up f9; wait 60")
    expect_one_stop(guest, before)
    return float(stopped["time"] / 1e6 - uptime)


def test_release_during_a_grab_is_found_by_the_next_check(guest: VirtualMachine) -> None:
    watch = Watch(guest)
    delays = []
    for _ in range(MOST_TRIES):
        before = talk(guest)
        assert watch.states(1) == [TALKING]
        grabber = start_grab(guest)
        assert settled(guest)["keyboard"] == TALKING
        guest.play("up f9")
        released, code, value = map(int, grabber.read_lines(1)[0].split())
        assert (code, value) == (F9, RELEASE)
        (stopped,) = watch.changes(1)
        expect_one_stop(guest, before)
        end_grab(grabber)
        delays.append(stopped["time"] - released)
        assert delays[-1] > 0
        # A busy host may wake the daemon late.
        if delays[-1] <= CHECK_US + 50_000:
            break
    else:
        raise AssertionError(f"found too late: {delays}")
    # The key still talks, on the same device.
    guest.play("tap f9 200")
    assert watch.states(2) == [TALKING, SILENT]


def test_key_that_is_held_through_a_grab_talks_until_its_release(guest: VirtualMachine) -> None:
    before = talk(guest)
    grabber = start_grab(guest)
    # Several checks; the kernel says each time that the key is down.
    guest.play("wait 1500")
    assert settled(guest)["sequence"] == before["sequence"]
    end_grab(grabber)
    guest.play("wait 500; up f9; wait 60")
    expect_one_stop(guest, before)


def test_press_during_a_grab_means_nothing(guest: VirtualMachine) -> None:
    grabber = start_grab(guest)
    guest.play("down f9; wait 60")
    assert grabber.read_lines(1)[0].endswith(f"{F9} {PRESS}")
    end_grab(grabber)
    guest.play("up f9; wait 60")
    assert service.settled_state(guest)["sequence"] == 0


def test_hidden_release_is_in_recordings(guest: VirtualMachine) -> None:
    watch = Watch(guest)
    recorders = [Recorder(guest, tool) for tool in RECORDERS]
    talk(guest)
    grabber = start_grab(guest)
    guest.play("up f9")
    assert watch.states(2) == [TALKING, SILENT]
    for recording in recorders:
        recording.wait_for(F9, RELEASE)
    end_grab(grabber)
    guest.play(f"tap f9 200; wait 60; {MARKER}")
    assert watch.states(2) == [TALKING, SILENT]
    for recording in recorders:
        recording.wait_for_marker()
        assert recording.stop().exit_code == 0
        changes = changes_in(recording.path, "--config", guest.shared / "keymoded.yaml")
        # Each program asks the kernel at its own times.
        assert [change["to"] for change in changes] == [TALKING, SILENT] * 2
        keys = [value for _, code, value in events_in(recording.recording()) if code == F9]
        assert keys == [PRESS, RELEASE] * 2


def storm(guest: VirtualMachine, keyboard: VirtualKeyboard, *events: tuple[int, int]) -> None:
    """Sends these events, and then more than the kernel buffers for a stopped program."""
    letters = [(B, value) for _ in range(200) for value in (PRESS, RELEASE)]
    (guest.shared / "storm").write_text(
        "".join(evemu_key_frame(0, code, value) for code, value in (*events, *letters))
    )
    keyboard.play("/host/storm")


@pytest.mark.parametrize("debounce", ["off", "20ms"])
def test_release_that_the_kernel_dropped_ends_talking(
    guest: VirtualMachine, debounce: str
) -> None:
    reload(guest, f"debounce: {debounce}\n{PUSH_TO_TALK}")
    with followed_keyboard(guest, "Stormy keyboard") as keyboard:
        recorders = [Recorder(guest, tool, keyboard.path) for tool in RECORDERS]
        watch = Watch(guest)
        keyboard.send("F9+")
        assert watch.states(1) == [TALKING]
        before = settled(guest)
        for recording in recorders:
            recording.wait_for(F9, PRESS)
        readers = " ".join(str(recording.process.pid) for recording in recorders)
        guest.run(f"systemctl kill --signal STOP keymoded; kill -STOP {readers}")
        storm(guest, keyboard, (F9, RELEASE))
        guest.run(f"systemctl kill --signal CONT keymoded; kill -CONT {readers}")
        (stopped,) = watch.changes(1)
        assert stopped["event"] == "stopTalking"
        expect_one_stop(guest, before)
        keyboard.send("F9+", "F9-", "RIGHTMETA+", "RIGHTMETA-")
        assert watch.states(2) == [TALKING, SILENT]
        for recording in recorders:
            recording.wait_for_marker()
            assert recording.stop().exit_code == 0
            changes = changes_in(recording.path, "--config", guest.shared / "keymoded.yaml")
            assert [change["to"] for change in changes] == [TALKING, SILENT] * 2


def test_press_and_release_within_a_loss_talk_only_as_long_as_the_key_is_seen(
    guest: VirtualMachine,
) -> None:
    with followed_keyboard(guest, "Stormy keyboard") as keyboard:
        watch = Watch(guest)
        # Released and pressed again, unseen: to the daemon it was down throughout.
        keyboard.send("F9+")
        assert watch.states(1) == [TALKING]
        before = settled(guest)
        with service.stopped(guest):
            storm(guest, keyboard, (F9, RELEASE), (F9, PRESS))
        assert settled(guest)["sequence"] == before["sequence"]
        keyboard.send("F9-")
        expect_one_stop(guest, before)
        # Pressed and released, unseen.
        with service.stopped(guest):
            storm(guest, keyboard, (F9, PRESS), (F9, RELEASE))
        assert settled(guest)["sequence"] == before["sequence"] + 1


def test_reload_that_keeps_the_binding_keeps_talking(guest: VirtualMachine) -> None:
    before = talk(guest)
    reload(guest, f"shift: {{ threshold: 400ms }}\n{PUSH_TO_TALK}")
    assert settled(guest)["sequence"] == before["sequence"]
    guest.play("wait 500; up f9; wait 60")
    expect_one_stop(guest, before)


@pytest.mark.parametrize(
    "replacement",
    [
        TABLE,
        f"{TABLE}  bindings: {{ startTalking: [F9], stopTalking: [F10 release] }}\n",
        "devices: {}\n",
    ],
    ids=["nothing bound", "another key", "no table"],
)
def test_reload_that_unbinds_the_release_ends_talking(
    guest: VirtualMachine, replacement: str
) -> None:
    before = talk(guest)
    watch = Watch(guest)
    reload(guest, replacement)
    (stopped,) = watch.changes(1)
    assert (stopped["to"], stopped["event"]) == (SILENT, "stopTalking")
    guest.play("up f9; wait 60")
    expect_one_stop(guest, before)


@pytest.fixture
def gate(guest: VirtualMachine) -> Iterator[None]:
    """Lets a test hold the next daemon's start back, with the file /run/gate."""
    (guest.shared / "gate").write_text("while test -e /run/gate; do sleep 0.05; done\n")
    with service.settings(guest, "ExecStartPre=+/bin/sh /host/gate"):
        yield
        guest.run("rm -f /run/gate")


def kill(guest: VirtualMachine) -> None:
    """Kills the daemon, and waits until the next one follows the keyboard."""
    pid = service.main_pid(guest)
    guest.run("systemctl kill --signal KILL keymoded")
    shown = "systemctl show --value --property MainPID keymoded"
    guest.wait_until(f'pid=$({shown}); test "$pid" != 0 -a "$pid" != {pid}')
    wait_until_following(guest, 1)


def kill_and_close_gate(guest: VirtualMachine) -> None:
    """Kills the daemon, and holds the next one back."""
    guest.run("touch /run/gate; systemctl kill --signal KILL keymoded")
    guest.wait_until("pgrep -f '/bin/sh /host/gate'")


def test_release_before_the_next_daemon_ends_talking(guest: VirtualMachine, gate: None) -> None:
    before = talk(guest)
    kill_and_close_gate(guest)
    guest.play("up f9; wait 60")
    guest.run("rm /run/gate")
    expect_one_stop(guest, before)
    # Nothing is left for the daemon after that.
    kill(guest)
    assert settled(guest)["sequence"] == before["sequence"] + 1


def test_release_after_the_next_daemon_has_begun_ends_talking(guest: VirtualMachine) -> None:
    before = talk(guest)
    for _ in range(3):
        kill(guest)
        assert settled(guest)["sequence"] == before["sequence"], "the key is still down"
    # The kernel repeats it, or not: nothing starts anew.
    guest.play("wait 300; up f9; wait 60")
    expect_one_stop(guest, before)
    guest.play("tap f9 100; wait 60")
    assert settled(guest)["sequence"] == before["sequence"] + 3


def test_keyboard_unplugged_before_the_next_daemon_ends_talking(
    guest: VirtualMachine, gate: None
) -> None:
    with usb_keyboard(guest) as unplug:
        before = talk(guest)
        kill_and_close_gate(guest)
        unplug()
    guest.run("rm /run/gate")
    expect_one_stop(guest, before)


def test_next_daemon_finds_a_release_during_a_grab(guest: VirtualMachine) -> None:
    before = talk(guest)
    grabber = start_grab(guest)
    kill(guest)
    assert settled(guest)["sequence"] == before["sequence"]
    guest.play("up f9")
    grabber.read_lines(1)
    expect_one_stop(guest, before)
    end_grab(grabber)


def test_daemon_wakes_four_times_a_second_while_a_release_is_awaited(
    guest: VirtualMachine,
) -> None:
    talk(guest)
    # udev may still have messages about earlier devices.
    guest.run("udevadm settle")
    begin, before = service.uptime_and_waits(guest)
    guest.run("sleep 10")
    end, after = service.uptime_and_waits(guest)
    rate = (after - before) / (end - begin)
    print(f"{after - before} waits in {end - begin:.1f} s")
    assert 2 < rate <= 4.5
    guest.play("up f9; wait 60")
    assert settled(guest)["keyboard"] == SILENT
    service.expect_asleep(guest, lambda: guest.run("sleep 5"))


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
        assert changes_in(recording.path, "--config", guest.shared / "keymoded.yaml") == live


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
    for recording in recorders:
        recording.wait_for_marker()
        assert recording.stop().exit_code == 0
    live = watch.rest(guest)[:-1]
    assert len(live) > 20
    for recording in recorders:
        assert changes_in(recording.path, "--config", guest.shared / "keymoded.yaml") == live
    assert BTN_LEFT in codes_in(recorders[0].recording())
