"""Random configurations and logs of keys for the model, each from a seed.

Every configuration is valid by keymoded.yaml(5). model.py says what the logs avoid.
"""

import random
from collections.abc import Iterable
from dataclasses import replace

from model import (
    MODIFIERS,
    SHIFTS,
    TAP_TIMEOUT_US,
    THRESHOLD_US,
    Binding,
    Change,
    Chord,
    Gone,
    Input,
    Key,
    Model,
    Modifiers,
    Reload,
    Restart,
    Table,
    shipped_keyboard,
)

MS, SECOND = 1000, 1_000_000

KEY_NAMES = {59 + number: f"F{number + 1}" for number in range(10)} | {47: "V", 30: "A"}
# Keys that no configuration binds: three that type a character, and Tab and Enter.
FREE_KEYS = (44, 45, 2, 15, 28)
MODIFIER_KEYS = {"Ctrl": (29, 97), "Alt": (56,), "Super": (125, 126), "Shift": SHIFTS}
RIGHT_ALT = 100

MACHINES = ("talk", "mute", "layer2", "a", "zoom", "layer10", "keys")
STATES = ("silent", "talking", "open", "closing", "waiting", "last")
EVENTS = ("press", "release", "tap", "hold", "gone", "toggle")
DURATIONS = (
    MS, MS, 1001, 2 * MS, 5 * MS, 40 * MS, 100 * MS, 199 * MS, 200 * MS, 300 * MS,
    500 * MS, SECOND, 3 * SECOND, 600 * SECOND,
)  # fmt: skip
HOLDS = (300 * MS, 200 * MS, 500 * MS, SECOND)
SHORT_HOLDS = (*HOLDS, 1, MS, 50 * MS, 199 * MS)


# Configurations


def configuration(seed: int) -> list[Table]:
    """One to four machines of one's own and, for some seeds, a keyboard machine."""
    chance = random.Random(f"configuration {seed}")
    chords = [_chord(chance) for _ in range(chance.randint(2, 4))]
    if chance.random() < 0.5:
        # An exact chord and `Any+` of one key.
        chords.append(replace(chords[0], modifiers=None))
        chords.append(replace(chords[0], modifiers=chance.choice([frozenset(), frozenset({"Ctrl"})])))
    chords = sorted(set(chords), key=chord_name)
    # One chord alone has `gone`, because the pages give no order between chords.
    gone = chance.choice(chords)
    tables = []
    for name in chance.sample(MACHINES, chance.randint(1, 4)):
        states = STATES[: chance.randint(2, 6)]
        events = EVENTS[: chance.randint(2, 6)]
        tables.append(_machine(chance, name, states, events))
    if chance.random() < 0.4:
        tables.append(_keyboard(chance))
    for table in tables:
        _bind(chance, table, chords, gone)
    _lengthen_holds(chance, tables)
    return tables


def _chord(chance: random.Random) -> Chord:
    key = chance.choice(list(KEY_NAMES))
    if chance.random() < 0.4:
        return Chord(key, None)
    count = chance.choice([0, 0, 1, 1, 2])
    return Chord(key, frozenset(chance.sample(sorted(MODIFIER_KEYS), count)))


def _machine(
    chance: random.Random, name: str, states: tuple[str, ...], events: tuple[str, ...]
) -> Table:
    """A machine that reaches every state."""
    table = Table(name, states[0], {state: {} for state in states})
    for number, state in enumerate(states[1:], 1):
        while True:
            source = chance.choice(states[:number])
            free = [event for event in events if event not in table.rows[source]]
            if chance.random() < 0.2 and _add_after(chance, table, source, state):
                break
            if free:
                table.rows[source][chance.choice(free)] = state
                break
    for state in states:
        for event in events:
            if chance.random() < 0.3:
                table.rows[state].setdefault(event, chance.choice(states))
        if chance.random() < 0.5:
            _add_after(chance, table, state, chance.choice(states))
    return table


def _add_after(chance: random.Random, table: Table, state: str, target: str) -> bool:
    """Adds a row by time, unless there is one, or the `after` rows would be a circle.

    The pages hardly tell when the first state's time begins, so few first states have such a row.
    """
    if state in table.after or (state == table.initial and chance.random() < 0.8):
        return False
    following = target
    while following != state and following in table.after:
        following = table.after[following][1]
    if following == state:
        return False
    table.after[state] = (chance.choice(DURATIONS), target)
    return True


def _keyboard(chance: random.Random) -> Table:
    """The shipped table, with rows added, or one that replaces it."""
    if chance.random() < 0.3:
        return _machine(chance, "keyboard", STATES[: chance.randint(2, 4)], EVENTS[:4])
    table = shipped_keyboard()
    table.rows["showingStickers"] = {}
    table.rows["editingText"]["toggle"] = "showingStickers"
    table.rows["showingStickers"]["hold"] = "editingText"
    for state in table.rows:
        for event in ("press", "release"):
            if chance.random() < 0.5:
                table.rows[state][event] = chance.choice(list(table.rows))
        if chance.random() < 0.5:
            _add_after(chance, table, state, chance.choice(list(table.rows)))
    return table


def _bind(chance: random.Random, table: Table, chords: list[Chord], gone: Chord) -> None:
    """Binds some chords, each use once, and each use of a chord to another event."""
    shipped = shipped_keyboard().bindings
    reserved = {binding.event for binding in shipped}
    events = sorted({event for row in table.rows.values() for event in row} - reserved)
    for chord in chance.sample(chords, chance.randint(1, min(3, len(chords)))):
        uses = ["press", "release", "tap", "hold", *(["gone"] if chord == gone else [])]
        weights = [0.8, 0.6, 0.5, 0.4, 0.8]
        chosen = [use for use, weight in zip(uses, weights, strict=False) if chance.random() < weight]
        names = chance.sample(events, min(len(events), len(chosen)))
        for use, event in zip(chosen, names, strict=False):
            hold = chance.choice(SHORT_HOLDS) if use == "hold" else 0
            table.bindings.append(Binding(event, chord, use, hold))


def _lengthen_holds(chance: random.Random, tables: list[Table]) -> None:
    """No key is held for one machine before it may be tapped for another."""
    for table in tables:
        tapped = {
            each.chord.key
            for other in tables
            if other is not table
            for each in other.bindings
            if each.use == "tap"
        }
        table.bindings = [
            replace(each, hold_us=chance.choice(HOLDS))
            if each.use == "hold" and each.chord.key in tapped and each.hold_us not in HOLDS
            else each
            for each in table.bindings
        ]


# Other configurations, for reloads


def other_configuration(
    chance: random.Random, tables: list[Table], states: dict[str, str]
) -> list[Table]:
    """A configuration that shares much with this one, whose machines are in these states."""
    shipped = shipped_keyboard().bindings
    bindings = [each for table in tables for each in table.bindings if each not in shipped]
    more = [_chord(chance), _chord(chance)]
    chords = sorted({*(each.chord for each in bindings), *more}, key=chord_name)
    # One chord alone has `gone`, also of the presses before.
    gones = [each.chord for each in bindings if each.use == "gone"]
    gone = (gones or chords)[0]
    others = []
    for table in tables:
        what = chance.random()
        if what < 0.15:
            continue
        other = _copy(table)
        for _ in range(chance.choice([0, 1, 1, 2, 3])):
            changed = _copy(other)
            _change(chance, changed, states[table.name], chords, gone)
            if is_valid(changed):
                other = changed
        others.append(other)
    names = {table.name for table in tables}
    unused = [name for name in MACHINES if name not in names]
    if chance.random() < 0.4 and len(others) < 4:
        # A new machine, or all keys of another.
        table = _machine(chance, chance.choice(unused), STATES[: chance.randint(2, 6)], EVENTS[:5])
        _bind(chance, table, chords, gone)
        others.append(table)
    if "keyboard" not in names and chance.random() < 0.15:
        others.append(_keyboard(chance))
        _bind(chance, others[-1], chords, gone)
    _lengthen_holds(chance, others)
    return others


def _copy(table: Table) -> Table:
    rows = {state: dict(row) for state, row in table.rows.items()}
    return replace(table, rows=rows, after=dict(table.after), bindings=list(table.bindings))


def _change(
    chance: random.Random, table: Table, state: str, chords: list[Chord], gone: Chord
) -> None:
    """Changes one thing of a machine that is in this state. What comes may be invalid."""
    shipped = shipped_keyboard()
    own = [each for each in table.bindings if each not in shipped.bindings]
    reserved = {each.event for each in shipped.bindings}
    what = chance.randrange(6)
    if what == 0 and own:
        # Another event for a use, or another time of a hold.
        old = chance.choice(own)
        place = table.bindings.index(old)
        events = sorted({event for row in table.rows.values() for event in row} - reserved)
        table.bindings[place] = (
            replace(old, hold_us=chance.choice(HOLDS))
            if old.use == "hold" and chance.random() < 0.5
            else replace(old, event=chance.choice(events))
        )
    elif what == 1 and own:
        table.bindings.remove(chance.choice(own))
    elif what == 2:
        # A chord more, such as `Any+` beside an exact one.
        used = [each.chord for each in own]
        more = [*(replace(each, modifiers=None) for each in used), *chords]
        free = [each for each in more if each not in used]
        if free:
            _bind(chance, table, [chance.choice(free)], gone)
    elif what == 3:
        # A state less, which is often the present one.
        lost = state if chance.random() < 0.6 else chance.choice(list(table.rows))
        if lost in table.rows and lost != table.initial and table.name != "keyboard":
            del table.rows[lost]
            table.after.pop(lost, None)
            table.after = {each: row for each, row in table.after.items() if row[1] != lost}
            for row in table.rows.values():
                for event in [event for event in row if row[event] == lost]:
                    row[event] = chance.choice(list(table.rows))
    elif what == 4 and table.name != "keyboard":
        table.initial = chance.choice(list(table.rows))
    else:
        # Rows by time, of the present state above all.
        present = state if state in table.rows and chance.random() < 0.7 else None
        where = present or chance.choice(list(table.rows))
        table.after.pop(where, None)
        if chance.random() < 0.8:
            table.after[where] = (chance.choice(DURATIONS), chance.choice(list(table.rows)))


def is_valid(table: Table) -> bool:
    """Whether keymoded.yaml(5) allows this machine."""
    reached, more = set[str](), [table.initial]
    while more:
        state = more.pop()
        if state not in reached:
            reached.add(state)
            more += [*table.rows[state].values(), *table.after.get(state, ())[1:]]
    for state in table.after:
        passed = set[str]()
        while state in table.after and state not in passed:
            passed.add(state)
            state = table.after[state][1]
        if state in passed:
            return False
    events = {event for row in table.rows.values() for event in row}
    uses = {(each.chord, each.use) for each in table.bindings}
    sent = {(each.chord, each.event) for each in table.bindings}
    return (
        reached == table.rows.keys()
        and {each.event for each in table.bindings} <= events
        and len(uses) == len(sent) == len(table.bindings)
    )


# Configurations as YAML


def chord_name(chord: Chord) -> str:
    """The chord as a configuration has it."""
    modifiers = ["Any"] if chord.modifiers is None else sorted(chord.modifiers)
    return "+".join([*modifiers, KEY_NAMES.get(chord.key, str(chord.key))])


def duration(microseconds: int) -> str:
    """A time with the largest unit that gives a whole number."""
    units = (("m", 60 * SECOND), ("s", SECOND), ("ms", MS), ("us", 1))
    unit, size = next(each for each in units if microseconds % each[1] == 0)
    return f"{microseconds // size}{unit}"


def settings(tables: Iterable[Table]) -> str:
    """The configuration file with these machines."""
    machines, keyboard = [], []
    for table in tables:
        if table.name == "keyboard":
            keyboard = ["keyboard:", *_keyboard_lines(table)]
            continue
        machines += [f"  {table.name}:", f"    initial: {table.initial}"]
        machines += ["    rows:", *(f"      {line}" for line in _rows(table))]
        machines += _binding_lines(table, "    ")
    return "\n".join([*keyboard, *(["machines:"] if machines else []), *machines, ""])


def _rows(table: Table, shipped: Table | None = None) -> list[str]:
    lines = []
    for state, row in table.rows.items():
        known = shipped.rows.get(state, {}) if shipped else {}
        cells = [f"{event}: {target}" for event, target in row.items() if event not in known]
        if state in table.after:
            time, target = table.after[state]
            cells.append(f"after {duration(time)}: {target}")
        if cells or not shipped:
            lines.append(f"{state}: {{ {', '.join(cells)} }}" if cells else f"{state}: {{}}")
    return lines


def _keyboard_lines(table: Table) -> list[str]:
    shipped: Table | None = shipped_keyboard()
    if table.initial != shipped.initial:
        shipped = None
    known_events = {event for row in (shipped.rows if shipped else {}).values() for event in row}
    events = sorted({event for row in table.rows.values() for event in row} - known_events)
    states = [state for state in table.rows if not shipped or state not in shipped.rows]
    lines = ["  table:"]
    if not shipped:
        lines += ["    replaces: true", f"    initial: {table.initial}"]
    lines += [f"    states: [{', '.join(states)}]", f"    events: [{', '.join(events)}]"]
    lines += ["    rows:", *(f"      {line}" for line in _rows(table, shipped))]
    return lines + _binding_lines(table, "  ")


def _binding_lines(table: Table, margin: str) -> list[str]:
    chords: dict[str, list[str]] = {}
    for binding in table.bindings:
        if binding in shipped_keyboard().bindings:
            continue
        words = [chord_name(binding.chord)]
        words += [] if binding.use == "press" else [binding.use]
        words += [duration(binding.hold_us)] if binding.use == "hold" else []
        chords.setdefault(binding.event, []).append(" ".join(words))
    lines = [f"{margin}  {event}: [{', '.join(names)}]" for event, names in chords.items()]
    return [f"{margin}bindings:", *lines] if lines else []


# Logs


class _Hands:
    """Presses and releases keys on some devices, often when something else is due.

    With `restarts`, they also restart and reload the daemon. If they are `quick`, all of it takes few
    seconds, and nothing else is due about the times of what they do, as a live daemon needs it.
    """

    def __init__(
        self,
        chance: random.Random,
        tables: list[Table],
        devices: int,
        restarts: bool,
        quick: bool,
    ) -> None:
        self.chance, self.log, self.restarts, self.quick = chance, list[Input](), restarts, quick
        self.model = Model(tables)
        self.devices = list(range(devices))
        self.all_devices = tuple(self.devices)
        self._know(tables)
        self.time = chance.randrange(1, 100 * SECOND)
        self._last_shift = False
        self._last_press = self._last_shift_press = 0

    def _know(self, tables: list[Table]) -> None:
        self.tables = tables
        bindings = [each for table in tables for each in table.bindings]
        self.chords = [each.chord for each in bindings] or [Chord(70)]
        self.tapped = {each.chord.key for each in bindings if each.use == "tap"}
        self.bound = {each.chord.key for each in bindings}

    def _next_time(self, shift: bool) -> int:
        """A time after the last input, and 1 ms from it if one of both is of Shift."""
        least = self.time + (MS if shift or self._last_shift else 1)
        edges = self.model.deadlines()[:3]
        if self.quick:
            wanted = self.time + self.chance.randint(20 * MS, 150 * MS)
            for due in edges:
                if abs(wanted - due) < 40 * MS:
                    wanted = due + 40 * MS
            return wanted
        if shift:
            edges = [self._last_shift_press + THRESHOLD_US]
        elif self.chance.random() < 0.2:
            edges.append(self._last_press + TAP_TIMEOUT_US)
        edges = [each for each in edges if self.time <= each < self.time + 20 * SECOND]
        if edges and self.chance.random() < 0.6:
            wanted = self.chance.choice(edges) + self.chance.choice([-1, 0, 0, 1])
        else:
            spans = (1, 2, MS, 10 * MS, 100 * MS, 400 * MS, 2 * SECOND, 15 * SECOND)
            wanted = self.time + self.chance.randint(1, self.chance.choice(spans))
        return max(least, wanted)

    def _add(self, given: Input) -> None:
        self.log.append(given)
        self.time = given.time
        self._last_shift = isinstance(given, Key) and given.code in SHIFTS
        if isinstance(given, Key) and given.value == 1:
            self._last_press = given.time
            if self._last_shift:
                self._last_shift_press = given.time
        self.model.handle(given)

    def _key(self, device: int, code: int, value: int) -> None:
        self._add(Key(self._next_time(code in SHIFTS), device, code, value))

    def _press(self, code: int, device: int | None = None) -> None:
        """Presses a key, and repeats it now and then. Two Shifts are never down together."""
        device = self.chance.choice(self.devices) if device is None else device
        shift_is_down = any(down in SHIFTS for _, down in self.model.down)
        if (device, code) in self.model.down or (code in SHIFTS and shift_is_down):
            return
        self._key(device, code, 1)
        while code not in MODIFIERS and self.chance.random() < 0.05:
            self._key(device, code, 2)

    def _press_shift_twice(self) -> None:
        device, code = self.chance.choice(self.devices), self.chance.choice(SHIFTS)
        for _ in range(2):
            if not any(down in SHIFTS for _, down in self.model.down):
                self._press(code, device)
                self._key(device, code, 0)

    def _hold_modifiers(self, wanted: Modifiers) -> None:
        for device, code in list(self.model.down):
            if code in MODIFIERS and MODIFIERS[code] not in wanted:
                self._key(device, code, 0)
        held = {MODIFIERS.get(code) for _, code in self.model.down}
        for name in sorted(wanted - held):
            self._press(self.chance.choice(MODIFIER_KEYS[name]))

    def _unplug(self) -> None:
        """Unplugs a device, unless the pages leave open what comes of it."""
        device = self.chance.choice(self.devices)
        time = self._next_time(shift=True)
        bound = {
            code: press
            for (where, code), press in self.model.down.items()
            if where == device and (code in self.bound or press.uses)
        }
        tapped = any(
            code in self.tapped or "tap" in press.kinds()
            for code, press in bound.items()
            if time - press.time <= TAP_TIMEOUT_US
        )
        if len(self.devices) > 1 and len(bound) <= 1 and not tapped:
            self._add(Gone(time, device))
            self.devices.remove(device)

    def _reload(self) -> None:
        time = self._next_time(shift=False)
        other = other_configuration(self.chance, self.tables, self.model.states)
        self._add(Reload(time, other))
        self._know(other)

    def _restart(self) -> None:
        """Restarts the daemon, unless the pages leave open what comes of it."""
        awaited = [
            code
            for (_, code), press in self.model.down.items()
            if "release" in press.kinds()
        ]
        codes = [code for _, code in self.model.down]
        if len(awaited) > 6 or any(codes.count(code) > 1 for code in awaited):
            return
        killed = self._next_time(shift=False)
        self.time = killed
        time = killed if self.chance.random() < 0.2 else self._next_time(shift=False)
        devices = [each for each in self.all_devices if self.chance.random() < 0.8] or [0]
        down = [
            key for key in self.model.down if key[0] in devices and self.chance.random() < 0.6
        ]
        # Another key is pressed meanwhile.
        more = (self.chance.choice(devices), self.chance.choice([29, 56, 100, *FREE_KEYS]))
        if self.chance.random() < 0.2 and more not in down and more[1] not in awaited:
            down.append(more)
        self.devices = devices
        other = None
        if self.chance.random() < 0.3:
            other = other_configuration(self.chance, self.tables, self.model.states)
            self._know(other)
        self._add(Restart(killed, time, tuple(devices), tuple(sorted(down)), other))

    def act(self) -> None:
        """One thing that hands do."""
        if self.restarts and self.chance.random() < 0.08:
            self.chance.choice([self._reload, self._restart])()
            return
        what, down = self.chance.random(), list(self.model.down)
        if down and (what < 0.4 or len(down) > 4):
            self._key(*self.chance.choice(down), 0)
        elif what < 0.8:
            chord = self.chance.choice(self.chords)
            if chord.modifiers is not None and self.chance.random() < 0.8:
                self._hold_modifiers(chord.modifiers)
            self._press(chord.key)
        elif what < 0.9:
            self._press(self.chance.choice([*FREE_KEYS, 70, 127, 110, 1]))
        elif what < 0.93:
            self._press_shift_twice()
        elif what < (0.96 if self.restarts else 0.98):
            self._press(self.chance.choice([*MODIFIERS, *SHIFTS, RIGHT_ALT]))
        else:
            self._unplug()


def log(
    seed: int,
    number: int,
    tables: list[Table],
    inputs: int = 60,
    devices: int | None = None,
    restarts: bool = False,
    quick: bool = False,
) -> list[Input]:
    """A log of this many inputs or a little more, on one to three devices unless told."""
    chance = random.Random(f"log {seed} {number}")
    hands = _Hands(chance, tables, devices or chance.randint(1, 3), restarts, quick)
    while len(hands.log) < inputs:
        hands.act()
    return hands.log


# Logs as recordings


def recording(inputs: Iterable[Input], devices: Iterable[int]) -> str:
    """The inputs of these devices as `keymodectl record` writes them, each a keyboard of its own."""
    inputs, devices = list(inputs), list(devices)
    lines = ["# libinput record", "version: 1", f"ndevices: {len(devices)}", "devices:"]
    for device in devices:
        lines += [f"- node: /dev/input/event{device}", "  evdev:", f'    name: "keyboard {device}"']
        lines += [f"    id: [3, 4660, {device + 1}, 273]", "  events:"]
        for each in inputs:
            # A recording has no restart, and no reload.
            if not isinstance(each, Key | Gone) or each.device != device:
                continue
            seconds, rest = divmod(each.time, SECOND)
            if isinstance(each, Gone):
                lines.append(f"  - keymoded: {{gone: [{seconds}, {rest}]}}")
            else:
                lines += ["  - evdev:", f"    - [{seconds}, {rest}, 1, {each.code}, {each.value}]"]
                lines.append(f"    - [{seconds}, {rest}, 0, 0, 0]")
    return "\n".join([*lines, ""])


# Logs as the unit tests have them

STEP_NAMES = KEY_NAMES | {
    44: "Z", 45: "X", 2: "1", 15: "TAB", 28: "ENTER", 29: "LEFTCTRL", 97: "RIGHTCTRL", 56: "LEFTALT",
    125: "LEFTMETA", 126: "RIGHTMETA", 42: "LEFTSHIFT", 54: "RIGHTSHIFT", 100: "RIGHTALT",
    70: "SCROLLLOCK", 0x24A: "DICTATE", 127: "COMPOSE", 0x249: "EMOJI_PICKER", 110: "INSERT", 1: "ESC",
}  # fmt: skip


def steps(inputs: Iterable[Input], longer_us: int) -> str:
    """The inputs, and the time after them, as steps of Timeline.swift.

    The first configuration is 0, the others are counted from 1.
    """
    words, now, configuration = list[str](), 0, 0

    def wait(time: int) -> None:
        nonlocal now
        words.append(f"{time - now}us")
        now = time

    for each in inputs:
        if isinstance(each, Restart):
            # What is due by then, the killed daemon has done.
            wait(each.killed)
            words.append("pass")
        wait(each.time)
        if isinstance(each, Key):
            name, sign = STEP_NAMES[each.code], "-+*"[each.value]
            words.append(f"{each.device + 1}:{name}{sign}")
        elif isinstance(each, Gone):
            words.append(f"{each.device + 1}:gone[]")
        elif isinstance(each, Reload):
            configuration += 1
            words.append(f"reload[{configuration}]")
        else:
            configuration += each.tables is not None
            words.append(f"restart[{configuration}]")
            for device in each.devices:
                down = ",".join(STEP_NAMES[code] for where, code in each.down if where == device)
                words.append(f"{device + 1}:opened[{down}]")
            words.append("allOpened[]")
    wait(now + longer_us)
    return " ".join([*words, "pass"])


def section(
    name: str, tables: list[Table], inputs: list[Input], changes: Iterable[Change], longer_us: int
) -> list[str]:
    """The lines of a case as in Keys.txt, with these changes; its steps are the last but one."""
    lines = [f"=== {name}", "with 0", *_indented(tables)]
    for number, other in enumerate(configurations(inputs), 1):
        lines += [f"next {number}", *_indented(other)]
    made = [f"{each.machine}:{each.before}>{each.event}>{each.after}@{each.time}us" for each in changes]
    return [*lines, f"{steps(inputs, longer_us)} => {' '.join(made)}", ""]


def configurations(inputs: Iterable[Input]) -> list[list[Table]]:
    """The configurations that reloads and restarts put in force."""
    return [
        each.tables
        for each in inputs
        if isinstance(each, Reload | Restart) and each.tables is not None
    ]


def _indented(tables: list[Table]) -> list[str]:
    return [f"  {line}" for line in settings(tables).splitlines() or ["{}"]]
