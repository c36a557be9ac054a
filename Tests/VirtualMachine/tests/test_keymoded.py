"""keymoded on a real kernel's keyboards, as a service under a real systemd."""

import json

import pytest
from harness import service
from harness.service import (
    VirtualKeyboard,
    Watch,
    as_user,
    followed_keyboard,
    press_twice,
    wait_until_followed,
    wait_until_following,
)
from harness.vm import VirtualMachine


def test_presses_300_ms_apart_are_caps_lock(guest: VirtualMachine) -> None:
    _, second = press_twice(guest, Watch(guest), 300)
    assert second["to"] == "capsLock"
    assert service.state(guest)["shift"] == "capsLock"


def test_presses_700_ms_apart_are_off(guest: VirtualMachine) -> None:
    _, second = press_twice(guest, Watch(guest), 700, second="shift_r")
    assert second["to"] == "off"
    assert service.state(guest)["shift"] == "off"


def test_stamps_are_the_kernels_on_the_clock_that_counts_sleep(guest: VirtualMachine) -> None:
    uptime = "cut -d' ' -f1 /proc/uptime"
    watch = Watch(guest)
    before = float(guest.run(uptime).stdout)
    guest.play("tap shift 40")
    (change,) = watch.changes(1)
    after = float(guest.run(uptime).stdout)
    assert before - 0.01 <= change["time"] / 1e6 <= after + 0.01


def test_keys_walk_the_keyboard_machine(guest: VirtualMachine) -> None:
    watch = Watch(guest)
    guest.play("tap scroll_lock; wait 30; tap compose; wait 30; tap insert; wait 30; tap esc")
    assert watch.states(4) == [
        "prepareToRecord",
        "showingPanel",
        "editingText",
        "prepareToEditText",
    ]


def test_autorepeat_of_shift_is_nothing(guest: VirtualMachine) -> None:
    watch = Watch(guest)
    guest.play("hold shift 600; wait 30; tap a")
    assert watch.states(2) == ["on", "off"]
    assert service.settled_state(guest)["sequence"] == 2


def test_autorepeat_of_a_letter_is_a_character(guest: VirtualMachine) -> None:
    with followed_keyboard(guest, "Repeating keyboard") as keyboard:
        watch = Watch(guest)
        keyboard.send("A+")
        guest.play("tap shift")
        assert watch.states(1) == ["on"]
        keyboard.send("A*")
        (change,) = watch.changes(1)
        assert (change["to"], change["event"]) == ("off", "characterTyped")


def test_letters_with_ctrl_held_are_no_characters_but_with_altgr(guest: VirtualMachine) -> None:
    watch = Watch(guest)
    guest.play("tap shift; wait 20; down ctrl; tap c; up ctrl; wait 20")
    assert watch.states(1) == ["on"]
    assert service.settled_state(guest)["shift"] == "on"
    guest.play("down alt_r; tap e; up alt_r")
    assert watch.states(1) == ["off"]


def test_status_tells_how_many_devices_are_followed(guest: VirtualMachine) -> None:
    wait_until_following(guest, 1)
    with followed_keyboard(guest, "Counted keyboard"):
        wait_until_following(guest, 2)
    wait_until_following(guest, 1)


def test_usb_keyboard_comes_and_goes_with_shift_held(guest: VirtualMachine) -> None:
    watch = Watch(guest)
    guest.plug_usb_keyboard("first")
    wait_until_followed(guest, "QEMU QEMU USB Keyboard")
    _, second = press_twice(guest, watch, 240)
    assert second["to"] == "capsLock"
    guest.play("tap shift")
    assert watch.states(1) == ["off"]
    guest.play("wait 600; down shift; wait 50; down ctrl; wait 50")
    assert watch.states(1) == ["on"]
    guest.unplug("first")
    guest.wait_until(
        "journalctl --boot -o cat _PID=$(pgrep -x keymoded) | grep -q 'USB Keyboard. is gone'"
    )
    # If Shift or Ctrl were still held, neither key would have an effect.
    guest.play("tap a; wait 30; tap insert")
    assert watch.states(2) == ["off", "editingText"]

    guest.plug_usb_keyboard("second")
    wait_until_followed(guest, "QEMU QEMU USB Keyboard")
    guest.play("tap esc; wait 50; tap shift")
    assert watch.states(2) == ["prepareToEditText", "on"]
    guest.unplug("second")


def test_two_keyboards_have_one_shift(guest: VirtualMachine) -> None:
    with followed_keyboard(guest, "Second keyboard") as keyboard:
        watch = Watch(guest)
        keyboard.send("LEFTCTRL+")
        guest.play("tap esc; tap insert; wait 30; tap shift")
        assert watch.states(1) == ["on"], "Insert with Ctrl held, if elsewhere, is not bound"
        assert service.settled_state(guest)["keyboard"] == "prepareToEditText"
        keyboard.send("LEFTCTRL-", "LEFTSHIFT+", "LEFTSHIFT-")
        (change,) = watch.changes(1)
        # The state depends on how quickly the guest starts programs.
        assert change["from"] == "on" and change["to"] in ("capsLock", "off")
        assert change["event"] == "shiftPressed"


def test_modifier_that_a_grab_leaves_held_is_found_up(guest: VirtualMachine) -> None:
    with followed_keyboard(guest, "Grabbed keyboard") as keyboard:
        watch = Watch(guest)
        keyboard.send("LEFTCTRL+")
        guest.play("tap insert")
        state = service.settled_state(guest)
        assert state["sequence"] == 0, "Ctrl is held, and the kernel says so"
        grab = guest.start(f"exec stdbuf -oL evtest --grab {keyboard.path}")
        grab.wait_for("Testing")
        keyboard.send("LEFTCTRL-")
        grab.wait_for(r"KEY_LEFTCTRL\), value 0")
        guest.play("tap insert")
        (change,) = watch.changes(1)
        assert change["to"] == "editingText"
        grab.terminate()


def test_what_is_lost_in_an_overflow_is_found_again(guest: VirtualMachine) -> None:
    with followed_keyboard(guest, "Fast keyboard") as keyboard:
        watch = Watch(guest)
        keyboard.send("LEFTCTRL+")
        guest.run("systemctl kill --signal STOP keymoded")
        keyboard.overflow()
        guest.run("systemctl kill --signal CONT keymoded")
        # Insert is lost; only the sync finds Ctrl up and Menu down.
        assert watch.states(1) == ["showingPanel"]
        keyboard.send("COMPOSE-", "INSERT+", "INSERT-")
        assert watch.states(1) == ["editingText"]


@pytest.mark.parametrize(("distance_ms", "expected"), [(300, "capsLock"), (700, "off")])
def test_time_is_the_kernels_even_if_the_daemon_sleeps(
    guest: VirtualMachine, distance_ms: int, expected: str
) -> None:
    _, second = press_twice(
        guest, Watch(guest), distance_ms, meanwhile=lambda: service.stopped(guest)
    )
    assert second["to"] == expected


def test_access_is_by_group(guest: VirtualMachine) -> None:
    sockets = guest.run("stat -c '%a %U %G %n' /run/keymoded/*.sock").stdout.splitlines()
    assert sockets == [
        "660 root keymoded-control /run/keymoded/control.sock",
        "660 root keymoded-state /run/keymoded/state.sock",
    ]

    refused = guest.run(as_user("ordinary", "keymodectl state"), check=False)
    assert (refused.exit_code, refused.stdout) == (5, "")
    assert refused.stderr == (
        "keymodectl: no permission to use '/run/keymoded/state.sock':\n"
        "it is for members of the group 'keymoded-state'\n"
    )

    read = guest.run(as_user("reader", "keymodectl state"))
    assert read.stdout == "shift     off\nkeyboard  prepareToEditText\n"
    refused = guest.run(as_user("reader", "keymodectl trigger tapTextField"), check=False)
    assert (refused.exit_code, refused.stdout) == (5, "")
    assert "for members of the group 'keymoded-control'" in refused.stderr
    # Without keymodectl, on the socket that the user may open, the daemon itself refuses.
    (guest.shared / "ask").write_text(
        """printf '%s\\0' '{"method":"org.keymoded.Controller.Trigger",\
        "parameters":{"event":"tapTextField"}}' | socat - /run/keymoded/state.sock"""
    )
    answer = guest.run(as_user("reader", "sh /host/ask"))
    assert json.loads(answer.stdout.rstrip("\0"))["error"] == "org.varlink.service.PermissionDenied"
    assert service.state(guest)["keyboard"] == "prepareToEditText"

    guest.run(as_user("controller", "keymodectl trigger tapTextField"))
    assert guest.run(as_user("controller", "keymodectl state keyboard")).stdout == "editingText\n"


def test_device_may_be_named(guest: VirtualMachine) -> None:
    guest.run(f"systemctl stop {service.UNITS}")
    keyboard = VirtualKeyboard(guest, "Named keyboard")
    daemon = service.start_by_hand(guest, f"--device {keyboard.path} --device /dev/input/none")
    guest.play("tap insert")
    keyboard.send("COMPOSE+", "COMPOSE-")
    # By now the daemon would have read Insert, if it followed that keyboard.
    state = guest.run(f"keymodectl trigger shiftPressed {service.BY_HAND}").stdout
    assert state == "shift     on\nkeyboard  showingPanel\n"
    assert daemon.stderr == (
        "keymoded: serving in /run/own\n"
        "keymoded: following 'Named keyboard'\n"
        "keymoded: cannot open '/dev/input/none': No such file or directory\n"
    )
    keyboard.remove()
    daemon.terminate()
    assert daemon.wait().exit_code == 0


def test_log_names_no_key(guest: VirtualMachine) -> None:
    with followed_keyboard(guest, "Logged keyboard"):
        guest.play("tap shift; wait 20; tap q; wait 20; tap compose; wait 20; tap f5")
    guest.wait_until("journalctl --unit keymoded --boot --output cat | grep -q 'Logged.* is gone'")
    assert sorted(service.log(guest)) == [
        "'Logged keyboard' is gone",
        "following 'AT Translated Set 2 keyboard'",
        "following 'Logged keyboard'",
    ]


def test_keyboard_starts_the_service_where_it_is_enabled(installed: VirtualMachine) -> None:
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


def test_client_starts_the_service(installed: VirtualMachine) -> None:
    installed.run("systemctl start keymoded-state.socket keymoded-control.socket")
    assert installed.run("systemctl is-active keymoded.service", check=False).exit_code != 0
    read = installed.run(as_user("reader", "keymodectl state shift"))
    assert read.stdout == "off\n"
    installed.run(f"systemctl stop {service.UNITS}")
