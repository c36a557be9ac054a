"""Keyboards whose keys come on several nodes, and keys on devices that are no keyboards."""

import json
from typing import Any

import pytest
from harness import recorder, service
from harness.recorder import Recorder
from harness.recordings import changes_in
from harness.typing import Person
from harness.vm import VirtualMachine
from harness.watch import Watch
from support.checkout import CHECKOUT
from support.input_events import LEFTCTRL

RECORDINGS = CHECKOUT / "Tests/RecordingsTests/Recordings/nodes"
VOLUME_UP, BRIGHTNESS_UP, PLAY, POWER = 115, 225, 207, 116
WINDOW_US = 20_000
TOOLS = (recorder.KEYMODECTL, recorder.REDACTED)


def events(changes: list[dict[str, Any]]) -> list[tuple[str, str, str]]:
    return [(change["machine"], change["event"], change["to"]) for change in changes]


def play(guest: VirtualMachine, name: str, *ports: str) -> dict[str, Any]:
    """Plays a recording on devices of uinput; returns the daemon's changes and the kernel's stamps."""
    copy = guest.shared / "played.yaml"
    copy.write_bytes((RECORDINGS / name).read_bytes())
    played: dict[str, Any] = json.loads(
        guest.run(f"exec {service.program(guest, 'play')} /host/{copy.name} {' '.join(ports)}").stdout
    )
    return played


def test_volume_keys_on_their_own_node_take_shift_back_live_as_in_the_replay(
    guest: VirtualMachine,
) -> None:
    played = play(guest, "volume.libinput.yaml")
    replayed = changes_in(RECORDINGS / "volume.libinput.yaml")
    assert events(played["changes"]) == events(replayed)
    assert [event for _, event, _ in events(replayed)] == ["shiftPressed", "shiftUsed"] * 2


@pytest.mark.parametrize(
    ("ports", "is_one"),
    [
        (("usb-1/input0", "usb-1/input1"), True),
        (("usb-1/input0", "usb-2/input0"), False),
        # Two keyboards behind one receiver, and devices of programs.
        (("usb-1/input2:1", "usb-1/input2:2"), False),
        (("py-evdev-uinput", "py-evdev-uinput"), False),
        ((), False),
    ],
)
def test_shift_on_two_nodes_is_one_press_only_if_they_are_of_one_keyboard(
    guest: VirtualMachine, ports: tuple[str, ...], is_one: bool
) -> None:
    for _ in range(service.MOST_TRIES):
        played = play(guest, "shift.libinput.yaml", *ports)
        first, second = (stamps[0][0] for stamps in played["stamps"])
        # A slow host may send the second press late.
        if second - first < WINDOW_US:
            break
        service.restart(guest)
    else:
        raise AssertionError("the presses were never at once")
    expected = ["on", "off"] if is_one else ["on", "capsLock"]
    assert [change["to"] for change in played["changes"]] == expected
    if is_one:
        assert played["changes"][0]["time"] == first
    else:
        service.restart(guest)


def test_recordings_of_a_keyboard_with_two_nodes_replay_to_the_changes_of_the_daemon(
    guest: VirtualMachine,
) -> None:
    watch = Watch(guest)
    ports = ["usb-9/input0", "usb-9/input1"]
    with (
        Person(guest, "First node", port=ports[0]) as first,
        Person(guest, "Second node", port=ports[1]) as second,
    ):
        for node in (first, second):
            service.wait_until_followed(guest, node.name)
        nodes = (first.node, second.node)
        recorders = [Recorder(guest, tool, *nodes) for tool in TOOLS]
        for node in (first, second) * 2:
            node.play("tap shift 30; wait 40; tap a 30")
        first.play("tap meta_r")
        for recording in recorders:
            recording.wait_for_marker()
            assert recording.stop().exit_code == 0
    live = watch.rest(guest)[:-1]
    assert len(live) >= 8
    for recording in recorders:
        text = recording.recording().decode()
        assert text.count("keymoded: {parent: [") == 2
        shown = recording.tool is recorder.KEYMODECTL
        assert text.count("keymoded: {parent: [0]}") == (2 if shown else 1)
        assert events(changes_in(recording.path)) == events(live)


@pytest.mark.parametrize("code", [VOLUME_UP, BRIGHTNESS_UP, PLAY, LEFTCTRL])
def test_any_key_of_a_device_that_is_no_keyboard_counts(guest: VirtualMachine, code: int) -> None:
    watch = Watch(guest)
    with (
        Person(guest, "Small pad", keys=[code, POWER]) as pad,
        Person(guest, "Whole keyboard") as keyboard,
    ):
        for device in (pad, keyboard):
            service.wait_until_followed(guest, device.name)
        (listed,) = [found for found in service.devices(guest) if found["name"] == "Small pad"]
        assert (listed["keyboard"], listed["pointer"]) == (False, False)
        assert "keys      Small pad\n" in guest.run("keymodectl devices").stdout
        keyboard.play("down shift; wait 30")
        assert watch.states(1) == ["on"]
        pad.tap_code(code)
        assert [change["event"] for change in watch.changes(1)] == ["shiftUsed"]
        keyboard.play("up shift")
        # The settings for devices hold for it too.
        service.reload(guest, "devices: { ignore: ['Small *'] }\n")
        assert "Small pad" not in {device["name"] for device in service.devices(guest)}


def test_statistics_and_keys_tell_a_modifier_that_is_held_for_a_minute_but_not_which(
    guest: VirtualMachine,
) -> None:
    with Person(guest, "Stuck keyboard") as keyboard:
        service.wait_until_followed(guest, keyboard.name)
        keyboard.play("down ctrl; down a; wait 20")
        assert service.answer(guest, "GetStatistics")["held"] == []
        guest.run("sleep 61")
        (hold,) = service.answer(guest, "GetStatistics")["held"]
        assert (hold["device"], hold["kind"]) == ("Stuck keyboard", "modifier")
        stats = guest.run("keymodectl stats").stdout
        assert "held           a modifier by 'Stuck keyboard', for 6" in stats
        viewer = guest.start("exec keymodectl keys 2>&1")
        viewer.wait_for("'Stuck keyboard' has held a modifier for more than a minute; it may be stuck")
        viewer.wait_for("Ctrl.C ends it")
        viewer.interrupt()
        assert viewer.wait().exit_code == 0
        assert "Left_Ctrl" not in stats + viewer.stdout
        keyboard.play("up a; up ctrl; wait 20")
        assert service.answer(guest, "GetStatistics")["held"] == []
