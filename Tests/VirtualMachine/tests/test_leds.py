"""Keyboard LEDs that show states, switched by the hardened service."""

import re
from collections.abc import Callable, Iterator

import pytest
from harness import service
from harness.keyboards import MadeDevice, followed, switch_console_locks_off
from harness.service import PATIENT, reload, wait_until_following
from harness.vm import VirtualMachine
from harness.watch import Watch
from support.checkout import CHECKOUT

EXAMPLE = CHECKOUT / "examples/leds/leds.conf"

CAPS_LOCK = "tap shift; wait 100; tap shift"

# Tests do not type Scroll Lock and Caps Lock: the kernel's console would switch their LEDs.
LEDS = PATIENT + "leds: { capsLock: LED_CAPSL, editingText: [LED_SCROLLL, LED_MISC] }\n"


def keyboard_with_leds(guest: VirtualMachine, name: str) -> MadeDevice:
    """A keyboard with all LEDs that the kernel knows."""
    return MadeDevice(guest, name, leds=[*range(9)])


@pytest.fixture
def reading(installed: VirtualMachine) -> Iterator[VirtualMachine]:
    """The guest, with the shipped service just started, configured to switch LEDs."""
    switch_console_locks_off(installed)
    with service.configured(installed, LEDS):
        yield installed


@pytest.fixture
def writing(reading: VirtualMachine) -> Iterator[VirtualMachine]:
    """The same, with the example's drop-in, installed by the commands in its comments."""
    (reading.shared / EXAMPLE.name).write_text(EXAMPLE.read_text())
    commands = re.findall(r"^# {3}sudo (.*)$", EXAMPLE.read_text(), re.MULTILINE)
    assert commands[-1] == "systemctl restart keymoded.service"
    try:
        reading.run("set -e; cd /host; " + "; ".join(commands[:-1]))
        service.restart(reading)
        yield reading
    finally:
        reading.run("rm -rf /etc/systemd/system/keymoded.service.d; systemctl daemon-reload")


def opened_for_writing(guest: VirtualMachine) -> int:
    """The number of input devices that the daemon has open for writing."""
    links = guest.run("ls -l /proc/$(pgrep -x keymoded)/fd").stdout.splitlines()
    return sum("/dev/input/" in link and "w" in link.split()[0] for link in links)


# What the watchdog may cause, of WatchdogSec=30s: up to two waits in half of that.
ALLOWED_WAITS = 4


def waits(guest: VirtualMachine, meanwhile: Callable[[], object]) -> int:
    """How often the daemon has waited while `meanwhile` ran."""
    statuses = "cat /proc/$(pgrep -x keymoded)/task/*/status"
    count = statuses + " | awk '/^voluntary/ { n += $2 } END { print n }'"
    before = int(guest.run(count).stdout)
    meanwhile()
    return int(guest.run(count).stdout) - before


def warnings(guest: VirtualMachine) -> list[str]:
    """The lines about LEDs that the daemon has logged."""
    return [line for line in service.log(guest) if "LEDs" in line]


def test_leds_show_a_state_while_it_lasts_also_on_a_keyboard_that_comes_later(
    writing: VirtualMachine,
) -> None:
    with followed(writing, keyboard_with_leds(writing, "First keyboard")) as first:
        writing.play("tap insert")
        assert first.switched(2) == ["SCROLLL on", "MISC on"]
        with followed(writing, keyboard_with_leds(writing, "Second keyboard")) as second:
            assert second.switched(2) == ["SCROLLL on", "MISC on"]
            # Keys of this keyboard switch its LEDs; a letter switches nothing.
            second.send("A+", "A-", "ESC+", "ESC-")
            assert second.switched(2) == ["SCROLLL off", "MISC off"]
        writing.play(CAPS_LOCK)
        assert first.switched(3) == ["SCROLLL off", "MISC off", "CAPSL on"]
        writing.play("tap shift")
        assert first.switched(1) == ["CAPSL off"]
    assert warnings(writing) == [], "no warning about the unplugged keyboard either"


def test_reload_changes_leds_and_keeps_held_keys(writing: VirtualMachine) -> None:
    with followed(writing, keyboard_with_leds(writing, "Reloaded keyboard")) as keyboard:
        reload(writing, PATIENT)
        assert opened_for_writing(writing) == 0
        watch = Watch(writing)
        writing.play(CAPS_LOCK)
        assert watch.states(2) == ["on", "capsLock"]
        keyboard.send("LEFTCTRL+")
        reload(writing, PATIENT + "leds: { capsLock: LED_CAPSL }\n")
        assert keyboard.switched(1) == ["CAPSL on"]
        reload(writing, PATIENT + "leds: { capsLock: LED_MISC, prepareToEditText: LED_KANA }\n")
        assert sorted(keyboard.switched(3)) == ["CAPSL off", "KANA on", "MISC on"]
        # Ctrl is still held on it, so Insert is not bound.
        writing.play("tap insert")
        assert service.settled_state(writing)["keyboard"] == "prepareToEditText"
        keyboard.send("LEFTCTRL-", "INSERT+", "INSERT-")
        assert keyboard.switched(1) == ["KANA off"]
        reload(writing, PATIENT)
        assert keyboard.switched(1) == ["MISC off"]
        assert opened_for_writing(writing) == 0

        reload(writing, LEDS)
        assert sorted(keyboard.switched(3)) == ["CAPSL on", "MISC on", "SCROLLL on"]
        reload(writing, LEDS + "devices: { ignore: 'Reloaded*' }\n")
        assert sorted(keyboard.switched(3)) == ["CAPSL off", "MISC off", "SCROLLL off"]
        wait_until_following(writing, 1)
        reload(writing, LEDS)
        assert sorted(keyboard.switched(3)) == ["CAPSL on", "MISC on", "SCROLLL on"]


def test_stopping_switches_leds_off_and_starting_switches_them_as_they_must_be(
    writing: VirtualMachine,
) -> None:
    with followed(writing, keyboard_with_leds(writing, "Lasting keyboard")) as keyboard:
        writing.play(CAPS_LOCK)
        assert keyboard.switched(1) == ["CAPSL on"]
        writing.run("systemctl restart keymoded")
        assert keyboard.switched(2) == ["CAPSL off", "CAPSL on"]
        # A killed daemon switches nothing off; the next daemon finds the LEDs as they must be.
        service.kill(writing)
        wait_until_following(writing, 2)
        writing.play("tap insert; wait 30; tap esc")
        blinked = ["SCROLLL on", "MISC on", "SCROLLL off", "MISC off"]
        assert keyboard.switched(4) == blinked, "the new daemon found the LED as it must be"
        writing.run("systemctl stop keymoded")
        assert keyboard.switched(1) == ["CAPSL off"]

        # Configured LEDs that were left on; the daemon leaves one without a state alone.
        for led in ("MISC", "NUML"):
            keyboard.switch(led, 1)
        assert keyboard.switched(2) == ["MISC on", "NUML on"]
        writing.run("systemctl start keymoded")
        # The states are gone, or not, with the daemon that was stopped: see test_restart.py.
        is_kept = service.state(writing)["shift"] == "capsLock"
        expected = ["CAPSL on", "MISC off"] if is_kept else ["MISC off"]
        assert sorted(keyboard.switched(len(expected))) == expected
        writing.play("tap insert")
        assert keyboard.switched(2) == ["SCROLLL on", "MISC on"]


def test_leds_that_are_no_locks_do_not_wake_the_daemon(writing: VirtualMachine) -> None:
    with followed(writing, keyboard_with_leds(writing, "Blinking keyboard")) as keyboard:
        writing.play(CAPS_LOCK)
        assert keyboard.switched(1) == ["CAPSL on"]
        assert opened_for_writing(writing) == 2
        service.settled_state(writing)

        def blink() -> None:
            for value in (1, 0) * 5:
                keyboard.switch("KANA", value)
                keyboard.switch("SCROLLL", value)
            assert len(keyboard.switched(20)) == 20

        # The first time, it may still be busy with earlier events; a real wakeup recurs.
        assert any(waits(writing, blink) <= ALLOWED_WAITS for _ in range(3))


def test_shipped_unit_logs_one_refusal_to_write_and_keys_still_act(reading: VirtualMachine) -> None:
    with followed(reading, keyboard_with_leds(reading, "Dark keyboard")) as keyboard:
        watch = Watch(reading)
        reading.play(CAPS_LOCK)
        keyboard.send("INSERT+", "INSERT-", "ESC+", "ESC-")
        assert watch.states(4) == ["on", "capsLock", "editingText", "prepareToEditText"]
        reload(reading, LEDS)
        # The next LED is switched by the test, not by the daemon.
        keyboard.switch("MISC", 1)
        assert keyboard.switched(1) == ["MISC on"]
        assert [line for line in warnings(reading) if "Dark" in line] == [
            "the LEDs of 'Dark keyboard' show no states: "
            f"cannot write '{keyboard.path}': Operation not permitted"
        ]
        assert service.state(reading)["shift"] == "capsLock"


def test_reload_retries_a_node_without_write_permission(writing: VirtualMachine) -> None:
    writing.run("systemctl stop keymoded")
    keyboard = keyboard_with_leds(writing, "Guarded keyboard")
    writing.run(f"udevadm settle; stat --format '%a %G' {keyboard.path} | grep -x '660 input'")
    writing.run(f"chmod 640 {keyboard.path}; systemctl start keymoded")
    with followed(writing, keyboard):
        watch = Watch(writing)
        keyboard.send("INSERT+", "INSERT-")
        assert watch.states(1) == ["editingText"]
        reload(writing, LEDS)
        (warning,) = warnings(writing)
        assert warning.endswith(f"cannot write '{keyboard.path}': Permission denied")
        writing.run(f"chmod 660 {keyboard.path}; systemctl reload keymoded")
        assert keyboard.switched(2) == ["SCROLLL on", "MISC on"]
