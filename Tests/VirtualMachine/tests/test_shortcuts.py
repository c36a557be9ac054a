"""Shift as the modifier of a shortcut changes nothing, on real keyboards and with a real mouse."""

from collections.abc import Iterator

import pytest
from harness import service
from harness.service import wait_until_followed
from harness.vm import USB_KEYBOARD_NAME, VirtualMachine
from harness.watch import Change, Watch

# With this threshold, two presses of Shift are a double press however late a slow host types them.
ALWAYS = "shift: { threshold: 60s, trigger: always }\n"

QUICK = "wait 60"

SHIFT_TAB = f"down shift; {QUICK}; tap tab; {QUICK}; up shift; {QUICK}"
SHIFT_LEFT = f"down shift; {QUICK}; tap left; {QUICK}; up shift; {QUICK}"
SHIFT_CLICK = f"down shift; {QUICK}; tap btn_left; {QUICK}; up shift; {QUICK}"

TAKEN_BACK = ["on", "off"]

# What is typed, and the states of the Shift machine that follow from off.
SHORTCUTS = {
    "two quick Shift+Tab": (f"{SHIFT_TAB}; {SHIFT_TAB}", TAKEN_BACK * 2),
    "two quick Shift+Left": (f"{SHIFT_LEFT}; {SHIFT_LEFT}", TAKEN_BACK * 2),
    "selecting with several arrows": (
        f"down shift; {QUICK}; hold left 500; tap up; tap end; {QUICK}; up shift",
        TAKEN_BACK,
    ),
    "Shift pressed while an arrow is held": (
        f"down left; {QUICK}; tap shift; {QUICK}; up left",
        [],
    ),
    "Ctrl+Shift+V": (
        f"down ctrl; {QUICK}; down shift; {QUICK}; tap v; {QUICK}; up shift; {QUICK}; up ctrl",
        [],
    ),
    "Ctrl+Shift+V, Shift first": (
        f"down shift; {QUICK}; down ctrl; {QUICK}; tap v; {QUICK}; up ctrl; {QUICK}; up shift",
        TAKEN_BACK,
    ),
    "Alt+Shift": (f"down alt; {QUICK}; tap shift; {QUICK}; up alt", []),
    "Shift+Alt": (f"down shift; {QUICK}; tap alt; {QUICK}; up shift", TAKEN_BACK),
    "Super+Shift+S": (
        f"down meta_l; {QUICK}; down shift; {QUICK}; tap s; {QUICK}; up shift; {QUICK}; up meta_l",
        [],
    ),
}

CLICKS = {
    "two Shift+clicks": (f"{SHIFT_CLICK}; {SHIFT_CLICK}", TAKEN_BACK * 2),
    "Shift pressed while a button is held": (
        f"down btn_left; {QUICK}; tap shift; {QUICK}; up btn_left",
        [],
    ),
}


@pytest.fixture
def patient(installed: VirtualMachine) -> Iterator[VirtualMachine]:
    """The guest, with a service whose threshold no slow host exceeds."""
    with service.configured(installed, service.PATIENT):
        yield installed


@pytest.fixture(params=["PS/2", "USB"])
def keyboard(request: pytest.FixtureRequest, patient: VirtualMachine) -> Iterator[VirtualMachine]:
    """The guest, whose keys are typed on the PS/2 or on a USB keyboard."""
    if request.param == "PS/2":
        yield patient
        return
    path = patient.plug_usb_keyboard("shortcuts")
    try:
        wait_until_followed(patient, USB_KEYBOARD_NAME)
        yield patient
    finally:
        patient.unplug("shortcuts")
        patient.wait_until(f"! test -e {path}")


def shift_changes(guest: VirtualMachine, script: str) -> list[Change]:
    """The changes that a script makes, which must all be of the Shift machine."""
    watch = Watch(guest)
    guest.play(f"{script}; {QUICK}")
    changes = watch.rest(guest)[:-1]
    assert {change["machine"] for change in changes} <= {"shift"}
    return changes


def assert_changes_nothing(guest: VirtualMachine, script: str, states: list[str]) -> None:
    """Checks that a shortcut leads to these states, and that Shift is as before."""
    before = service.state(guest)
    changes = shift_changes(guest, script)
    assert [change["to"] for change in changes] == states
    assert {change["event"] for change in changes} <= {"shiftPressed", "shiftUsed"}
    after = service.state(guest)
    assert after["shift"] == before["shift"]


@pytest.mark.parametrize("name", SHORTCUTS)
def test_shortcut_ends_in_off(keyboard: VirtualMachine, name: str) -> None:
    script, states = SHORTCUTS[name]
    assert_changes_nothing(keyboard, script, states)
    assert service.state(keyboard)["shift"] == "off"


@pytest.mark.parametrize("name", CLICKS)
def test_click_ends_in_off(keyboard: VirtualMachine, mouse: str, name: str) -> None:
    script, states = CLICKS[name]
    assert_changes_nothing(keyboard, script, states)
    assert service.state(keyboard)["shift"] == "off"


def test_shift_for_itself_still_works(keyboard: VirtualMachine, mouse: str) -> None:
    changes = shift_changes(
        keyboard,
        f"tap shift; {QUICK}; tap shift; {QUICK}; tap a; {QUICK}; tap shift; {QUICK};"
        f"tap shift; {QUICK}; tap a; {QUICK}; down shift; {QUICK}; tap a; {QUICK}; up shift",
    )
    assert [(change["to"], change["event"]) for change in changes] == [
        *(("on", "shiftPressed"), ("capsLock", "shiftPressed"), ("off", "shiftPressed")),
        *(("on", "shiftPressed"), ("off", "characterTyped")),
        *(("on", "shiftPressed"), ("off", "characterTyped")),
    ]


def test_shortcut_keeps_capslock(keyboard: VirtualMachine) -> None:
    changes = shift_changes(keyboard, f"tap shift; {QUICK}; tap shift")
    assert [change["to"] for change in changes] == ["on", "capsLock"]
    assert_changes_nothing(keyboard, SHIFT_TAB, ["off", "capsLock"])


def test_shortcut_keeps_on_with_the_time_of_its_press(keyboard: VirtualMachine) -> None:
    (pressed,) = shift_changes(keyboard, "tap shift")
    assert_changes_nothing(keyboard, SHIFT_LEFT, ["capsLock", "on"])
    assert_changes_nothing(keyboard, f"down ctrl; {QUICK}; tap shift; {QUICK}; up ctrl", [])
    # The next press of Shift still is the second of a double press.
    assert service.state(keyboard)["shift"] == "on"
    assert [change["to"] for change in shift_changes(keyboard, "tap shift")] == ["capsLock"]
    assert pressed["to"] == "on"


def test_press_of_every_shift_counts_with_the_trigger_always(
    keyboard: VirtualMachine, mouse: str
) -> None:
    service.reload(keyboard, ALWAYS)
    changes = shift_changes(keyboard, f"{SHIFT_TAB}; {SHIFT_TAB}")
    assert [change["to"] for change in changes] == ["on", "capsLock"]
    assert [change["to"] for change in shift_changes(keyboard, SHIFT_CLICK)] == ["off"]
    changes = shift_changes(keyboard, f"down alt; {QUICK}; tap shift; {QUICK}; up alt")
    assert [change["to"] for change in changes] == ["on"]
