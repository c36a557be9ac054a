"""Mice and touchpads, of which keymoded follows the buttons and nothing else."""

from harness import recorder, service
from harness.keyboards import VirtualKeyboard, followed
from harness.recorder import MARKER, Recorder
from harness.recordings import assert_same_but_for_time_base, changes_in, codes_in, events_in
from harness.service import reload, wait_until_followed, wait_until_following
from harness.vm import PS2_KEYBOARD, USB_MOUSE_NAME, VirtualMachine
from harness.watch import Watch
from support.input_events import (
    BTN_LEFT,
    BTN_RIGHT,
    EV_KEY,
    EV_SYN,
    LEFTSHIFT,
    evemu_key_frame,
)


def node_of(guest: VirtualMachine, path: str) -> str:
    return guest.run(f"readlink -f {path}").stdout.strip()


def test_mouse_is_listed_as_a_pointer_and_is_not_counted_as_a_keyboard(
    guest: VirtualMachine, mouse: str
) -> None:
    (listed,) = [device for device in service.devices(guest) if device["name"] == USB_MOUSE_NAME]
    assert listed == {
        "name": USB_MOUSE_NAME,
        "node": node_of(guest, mouse),
        "vendor": "0627",
        "product": "0001",
        "keyboard": False,
        "pointer": True,
    }
    assert f"pointer   {USB_MOUSE_NAME}\n" in guest.run("keymodectl devices").stdout
    assert guest.run(service.STATUS).stdout == f"{service.FOLLOWED}: 1\n"


def test_shift_pressed_while_a_button_is_held_is_part_of_a_shortcut(
    guest: VirtualMachine, mouse: str
) -> None:
    watch = Watch(guest)
    guest.play("down btn_left; wait 80; tap shift; wait 80; up btn_left; wait 80")
    assert service.settled_state(guest)["sequence"] == 0
    guest.move(20, -10)
    guest.play("wait 80; tap shift")
    assert watch.states(1) == ["on"]


def test_unplugging_a_mouse_releases_its_buttons(guest: VirtualMachine) -> None:
    path = guest.plug_usb_mouse("held")
    wait_until_followed(guest, USB_MOUSE_NAME)
    guest.wait_for_usb_mouse()
    watch = Watch(guest)
    guest.play("down btn_left; wait 80")
    guest.unplug("held")
    guest.wait_until(f"! test -e {path}")
    guest.wait_until(f"! keymodectl devices | grep -q '{USB_MOUSE_NAME}'")
    guest.play("tap shift")
    assert watch.states(1) == ["on"]


def test_reload_releases_the_pointers_and_follows_them_again(
    guest: VirtualMachine, mouse: str
) -> None:
    watch = Watch(guest)
    guest.play("down btn_left; wait 80")
    reload(guest, "devices: { pointers: no }\n")
    assert service.pointers(guest) == []
    assert f"not following '{USB_MOUSE_NAME}' any more" in service.log(guest)
    wait_until_following(guest, 1)
    # Its button is no longer held to keymoded.
    guest.play("tap shift; wait 80; tap a; wait 80")
    assert watch.states(2) == ["on", "off"]
    # The button that is held at the opening counts as held.
    reload(guest, "devices: {}\n")
    assert USB_MOUSE_NAME in service.pointers(guest)
    guest.play("tap shift; wait 80; up btn_left; wait 80; tap shift")
    (change,) = watch.changes(1)
    assert (change["sequence"], change["to"]) == (3, "on")


def test_only_pointers_are_no_keyboard(guest: VirtualMachine, mouse: str) -> None:
    service.configure(guest, "devices: { ignore: ['*eyboard*'] }\n")
    guest.run(f"systemctl stop {service.UNITS}; systemctl start {service.UNITS}")
    wait_until_following(guest, 0)
    assert USB_MOUSE_NAME in service.pointers(guest)
    assert "no keyboard can be read yet; waiting for one" in service.log(guest)


CLICKS = f"""
    down shift; wait 80; tap btn_left; wait 80; up shift; wait 80
    tap shift; wait 80; tap btn_right; wait 80; tap a; wait 80
    down btn_left; wait 80; tap shift; wait 80; up btn_left; wait 80
    tap insert; wait 80; {MARKER}
"""


def test_recordings_with_a_mouse_replay_to_the_changes_of_the_daemon(
    guest: VirtualMachine, mouse: str
) -> None:
    watch = Watch(guest)
    all_devices = [
        Recorder(guest, tool, "") for tool in (recorder.KEYMODECTL_YAML, recorder.REDACTED_YAML)
    ]
    named = Recorder(guest, recorder.KEYMODECTL_YAML, PS2_KEYBOARD, mouse)
    foreign = Recorder(guest, recorder.LIBINPUT, PS2_KEYBOARD, mouse)
    guest.move(5, 5)
    guest.play(CLICKS)
    guest.move(-5, 5)
    for recording in (*all_devices, named, foreign):
        recording.wait_for_marker()
        assert recording.stop().exit_code == 0
    live = watch.rest(guest)[:-1]
    assert "editingText" in [change["to"] for change in live]
    for recording in (*all_devices, named):
        assert changes_in(recording.path) == live
        kinds = {kind for kind, _, _ in events_in(recording.recording())}
        assert kinds == {EV_SYN, EV_KEY}, "no motion"
    for recording in (all_devices[0], named):
        assert {BTN_LEFT, BTN_RIGHT, LEFTSHIFT} <= codes_in(recording.recording())
    assert_same_but_for_time_base(live, changes_in(foreign.path))


def test_evemu_recording_leaves_the_pointers_out_and_says_so(
    guest: VirtualMachine, mouse: str
) -> None:
    recordings = [Recorder(guest, tool, "") for tool in (recorder.KEYMODECTL, recorder.REDACTED)]
    guest.play(f"tap btn_left; wait 80; tap shift; wait 80; {MARKER}")
    for recording in recordings:
        recording.wait_for_marker()
        ended = recording.stop()
        assert ended.exit_code == 0
        without, begins = ended.stderr.splitlines()[:2]
        assert without == (
            "keymodectl: without the buttons of pointers, because evemu's format holds one device; "
            "--format libinput has them"
        )
        assert begins.startswith("keymodectl: recording 1 keyboard to ")
        assert BTN_LEFT not in codes_in(recording.recording())
        assert [change["to"] for change in changes_in(recording.path)] == ["on"]


def test_button_is_up_after_an_overflow_that_hid_its_release(guest: VirtualMachine) -> None:
    # A mouse with two buttons.
    (guest.shared / "mouse").write_text(
        "# EVEMU 1.3\nN: x\nI: 0003 1209 0001 0110\nP: 00 00 00 00 00 00 00 00\n"
        "B: 00 07 00 00 00 00 00 00 00\n"
        + "B: 01 00 00 00 00 00 00 00 00\n" * 4
        + "B: 01 00 00 03 00 00 00 00 00\n"
        + "B: 01 00 00 00 00 00 00 00 00\n" * 7
        + "B: 02 03 00 00 00 00 00 00 00\n"
    )
    with followed(guest, VirtualKeyboard(guest, "Stormy mouse", like="/host/mouse")) as stormy:
        assert "Stormy mouse" in service.pointers(guest)
        watch = Watch(guest)
        left = f"evemu-event {stormy.path} --type EV_KEY --code BTN_LEFT --sync --value"
        guest.run(f"{left} 1")
        guest.play("tap shift")
        assert service.settled_state(guest)["sequence"] == 0
        events = [(BTN_LEFT, 0), *((BTN_RIGHT, n % 2) for n in range(1, 401))]
        (guest.shared / "storm").write_text(
            "".join(evemu_key_frame(0, code, value) for code, value in events)
        )
        with service.stopped(guest):
            stormy.play("/host/storm")
        guest.play("tap shift")
        assert watch.states(1) == ["on"]
