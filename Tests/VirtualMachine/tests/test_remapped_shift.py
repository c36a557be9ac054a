"""A hand's Shift behind keyd, which lifts it for the keys of its layer `[shift]`."""

import re
from collections.abc import Iterator

import pytest
from harness import service
from harness.service import wait_until_followed
from harness.typing import CAPS, Person, followed
from harness.vm import VirtualMachine
from harness.watch import Watch

REMAPPED = "keyd virtual keyboard"

DEVICES = f'devices: {{ only: ["Remapped keyboard", "{REMAPPED}"] }}\n'

KEYD = r"[ids]\n*\n\n[shift]\nbackspace = delete\n1 = 1\nesc = grave\n"

# The time within which a key belongs to the Shift that is lifted for it.
LIMIT_US = 500

EVENT = re.compile(r"- \[ *(\d+), *(\d+), *1, *(\d+), *([01])\]")


@pytest.fixture
def hand(installed: VirtualMachine) -> Iterator[Person]:
    """A keyboard that keyd has grabbed, with `keymodectl shift` beside it."""
    if installed.run("command -v keyd.rvaiya", check=False).exit_code != 0:
        pytest.skip("this Debian has no keyd")
    with service.cleared_away(installed):
        service.configure(installed, DEVICES)
        installed.run(f"{service.STOP}; systemctl start {service.UNITS}")
        with followed(installed, "Remapped keyboard") as hand:
            installed.run(f"mkdir -p /etc/keyd; printf '{KEYD}' >/etc/keyd/default.conf")
            keyd = installed.start("exec keyd.rvaiya")
            wait_until_followed(installed, REMAPPED)
            installed.run("systemctl start keymoded-shift.service")
            yield hand
            installed.run("systemctl stop keymoded-shift.service; rm -r /etc/keyd")
            keyd.terminate()
            keyd.wait()


def lifts(recorded: str) -> list[tuple[int, int]]:
    """How long before and after a key keyd lifted Shift for it, in microseconds."""
    events = [[int(number) for number in event] for event in EVENT.findall(recorded)]
    times = [second * 1_000_000 + rest for second, rest, _, _ in events]
    keys = [(code, value) for _, _, code, value in events]
    ups = [place for place, key in enumerate(keys[:-3]) if key == (42, 0)]
    found = [place for place in ups if keys[place + 3] == (42, 1)]
    return [
        (times[place + 1] - times[place], times[place + 3] - times[place + 2]) for place in found
    ]


def changes(guest: VirtualMachine, hand: Person, keys: str, count: int) -> list[str]:
    """The changes of Shift by keys that the hand presses, for `count` of which keyd lifts Shift.

    If the emulated guest was too slow for keyd to be told from a hand, it tries again.
    """
    node = guest.run(
        f"grep -l '{REMAPPED}' /sys/class/input/event*/device/name | cut -d/ -f5"
    ).stdout.strip()
    slow = []
    for _ in range(service.MOST_TRIES):
        recorder = guest.start(f"exec keymodectl record --show-keycodes /dev/input/{node}")
        recorder.wait_for("events:")
        watch = Watch(guest)
        hand.play(f"{keys}; wait 300; tap a 30")
        recorder.wait_for(r"- \[.*, *1, *30, *0\]")
        told = [change for change in watch.rest(guest) if change["machine"] == "shift"]
        recorder.terminate()
        recorder.wait()
        lifted = lifts(recorder.stdout)
        assert len(lifted) == count, recorder.stdout
        if max(max(times) for times in lifted) < LIMIT_US:
            assert service.state(guest)["states"]["shift"] == "off"
            assert CAPS not in hand.leds()
            return [f"{change['event']}>{change['to']}" for change in told]
        slow.append(lifted)
        while service.state(guest)["states"]["shift"] != "off":
            hand.play("tap shift 30; wait 700; tap a 30; wait 300")
    pytest.skip(f"keyd took longer than {LIMIT_US} us in the guest each time: {slow}")


SHIFT_AND = "down shift; wait 100; tap {} 60; wait 60; up shift"


USED = ["shiftPressed>on", "shiftUsed>off"]
TYPED = ["shiftPressed>on", "characterTyped>off"]

# For the settings of Shift: what a key that types no character does to it, with an a after it, and what
# a character does.
EXPECTED = {
    "": (USED, TYPED),
    "trigger: tap": ([], []),
    "trigger: always": (TYPED, TYPED),
    "used_by: any": (USED, TYPED),
}


def test_remapped_keys_leave_shift_as_the_hands_keys_do(
    installed: VirtualMachine, hand: Person
) -> None:
    often = "; wait 60; ".join(["tap backspace 40"] * 3)
    for settings, (silent, character) in EXPECTED.items():
        service.reload(installed, f"{DEVICES}shift: {{ {settings} }}\n")
        assert changes(installed, hand, SHIFT_AND.format("backspace"), 1) == silent, settings
        for key in ("1", "esc"):
            assert changes(installed, hand, SHIFT_AND.format(key), 1) == character, settings
        keys = f"down shift; wait 60; {often}; wait 60; up shift"
        assert changes(installed, hand, keys, 3) == silent, settings
