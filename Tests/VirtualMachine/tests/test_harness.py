"""Tests of the harness itself: what other tests assume about the guest and its keys."""

import statistics
import subprocess
from itertools import pairwise

import pytest
from harness.build_image import Images
from harness.guest_process import CommandFailed, GuestDied
from harness.keys import KeyEvent, parse
from harness.recorder import MARKER, KeyRecorder
from harness.service import MOST_TRIES
from harness.vm import PS2_KEYBOARD, VirtualMachine


def test_command_returns_exit_code_stdout_and_stderr(vm: VirtualMachine) -> None:
    completed = vm.run("echo out; echo 'and \"err\"' >&2; exit 7", check=False)
    assert (completed.exit_code, completed.stdout, completed.stderr) == (7, "out\n", 'and "err"\n')


def test_failing_command_raises_with_its_outputs(vm: VirtualMachine) -> None:
    with pytest.raises(CommandFailed, match=r"(?s)exit code 3.*exit 3.*some out.*some err"):
        vm.run("echo some out; echo some err >&2; exit 3")


def test_command_that_takes_too_long_raises_and_is_killed(vm: VirtualMachine) -> None:
    with pytest.raises(CommandFailed, match=r"did not end within 0.3 s"):
        vm.run("sleep 987", timeout=0.3)
    vm.wait_until("! pgrep -f 'sleep 98[7]'")


def test_output_of_running_command_can_be_followed(vm: VirtualMachine) -> None:
    process = vm.start("for i in 1 2 3; do echo line $i; sleep 0.3; done; sleep 30")
    assert process.wait_for(r"line (\d)")[1] == "1"
    assert process.exit_code is None
    process.wait_for(lambda text: "line 3" in text)
    assert process.lines() == ["line 1", "line 2", "line 3"]


def test_waiting_for_output_that_cannot_come_fails_at_once(vm: VirtualMachine) -> None:
    process = vm.start("echo something else; exit 4")
    with pytest.raises(CommandFailed, match=r"(?s)ended with exit code 4.*something else"):
        process.wait_for("the right thing", timeout=60)


def test_signals_reach_the_program_itself(vm: VirtualMachine) -> None:
    by_default = [vm.start("sleep 600") for _ in range(3)]
    handler = vm.start("trap 'echo interrupted; exit 5' INT; echo ready; while :; do sleep 1; done")
    handler.wait_for("ready")
    handler.interrupt()
    by_default[0].interrupt()
    by_default[1].terminate()
    by_default[2].kill()
    assert [process.wait().exit_code for process in by_default] == [130, 143, 137]
    completed = handler.wait()
    assert (completed.exit_code, completed.stdout) == (5, "ready\ninterrupted\n")


def test_several_commands_run_at_once(vm: VirtualMachine) -> None:
    first = vm.start("until test -e /run/second; do sleep 0.05; done; rm /run/second")
    second = vm.start("touch /run/second; while test -e /run/second; do sleep 0.05; done")
    assert [first.wait().exit_code, second.wait().exit_code] == [0, 0]


def test_shared_folder_is_seen_from_both_sides(vm: VirtualMachine) -> None:
    script = vm.shared / "program"
    script.write_text("#!/bin/sh\necho from the host >/host/answer\n")
    script.chmod(0o755)
    vm.run("/host/program")
    assert (vm.shared / "answer").read_text() == "from the host\n"


def test_ps2_presses_arrive_at_the_typed_distance(vm: VirtualMachine) -> None:
    def median_distance() -> float:
        recorder = KeyRecorder(vm, PS2_KEYBOARD)
        vm.play("tap shift 40; wait 260; tap shift 40; wait 100;" * 3)
        events = recorder.wait_for_events(12)
        recorder.stop()
        assert [(event.key, event.value) for event in events] == [
            ("KEY_LEFTSHIFT", value) for value in (1, 0) * 6
        ]
        presses = [event.seconds for event in events if event.value == 1]
        return statistics.median(
            second - first for first, second in zip(presses[::2], presses[1::2], strict=True)
        )

    # Other tests only need distances far from the threshold of 500 ms. On an idle host the error is
    # 1 ms; on a busy host some distances are wrong, hence the median, and at times most of them.
    assert any(median_distance() == pytest.approx(0.300, abs=0.060) for _ in range(MOST_TRIES))


def test_ps2_events_all_arrive(vm: VirtualMachine) -> None:
    for _ in range(MOST_TRIES):
        recorder = KeyRecorder(vm, PS2_KEYBOARD)
        vm.play("tap ctrl_r 0; tap a 0;" * 20 + f"wait 100; {MARKER}")
        recorder.wait_for_marker()
        keys = recorder.events()[:-2]
        recorder.stop()
        if len(keys) == 80:
            break
        # QEMU's queue overflows when a guest without processor time reads nothing for 40 ms.
        stamps = [key.seconds for key in keys]
        assert max(second - first for first, second in pairwise(stamps)) > 0.025, keys
        vm.play("up ctrl_r; wait 20; up a; wait 20")
    assert [(key.key, key.value) for key in keys] == [
        ("KEY_RIGHTCTRL", 1),
        ("KEY_RIGHTCTRL", 0),
        ("KEY_A", 1),
        ("KEY_A", 0),
    ] * 20


def test_held_ps2_key_repeats_as_the_script_says(vm: VirtualMachine) -> None:
    recorder = KeyRecorder(vm, PS2_KEYBOARD)
    vm.play("hold a 400 250 50; down b; wait 600; up b")
    events = recorder.wait_for_events(7)
    assert [event.value for event in events if event.key == "KEY_A"] == [1, 2, 2, 2, 0]
    assert [event.value for event in events if event.key == "KEY_B"] == [1, 0]


def test_plugged_usb_keyboard_gets_the_keys_until_it_is_unplugged(vm: VirtualMachine) -> None:
    path = vm.plug_usb_keyboard("second")
    try:
        assert path in vm.run("ls /dev/input/by-id/*").stdout
        usb, ps2 = KeyRecorder(vm, path), KeyRecorder(vm, PS2_KEYBOARD)
        vm.play("tap a; tap b")
        assert [event.key for event in usb.wait_for_events(4)][::2] == ["KEY_A", "KEY_B"]
        assert ps2.events() == []
    finally:
        vm.unplug("second")
    vm.wait_until(f"! test -e {path}")
    vm.play("tap c")
    assert ps2.wait_for_events(2)[0].key == "KEY_C"


def test_plugged_usb_mouse_gets_the_buttons_and_the_motion(vm: VirtualMachine) -> None:
    path = vm.plug_usb_mouse("mouse")
    try:
        recorder = KeyRecorder(vm, path)
        vm.wait_for_usb_mouse()
        vm.move(5, -3)
        vm.play("wait 50; tap btn_left")
        events = recorder.wait_for_events(2)
        assert [(event.key, event.value) for event in events] == [("BTN_LEFT", 1), ("BTN_LEFT", 0)]
        assert b"REL_X" in recorder.recording()
    finally:
        vm.unplug("mouse")
    vm.wait_until(f"! test -e {path}")


def test_uinput_keyboard_sends_single_and_recorded_events(vm: VirtualMachine) -> None:
    vm.run(f"evemu-describe {PS2_KEYBOARD} | sed 's/^N: .*/N: Made up/' >/run/keyboard")
    device = vm.start("stdbuf -oL evemu-device /run/keyboard")
    path = device.wait_for(r"^Made up: (/dev/input/event\d+)$")[1]
    recorder = KeyRecorder(vm, path)
    for value in (1, 0):
        vm.run(f"evemu-event {path} --type EV_KEY --code KEY_A --value {value} --sync")
    (vm.shared / "events").write_text(
        "E: 0.000000 0001 0030 0001\nE: 0.000000 0000 0000 0000\n"
        "E: 0.100000 0001 0030 0000\nE: 0.100000 0000 0000 0000\n"
    )
    vm.run(f"evemu-play {path} </host/events")
    recorder.wait_for(48, 0)
    events = [event for event in recorder.events() if event.value != 2]
    assert [(event.key, event.value) for event in events] == [
        *(("KEY_A", 1), ("KEY_A", 0), ("KEY_B", 1), ("KEY_B", 0)),
    ]
    device.terminate()
    vm.wait_until(f"! test -e {path}")


def test_guest_boots_without_failed_units_and_its_crash_is_reported_and_leaves_nothing_behind(
    images: Images,
) -> None:
    # All other tests start from the state at the end of such a boot.
    with VirtualMachine(images, boots=True) as machine:
        assert machine.system_state == "running"
        shared = machine.shared
        machine.start("echo c >/proc/sysrq-trigger")
        with pytest.raises(GuestDied, match="sysrq triggered crash"):
            machine.run("sleep 600")
    assert not shared.parent.exists()
    processes = subprocess.run(["ps", "axww"], check=True, capture_output=True, text=True).stdout
    assert str(shared) not in processes


def test_key_script_parses_to_events_with_their_times() -> None:
    assert parse("tap a; wait 10\ndown b;;up b") == [
        KeyEvent(0, "a", True),
        KeyEvent(40, "a", False),
        KeyEvent(50, "b", True),
        KeyEvent(55, "b", False),
    ]
    assert [event.at_ms for event in parse("hold a 320 250 33")] == [0, 250, 283, 316, 321]
    with pytest.raises(ValueError, match="press a"):
        parse("press a")
