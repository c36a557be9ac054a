"""keymoded on a real kernel's keyboards, as a service under a real systemd."""

import json

import pytest
from harness import service
from harness.keyboards import VirtualKeyboard, followed_keyboard
from harness.service import as_user, wait_until_followed
from harness.vm import VirtualMachine
from harness.watch import Watch, press_twice


def test_two_presses_of_shift_300_ms_apart_lead_to_caps_lock(guest: VirtualMachine) -> None:
    _, second = press_twice(guest, Watch(guest), 300)
    assert second["to"] == "capsLock"
    assert service.state(guest)["shift"] == "capsLock"


def test_two_presses_of_shift_700_ms_apart_lead_to_off(guest: VirtualMachine) -> None:
    _, second = press_twice(guest, Watch(guest), 700, second="shift_r")
    assert second["to"] == "off"
    assert service.state(guest)["shift"] == "off"


def test_change_has_the_boot_time_of_its_key(guest: VirtualMachine) -> None:
    uptime = "cut -d' ' -f1 /proc/uptime"
    watch = Watch(guest)
    before = float(guest.run(uptime).stdout)
    guest.play("tap shift 40")
    (change,) = watch.changes(1)
    after = float(guest.run(uptime).stdout)
    assert before - 0.01 <= change["time"] / 1e6 <= after + 0.01


def test_bound_keys_move_the_keyboard_machine(guest: VirtualMachine) -> None:
    watch = Watch(guest)
    guest.play("tap scroll_lock; wait 30; tap compose; wait 30; tap insert; wait 30; tap esc")
    assert watch.states(4) == [
        "prepareToRecord",
        "showingPanel",
        "editingText",
        "prepareToEditText",
    ]


def test_autorepeat_of_shift_has_no_effect(guest: VirtualMachine) -> None:
    watch = Watch(guest)
    guest.play("hold shift 600; wait 30; tap a")
    assert watch.states(2) == ["on", "off"]
    assert service.settled_state(guest)["sequence"] == 2


def test_systemd_status_has_the_number_of_followed_keyboards(guest: VirtualMachine) -> None:
    def wait_for_number(count: int) -> None:
        guest.wait_until(f"{service.STATUS} | grep -qx '{service.FOLLOWED}: {count}'")

    wait_for_number(1)
    with followed_keyboard(guest, "Counted keyboard"):
        wait_for_number(2)
    wait_for_number(1)


def test_unplugging_a_usb_keyboard_releases_its_held_keys(guest: VirtualMachine) -> None:
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


def test_two_keyboards_share_modifiers_and_shift(guest: VirtualMachine) -> None:
    with followed_keyboard(guest, "Second keyboard") as keyboard:
        watch = Watch(guest)
        keyboard.send("LEFTCTRL+")
        guest.play("tap esc; tap insert; wait 30; tap shift")
        state = service.settled_state(guest)
        assert state["sequence"] == 0, (
            "while Ctrl is held on the other keyboard, Insert is not bound and Shift is a shortcut"
        )
        keyboard.send("LEFTCTRL-")
        guest.play("tap shift")
        assert watch.states(1) == ["on"]
        keyboard.send("LEFTSHIFT+", "LEFTSHIFT-")
        (change,) = watch.changes(1)
        # The state depends on how quickly the guest starts programs.
        assert change["from"] == "on" and change["to"] in ("capsLock", "off")
        assert change["event"] == "shiftPressed"


def test_modifier_released_during_a_grab_is_no_longer_held(guest: VirtualMachine) -> None:
    with followed_keyboard(guest, "Grabbed keyboard") as keyboard:
        watch = Watch(guest)
        keyboard.send("LEFTCTRL+")
        guest.play("tap insert")
        state = service.settled_state(guest)
        assert state["sequence"] == 0, "Insert is not bound while Ctrl is held"
        grab = guest.start(f"exec stdbuf -oL evtest --grab {keyboard.path}")
        grab.wait_for("Testing")
        keyboard.send("LEFTCTRL-")
        grab.wait_for(r"KEY_LEFTCTRL\), value 0")
        guest.play("tap insert")
        (change,) = watch.changes(1)
        assert change["to"] == "editingText"
        grab.terminate()


def test_key_states_are_synced_after_an_overflow(guest: VirtualMachine) -> None:
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
def test_stopped_daemon_goes_by_the_kernels_timestamps(
    guest: VirtualMachine, distance_ms: int, expected: str
) -> None:
    _, second = press_twice(
        guest, Watch(guest), distance_ms, meanwhile=lambda: service.stopped(guest)
    )
    assert second["to"] == expected


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
        "only members of the group 'keymoded-state' may use it;\n"
        "'sudo usermod -aG keymoded-state ordinary' adds you; then log in again\n"
    )

    read = guest.run(as_user("reader", "keymodectl state"))
    assert read.stdout == "shift     off\nkeyboard  prepareToEditText\n"
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
    assert service.state(guest)["keyboard"] == "prepareToEditText"

    guest.run(as_user("controller", "keymodectl trigger tapTextField"))
    assert guest.run(as_user("controller", "keymodectl state keyboard")).stdout == "editingText\n"


def test_option_device_follows_only_the_named_devices(guest: VirtualMachine) -> None:
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


def test_keymoded_of_a_user_says_that_it_takes_clients_from_the_service(
    guest: VirtualMachine,
) -> None:
    guest.run("install -d -o controller -m 700 /run/controller")
    runtime = "env XDG_RUNTIME_DIR=/run/controller"
    own = guest.start(as_user("controller", f"{runtime} keymoded --device /dev/input/none"))
    guest.wait_until("test -S /run/controller/keymoded/control.sock")
    guest.play("tap insert")
    guest.run("keymodectl wait keyboard=editingText --timeout 60s")
    states = [
        guest.run(as_user("controller", f"{variables} keymodectl state keyboard")).stdout
        for variables in (runtime, "env")
    ]
    assert states == ["prepareToEditText\n", "editingText\n"]
    own.terminate()
    assert own.wait().stderr.startswith(
        "keymoded: serving in /run/controller/keymoded\n"
        "keymoded: clients that this user starts now connect to this keymoded, not to the service\n"
    )
    guest.run("rm -r /run/controller")


def test_log_has_devices_but_no_keys(guest: VirtualMachine) -> None:
    with followed_keyboard(guest, "Logged keyboard"):
        guest.play("tap shift; wait 20; tap q; wait 20; tap compose; wait 20; tap f5")
        pointers = service.pointers(guest)
    guest.wait_until("journalctl --unit keymoded --boot --output cat | grep -q 'Logged.* is gone'")
    assert sorted(service.log(guest)) == sorted(
        [
            "'Logged keyboard' is gone",
            "following 'AT Translated Set 2 keyboard'",
            "following 'Logged keyboard'",
            *(f"following '{name}'" for name in pointers),
        ]
    )


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


def test_client_starts_the_service_through_its_socket(installed: VirtualMachine) -> None:
    installed.run("systemctl start keymoded-state.socket keymoded-control.socket")
    assert installed.run("systemctl is-active keymoded.service", check=False).exit_code != 0
    read = installed.run(as_user("reader", "keymodectl state shift"))
    assert read.stdout == "off\n"
    installed.run(f"systemctl stop {service.UNITS}")
