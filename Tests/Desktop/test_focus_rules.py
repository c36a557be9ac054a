"""The rules of keymode-focus, which need no desktop."""

import copy
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from typing import Any

import pytest
from support.checkout import CHECKOUT

PREPARING, EDITING, PANEL = "prepareToEditText", "editingText", "showingPanel"
TAP, CLOSE = "tapTextField", "tapBlankArea"


def load_program() -> Any:
    """The program as a module. Nothing here needs what it imports of GLib."""
    loader = SourceFileLoader("keymode_focus", str(CHECKOUT / "data/libexec/keymode-focus"))
    spec = spec_from_loader(loader.name, loader)
    assert spec
    module = module_from_spec(spec)
    loader.exec_module(module)
    return module


program = load_program()


class Trial:
    """The rules, a clock, and a daemon whose text fields lead from one state to another."""

    def __init__(self, state: str | None) -> None:
        self.rules = program.Rules()
        self.milliseconds = 10_000
        self.enter(state)

    def enter(self, state: str | None) -> None:
        """The keyboard enters a state; None: nothing is known of it any more."""
        self.keyboard = (state, self.milliseconds) if state else None

    def step(self, word: str | int) -> str | None:
        """Waits, or does what the word says, and returns the event that is sent."""
        match word:
            case int():
                self.milliseconds += word
            case "field" | "none":
                self.rules.focus(word == "field", self.milliseconds / 1000)
            case "unknown":
                self.keyboard, self.known = None, self.keyboard
            case "known":
                self.keyboard = self.known
            case _:
                self.enter(word)
        if self.rules.wait(self.milliseconds / 1000) != 0:
            return None
        event, _ = self.rules.decide(self.keyboard, self.milliseconds / 1000)
        if event:
            self.enter(EDITING if event == TAP else PREPARING)
            self.rules.sent(event, True, self.keyboard)
        return event


# A first state, and what happens: waits in milliseconds, states that the keyboard enters, and fields
# that get the focus, or none. Each event is behind what it is sent for.
TIMELINES = {
    "a field is tapped in one state only": [
        *([PREPARING, "field", TAP], [EDITING, "field"], [PANEL, "field"]),
        *(["prepareToRecord", "field"], ["showingStickers", "field"]),
    ],
    "what began here ends 150 ms after the last field lost the focus": [
        [PREPARING, "field", TAP, 1000, "none", 149, 1, CLOSE, 1000],
        [PREPARING, "field", TAP, 1000, "none", 149, "field", 1000, "none", 149, 1, CLOSE],
        # The field loses the focus while the answer is on its way.
        [PREPARING, "field", TAP, "none", 150, CLOSE],
    ],
    "what another began does not end": [
        [EDITING, "field", 1000, "none", 1000],
        [PANEL, "field", 1000, EDITING, 1000, "none", 1000],
        [PANEL, "field", 1000, PREPARING, "none", 1000],
        [PREPARING, "field", TAP, 10, PANEL, 10, EDITING, 10, "none", 1000],
        [PREPARING, "field", TAP, 10, PREPARING, 10, EDITING, 10, "none", 1000],
    ],
    "after a key has left it, only the next focus leads back": [
        [PREPARING, "field", TAP, 10, PREPARING, 10, 1000, "none", 10, "field", TAP],
    ],
    "a field that got the focus just before the state gets it then": [
        [PANEL, "field", PREPARING, TAP],
        [PANEL, "field", 149, PREPARING, TAP],
        [PANEL, "field", 150, PREPARING],
        [PANEL, "field", 1000, PREPARING],
    ],
    "it does not if it was edited meanwhile, has lost the focus, or has led to an event": [
        [EDITING, "field", 10, PREPARING],
        [PANEL, "field", 10, EDITING, 10, PREPARING],
        [PANEL, "field", 10, "none", PREPARING],
        [PREPARING, "field", TAP, 10, PANEL, PREPARING],
    ],
    "what happens while the state is unknown counts when it is known": [
        [PREPARING, "unknown", 1000, "field", 1000, "known", TAP],
        [PANEL, "field", 1000, "unknown", 1000, PREPARING],
        [None, "field", 1000, PREPARING, TAP],
        [PREPARING, "field", TAP, "unknown", "none", 1000, EDITING, 1000],
    ],
    "what began here is known after an unknown state, and a field has time to come back": [
        [PREPARING, "field", TAP, "unknown", 1000, "known", "none", 150, CLOSE],
        [PREPARING, "field", TAP, "unknown", "none", 1000, "known", 149, "field", 1000],
        [PREPARING, "field", TAP, "none", 100, "unknown", 1000, "known", 149, 1, CLOSE],
    ],
}


@pytest.mark.parametrize("timelines", TIMELINES.values(), ids=TIMELINES)
def test_rules(timelines: list[list[str | int | None]]) -> None:
    for first, *words in timelines:
        assert first is None or isinstance(first, str)
        trial, happened = Trial(first), list[str | int]()
        for word in words:
            if word not in (TAP, CLOSE):
                event = trial.step(word)
                happened += [word] if event is None else [word, event]
        assert happened == words, first


def test_event_that_failed_changed_nothing_or_led_elsewhere_begins_nothing() -> None:
    for changed, after in [(False, EDITING), (True, "writing"), (False, None)]:
        trial = Trial(PREPARING)
        trial.rules.focus(True, 10)
        assert trial.rules.decide(trial.keyboard, 10) == (TAP, None)
        trial.rules.sent(TAP, changed, after and (after, 10_001))
        assert trial.step("none") is None
        assert trial.rules.wait(10) is None


def test_event_that_the_daemon_did_not_take_is_sent_again() -> None:
    rules, preparing, editing = program.Rules(), (PREPARING, None), (EDITING, 1)
    rules.focus(True, 10)
    assert rules.decide(preparing, 10) == (TAP, None)
    rules.sent(TAP, None, None)
    assert rules.wait(11) == 0
    assert rules.decide(None, 11) == (None, 1)
    assert rules.decide(preparing, 12) == (TAP, None)
    rules.sent(TAP, True, editing)
    assert rules.wait(12) is None
    rules.focus(False, 13)
    assert rules.decide(editing, 13.2) == (CLOSE, None)
    rules.sent(CLOSE, None, None)
    assert rules.wait(14.2) == 0
    # A window has yet to get its focus back, as after every time without a daemon.
    assert rules.decide(editing, 14.2) == (None, 0.15)
    assert rules.decide(editing, 14.35) == (CLOSE, None)
    rules.sent(CLOSE, True, preparing)
    assert rules.wait(20) is None


def test_wait_is_as_long_as_the_time_that_is_left() -> None:
    rules, keyboard = program.Rules(), (EDITING, 1)
    rules.focus(True, 1)
    rules.sent(TAP, True, keyboard)
    rules.focus(False, 2)
    assert round(rules.wait(2.05), 6) == 0.1
    assert rules.wait(2.2) == 0
    # Once a second while the state is unknown, and then the whole time again.
    assert rules.decide(None, 2.2) == rules.decide(None, 3.2) == (None, 1)
    assert rules.decide(keyboard, 4.2) == (None, 0.15)
    assert rules.decide(keyboard, 4.35) == (CLOSE, None)


FIELD, BUTTON, WINDOW, SECOND = ((":1.1", f"/{name}") for name in ("field", "button", "1", "2"))
FOREIGN, FOREIGN_WINDOW = (":1.2", "/field"), (":1.2", "/1")
NONE = (("", ""), None)
ASKED, IS, IS_NOT = ((FIELD, is_field) for is_field in (None, True, False))
ALL_LOST, ALL_KEPT = [NONE] * 4, [NONE, ASKED, IS, IS_NOT]

# An event, and what has the focus after it: where nothing had, and where FIELD had and was asked, was
# a text field, or was none. WINDOW is active before.
PAIRS = [
    (("focused", FIELD), [ASKED, ASKED, IS, IS_NOT]),
    (("focused", BUTTON), [(BUTTON, None)] * 4),
    (("focused", FOREIGN), [(FOREIGN, None)] * 4),
    (("unfocused", FIELD), ALL_LOST),
    (("unfocused", BUTTON), ALL_KEPT),
    (("unfocused", FOREIGN), ALL_KEPT),
    (("answered", FIELD, True), [NONE, IS, IS, IS_NOT]),
    (("answered", FIELD, False), [NONE, IS_NOT, IS, IS_NOT]),
    (("answered", FOREIGN, True), ALL_KEPT),
    (("closed", FIELD), ALL_LOST),
    (("closed", WINDOW), ALL_LOST),
    (("closed", SECOND), ALL_KEPT),
    (("closed", FOREIGN), ALL_KEPT),
    (("closed", FOREIGN_WINDOW), ALL_KEPT),
    (("activated", FOREIGN_WINDOW), ALL_KEPT),
    (("left", ":1.1"), ALL_LOST),
    (("left", ":1.2"), ALL_KEPT),
]


def focus_after(*events: tuple[Any, ...]) -> Any:
    """What has the focus after these events."""
    focus = program.Focus()
    for name, *arguments in events:
        getattr(focus, name)(*arguments)
    return focus


@pytest.mark.parametrize(("event", "expected"), PAIRS, ids=[str(event) for event, _ in PAIRS])
def test_focus_after_each_event(event: tuple[Any, ...], expected: list[Any]) -> None:
    focused = [("activated", WINDOW), ("focused", FIELD)]
    before = [focused[:1], focused, *([*focused, ("answered", FIELD, is_)] for is_ in (True, False))]
    after = [focus_after(*events, event) for events in before]
    assert [(focus.node, focus.is_field) for focus in after] == expected


def test_next_window_of_a_program_has_the_focus_whatever_the_order_of_a_toolkit() -> None:
    start = [("activated", WINDOW), ("focused", FIELD), ("answered", FIELD, True)]
    told = [("focused", BUTTON), ("answered", BUTTON, True)]
    for events in (
        [("closed", WINDOW), ("unfocused", FIELD), ("activated", SECOND), *told],  # GTK 3
        [("unfocused", FIELD), ("closed", WINDOW), *told, ("activated", SECOND)],  # GTK 4
        [("activated", SECOND), *told, ("closed", WINDOW)],  # Qt
    ):
        focus = focus_after(*start, *events)
        assert (focus.node, focus.is_field, focus.window) == (BUTTON, True, SECOND)


def test_program_that_tells_of_no_window_loses_the_focus_with_any() -> None:
    for start in ([], [("activated", FOREIGN_WINDOW)]):
        assert focus_after(*start, ("focused", FIELD), ("closed", WINDOW)).node == ("", "")


def test_program_that_hangs_or_has_lost_the_focus_does_not_get_it_back() -> None:
    focus = focus_after(("focused", FIELD), ("answered", FIELD, True), *VISITS["GTK 4"])
    assert focus.news() == (False, FIELD), "counts only once its program has answered"
    focus.answered(FIELD, True, False)
    assert (focus.node, focus.news()) == (("", ""), (False, None))
    for told in (("unfocused", FIELD), ("closed", WINDOW), ("left", ":1.1")):
        focus = focus_after(("focused", FIELD), ("focused", FOREIGN), told, ("unfocused", FOREIGN))
        assert focus.node == ("", "")


def test_window_that_is_gone_is_not_active() -> None:
    for event in (("closed", WINDOW), ("left", ":1.1")):
        assert focus_after(("activated", WINDOW), event).window == ("", "")
        assert focus_after(("activated", FOREIGN_WINDOW), event).window == FOREIGN_WINDOW


# What a program tells that loses the focus of the desktop, and then is killed; and what an editor tells
# that opens meanwhile, and loses the focus for a moment, as by a key of another keyboard.
LOSSES = {
    "GTK 3": [("closed", WINDOW), ("unfocused", FIELD), ("left", ":1.1")],
    "GTK 4": [("unfocused", FIELD), ("closed", WINDOW), ("left", ":1.1")],
    "killed at once": [("left", ":1.1")],
}
_OPENED, _FOCUSED = ("activated", FOREIGN_WINDOW), ("focused", FOREIGN)
_CLOSED, _UNFOCUSED = ("closed", FOREIGN_WINDOW), ("unfocused", FOREIGN)
OPENINGS = {
    "GTK 3": [_OPENED, _FOCUSED, _FOCUSED, _CLOSED, _UNFOCUSED, _OPENED, _FOCUSED, _FOCUSED],
    "GTK 4": [_FOCUSED, _OPENED, _UNFOCUSED, _CLOSED, _FOCUSED, _OPENED],
    "Qt": [_OPENED, _FOCUSED, _CLOSED, _OPENED, _FOCUSED],
}

# What a program tells that loses the focus for a moment, and what another tells that has it meanwhile.
RETURNS = {
    "GTK 3": [*LOSSES["GTK 3"][:2], ("activated", WINDOW), ("focused", FIELD), ("focused", FIELD)],
    "GTK 4": [*LOSSES["GTK 4"][:2], ("focused", FIELD), ("activated", WINDOW)],
    "too slow to notice": [],
}
VISITS = {
    "GTK 3": [_OPENED, _FOCUSED, _FOCUSED, _CLOSED, _UNFOCUSED],
    "GTK 4": [_FOCUSED, _OPENED, _UNFOCUSED, _CLOSED],
    "killed": [_OPENED, _FOCUSED, ("left", ":1.2")],
}


class Bus:
    """A bus, on which two programs tell of their focus, and who follows it."""

    def __init__(self, *told: list[tuple[Any, ...]]) -> None:
        self.focus = focus_after(("activated", WINDOW), ("focused", FIELD), ("answered", FIELD, True))
        self.has_field, self.asked = self.focus.news()
        self.left = told

    def steps(self) -> list[str | int]:
        """What can happen next: a program tells something, the answer comes, or what was told counts."""
        steps: list[str | int] = [number for number, left in enumerate(self.left) if left]
        return [*steps, *(["answer"] if self.asked else []), "news"]

    def after(self, step: str | int) -> "Bus":
        """The bus after this step."""
        after = copy.deepcopy(self)
        match step:
            case int():
                name, *arguments = after.left[step].pop(0)
                getattr(after.focus, name)(*arguments)
            case "answer":
                after.focus.answered(after.asked, True)
                after.asked = None
            case _:
                after.has_field, after.asked = after.focus.news() or (after.has_field, after.asked)
        return after

    def key(self) -> str:
        """Two buses with the same key go on in the same ways."""
        return str((vars(self.focus), self.has_field, self.asked, self.left))


@pytest.mark.parametrize("opening", OPENINGS.values(), ids=OPENINGS)
@pytest.mark.parametrize("loss", LOSSES.values(), ids=LOSSES)
def test_editor_that_opens_while_another_program_is_killed_has_the_focus_in_every_order(
    loss: list[tuple[Any, ...]], opening: list[tuple[Any, ...]]
) -> None:
    expect_focus_in_every_order(FOREIGN, loss, opening)


@pytest.mark.parametrize("visit", VISITS.values(), ids=VISITS)
@pytest.mark.parametrize("return_", RETURNS.values(), ids=RETURNS)
def test_program_that_has_the_focus_back_at_once_has_it_in_every_order(
    return_: list[tuple[Any, ...]], visit: list[tuple[Any, ...]]
) -> None:
    expect_focus_in_every_order(FIELD, return_, visit)


def expect_focus_in_every_order(node: tuple[str, str], *told: list[tuple[Any, ...]]) -> None:
    """Asserts that in the end this text field has the focus, whatever the order of the programs."""
    waiting = [Bus(*told)]
    seen, ends = {waiting[0].key()}, 0
    while waiting:
        bus = waiting.pop()
        following = {after.key(): after for after in map(bus.after, bus.steps())}
        if following.keys() == {bus.key()}:  # All is told and asked.
            assert (bus.focus.node, bus.has_field) == (node, True)
            ends += 1
        waiting += [after for key, after in following.items() if key not in seen]
        seen |= following.keys()
    assert ends > 0


@pytest.mark.parametrize(
    ("states", "role", "is_field"),
    [
        *(([1 << 7], 79, True), ([1 << 7, 1 << 10], 79, True), ([1 << 7, 1 << 11], 79, False)),
        *(([], 43, False), ([0, 0, 1 << 7], 43, False), ([0, 0], 60, True)),
    ],
)
def test_text_field_can_be_edited_or_is_a_terminal(
    states: list[int], role: int, is_field: bool
) -> None:
    assert program.is_text_field(states, role) is is_field


@pytest.mark.parametrize(
    ("address", "is_local"),
    [
        ("unix:path=/run/user/1000/at-spi/bus_0,guid=1", True),
        ("unix:path=/a;unix:abstract=/b", True),
        *((address, False) for address in ("", "autolaunch:", "tcp:host=127.0.0.1,port=1")),
        ("unix:path=/nowhere/bus;unixexec:path=/usr/bin/true", False),
        ("unixexec:path=/usr/bin/true;unix:path=/nowhere/bus", False),
    ],
)
def test_bus_is_one_of_unix_sockets(address: str, is_local: bool) -> None:
    assert program.is_local(address) is is_local
