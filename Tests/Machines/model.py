"""What keymoded's pages say of machines, chords, times and Shift, as a program of its own.

It is written from the pages alone, not from keymoded's code, so that a rule that the code misreads
shows as a difference. It is as plain as possible and takes no care of speed.

It has the keyboard machine, machines of one's own, and Shift with the default settings. It leaves
out, and generate.py avoids: debounce, shift.timeout and the other triggers of Shift; locks, LEDs and
lost events; keys that move the cursor and buttons of pointers; two Shifts that are down together;
events less than 1 ms from one of Shift (a remapped Shift); a key on two devices of one keyboard;
inputs of several devices at one time; repeats after another event.

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

Of reloads and restarts:
9. An initial state that no change has entered stays one of that kind when a reload makes another state
   the initial one.
10. What comes at one time, after a reload or a start, is in the order of the machines; releases are first
   in the order of the presses.
11. A key that the next daemon finds down is no press: it is a modifier, or its release is awaited. generate.py
   lets no key await its release that is down on two devices.
12. A Shift that was pressed before a restart is not taken back after it.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
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


@dataclass(frozen=True)
class Reload:
    """The daemon takes another configuration."""

    time: int
    tables: list[Table]


@dataclass(frozen=True)
class Restart:
    """The daemon is killed, and the next one starts, with another configuration if there is one."""

    killed: int
    time: int
    # The devices that there are now, and the keys that are down on them.
    devices: tuple[int, ...]
    down: tuple[tuple[int, int], ...]
    tables: list[Table] | None = None


Input = Key | Gone | Reload | Restart


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
    types: bool = False
    # The uses that are to come, by machine. A hold ends with its event.
    uses: dict[str, list[Binding]] = field(default_factory=dict)
    alone: bool = True
    was_held: set[str] = field(default_factory=set)

    def kinds(self) -> set[str]:
        """The kinds of uses that are to come: release, tap, hold."""
        return {use.use for uses in self.uses.values() for use in uses}

    def holds(self) -> list[tuple[int, str, Binding]]:
        """The holds that are to come: when, of which machine, and what."""
        return [
            (self.time + use.hold_us, name, use)
            for name, uses in self.uses.items()
            for use in uses
            if use.use == "hold"
        ]


def in_order(tables: Iterable[Table]) -> dict[str, Table]:
    """The keyboard, which may be left out if it is the shipped one, and the other machines."""
    by_name = {table.name: table for table in (shipped_keyboard(), *tables)}
    others = sorted(by_name.keys() - {"keyboard"}, key=str.encode)
    return {name: by_name[name] for name in ("keyboard", *others)}


def _has_use(tables: dict[str, Table], name: str, use: Binding) -> bool:
    """Whether a machine has this use of the key, in any chord."""
    return name in tables and any(
        replace(each, chord=use.chord) == use
        for each in tables[name].bindings
        if each.chord.key == use.chord.key
    )


class Model:
    """All machines, driven by inputs in the order of their times."""

    def __init__(self, tables: Iterable[Table], start: int | None = None) -> None:
        """Takes the machines, and when the daemon starts; in a replay that is the first input."""
        self.tables = in_order(tables)
        self.states = {table.name: table.initial for table in self.tables.values()} | {"shift": "off"}
        self.changes: list[Change] = []
        self.down: dict[tuple[int, int], Press] = {}
        self._numbers = count()
        # When each machine entered its present state, and the machines that no change has led there.
        self._entered = {} if start is None else dict.fromkeys(self.tables, start)
        self._unchanged = set(self.tables)
        # The time of the last change before the last start with another configuration.
        self._not_before = 0
        # The device of the last press of each chord that has `gone` in a machine.
        self._last_device: dict[tuple[str, Binding], int] = {}
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
            self.handle(each)
        self._pass(time + longer_us)
        return self.changes

    def handle(self, given: Input) -> None:
        """Handles one input, after everything that is due by its time."""
        if not self._entered:
            self._entered = dict.fromkeys(self.tables, given.time)
        if isinstance(given, Restart):
            self._restart(given)
            return
        self._pass(given.time)
        if isinstance(given, Gone):
            self._remove(given)
        elif isinstance(given, Reload):
            self._reload(given)
        elif given.value == 1:
            self._press(given)
        elif given.value == 0:
            self._release(given.time, (given.device, given.code), taps=True)
        elif self.down[given.device, given.code].types:
            self._type(given.time)

    def deadlines(self) -> list[int]:
        """The times of everything that is still to come by itself."""
        holds = [due for press in self.down.values() for due, _, _ in press.holds()]
        return sorted([*holds, *(due for due, _ in self._due_rows())])

    # Time

    def _due_rows(self) -> list[tuple[int, str]]:
        """When each machine leaves its state by a row by time, in the order of the machines."""
        return [
            (max(self._entered[name] + table.after[self.states[name]][0], self._not_before), name)
            for name, table in self.tables.items()
            if name in self._entered and self.states[name] in table.after
        ]

    def _pass(self, time: int) -> None:
        """Does everything that is due by this time, each with its own time."""
        names = list(self.tables)
        while True:
            holds = [
                (due, 0, press.number, names.index(name), press, use)
                for press in self.down.values()
                for due, name, use in press.holds()
            ]
            rows = [(due, 1, 0, names.index(name), None, None) for due, name in self._due_rows()]
            first = min([*holds, *rows], key=lambda each: each[:4], default=None)
            if first is None or first[0] > time:
                return
            due, _, _, number, press, use = first
            if press is None or use is None:
                self._time_out(names[number], due)
            else:
                press.was_held.add(names[number])
                press.uses[names[number]].remove(use)
                self._send(names[number], use.event, due)

    def _time_out(self, name: str, time: int) -> None:
        self._change(name, self.tables[name].after[self.states[name]][1], "timedOut", time)

    # States

    def _send(self, name: str, event: str, time: int) -> None:
        """Sends an event to one machine; without a row it changes nothing."""
        target = self.tables[name].rows[self.states[name]].get(event)
        if target is not None:
            self._change(name, target, event, time)

    def _change(self, name: str, target: str, event: str, time: int) -> None:
        self.changes.append(Change(time, name, self.states[name], target, event))
        self.states[name] = target
        self._entered[name] = time
        self._unchanged.discard(name)

    # Keys

    def _press(self, key: Key) -> None:
        modifiers = frozenset(MODIFIERS[code] for _, code in self.down if code in MODIFIERS)
        chords = {
            name: chord
            for name, table in self.tables.items()
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
        press = Press(key.time, next(self._numbers), types)
        self.down[key.device, key.code] = press
        for name, chord in chords.items():
            for binding in self.tables[name].uses(chord, "gone"):
                self._last_device[name, binding] = key.device
            for binding in self.tables[name].uses(chord, "press"):
                self._send(name, binding.event, key.time)
            kinds = ("release", "tap", "hold")
            later = [use for kind in kinds for use in self.tables[name].uses(chord, kind)]
            if later:
                press.uses[name] = later

    def _release(self, time: int, key: tuple[int, int], taps: bool) -> None:
        press = self.down.pop(key)
        if key[1] in SHIFTS:
            self._before_press = None
        self._send_uses(press, time, taps)

    def _send_uses(self, press: Press, time: int, taps: bool) -> None:
        """Sends what the end of a press does."""
        in_time = taps and press.alone and time - press.time < TAP_TIMEOUT_US
        for kind in ("tap", "release"):
            for name, uses in press.uses.items():
                if kind == "release" or (in_time and name not in press.was_held):
                    for use in uses:
                        if use.use == kind:
                            self._send(name, use.event, time)

    def _remove(self, gone: Gone) -> None:
        for key in sorted(key for key in self.down if key[0] == gone.device):
            self._release(gone.time, key, taps=False)
        for name in self.tables:
            for use in [use for where, use in self._last_device if where == name]:
                if self._last_device[name, use] == gone.device:
                    del self._last_device[name, use]
                    self._send(name, use.event, gone.time)

    # Reloads and restarts

    def _reload(self, reload: Reload) -> None:
        self._before_press = None
        tables = in_order(reload.tables)

        for press in self.down.values():
            ended = {
                name
                for name, uses in press.uses.items()
                if any(use.use == "release" and not _has_use(tables, name, use) for use in uses)
            }
            for name in [name for name in press.uses if name in ended]:
                for use in press.uses.pop(name):
                    if use.use == "release":
                        self._send(name, use.event, reload.time)
            press.uses = {
                name: [use for use in uses if _has_use(tables, name, use)]
                for name, uses in press.uses.items()
            }
        self._last_device = {
            (name, use): device
            for (name, use), device in self._last_device.items()
            if _has_use(tables, name, use)
        }
        self._replace(tables, reload.time)
        self._configure(reload.time)
        for due, name in self._due_rows():
            if due <= reload.time:
                self._time_out(name, reload.time)

    def _replace(self, tables: dict[str, Table], time: int) -> None:
        """Puts other machines in force, each in the state that it has, or else in its initial one."""
        removed = self.tables.keys() - tables.keys()
        added = tables.keys() - self.tables.keys()
        for name in removed:
            del self.states[name], self._entered[name]
        for name in added:
            self.states[name] = tables[name].initial
            self._entered[name] = time
        self._unchanged = (self._unchanged - removed) | added
        self.tables = tables

    def _configure(self, time: int) -> None:
        """Has the machines return to their initial states that have lost their present ones."""
        for name, table in self.tables.items():
            if self.states[name] not in table.rows:
                self._change(name, table.initial, "configured", time)

    def _restart(self, restart: Restart) -> None:
        self._pass(restart.killed)
        self._before_press = None
        self._last_device = {}
        awaited = self.down
        for press in awaited.values():
            press.uses = {
                name: [use for use in uses if use.use == "release"]
                for name, uses in press.uses.items()
            }
        self.down = {}
        for name in self._unchanged:
            self._entered[name] = restart.time
        if restart.tables is not None:
            self._replace(in_order(restart.tables), restart.time)
            self._not_before = max((each.time for each in self.changes), default=0)
            for press in awaited.values():
                press.uses = {
                    name: [use for use in uses if self._has(name, use.event)]
                    for name, uses in press.uses.items()
                    if name in self.tables
                }
        self._pass(restart.time)
        self._configure(restart.time)
        found = {key: Press(restart.time, next(self._numbers), alone=False) for key in restart.down}
        for key, press in awaited.items():
            if key in found:
                found[key].uses = press.uses
            else:
                self._send_uses(press, restart.time, taps=False)
        self.down = found

    def _has(self, name: str, event: str) -> bool:
        return any(event in row for row in self.tables[name].rows.values())

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
