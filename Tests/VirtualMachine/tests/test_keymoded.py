"""keymoded on a real kernel's keyboards, as a service under a real systemd."""

import json
import re

from harness import service
from harness.service import as_user, wait_until_followed
from harness.vm import USB_KEYBOARD_NAME, VirtualMachine
from harness.watch import Watch, press_twice


def test_keys_of_a_usb_keyboard_act_and_unplugging_it_releases_those_that_are_held(
    guest: VirtualMachine,
) -> None:
    def wait_for_status(count: int) -> None:
        guest.wait_until(f"{service.STATUS} | grep -qx '{service.FOLLOWED}: {count}'")

    watch = Watch(guest)
    wait_for_status(1)
    guest.plug_usb_keyboard("first")
    wait_until_followed(guest, USB_KEYBOARD_NAME)
    wait_for_status(2)
    _, second = press_twice(guest, watch, 240)
    assert second["to"] == "capsLock"
    guest.play("tap shift")
    assert watch.states(1) == ["off"]
    guest.play("wait 600; down shift; wait 50; down ctrl; wait 50")
    assert watch.states(1) == ["on"]
    guest.unplug("first")
    wait_for_status(1)
    # If Shift or Ctrl were still held, neither key would have an effect.
    guest.play("tap a; wait 30; tap insert")
    assert watch.states(2) == ["off", "editingText"]


def test_groups_decide_who_may_read_and_who_may_trigger(guest: VirtualMachine) -> None:
    sockets = guest.run("stat -c '%a %U %G %n' /run/keymoded/*.sock").stdout.splitlines()
    assert sockets == [
        "660 root keymoded-control /run/keymoded/control.sock",
        "660 root keymoded-state /run/keymoded/state.sock",
    ]

    refused = guest.run(as_user("ordinary", "keymodectl state"), check=False)
    assert (refused.exit_code, refused.stdout) == (5, "")
    assert refused.stderr == (
        "keymodectl: no permission to use '/run/keymoded/state.sock':\n"
        "only the person in front and members of the group 'keymoded-state' may use it;\n"
        "systemd-logind says that nobody is in front;\n"
        "'sudo adduser $USER keymoded-state' and a restart of the computer allow it\n"
    )

    read = guest.run(as_user("reader", "keymodectl state"))
    # The guest's keyboard has the LEDs of locks.
    assert re.fullmatch(
        "shift     off\nkeyboard  prepareToEditText\ncaps      off\nnum       o(n|ff)\n", read.stdout
    )
    refused = guest.run(as_user("reader", "keymodectl trigger tapTextField"), check=False)
    assert (refused.exit_code, refused.stdout) == (5, "")
    assert "only members of the group 'keymoded-control' may use it" in refused.stderr
    # Without keymodectl, on the socket that the user may open, the daemon itself refuses.
    (guest.shared / "ask").write_text(
        """printf '%s\\0' '{"method":"org.keymoded.Controller.Trigger",\
        "parameters":{"event":"tapTextField"}}' | socat - /run/keymoded/state.sock"""
    )
    answer = guest.run(as_user("reader", "sh /host/ask"))
    assert json.loads(answer.stdout.rstrip("\0"))["error"] == "org.varlink.service.PermissionDenied"
    assert service.state(guest)["states"]["keyboard"] == "prepareToEditText"

    guest.run(as_user("controller", "keymodectl trigger tapTextField"))
    assert guest.run(as_user("controller", "keymodectl state keyboard")).stdout == "editingText\n"


def test_plugged_keyboard_starts_the_service_only_if_enabled(installed: VirtualMachine) -> None:
    service_is = "systemctl is-active --quiet keymoded.service"
    installed.run("systemctl enable --quiet keymoded.service")
    installed.plug_usb_keyboard("starter")
    installed.wait_until(service_is)
    installed.unplug("starter")
    installed.wait_until("! systemctl is-active --quiet keymoded-keyboard.target")
    installed.run(f"systemctl disable --quiet keymoded.service; systemctl stop {service.UNITS}")

    installed.plug_usb_keyboard("idle")
    installed.wait_until("systemctl is-active --quiet keymoded-keyboard.target")
    assert installed.run(service_is, check=False).exit_code != 0
    installed.unplug("idle")
