"""What a person types, as it arrives on a console, in sway and in Xorg.

Each test runs on each of the three, with the keyboard of a person beside a virtual Shift.
"""

from collections.abc import Iterator

import pytest
from harness.typing import CAPS, CODES, NUM, SCREENS, Person, Screen, screen
from harness.vm import VirtualMachine


@pytest.fixture(scope="module", params=SCREENS)
def shown(desktop: VirtualMachine, request: pytest.FixtureRequest) -> Iterator[Screen]:
    """A console or desktop in front."""
    with screen(desktop, request.param) as shown:
        yield shown


@pytest.fixture(scope="module")
def person(desktop: VirtualMachine) -> Iterator[Person]:
    """Who types."""
    with Person(desktop) as person:
        yield person


# The harness


def test_a_keyboard_with_two_keys_makes_capitals_of_what_another_types(
    desktop: VirtualMachine, shown: Screen, person: Person
) -> None:
    two_keys = [CODES["shift"], CODES["caps_lock"]]
    with Person(desktop, "Two keys", two_keys, leds=(NUM, CAPS)) as other:
        shown.wait_for_keyboard(other.node)
        properties = desktop.run(f"udevadm info {other.node} | grep ID_INPUT_").stdout.split()
        assert properties == ["E:", "ID_INPUT_KEY=1"], "no desktop needs more"
        person.type("hello 1")
        assert shown.read(7) == "hello 1"
        other.play("down shift")
        person.type("a1")
        other.play("up shift")
        person.type("a1")
        assert shown.read(4) == "A!a1"
        for is_on, typed in ((True, "A1"), (False, "a1")):
            other.play("tap caps_lock")
            person.wait_for_caps(is_on)
            assert (CAPS in other.leds()) == is_on
            person.type("a1")
            assert shown.read(2) == typed
