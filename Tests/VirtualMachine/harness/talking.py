"""Push-to-talk in the guest: what its tests look at."""

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from support.push_to_talk import PUSH_TO_TALK

from harness import recorder, service
from harness.guest_process import GuestProcess
from harness.recorder import Recorder
from harness.recordings import changes_in
from harness.vm import PS2_KEYBOARD, USB_KEYBOARD_NAME, VirtualMachine
from harness.watch import Change

TALKING, SILENT = "prepareToRecord", "editingText"

# What records with the configuration that the service has.
RECORDERS = [
    tool.with_options("--config /host/keymoded.yaml")
    for tool in (
        recorder.KEYMODECTL,
        recorder.REDACTED,
        recorder.KEYMODECTL_YAML,
        recorder.REDACTED_YAML,
    )
]


@pytest.fixture
def talking_guest(installed: VirtualMachine) -> Iterator[VirtualMachine]:
    """The guest, with a service that was just started for push-to-talk."""
    with service.configured(installed, PUSH_TO_TALK):
        try:
            yield installed
        finally:
            # A test that failed may have left it down.
            installed.play("up f9")


def replayed(vm: VirtualMachine, recording: Recorder) -> list[Change]:
    """The changes in a recording by the configuration that the service has."""
    return changes_in(recording.path, "--config", vm.shared / "keymoded.yaml")


def ended(vm: VirtualMachine, recording: Recorder) -> list[Change]:
    """Ends a recording after its marker, and returns what is `replayed` of it."""
    recording.wait_for_marker()
    assert recording.stop().exit_code == 0
    return replayed(vm, recording)


def settled(vm: VirtualMachine) -> dict[str, Any]:
    """The states after all typed keys have acted: the reply to an event that is ignored."""
    ignored = service.answer(vm, "Trigger", event="tapTextField")
    assert not ignored["changed"], "only while talking or editing"
    states: dict[str, Any] = ignored["state"]
    return states


def expect_one_stop(vm: VirtualMachine, before: dict[str, Any]) -> None:
    """Waits for the end of talking, and checks that it is the only change since `before`."""
    vm.run(f"keymodectl wait keyboard={SILENT} --timeout 100")
    after = settled(vm)
    assert (after["keyboard"], after["sequence"]) == (SILENT, before["sequence"] + 1)
    assert after["instance"] == before["instance"]


def talk(vm: VirtualMachine) -> dict[str, Any]:
    """Presses F9, and returns the states."""
    vm.play("down f9")
    vm.run(f"keymodectl wait keyboard={TALKING} --timeout 100")
    talking = settled(vm)
    assert talking["keyboard"] == TALKING
    return talking


@contextlib.contextmanager
def usb_keyboard(vm: VirtualMachine) -> Iterator[Callable[[], None]]:
    """A USB keyboard, on which all keys are typed; yields what unplugs it before the end."""
    path = vm.plug_usb_keyboard("talk")
    with contextlib.ExitStack() as plugged:
        plugged.callback(vm.wait_until, f"! test -e {path}")
        plugged.callback(vm.unplug, "talk")
        service.wait_until_followed(vm, USB_KEYBOARD_NAME)
        yield plugged.close


def start_grab(vm: VirtualMachine) -> GuestProcess:
    """Grabs the PS/2 keyboard until the process ends."""
    grabber = vm.start(f"exec {service.program(vm, 'grab')} {PS2_KEYBOARD}")
    assert grabber.read_lines(1) == ["grabbed"]
    return grabber


def end_grab(grabber: GuestProcess) -> None:
    """Ends the grab, and waits until it has ended."""
    grabber.kill()
    grabber.wait()
