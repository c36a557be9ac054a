"""Keyboard LEDs that show states, switched by the hardened service."""

import re
from collections.abc import Iterator
from contextlib import AbstractContextManager

import pytest
from harness import service
from harness.service import LOCKS_OFF, PATIENT, reload, wait_until_following
from harness.typing import CAPS, NUM, SCROLL, Person, followed
from harness.vm import VirtualMachine
from harness.watch import Watch
from support.checkout import CHECKOUT

EXAMPLE = CHECKOUT / "examples/leds/leds.conf"

KANA, MISC = 4, 8
"""The numbers of further LEDs."""

CAPS_LOCK = "tap shift; wait 100; tap shift"

# Tests do not type Scroll Lock and Caps Lock: the kernel's console would switch their LEDs.
LEDS = PATIENT + "leds: { capsLock: LED_CAPSL, editingText: [LED_SCROLLL, LED_MISC] }\n"


def keyboard(guest: VirtualMachine, name: str) -> AbstractContextManager[Person]:
    """A keyboard with all LEDs that the kernel knows, which the daemon follows."""
    return followed(guest, name, leds=[*range(9)])


@pytest.fixture
def reading(installed: VirtualMachine) -> Iterator[VirtualMachine]:
    """The guest, with the shipped service just started, configured to switch LEDs."""
    installed.run(LOCKS_OFF)
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


def warnings(guest: VirtualMachine) -> list[str]:
    """The lines about LEDs that the daemon has logged."""
    return [line for line in service.log(guest) if "LEDs" in line]


def test_leds_show_a_state_while_it_lasts_also_on_a_keyboard_that_comes_later(
    writing: VirtualMachine,
) -> None:
    with keyboard(writing, "First keyboard") as first:
        writing.play("tap insert")
        first.wait_for_leds(SCROLL, MISC)
        with keyboard(writing, "Second keyboard") as second:
            second.wait_for_leds(SCROLL, MISC)
            # Keys of this keyboard switch its LEDs.
            second.play("tap esc")
            second.wait_for_leds()
        writing.play(CAPS_LOCK)
        first.wait_for_leds(CAPS)
        writing.play("tap shift")
        first.wait_for_leds()
    assert warnings(writing) == [], "no warning about the unplugged keyboard either"


def test_reload_changes_leds_and_opens_keyboards_for_writing_only_if_it_has_some(
    writing: VirtualMachine,
) -> None:
    with keyboard(writing, "Reloaded keyboard") as reloaded:
        reload(writing, PATIENT)
        assert opened_for_writing(writing) == 0
        writing.play(CAPS_LOCK)
        reload(writing, PATIENT + "leds: { capsLock: LED_MISC, prepareToEditText: LED_KANA }\n")
        reloaded.wait_for_leds(KANA, MISC)
        # An LED without a state goes off, and so do those of a keyboard that is followed no more.
        reload(writing, LEDS)
        reloaded.wait_for_leds(CAPS)
        reload(writing, LEDS + "devices: { ignore: 'Reloaded*' }\n")
        reloaded.wait_for_leds()
        wait_until_following(writing, 1)


def test_stopping_switches_leds_off_and_starting_switches_them_as_they_must_be(
    writing: VirtualMachine,
) -> None:
    with keyboard(writing, "Lasting keyboard") as lasting:
        writing.play(CAPS_LOCK)
        lasting.wait_for_leds(CAPS)
        writing.run("systemctl stop keymoded")
        lasting.wait_for_leds()
        # Configured LEDs that were left on; the daemon leaves one without a state alone.
        for led in (MISC, NUM):
            lasting.switch(led, True)
        writing.run("systemctl start keymoded")
        # The states are gone, or not, with the daemon that was stopped: see test_restart.py.
        is_kept = service.state(writing)["states"]["shift"] == "capsLock"
        lasting.wait_for_leds(NUM, *([CAPS] if is_kept else []))
        writing.play("tap insert")
        lasting.wait_for_leds(NUM, *([CAPS] if is_kept else []), SCROLL, MISC)
        # A killed daemon switches nothing off; the next daemon finds the LEDs as they must be.
        service.kill(writing)
        wait_until_following(writing, 2)
        writing.play("tap esc")
        lasting.wait_for_leds(NUM, *([CAPS] if is_kept else []))


def test_shipped_unit_logs_one_refusal_to_write_and_keys_still_act(reading: VirtualMachine) -> None:
    with keyboard(reading, "Dark keyboard") as dark:
        watch = Watch(reading)
        reading.play(CAPS_LOCK)
        dark.play("tap insert; tap esc")
        assert watch.states(4) == ["on", "capsLock", "editingText", "prepareToEditText"]
        reload(reading, LEDS)
        assert [line for line in warnings(reading) if "Dark" in line] == [
            "the LEDs of 'Dark keyboard' show no states: "
            f"cannot write '{dark.node}': Operation not permitted"
        ]
        assert dark.leds() == []
        assert service.state(reading)["states"]["shift"] == "capsLock"
