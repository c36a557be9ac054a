"""`keymodectl keys` with real keyboards. Tests/SystemTests has its terminal, which shows nothing."""

import re

from harness import service
from harness.vm import KEYBOARD_NAME, VirtualMachine


def test_keys_are_named_with_what_the_machine_binds_them_to(installed: VirtualMachine) -> None:
    with service.cleared_away(installed):
        service.configure(installed, "keyboard: {bindings: {clickMoreButton: [Super+V]}}\n")
        keys = installed.start("exec keymodectl keys 2>&1")
        keys.wait_for(r"reading \d+ devices?; Ctrl\+C ends it\n")
        keys.read_complete_lines()
        installed.play("tap f9; wait 60; tap insert; wait 60; down meta_l; wait 60; tap v; wait 60")
        installed.play("up meta_l; wait 60; hold f9 700; wait 60; tap meta_r")
        lines = keys.read_lines(12)
        pressed = [line.split("  ")[0] for line in lines if ", released after " not in line]
        assert pressed == [
            "F9, free",
            "Insert, tapTextField",
            "Left_Super, modifier",
            "Super+V, clickMoreButton",
            "F9, free",
            "Right_Super, modifier",
        ]
        released = [re.match(r"(\w+), released after (\d+)m?s", line) for line in lines]
        times = [(found[1], int(found[2])) for found in released if found]
        assert [key for key, _ in times] == ["F9", "Insert", "V", "Left_Super", "F9", "Right_Super"]
        assert 600 < times[4][1] < 2000
        assert all(line.endswith(f"  {KEYBOARD_NAME}") for line in lines)
        # One that is plugged in later is read too, and its end is told.
        node = installed.plug_usb_keyboard("later")
        installed.wait_until(
            f"readlink /proc/$(pgrep -x keymodectl)/fd/* | grep -qx $(readlink -f {node})"
        )
        installed.unplug("later")
        keys.wait_for("^keymodectl: 'QEMU QEMU USB Keyboard' is gone$")
        keys.interrupt()
        assert keys.wait().exit_code == 0
