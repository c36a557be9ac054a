"""keymoded without udev, as in a container: it finds the keyboards by itself.

udev still runs in the guest, as on a container's host: it gives each new node its group shortly
after the kernel has created the node.
"""

from collections.abc import Iterator

import pytest
from harness import service
from harness.service import BY_HAND, start_by_hand
from harness.typing import Person
from harness.vm import KEYBOARD_NAME, PS2_KEYBOARD, VirtualMachine
from support.input_events import (
    ABS_X,
    ABS_Y,
    BTN_LEFT,
    BTN_TOOL_FINGER,
    BTN_TOUCH,
)

# INPUT_PROP_POINTER and INPUT_PROP_BUTTONPAD; INPUT_PROP_DIRECT.
PAD, SCREEN = [0, 2], [1]


@pytest.fixture
def guest(installed: VirtualMachine) -> Iterator[VirtualMachine]:
    """The guest, with udev's control socket hidden and the service stopped."""
    with service.without_udev(installed):
        yield installed


def devices(guest: VirtualMachine) -> dict[str, str]:
    """The names of the followed devices, with the kind of each."""
    lines = guest.run(f"keymodectl devices {BY_HAND}").stdout.splitlines()
    return {line.split(maxsplit=3)[3]: line.split(maxsplit=3)[2] for line in lines}


def wait_until_followed(guest: VirtualMachine, name: str, is_followed: bool = True) -> None:
    """Waits until the device is followed, or until it is no longer followed."""
    negation = "" if is_followed else "! "
    guest.wait_until(f"{negation}keymodectl devices {BY_HAND} | grep -q '{name}$'")


def test_daemon_without_udev_follows_the_devices_that_udev_calls_keyboards_or_pointers(
    guest: VirtualMachine,
) -> None:
    all_names = guest.run("cat /sys/class/input/event*/device/name").stdout.splitlines()
    assert len(all_names) > 1, "there is more than the keyboard"
    guest.plug_usb_mouse("unmarked")
    touches = [BTN_LEFT, BTN_TOOL_FINGER, BTN_TOUCH]
    pad = {"properties": PAD, "keys": touches, "absolute": [ABS_X, ABS_Y]}
    screen = {"properties": SCREEN, "keys": [BTN_TOUCH], "absolute": [ABS_X, ABS_Y]}
    touched = [
        Person(guest, "Touchpad", **pad),
        Person(guest, "Touchscreen", **screen),
        Person(guest, "Volume keys", keys=[113, 114, 115], leds=[]),
    ]
    guest.run("udevadm settle")

    def udev_says(properties: str) -> list[str]:
        return guest.run(
            f"""
            for node in /sys/class/input/event*; do
              udevadm info --query=property --path=$node | grep -Eqx '{properties}=1' &&
                cat $node/device/name
            done; true
            """
        ).stdout.splitlines()

    keyboards = udev_says("ID_INPUT_KEYBOARD")
    pointers = udev_says("ID_INPUT_(MOUSE|TOUCHPAD|POINTINGSTICK)")
    keys = udev_says("ID_INPUT_KEY")
    assert "Volume keys" in keys
    assert {"QEMU QEMU USB Mouse", "Touchpad"} <= {*pointers}
    assert "Touchscreen" not in pointers
    start_by_hand(guest)
    assert devices(guest) == {
        **dict.fromkeys(pointers, "pointer"),
        **dict.fromkeys(keys, "keys"),
        **dict.fromkeys(keyboards, "keyboard"),
    }
    guest.play("tap insert")
    guest.run(f"keymodectl wait keyboard=editingText --timeout 100 {BY_HAND}")
    for device in touched:
        device.unplug()
    guest.unplug("unmarked")


def test_node_is_opened_once_its_permissions_allow_it(guest: VirtualMachine) -> None:
    node = guest.run(f"readlink -f {PS2_KEYBOARD}").stdout.strip()
    guest.run(f"chmod 600 {node}; mkdir --mode 777 /run/own")
    daemon = start_by_hand(
        guest, under="setpriv --reuid ordinary --regid ordinary --groups input --no-new-privs"
    )
    assert KEYBOARD_NAME not in devices(guest)
    assert daemon.stderr.count(f"cannot open '{node}': Permission denied\n") == 1
    guest.run(f"chmod 660 {node}")
    wait_until_followed(guest, KEYBOARD_NAME)
    # udev sets the permissions of this node shortly after its creation.
    with Person(guest, "New keyboard") as keyboard:
        wait_until_followed(guest, "New keyboard")
        keyboard.play("tap scroll_lock")
        guest.run(f"keymodectl wait keyboard=prepareToRecord --timeout 100 {BY_HAND}")
