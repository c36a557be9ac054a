"""Push-to-talk in the guest: what its tests look at."""

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

from harness import service
from harness.guest_process import GuestProcess
from harness.vm import PS2_KEYBOARD, USB_KEYBOARD_NAME, VirtualMachine

TALKING, SILENT = "prepareToRecord", "editingText"


def settled(vm: VirtualMachine) -> dict[str, Any]:
    """The states after all typed keys have acted, while talking or editing."""
    return service.settled_state(vm, "tapTextField")


def expect_one_stop(vm: VirtualMachine, before: dict[str, Any]) -> None:
    """Waits for the end of talking, and checks that it is the only change since `before`."""
    vm.run(f"keymodectl wait keyboard={SILENT} --timeout 100")
    after = settled(vm)
    now = (after["states"]["keyboard"], after["sequence"])
    assert now == (SILENT, before["sequence"] + 1)
    assert after["instance"] == before["instance"]


def talk(vm: VirtualMachine) -> dict[str, Any]:
    """Presses F9, and returns the states."""
    vm.play("down f9")
    vm.run(f"keymodectl wait keyboard={TALKING} --timeout 100")
    talking = settled(vm)
    assert talking["states"]["keyboard"] == TALKING
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


@contextlib.contextmanager
def grabbed(vm: VirtualMachine, node: str = PS2_KEYBOARD) -> Iterator[GuestProcess]:
    """Grabs a keyboard; the process prints what only it gets."""
    grabber = vm.start(f"exec {service.program(vm, 'grab')} {node}")
    assert grabber.read_lines(1) == ["grabbed"]
    yield grabber
    grabber.kill()
    grabber.wait()


def kill_and_close_gate(vm: VirtualMachine) -> None:
    """Kills the daemon, and holds the next one back: for tests with the fixture `gate`."""
    vm.run("touch /run/gate; systemctl kill --signal KILL keymoded")
    wait_for_gate(vm)


def wait_for_gate(vm: VirtualMachine) -> None:
    """Waits until the next daemon is held back."""
    vm.wait_until("pgrep -f '/bin/sh /host/gate'")


def reopen_gate(vm: VirtualMachine) -> None:
    """Lets the next daemon start."""
    vm.run("rm /run/gate")
