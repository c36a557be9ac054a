"""Caps Lock and Num Lock, as the LEDs of keyboards in the guest show them."""

import contextlib
import os
import random
from collections.abc import Iterator

import pytest
from harness import service
from harness.keyboards import switch_console_locks_off
from harness.service import program, settled_state, wait_until_followed
from harness.typing import CAPS, NUM, Person
from harness.vm import VirtualMachine
from harness.watch import Watch

# Only the keyboards that the tests make.
OWN_KEYBOARDS = 'devices: { only: ["*keyboard of a test"] }\n'

# How many LEDs are switched at random.
RANDOM_LEDS = int(os.environ.get("KEYMODED_LEDS", "100"))

MACHINES = {NUM: "num", CAPS: "caps"}


@pytest.fixture
def guest(installed: VirtualMachine) -> Iterator[VirtualMachine]:
    """The guest with the service, which follows only keyboards of a test: none yet."""
    switch_console_locks_off(installed)
    with service.cleared_away(installed):
        service.configure(installed, OWN_KEYBOARDS)
        installed.run(f"{service.STOP}; systemctl start {service.UNITS}")
        yield installed


@contextlib.contextmanager
def keyboard(guest: VirtualMachine, name: str) -> Iterator[Person]:
    """A keyboard with the three LEDs, off, that the service follows."""
    with Person(guest, f"{name} keyboard of a test") as person:
        wait_until_followed(guest, person.name)
        yield person


def locks(guest: VirtualMachine) -> dict[str, bool | None]:
    """The locks, after all that was reported before."""
    found: dict[str, bool | None] = settled_state(guest)["locks"]
    return found


def moves(watch: Watch, count: int) -> list[tuple[str, str, str]]:
    """The machine, the event and the new state of the next changes."""
    return [(change["machine"], change["event"], change["to"]) for change in watch.changes(count)]


def test_lock_is_on_while_a_keyboard_shows_it_and_unknown_without_keyboards(
    guest: VirtualMachine,
) -> None:
    watch = Watch(guest)
    assert locks(guest) == {"caps": None, "num": None}
    with keyboard(guest, "First") as first:
        assert moves(watch, 2) == [("caps", "ledOff", "off"), ("num", "ledOff", "off")]
        first.switch(CAPS, True)
        assert moves(watch, 1) == [("caps", "ledOn", "on")]
        with keyboard(guest, "Second") as second:
            second.switch(CAPS, True)
            first.switch(CAPS, False)
            # The two disagree, and one shows it.
            assert locks(guest) == {"caps": True, "num": False}
            second.switch(NUM, True)
            assert moves(watch, 1) == [("num", "ledOn", "on")]
            read = guest.run("keymodectl state caps; keymodectl state num").stdout
            assert read == "on\non\n"
        # The keyboard that showed them is gone.
        assert moves(watch, 2) == [("caps", "ledOff", "off"), ("num", "ledOff", "off")]
    assert moves(watch, 2) == [("caps", "ledGone", "unknown"), ("num", "ledGone", "unknown")]
    assert watch.rest(guest)[:-1] == []


def test_lit_led_at_the_start_is_news_and_at_a_restart_only_if_it_has_changed(
    guest: VirtualMachine,
) -> None:
    with keyboard(guest, "Lit") as lit:
        guest.run(service.STOP)
        lit.switch(CAPS, True)
        guest.run(f"systemctl start {service.UNITS}")
        wait_until_followed(guest, lit.name)
        assert locks(guest) == {"caps": True, "num": False}
        sequence = service.state(guest)["sequence"]
        for end in ("systemctl restart keymoded", "systemctl kill --signal KILL keymoded"):
            before = service.main_pid(guest)
            guest.run(end)
            guest.wait_until(f"[ $({service.MAIN_PID}) -gt 0 -a $({service.MAIN_PID}) != {before} ]")
            wait_until_followed(guest, lit.name)
            assert locks(guest) == {"caps": True, "num": False}
            assert service.state(guest)["sequence"] == sequence, "nothing is news"
        guest.run("systemctl kill --signal STOP keymoded")
        lit.switch(CAPS, False)
        service.kill(guest)
        wait_until_followed(guest, lit.name)
        assert locks(guest) == {"caps": False, "num": False}
        assert service.state(guest)["sequence"] == sequence + 1


def test_leds_switched_at_random_are_those_of_a_model(guest: VirtualMachine) -> None:
    choose = random.Random(11)
    with keyboard(guest, "First") as first, keyboard(guest, "Second") as second:
        shown = {(device, led): False for device in (first, second) for led in MACHINES}
        expected = {"caps": False, "num": False}
        assert locks(guest) == expected
        watch = Watch(guest)
        changes = []
        for _ in range(RANDOM_LEDS):
            device, led = choose.choice([*shown])
            is_on = choose.random() < 0.5
            device.switch(led, is_on)
            shown[device, led] = is_on
            lock = MACHINES[led]
            now = shown[first, led] or shown[second, led]
            if now != expected[lock]:
                changes.append((lock, *(("ledOn", "on") if now else ("ledOff", "off"))))
            expected[lock] = now
            assert locks(guest) == expected
        assert len(changes) > RANDOM_LEDS / 10
        assert moves(watch, len(changes)) == changes
        assert watch.rest(guest)[:-1] == []


def test_led_that_a_grab_hides_is_asked_for(guest: VirtualMachine) -> None:
    with keyboard(guest, "Grabbed") as grabbed, keyboard(guest, "Free") as free:
        assert locks(guest) == {"caps": False, "num": False}
        grab = guest.start(f"exec {program(guest, 'grab')} {grabbed.node}")
        grab.wait_for("^grabbed$")
        grabbed.switch(CAPS, True)
        free.switch(NUM, True)
        assert locks(guest) == {"caps": True, "num": True}
        grabbed.switch(CAPS, False)
        free.switch(NUM, False)
        assert locks(guest) == {"caps": False, "num": False}
        grab.kill()
        grab.wait()


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
