"""`keymodectl keys` with real keyboards."""

from harness import service
from harness.service import as_user
from harness.vm import VirtualMachine

BEGUN = r"reading \d+ devices?; Ctrl\+C ends it\n"


def test_keys_are_named_with_what_they_are_bound_to(installed: VirtualMachine) -> None:
    (installed.shared / "keys.yaml").write_text(
        "keyboard: {bindings: {clickMoreButton: [Super+V]}}\n"
    )
    keys = installed.start("exec keymodectl keys --config /host/keys.yaml 2>&1")
    keys.wait_for(BEGUN)
    keys.read_complete_lines()
    installed.play("tap f9; wait 60; tap insert; wait 60; down meta_l; wait 60; tap v; wait 60")
    installed.play("up meta_l; wait 60; hold f9 700; wait 60; tap meta_r")
    lines = keys.read_lines(6)
    assert [line.split("  ")[0] for line in lines] == [
        "F9, free",
        "Insert, tapTextField",
        "Left_Super, modifier",
        "Super+V, clickMoreButton",
        "F9, free",
        "Right_Super, modifier",
    ]
    assert all(line.endswith("  AT Translated Set 2 keyboard") for line in lines)
    keys.interrupt()
    assert keys.wait().exit_code == 0


def test_keys_are_bound_by_the_configuration_of_the_machine(installed: VirtualMachine) -> None:
    with service.cleared_away(installed):
        service.configure(installed, "keyboard: {bindings: {clickMoreButton: [F9]}}\n")
        keys = installed.start("exec keymodectl keys 2>&1")
        keys.wait_for(BEGUN)
        keys.read_complete_lines()
        installed.play("tap f9")
        assert keys.read_lines(1)[0].split("  ")[0] == "F9, clickMoreButton"
        keys.interrupt()
        assert keys.wait().exit_code == 0


def test_keyboard_that_is_plugged_in_later_is_read_and_its_end_is_told(
    installed: VirtualMachine,
) -> None:
    keys = installed.start("exec keymodectl keys 2>&1")
    keys.wait_for(BEGUN)
    installed.plug_usb_keyboard("later")
    installed.unplug("later")
    keys.wait_for("^keymodectl: 'QEMU QEMU USB Keyboard' is gone$")
    keys.terminate()
    assert keys.wait().exit_code == 0


def test_terminal_shows_and_keeps_nothing_that_is_typed(installed: VirtualMachine) -> None:
    typing = installed.start(f"exec {service.program(installed, 'silent_keys')}")
    typing.wait_for("^typed$")
    installed.play("tap f9")
    ended = typing.wait()
    assert ended.exit_code == 0, ended.stderr
    assert ended.stdout.splitlines() == ["typed", "shown: False, left: 0, echo: True, status: 0"]


def test_keys_need_the_right_to_read_keyboards(installed: VirtualMachine) -> None:
    refused = installed.run(as_user("ordinary", "keymodectl keys"), check=False)
    assert (refused.exit_code, refused.stdout) == (5, "")
    assert refused.stderr.endswith(
        ":\nonly root and members of the group 'input' may read keyboards;\n"
        "'sudo keymodectl keys' reads them as root\n"
    )
