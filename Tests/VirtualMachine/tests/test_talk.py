"""The recipe's talk key, as hands press it on a real keyboard device.

Tests/Machines has the rules of machines; here are those for which the kernel or systemd matters.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from harness import keys, service
from harness.service import MOST_TRIES
from harness.sessions import UPTIME, microseconds
from harness.talking import grabbed, kill_and_close_gate, reopen_gate, wait_for_gate
from harness.typing import Person, followed
from harness.vm import VirtualMachine
from harness.watch import Change, Monitor, Watch
from support.input_events import RELEASE, RIGHTCTRL
from support.talk import SETTINGS
from support.waiting import wait_until

KEYBOARD = "Talk keyboard"

TRAIL_US = 300_000
# Who holds the key longer does not tap it.
TAP_US = 200_000
# By how much the kernel's times of a hand may differ from the script, so that a tap is still a tap.
ALLOWED_US = 50_000
# How long after its release a hidden release may take to be found, with what a busy host adds.
CHECK_US = 250_000 + 50_000


@dataclass(frozen=True)
class Step:
    """A change that is expected: its event and its new state, and when, if that is exact."""

    event: str
    to: str
    at: int | None = None
    """The number of the key event whose time it has."""
    after_us: int = 0
    """How long after that."""
    machine: str = "talk"


def trailed(release: int | None) -> tuple[Step, Step]:
    """A release, by its number, and the end of what it leaves behind."""
    return (
        Step("release", "trailing", release),
        Step("timedOut", "silent", release, TRAIL_US),
    )


TWO_TAPS = "tap ctrl_r 60; wait 100; tap ctrl_r 60"
LATCHED = (
    Step("press", "talking", 0),
    Step("release", "trailing", 1),
    Step("press", "again", 2),
    Step("tap", "open", 3),
)

HANDS = {
    "hold": ("tap ctrl_r 500", (Step("press", "talking", 0), *trailed(1))),
    "short word": ("tap ctrl_r 150", (Step("press", "talking", 0), *trailed(1))),
    "brush": ("tap ctrl_r 5", (Step("press", "talking", 0), *trailed(1))),
    "two taps, and a tap that ends it": (
        f"{TWO_TAPS}; wait 500; tap ctrl_r 60",
        (*LATCHED, Step("press", "closing", 4), Step("tap", "silent", 5)),
    ),
    "two taps, and a hold that talks on": (
        f"{TWO_TAPS}; wait 500; tap ctrl_r 400",
        (*LATCHED, Step("press", "closing", 4), *trailed(5)),
    ),
    "press while trailing": (
        "tap ctrl_r 400; wait 150; tap ctrl_r 400",
        (
            Step("press", "talking", 0),
            Step("release", "trailing", 1),
            Step("press", "again", 2),
            *trailed(3),
        ),
    ),
    "a press too late to latch": (
        "tap ctrl_r 60; wait 450; tap ctrl_r 60",
        (
            Step("press", "talking", 0),
            *trailed(1),
            Step("press", "talking", 2),
            *trailed(3),
        ),
    ),
    "Ctrl held": (
        "down ctrl; wait 50; tap ctrl_r 300; wait 50; up ctrl; wait 500",
        (Step("press", "talking", 1), *trailed(2)),
    ),
    "Ctrl held, and up first": (
        "down ctrl; wait 50; down ctrl_r; wait 50; up ctrl; wait 250; up ctrl_r",
        (Step("press", "talking", 1), *trailed(3)),
    ),
    "Shift held for a capital": (
        "down shift; wait 50; tap ctrl_r 300; wait 500; tap a; wait 50; up shift",
        (
            Step("shiftPressed", "on", 0, machine="shift"),
            Step("press", "talking", 1),
            *trailed(2),
            Step("characterTyped", "off", 3, machine="shift"),
        ),
    ),
    "Shift tapped for a capital": (
        "tap shift; wait 50; tap ctrl_r 300; wait 500; tap a",
        (
            Step("shiftPressed", "on", 0, machine="shift"),
            Step("press", "talking", 2),
            *trailed(3),
            Step("characterTyped", "off", 4, machine="shift"),
        ),
    ),
}  # fmt: skip

REACHED = {
    "silent": ("", ()),
    "talking": ("down ctrl_r; wait 100", LATCHED[:1]),
    "trailing": ("tap ctrl_r 60", LATCHED[:2]),
    "again": ("tap ctrl_r 60; wait 100; down ctrl_r", LATCHED[:3]),
    "open": (TWO_TAPS, LATCHED),
    "closing": (f"{TWO_TAPS}; wait 400; down ctrl_r", (*LATCHED, Step("press", "closing", 4))),
}
"""How each state is reached."""

HELD = ("talking", "again", "closing")
"""The states in which the key is down."""


@pytest.fixture(scope="module")
def guest(installed: VirtualMachine) -> Iterator[VirtualMachine]:
    """The guest, with a service that was just started with the recipe."""
    with service.configured(installed, SETTINGS):
        yield installed


@pytest.fixture
def hand(guest: VirtualMachine) -> Iterator[Person]:
    """A hand on a keyboard that the service follows, while the machine is silent."""
    if service.settled_state(guest)["states"]["talk"] != "silent":
        service.restart(guest)
    with followed(guest, KEYBOARD) as person:
        yield person


def expect(
    changes: list[Change], steps: tuple[Step, ...], stamps: list[int], *before: Change
) -> None:
    """Checks changes with their machines, events and states, and the times that are exact.

    Each machine goes on from the state that the changes `before` left it in.
    """
    first = changes[0]["sequence"]
    assert [change["sequence"] for change in changes] == [*range(first, first + len(steps))]
    present = {"shift": "off", "talk": "silent"}
    present |= {change["machine"]: change["to"] for change in before}
    for change, step in zip(changes, steps, strict=True):
        told = [change[member] for member in ("machine", "from", "to", "event")]
        assert told == [step.machine, present[step.machine], step.to, step.event], changes
        present[step.machine] = step.to
        if step.at is not None:
            assert change["time"] == stamps[step.at] + step.after_us, (step, changes, stamps)


def is_in_time(hand: Person, script: str) -> bool:
    """Whether the kernel's times of the last script are those that it asks for."""
    events = keys.parse(script)
    assert len(hand.stamps) == len(events)
    return all(
        abs(stamp - hand.stamps[0] - (event.at_ms - events[0].at_ms) * 1000) < ALLOWED_US
        for stamp, event in zip(hand.stamps, events, strict=True)
    )


def play(guest: VirtualMachine, hand: Person, script: str) -> Watch:
    """Plays a script from `silent`, and returns a watch that has its changes, and none before.

    Begins anew if the host was late.
    """
    for _ in range(MOST_TRIES):
        watch = Watch(guest)
        hand.play(script)
        if is_in_time(hand, script):
            return watch
        hand.play("up ctrl_r")
        service.restart(guest)
        service.wait_until_followed(guest, hand.name)
    raise AssertionError("the host was always late")


def reach(guest: VirtualMachine, hand: Person, state: str) -> tuple[Watch, list[Change]]:
    """Leads the machine from `silent` to a state; returns the changes, and a watch for further ones."""
    script, steps = REACHED[state]
    watch = play(guest, hand, script)
    changes = watch.changes(len(steps))
    if steps:
        expect(changes, steps, hand.stamps)
    if state in HELD:
        # The kernel sends the release of a key whose device goes away, which must not be a tap.
        wait_until_past(guest, hand.stamps[-1] + TAP_US)
    return watch, changes


def wait_until_past(guest: VirtualMachine, time: int) -> None:
    """Waits until the guest's time since its boot is past this."""
    while microseconds(guest.run(UPTIME)) <= time:
        pass


def expect_trail(watch: Watch | Monitor, before: list[Change], at: int | None = None) -> Change:
    """Waits for a release, and the end of what it leaves, exactly 300 ms after it; returns the release.

    `at`: the time of the release, if it is exact.
    """
    changes = watch.changes(2)
    expect(changes, trailed(None), [], *before)
    released, ended = changes
    assert ended["time"] - released["time"] == TRAIL_US
    assert at in (None, released["time"])
    return released


def without_time(state: dict[str, object]) -> dict[str, object]:
    """States without the time of the reply."""
    return {**state, "time": 0}


def test_hands(guest: VirtualMachine, hand: Person) -> None:
    for name, (script, steps) in HANDS.items():
        print(name)
        watch = play(guest, hand, script)
        expect(watch.changes(len(steps)), steps, hand.stamps)
        assert watch.rest(guest)[:-1] == [], f"nothing else is changed by {name}"
        # `rest` has shown the panel.
        guest.run("keymodectl trigger clickMoreButton")


def test_keyboard_that_is_unplugged_ends_what_it_began(guest: VirtualMachine, hand: Person) -> None:
    for state in REACHED:
        name = f"Pulled keyboard {state}"
        pulled = Person(guest, name)
        service.wait_until_followed(guest, name)
        watch, before = reach(guest, pulled, state)
        pulled.unplug()
        match state:
            case "silent":
                pass
            case "trailing":
                expect(watch.changes(1), trailed(1)[1:], pulled.stamps, *before)
            case "open":
                expect(watch.changes(1), (Step("gone", "silent"),), [], *before)
            case _:
                expect_trail(watch, before)
        service.wait_until_following(guest, 2)
        hand.play("tap ctrl_r 100")
        assert watch.states(3) == ["talking", "trailing", "silent"], f"nothing else after {state}"


def test_killed_daemon_keeps_each_state_and_sends_a_release_meanwhile(
    guest: VirtualMachine, gate: None, hand: Person
) -> None:
    for state in REACHED:
        # It ends by itself: see below.
        if state != "trailing":
            kill_in(state, guest, hand)


def kill_in(state: str, guest: VirtualMachine, hand: Person) -> None:
    """Kills the daemon in a state, and checks what becomes of it; ends in `silent`."""
    _, before = reach(guest, hand, state)
    told = service.state(guest)
    assert told["states"]["talk"] == state
    service.kill(guest)
    service.wait_until_followed(guest, KEYBOARD)
    assert without_time(service.settled_state(guest)) == without_time(told)
    kill_and_close_gate(guest)
    if state in HELD:
        hand.play("up ctrl_r")
    reopen_gate(guest)
    watch = Monitor(guest, after=told["sequence"], instance=told["instance"])
    service.wait_until_followed(guest, KEYBOARD)
    if state in HELD:
        expect_trail(watch, before)
    else:
        assert without_time(service.settled_state(guest)) == without_time(told)
        # The key still does what it did.
        hand.play("tap ctrl_r 60")
        (pressed,) = watch.changes(1)
        to = "closing" if state == "open" else "talking"
        expect([pressed], (Step("press", to, 0),), hand.stamps, *before)
        guest.run("keymodectl wait talk=silent --timeout 100")


def clients(guest: VirtualMachine) -> int:
    """The number of the daemon's clients."""
    return int(service.answer(guest, "GetStatistics")["clients"])


def test_killed_daemon_ends_trailing_when_it_was_due(
    guest: VirtualMachine, gate: None, hand: Person
) -> None:
    for _ in range(MOST_TRIES):
        told = service.state(guest)
        guest.run("touch /run/gate")
        # Only a program in the guest is quick enough.
        pid, others = service.main_pid(guest), clients(guest)
        killer = guest.start(
            f"keymodectl wait talk=trailing --timeout 20; kill -KILL {pid}; {UPTIME}"
        )
        wait_until(lambda: clients(guest) > others, "the killer to wait")
        hand.play("tap ctrl_r 60")
        killed = microseconds(killer.wait())
        wait_for_gate(guest)
        due = hand.stamps[1] + TRAIL_US
        wait_until_past(guest, due)
        reopen_gate(guest)
        # The press and the release, which the killed daemon has told.
        after = told["sequence"] + 2
        (ended,) = Monitor(guest, after=after, instance=told["instance"]).changes(1)
        assert ended["time"] == due
        assert (ended["from"], ended["to"], ended["event"]) == ("trailing", "silent", "timedOut")
        service.wait_until_followed(guest, KEYBOARD)
        # Otherwise it ended before.
        if killed < due:
            return
    raise AssertionError("never killed in time")


def test_another_programs_grab_hides_no_release(guest: VirtualMachine, hand: Person) -> None:
    watch, before = reach(guest, hand, "talking")
    with grabbed(guest, hand.node):
        pass
    # It ended while the key was down, which is no release.
    assert service.settled_state(guest)["states"]["talk"] == "talking"
    hand.play("up ctrl_r")
    expect_trail(watch, before, hand.stamps[0])

    for _ in range(MOST_TRIES):
        watch, before = reach(guest, hand, "talking")
        with grabbed(guest, hand.node) as grabber:
            assert service.settled_state(guest)["states"]["talk"] == "talking"
            hand.play("up ctrl_r")
            time, code, value = map(int, grabber.read_lines(1)[0].split())
            assert (code, value) == (RIGHTCTRL, RELEASE)
            found = expect_trail(watch, before)["time"]
            assert found > time
        # A busy host may wake the daemon late.
        if found - time <= CHECK_US:
            return
    raise AssertionError("the release was always found late")


def test_reload_that_removes_the_machine_in_open_ends_it_and_a_later_one_begins_in_silent(
    guest: VirtualMachine, hand: Person
) -> None:
    reach(guest, hand, "open")
    monitor = Monitor(guest)
    latched = monitor.told["state"]
    assert latched["states"]["talk"] == "open"
    service.reload(guest, "")
    removed = monitor.reply()
    assert (removed["changes"], removed["missed"], removed["restarted"]) == ([], 0, False)
    assert removed["state"]["sequence"] == latched["sequence"]
    assert [*removed["state"]["states"]] == ["shift", "keyboard", "caps", "num"]
    assert "talk" not in removed["state"]["since"]
    # Its key means nothing now.
    hand.play("tap ctrl_r 60")
    service.reload(guest, SETTINGS)
    again = monitor.reply()
    assert (again["changes"], again["state"]["sequence"]) == ([], latched["sequence"])
    assert again["state"]["states"] == {**latched["states"], "talk": "silent"}
    assert "talk" not in again["state"]["since"]
    hand.play("tap ctrl_r 300")
    steps = (Step("press", "talking", 0), *trailed(1))
    expect(monitor.changes(3), steps, hand.stamps)
