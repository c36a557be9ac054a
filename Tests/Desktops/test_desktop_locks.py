"""Caps Lock and Num Lock on a whole desktop: after another console, and with two keyboards."""

from desk import Desk
from harness.service import state
from harness.sessions import switch_to_console
from harness.typing import CAPS, NUM, Person


def wait_for_locks(desk: Desk, caps: str, num: str) -> None:
    """Waits until both locks are as they should be."""
    desk.run(f"keymodectl wait caps={caps} num={num} --timeout 100")


def expect_letters(desk: Desk, arrives: str) -> None:
    """Types abc at the prompt, of which the shell says that there is no such command."""
    desk.type("abc\n")
    assert desk.wait_for("([abcABC]+): not found")[1] == arrives


def test_locks_are_the_same_on_two_keyboards_and_after_another_console(desk: Desk) -> None:
    states = state(desk)["states"]
    print("at login:", states["caps"], states["num"])
    desk.look("login")
    with Person(desk, "First") as first, Person(desk, "Second") as second:
        for keyboard in (first, second):
            desk.wait_for_keyboard(keyboard.name)
        first.play("tap caps_lock")
        second.wait_for_caps(True)
        desk.run("keymodectl wait caps=on --timeout 100")
        expect_letters(desk, "ABC")

        switch_to_console(desk)
        # The console has its own lock, and the kernel has switched the LEDs off.
        desk.run("keymodectl wait caps=off --timeout 100")
        desk.come_back()
        expect_letters(desk, "ABC" if desk.desktop.keeps_caps else "abc")
        desk.look("back")
        if desk.desktop.lights_again:
            first.wait_for_caps(True)
            desk.run("keymodectl wait caps=on --timeout 100")
        else:
            assert CAPS not in first.leds() + second.leds()
            assert state(desk)["states"]["caps"] == "off"

        if desk.desktop.keeps_caps:
            second.play("tap caps_lock")
            first.wait_for_caps(False)
            desk.run("keymodectl wait caps=off --timeout 100")
            expect_letters(desk, "abc")
        second.play("tap caps_lock")
        desk.run("keymodectl wait caps=on --timeout 100")
    # Both are gone, and the machine's own has it still.
    expect_letters(desk, "ABC")
    assert state(desk)["states"]["caps"] == "on"


def test_num_lock_is_told_as_the_keyboard_shows_it(desk: Desk) -> None:
    before = state(desk)["states"]["num"]
    other = "off" if before == "on" else "on"
    with Person(desk, "First") as first:
        desk.wait_for_keyboard(first.name)
        for now in (other, before):
            desk.play("tap num_lock")
            desk.run(f"keymodectl wait num={now} --timeout 100")
            first.wait_for_leds(*([NUM] if now == "on" else []))
        assert CAPS not in first.leds()
