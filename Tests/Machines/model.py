"""What keymoded's pages say of machines, chords, times and Shift, as a program of its own.

It is written from the pages alone, not from keymoded's code, so that a rule that the code misreads
shows as a difference. It is as plain as possible and takes no care of speed.

It has the keyboard machine, machines of one's own, and Shift with the default settings. It leaves
out, and generate.py avoids: debounce, shift.timeout and the other triggers of Shift; locks, LEDs and
lost events; keys that move the cursor and buttons of pointers; two Shifts that are down together;
events less than 1 ms from one of Shift (a remapped Shift); a key on two devices of one keyboard;
inputs of several devices at one time; repeats after another event; reloads and restarts.

The pages leave these open, and the model reads them so:
1. Of what is due at one time, holds come first, as today, then the `after` rows, the keyboard's
   before those of the others, which are in the order of their names.
2. A press that only `Any+` chords match is no "other key" for the taps of chords either.
3. "There is no tap after a hold" is meant within one machine; generate.py avoids the difference.
4. A device that goes away ends its keys by `release` alone, and no key that it takes along is tapped;
   then comes `gone`. generate.py unplugs at most one bound key that is down, and none that could be
   tapped; and one chord alone has `gone`, whose order among chords is open.
5. `gone` comes whether the key is still down or not, and once after a press. Its press is one that
   the chord took in this machine.
6. In a replay, the `after` row of an initial state counts from the first input.
7. The modifiers of a chord may be held on any device, and "no other key" means: on no device.
8. A chord whose only use is `gone`, or `release`, is bound all the same: it types no character.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import count

LEFT_SHIFT, RIGHT_SHIFT, RIGHT_ALT = 42, 54, 100
SHIFTS = (LEFT_SHIFT, RIGHT_SHIFT)
MODIFIERS = {
    LEFT_SHIFT: "Shift", RIGHT_SHIFT: "Shift", 29: "Ctrl", 97: "Ctrl", 56: "Alt",
    125: "Super", 126: "Super",
}  # fmt: skip
# The digits and letters. generate.py presses no other key that types a character.
CHARACTERS = {*range(2, 12), *range(16, 26), *range(30, 39), *range(44, 51)}

TAP_TIMEOUT_US = 200_000
THRESHOLD_US = 500_000

Modifiers = frozenset[str]
NONE: Modifiers = frozenset()


@dataclass(frozen=True)
class Chord:
    """A key with exactly these modifiers, or with any (`Any+KEY`) if they are None."""

    key: int
    modifiers: Modifiers | None = NONE


@dataclass(frozen=True)
class Binding:
    """An event for one use of a chord: press, release, tap, hold or gone."""

    event: str
    chord: Chord
    use: str = "press"
    hold_us: int = 0


@dataclass
class Table:
    """A machine: rows by state and event, rows by time, and its keys."""

    name: str
    initial: str
    rows: dict[str, dict[str, str]]
    after: dict[str, tuple[int, str]] = field(default_factory=dict)
    bindings: list[Binding] = field(default_factory=list)

    def taken(self, key: int, modifiers: Modifiers) -> Chord | None:
        """The chord that takes a press: the exact one with all its uses, otherwise `Any+`."""
        chords = {binding.chord for binding in self.bindings}
        wanted = (Chord(key, modifiers), Chord(key, None))
        return next((chord for chord in wanted if chord in chords), None)

    def uses(self, chord: Chord, use: str) -> list[Binding]:
        """The bindings of a chord to this use; the configuration has at most one."""
        return [each for each in self.bindings if (each.chord, each.use) == (chord, use)]


def shipped_keyboard() -> Table:
    """The keyboard machine without a configuration."""
    keys = {
        "clickSwitchButton": (70, 0x24A),  # Scroll_Lock, Dictate
        "clickMoreButton": (127, 0x249),  # Menu, Emoji_Picker
        "tapTextField": (110,),  # Insert
        "tapBlankArea": (1,),  # Esc
    }
    switch, more, text, blank = keys
    return Table(
        name="keyboard",
        initial="prepareToEditText",
        rows={
            "prepareToEditText": {
                switch: "prepareToRecord", more: "showingPanel", text: "editingText",
            },
            "prepareToRecord": {switch: "editingText", more: "showingPanel"},
            "editingText": {
                switch: "prepareToRecord", more: "showingPanel", blank: "prepareToEditText",
            },
            "showingPanel": {
                switch: "prepareToRecord", more: "prepareToEditText", text: "editingText",
                blank: "prepareToEditText",
            },
        },
        bindings=[Binding(event, Chord(code)) for event in keys for code in keys[event]],
    )  # fmt: skip


@dataclass(frozen=True)
class Key:
    """A press (1), a release (0) or a repeat (2) of a key."""

    time: int
    device: int
    code: int
    value: int


@dataclass(frozen=True)
class Gone:
    """The removal of a device."""

    time: int
    device: int


Input = Key | Gone


@dataclass(frozen=True)
class Change:
    """What keymoded publishes, without the number."""

    time: int
    machine: str
    before: str
    after: str
    event: str


@dataclass
class Press:
    """A key that is down."""

    time: int
    number: int
    types: bool
    # The machines that took the press, by index, each with its chord.
    chords: dict[int, Chord]
    alone: bool = True
    # The holds that are to come, by machine: when, and the event.
    holds: dict[int, tuple[int, str]] = field(default_factory=dict)
    was_held: set[int] = field(default_factory=set)


class Model:
    """All machines, driven by inputs in the order of their times."""

    def __init__(self, tables: Iterable[Table]) -> None:
        """Takes the keyboard, which may be left out if it is the shipped one, and the others."""
        by_name = {table.name: table for table in (shipped_keyboard(), *tables)}
        others = sorted(by_name.keys() - {"keyboard"}, key=str.encode)
        self.tables = [by_name["keyboard"], *(by_name[name] for name in others)]
        self.states = {table.name: table.initial for table in self.tables} | {"shift": "off"}
        self.changes: list[Change] = []
        self.down: dict[tuple[int, int], Press] = {}
        self._numbers = count()
        # When the present state of each machine ends by itself, by index.
        self._deadlines: dict[int, int] = {}
        self._begun = False
        # The device of the last press of each chord that a machine took.
        self._last_device: dict[tuple[int, Chord], int] = {}
        self._turned_on = 0
        # Shift before the press that can still be taken back: the state, and when it turned on.
        self._before_press: tuple[str, int] | None = None

    def run(self, inputs: Iterable[Input], longer_us: int = 0) -> list[Change]:
        """The changes that these inputs make, and the time after the last of them.

        A replay ends with its last input; with the daemon, time goes on.
        """
        time = 0
        for each in inputs:
            time = each.time
            self.take(each)
        self._pass(time + longer_us)
        return self.changes

    def take(self, taken: Input) -> None:
        """Takes one input, after everything that is due by its time."""
        if not self._begun:
            self._begun = True
            for index, table in enumerate(self.tables):
                self._enter(index, table.initial, taken.time)
        self._pass(taken.time)
        if isinstance(taken, Gone):
            self._remove(taken)
        elif taken.value == 1:
            self._press(taken)
        elif taken.value == 0:
            self._release(taken.time, (taken.device, taken.code), taps=True)
        elif self.down[taken.device, taken.code].types:
            self._type(taken.time)

    def deadlines(self) -> list[int]:
        """The times of everything that is still to come by itself."""
        holds = [due for press in self.down.values() for due, _ in press.holds.values()]
        return sorted([*holds, *self._deadlines.values()])

    # Time

    def _pass(self, time: int) -> None:
        """Does everything that is due by this time, each with its own time."""
        while True:
            due = [
                (when, 0, press.number, index, press)
                for press in self.down.values()
                for index, (when, _) in press.holds.items()
            ]
            due += [(when, 1, 0, index, None) for index, when in self._deadlines.items()]
            first = min(due, key=lambda each: each[:4], default=None)
            if first is None or first[0] > time:
                return
            when, _, _, index, press = first
            if press is None:
                self._change(index, self._after(index)[1], "timedOut", when)
            else:
                press.was_held.add(index)
                self._send(index, press.holds.pop(index)[1], when)

    def _after(self, index: int) -> tuple[int, str]:
        table = self.tables[index]
        return table.after[self.states[table.name]]

    # States

    def _send(self, index: int, event: str, time: int) -> None:
        """Sends an event to one machine; without a row it changes nothing."""
        table = self.tables[index]
        target = table.rows[self.states[table.name]].get(event)
        if target is not None:
            self._change(index, target, event, time)

    def _change(self, index: int, target: str, event: str, time: int) -> None:
        name = self.tables[index].name
        self.changes.append(Change(time, name, self.states[name], target, event))
        self._enter(index, target, time)

    def _enter(self, index: int, state: str, time: int) -> None:
        table = self.tables[index]
        self.states[table.name] = state
        self._deadlines.pop(index, None)
        if state in table.after:
            self._deadlines[index] = time + table.after[state][0]

    # Keys

    def _press(self, key: Key) -> None:
        modifiers = frozenset(MODIFIERS[code] for _, code in self.down if code in MODIFIERS)
        chords = {
            index: chord
            for index, table in enumerate(self.tables)
            if (chord := table.taken(key.code, modifiers))
        }
        # A press that only `Any+` chords match leaves Shift and all taps alone.
        aside = bool(chords) and all(chord.modifiers is None for chord in chords.values())
        shortcut = bool(modifiers - {"Shift"})
        types = key.code in CHARACTERS and not chords and not shortcut
        if not aside:
            for press in self.down.values():
                press.alone = False
            if key.code in SHIFTS:
                if not shortcut:
                    self._press_shift(key.time)
            elif types:
                self._type(key.time)
            elif key.code != RIGHT_ALT:
                self._take_back(key.time)
        press = Press(key.time, next(self._numbers), types, chords)
        self.down[key.device, key.code] = press
        for index, chord in chords.items():
            self._last_device[index, chord] = key.device
            table = self.tables[index]
            for binding in table.uses(chord, "press"):
                self._send(index, binding.event, key.time)
            for binding in table.uses(chord, "hold"):
                press.holds[index] = (key.time + binding.hold_us, binding.event)

    def _release(self, time: int, key: tuple[int, int], taps: bool) -> None:
        press = self.down.pop(key)
        if key[1] in SHIFTS:
            self._before_press = None
        in_time = taps and press.alone and time - press.time < TAP_TIMEOUT_US
        for use in ("tap", "release"):
            for index, chord in press.chords.items():
                if use == "release" or (in_time and index not in press.was_held):
                    for binding in self.tables[index].uses(chord, use):
                        self._send(index, binding.event, time)

    def _remove(self, gone: Gone) -> None:
        for key in sorted(key for key in self.down if key[0] == gone.device):
            self._release(gone.time, key, taps=False)
        for index, chord in sorted(self._last_device, key=lambda each: (each[0], each[1].key)):
            if self._last_device[index, chord] == gone.device:
                del self._last_device[index, chord]
                for binding in self.tables[index].uses(chord, "gone"):
                    self._send(index, binding.event, gone.time)

    # Shift, whose trigger is `press`

    def _set_shift(self, state: str, event: str, time: int) -> None:
        self.changes.append(Change(time, "shift", self.states["shift"], state, event))
        self.states["shift"] = state

    def _press_shift(self, time: int) -> None:
        state = self.states["shift"]
        self._before_press = (state, self._turned_on)
        locks = state == "on" and time - self._turned_on < THRESHOLD_US
        target = "on" if state == "off" else "capsLock" if locks else "off"
        if target == "on":
            self._turned_on = time
        self._set_shift(target, "shiftPressed", time)

    def _type(self, time: int) -> None:
        """A character, which ends `on`. No earlier press of Shift is taken back after it."""
        self._before_press = None
        if self.states["shift"] == "on":
            self._set_shift("off", "characterTyped", time)

    def _take_back(self, time: int) -> None:
        """Undoes the press of a Shift that is held, because it is part of a shortcut."""
        if self._before_press is not None:
            state, self._turned_on = self._before_press
            self._before_press = None
            self._set_shift(state, "shiftUsed", time)
