"""Shift as the modifier of a shortcut changes nothing, on real keyboards and with a real mouse."""

from collections.abc import Iterator

import pytest
from harness import service
from harness.service import wait_until_followed
from harness.vm import USB_KEYBOARD_NAME, USB_MOUSE_NAME, VirtualMachine
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


class Typist:
    """Types on a keyboard of the guest, and tells what it changes."""

    def __init__(self, vm: VirtualMachine) -> None:
        self._vm = vm
        self._watch = Watch(vm)

    def changes(self, script: str) -> list[Change]:
        """The changes that a script makes, which must all be of the Shift machine."""
        self._vm.play(f"{script}; {QUICK}")
        changes = self._watch.rest(self._vm)[:-1]
        assert {change["machine"] for change in changes} <= {"shift"}
        return changes

    def states(self, script: str) -> list[str]:
        """The states of the Shift machine that a script leads to, one after the other."""
        return [change["to"] for change in self.changes(script)]


@pytest.fixture(scope="module")
def patient(installed: VirtualMachine) -> Iterator[VirtualMachine]:
    """The guest, with a service whose threshold no slow host exceeds."""
    with service.configured(installed, service.PATIENT):
        yield installed


@pytest.fixture(scope="module", params=["PS/2", "USB"])
def keyboard(request: pytest.FixtureRequest, patient: VirtualMachine) -> Iterator[VirtualMachine]:
    """The guest, whose keys are typed on the PS/2 or on a USB keyboard, with a USB mouse."""
    plugged = [patient.plug_usb_mouse("mouse")]
    wait_until_followed(patient, USB_MOUSE_NAME)
    patient.wait_for_usb_mouse()
    if request.param == "USB":
        plugged.append(patient.plug_usb_keyboard("shortcuts"))
        wait_until_followed(patient, USB_KEYBOARD_NAME)
    yield patient
    for name in ("mouse", "shortcuts")[: len(plugged)]:
        patient.unplug(name)
    patient.wait_until("! test -e " + " -a ! -e ".join(plugged))


@pytest.fixture
def typist(keyboard: VirtualMachine) -> Typist:
    """Types on that keyboard. Each test ends with Shift off, as it began."""
    return Typist(keyboard)


def test_shortcuts_and_clicks_end_in_off(typist: Typist) -> None:
    for name, (script, states) in {**SHORTCUTS, **CLICKS}.items():
        changes = typist.changes(script)
        assert [change["to"] for change in changes] == states, name
        assert {change["event"] for change in changes} <= {"shiftPressed", "shiftUsed"}, name


def test_shift_for_itself_still_works(typist: Typist) -> None:
    changes = typist.changes(
        f"tap shift; {QUICK}; tap shift; {QUICK}; tap a; {QUICK}; tap shift; {QUICK};"
        f"tap shift; {QUICK}; tap a; {QUICK}; down shift; {QUICK}; tap a; {QUICK}; up shift",
    )
    assert [(change["to"], change["event"]) for change in changes] == [
        *(("on", "shiftPressed"), ("capsLock", "shiftPressed"), ("off", "shiftPressed")),
        *(("on", "shiftPressed"), ("off", "characterTyped")),
        *(("on", "shiftPressed"), ("off", "characterTyped")),
    ]


def test_shortcut_keeps_capslock(typist: Typist) -> None:
    assert typist.states(f"tap shift; {QUICK}; tap shift") == ["on", "capsLock"]
    assert typist.states(SHIFT_TAB) == ["off", "capsLock"]
    assert typist.states("tap shift") == ["off"]


def test_shortcut_keeps_on_with_the_time_of_its_press(typist: Typist) -> None:
    assert typist.states("tap shift") == ["on"]
    assert typist.states(SHIFT_LEFT) == ["capsLock", "on"]
    assert typist.states(f"down ctrl; {QUICK}; tap shift; {QUICK}; up ctrl") == []
    # The next press of Shift still is the second of a double press.
    assert typist.states("tap shift") == ["capsLock"]
    assert typist.states("tap shift") == ["off"]


def test_press_of_every_shift_counts_with_the_trigger_always(
    patient: VirtualMachine, typist: Typist
) -> None:
    service.reload(patient, ALWAYS)
    assert typist.states(f"{SHIFT_TAB}; {SHIFT_TAB}") == ["on", "capsLock"]
    assert typist.states(SHIFT_CLICK) == ["off"]
    assert typist.states(f"down alt; {QUICK}; tap shift; {QUICK}; up alt") == ["on"]
    assert typist.states("tap a") == ["off"]
    service.reload(patient, service.PATIENT)
