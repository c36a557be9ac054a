"""Caps Lock and Num Lock, as the LEDs of keyboards in the guest show them.

Tests/ProgramTests has their restarts and grabs.
"""

from collections.abc import Iterator
from contextlib import AbstractContextManager

import pytest
from harness import service
from harness.service import settled_state, wait_until_followed
from harness.sessions import switch_to_console
from harness.typing import CAPS, NUM, Person, followed
from harness.vm import VirtualMachine
from harness.watch import Watch

# Only the keyboards that the tests make.
OWN_KEYBOARDS = 'devices: { only: ["*keyboard of a test"] }\n'


@pytest.fixture
def guest(installed: VirtualMachine) -> Iterator[VirtualMachine]:
    """The guest with the service, which follows only keyboards of a test: none yet."""
    installed.run(service.LOCKS_OFF)
    with service.cleared_away(installed):
        service.configure(installed, OWN_KEYBOARDS)
        installed.run(f"{service.STOP}; systemctl start {service.UNITS}")
        yield installed


def keyboard(guest: VirtualMachine, name: str) -> AbstractContextManager[Person]:
    """A keyboard with the three LEDs, off, that the service follows."""
    return followed(guest, f"{name} keyboard of a test")


def locks(guest: VirtualMachine) -> dict[str, str]:
    """The locks, after all that was reported before."""
    states = settled_state(guest)["states"]
    return {lock: states[lock] for lock in ("caps", "num")}


def moves(watch: Watch, count: int) -> list[tuple[str, str, str]]:
    """The machine, the event and the new state of the next changes."""
    return [(change["machine"], change["event"], change["to"]) for change in watch.changes(count)]


def test_lock_is_on_while_a_keyboard_shows_it_and_unknown_without_keyboards(
    guest: VirtualMachine,
) -> None:
    watch = Watch(guest)
    assert locks(guest) == {"caps": "unknown", "num": "unknown"}
    with keyboard(guest, "First") as first:
        assert moves(watch, 2) == [("caps", "ledOff", "off"), ("num", "ledOff", "off")]
        first.switch(CAPS, True)
        assert moves(watch, 1) == [("caps", "ledOn", "on")]
        with keyboard(guest, "Second") as second:
            second.switch(CAPS, True)
            first.switch(CAPS, False)
            # The two disagree, and one shows it.
            assert locks(guest) == {"caps": "on", "num": "off"}
            second.switch(NUM, True)
            assert moves(watch, 1) == [("num", "ledOn", "on")]
            read = guest.run("keymodectl state caps; keymodectl state num").stdout
            assert read == "on\non\n"
        # The keyboard that showed them is gone.
        assert moves(watch, 2) == [("caps", "ledOff", "off"), ("num", "ledOff", "off")]
    assert moves(watch, 2) == [("caps", "ledGone", "unknown"), ("num", "ledGone", "unknown")]
    assert watch.rest(guest)[:-1] == []


def test_locks_follow_the_leds_beside_keyd_with_its_grab(guest: VirtualMachine) -> None:
    if guest.run("command -v keyd.rvaiya", check=False).exit_code != 0:
        pytest.skip("this Debian has no keyd")
    service.reload(guest, OWN_KEYBOARDS.replace("]", ', "keyd virtual keyboard"]'))
    with keyboard(guest, "Remapped") as remapped:
        guest.run("mkdir -p /etc/keyd; printf '[ids]\\n*\\n[main]\\n' >/etc/keyd/default.conf")
        keyd = guest.start("exec keyd.rvaiya")
        wait_until_followed(guest, "keyd virtual keyboard")
        watch = Watch(guest)
        for event, state in (("ledOn", "on"), ("ledOff", "off")):
            # The console gets the key from keyd, and switches the LEDs of all keyboards.
            remapped.play("tap caps_lock")
            assert moves(watch, 1) == [("caps", event, state)]
        keyd.terminate()
        keyd.wait()


def test_lock_that_a_desktop_lights_long_after_a_switch_of_consoles_is_told(
    guest: VirtualMachine,
) -> None:
    with keyboard(guest, "Slow"):
        watch = Watch(guest)
        # Without a report of the keyboard, as the kernel's console and Xorg switch it.
        named = "grep -l Slow /sys/class/input/input*/name"
        light = f'echo 1 >"$(dirname "$({named})")"/*::capslock/brightness'
        switch_to_console(guest, 1)
        switch_to_console(guest)
        # Longer than the first question of the daemon takes.
        guest.run(f"sleep 0.2; {light}")
        assert moves(watch, 1) == [("caps", "ledOn", "on")]
