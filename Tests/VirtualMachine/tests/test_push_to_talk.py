"""The release of a key ends what its press began, however the release is hidden from the daemon."""

import pytest
from harness import service
from harness.keyboards import VirtualKeyboard, followed_keyboard
from harness.recorder import MARKER, Recorder, record
from harness.recordings import events_in
from harness.service import MOST_TRIES, reload
from harness.talking import (
    RECORDERS,
    SILENT,
    TALKING,
    end_grab,
    ended,
    expect_one_stop,
    replayed,
    settled,
    start_grab,
    talk,
    talking_guest,
    usb_keyboard,
)
from harness.vm import PS2_KEYBOARD, VirtualMachine
from harness.watch import Watch
from support.input_events import F9, PRESS, RELEASE, B, evemu_key_frame
from support.push_to_talk import PUSH_TO_TALK

# How long after its release a hidden release may take to be found.
CHECK_US = 250_000


guest = talking_guest


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
        assert replayed(guest, recording) == live


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


def test_hidden_release_is_found_though_the_daemon_may_no_longer_open_the_keyboard(
    guest: VirtualMachine,
) -> None:
    watch = Watch(guest)
    guest.run(f"chmod 0 {PS2_KEYBOARD}")
    try:
        before = talk(guest)
        grabber = start_grab(guest)
        guest.play("up f9")
        assert watch.states(2) == [TALKING, SILENT]
        expect_one_stop(guest, before)
        end_grab(grabber)
    finally:
        guest.run(f"chmod 660 {PS2_KEYBOARD}")


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
        changes = ended(guest, recording)
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
            assert [change["to"] for change in ended(guest, recording)] == [TALKING, SILENT] * 2


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
