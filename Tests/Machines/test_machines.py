"""keymoded beside model.py, which is written from the pages: the same changes, to the microsecond.

KEYMODED_MACHINE_SEEDS is the number of random configurations. A failure tells the seed, the
configuration and the shortest log that was found.
"""

import itertools
import json
import os
import subprocess
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from generate import configuration, log, recording, settings
from model import SHIFTS, Binding, Change, Chord, Gone, Input, Key, Model, Table
from support.checkout import PROGRAMS
from support.connection import Connection
from support.local_daemon import LocalDaemon
from support.waiting import BOUND_SECONDS

SEEDS = int(os.environ.get("KEYMODED_MACHINE_SEEDS", "120"))
LOGS = 4
LIVE_SEEDS = 20
# The longest search for a shorter log, in replays.
ATTEMPTS = 150


# keymodectl replay


def replay(folder: Path, text: str, options: list[str], files: dict[str, str]) -> list[Any]:
    """The lines of JSON of one replay of these files."""
    (folder / "keymoded.yaml").write_text(text)
    for name, content in files.items():
        (folder / name).write_text(content)
    command = [PROGRAMS / "keymodectl", "replay", "--json", "--config", "keymoded.yaml"]
    ended = subprocess.run(
        [*command, *options, *files],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=BOUND_SECONDS,
    )
    assert ended.returncode == 0, f"{ended.stderr}\n{text}"
    return [json.loads(line) for line in ended.stdout.splitlines()]


def change(line: dict[str, Any], begin: int = 0) -> Change:
    """A line, or a member of a reply's `changes`, as the model has it."""
    return Change(line["time"] - begin, line["machine"], line["from"], line["to"], line["event"])


def each_replayed(folder: Path, text: str, logs: list[list[Input]]) -> list[list[Change]]:
    """The changes of each log, by one process; their numbers must have no gap."""
    files = {f"{number}.yaml": recording(each, range(3)) for number, each in enumerate(logs)}
    changes: dict[str, list[Change]] = defaultdict(list)
    for line in replay(folder, text, ["--each"], files):
        changes[line["file"]].append(change(line))
        assert line["sequence"] == len(changes[line["file"]])
    return [changes[name] for name in files]


# Reports


def without(inputs: list[Input], number: int) -> list[Input]:
    """The inputs without one of them; a press takes its repeats and its release with it."""
    first = inputs[number]
    rest = inputs[:number]
    dropping = True
    for each in inputs[number + 1 :]:
        mine = (
            isinstance(first, Key)
            and isinstance(each, Key)
            and (each.device, each.code) == (first.device, first.code)
        )
        # From its next press on, the key is kept.
        dropping = dropping and not (mine and each.value == 1)
        if not (dropping and mine):
            rest.append(each)
    return rest


def shortened(inputs: list[Input], differs: Callable[[list[Input]], bool]) -> list[Input]:
    """A shorter log that still differs."""
    attempts, number = ATTEMPTS, len(inputs) - 1
    while attempts and number >= 0:
        # A release or a repeat goes with its press.
        if isinstance(inputs[number], Gone) or inputs[number].value == 1:
            attempts -= 1
            shorter = without(inputs, number)
            if shorter and differs(shorter):
                inputs = shorter
        number = min(number, len(inputs)) - 1
    return inputs


def report(seed: int, text: str, inputs: list[Input], is_: list[Change], says: list[Change]) -> str:
    """All that is needed to see a difference."""
    lines = [f"seed {seed}", text, *map(str, inputs)]
    for number in range(max(len(is_), len(says))):
        pair = [str(each[number]) if number < len(each) else "nothing" for each in (is_, says)]
        lines.append(f"  {pair[0]}" if pair[0] == pair[1] else f"! {pair[0]}\n  model: {pair[1]}")
    return "\n".join(lines)


# Random machines


@pytest.mark.parametrize("seed", range(0, SEEDS, 10))
def test_configurations_are_valid_and_logs_avoid_what_the_model_leaves_out(seed: int) -> None:
    tables = configuration(seed)
    for table in tables:
        reached, more = set(), [table.initial]
        while more:
            state = more.pop()
            reached.add(state)
            ways = [*table.rows[state].values(), *(table.after.get(state, ())[1:])]
            more += set(ways) - reached
        assert reached == table.rows.keys()
        for state in table.after:
            passed = set()
            while state in table.after:
                assert state not in passed, "a circle of `after` rows alone"
                passed.add(state)
                state = table.after[state][1]
        assert {each.event for each in table.bindings} <= {
            event for row in table.rows.values() for event in row
        }
        uses = [(each.chord, each.use) for each in table.bindings]
        events = [(each.chord, each.event) for each in table.bindings]
        assert len(set(uses)) == len(set(events)) == len(table.bindings)
    for number in range(LOGS):
        inputs = log(seed, number, tables)
        for before, each in itertools.pairwise(inputs):
            pair = [isinstance(one, Key) and one.code in SHIFTS for one in (before, each)]
            assert each.time - before.time >= (1000 if any(pair) else 1)
        down: set[tuple[int, int]] = set()
        for each in inputs:
            if isinstance(each, Gone):
                down = {key for key in down if key[0] != each.device}
            elif each.value != 2:
                assert ((each.device, each.code) in down) == (each.value == 0)
                down ^= {(each.device, each.code)}
            assert sum(code in SHIFTS for _, code in down) <= 1


@pytest.mark.parametrize("seed", range(SEEDS))
def test_replay_makes_the_changes_of_the_model(seed: int, tmp_path: Path) -> None:
    tables = configuration(seed)
    text = settings(tables)
    logs = [log(seed, number, tables) for number in range(LOGS)]
    for inputs, changes in zip(logs, each_replayed(tmp_path, text, logs), strict=True):
        if changes != Model(tables).run(inputs):

            def differs(shorter: list[Input]) -> bool:
                return each_replayed(tmp_path, text, [shorter])[0] != Model(tables).run(shorter)

            short = shortened(inputs, differs)
            [made] = each_replayed(tmp_path, text, [short])
            pytest.fail(report(seed, text, short, made, Model(tables).run(short)), pytrace=False)
    # Only a replay without --each has the states.
    model, files = Model(tables), {"0.yaml": recording(logs[0], range(3))}
    first, *between, last = replay(tmp_path, text, [], files)
    assert model.states.items() <= first["states"].items()
    assert [change(line) for line in between] == model.run(logs[0])
    assert model.states.items() <= last["states"].items()
    since = {each.machine: each.time for each in model.changes}
    assert {name: last["since"].get(name) for name in model.states} == {
        name: since.get(name) for name in model.states
    }


@pytest.mark.parametrize("seed", range(0, SEEDS, 5))
def test_keys_may_be_on_any_devices_and_in_any_files(seed: int, tmp_path: Path) -> None:
    tables = configuration(seed)
    text = settings(tables)
    inputs = log(seed, LOGS, tables, devices=1)
    # Which device has a key depends on its code alone.
    split = [Key(each.time, each.code % 3, each.code, each.value) for each in inputs]
    together = {"split.yaml": recording(split, range(3))}
    apart = {f"{device}.yaml": recording(split, [device]) for device in (2, 0, 1)}
    apart = {name: text for name, text in apart.items() if "evdev:\n    - [" in text}
    expected = Model(tables).run(inputs)
    for files in ({"one.yaml": recording(inputs, [0])}, together, apart):
        made = [change(line) for line in replay(tmp_path, text, [], files)[1:-1]]
        assert made == expected, report(seed, text, inputs, made, expected)


@pytest.mark.parametrize("seed", range(LIVE_SEEDS))
def test_the_daemon_makes_the_changes_of_the_replay(seed: int, tmp_path: Path) -> None:
    tables = configuration(seed)
    text = settings(tables)
    # A log that changes something, but no more than the daemon remembers for a client that comes late.
    logs = (log(seed, number, tables, inputs=14) for number in range(100, 200))
    inputs, expected = next(
        (each, made) for each in logs if 3 <= len(made := Model(tables).run(each)) <= 20
    )
    assert each_replayed(tmp_path, text, [inputs]) == [expected]
    # After the end of the recording, time goes on: more changes may come by themselves.
    later = Model(tables).run(inputs, longer_us=10**12)
    (tmp_path / "log.yaml").write_text(recording(inputs, range(3)))
    options = ["--recording", tmp_path / "log.yaml", "--speed", "max"]
    daemon = LocalDaemon(tmp_path, *options, settings=text)
    try:
        with Connection(daemon.state_socket) as client:
            instance = client.call("GetState")["state"]["instance"]
            lines, reply = [], client.call("Monitor", more=True, after=0, instance=instance)
            while True:
                assert reply["missed"] == 0
                lines += reply["changes"]
                if len(lines) >= len(expected):
                    break
                reply = client.reply()
    finally:
        daemon.close()
    assert [line["sequence"] for line in lines] == list(range(1, len(lines) + 1))
    # The daemon moves the times of a recording, all by as much.
    moved = lines[0]["time"] - expected[0].time
    made = [change(line, moved) for line in lines]
    assert made == later[: len(made)], report(seed, text, inputs, made, later)


# The talk machine, as hands press it

TALK = Table(
    name="talk",
    initial="silent",
    rows={
        "silent": {"press": "talking"},
        "talking": {"release": "trailing"},
        "trailing": {"press": "again"},
        "again": {"tap": "open", "release": "trailing"},
        "open": {"press": "closing", "gone": "silent"},
        "closing": {"tap": "silent", "release": "trailing"},
    },
    after={
        "talking": (600_000_000, "silent"),
        "trailing": (300_000, "silent"),
        "open": (3600_000_000, "silent"),
    },
    bindings=[Binding(use, Chord(67, None), use) for use in ("press", "release", "tap", "gone")],
)

# Written as in the design. The model has the same machine as TALK.
TALK_SETTINGS = """\
machines:
  talk:
    initial: silent
    rows:
      silent:   { press: talking }
      talking:  { release: trailing, after 10m: silent }
      trailing: { press: again, after 300ms: silent }
      again:    { tap: open, release: trailing }
      open:     { press: closing, gone: silent, after 1h: silent }
      closing:  { tap: silent, release: trailing }
    bindings:
      press:   [Any+F9]
      release: [Any+F9 release]
      tap:     [Any+F9 tap]
      gone:    [Any+F9 gone]
"""

# All times of the table are in milliseconds after this one.
BEGIN_US = 1_000_000_000
KEYS = {"F9": 67, "Ctrl": 29, "Shift": 42, "A": 30, "Tab": 15}

# What leads to `open` at 300, and its changes: F9 is tapped twice.
LATCH = "0 F9+, 100 F9-, 200 F9+, 300 F9-"
LATCHED = ["0 talking press", "100 trailing release", "200 again press", "300 open tap"]

# Name: what hands do, and the states of talk (or `shift:`) with their times and events. `F9+` is a
# press, `F9-` a release, `gone` unplugs the keyboard; Tab is on another keyboard, and lets time pass.
HANDS: dict[str, tuple[str, list[str]]] = {
    "a hold": (
        "0 F9+, 1000 F9-, 2000 Tab+",
        ["0 talking press", "1000 trailing release", "1300 silent timedOut"],
    ),
    "a hold of more than ten minutes": (
        "0 F9+, 600500 F9-, 602000 Tab+",
        ["0 talking press", "600000 silent timedOut"],
    ),
    "a hold of ten minutes less a microsecond": (
        "0 F9+, 599999.999 F9-, 602000 Tab+",
        ["0 talking press", "599999.999 trailing release", "600299.999 silent timedOut"],
    ),
    "a hold of ten minutes": (
        "0 F9+, 600000 F9-, 602000 Tab+",
        ["0 talking press", "600000 silent timedOut"],
    ),
    "a short word does not latch": (
        "0 F9+, 150 F9-, 2000 Tab+",
        ["0 talking press", "150 trailing release", "450 silent timedOut"],
    ),
    "a brush does not latch": (
        "0 F9+, 5 F9-, 2000 Tab+",
        ["0 talking press", "5 trailing release", "305 silent timedOut"],
    ),
    "the recording ends before the last syllable": (
        "0 F9+, 1000 F9-, 1299.999 Tab+",
        ["0 talking press", "1000 trailing release"],
    ),
    "the recording ends with the last syllable": (
        "0 F9+, 1000 F9-, 1300 Tab+",
        ["0 talking press", "1000 trailing release", "1300 silent timedOut"],
    ),
    "two taps latch": (f"{LATCH}, 60000 Tab+", LATCHED),
    "an hour is the longest talk": (
        f"{LATCH}, 3700000 Tab+",
        [*LATCHED, "3600300 silent timedOut"],
    ),
    "a second tap of 199.999 ms": (
        "0 F9+, 100 F9-, 200 F9+, 399.999 F9-, 2000 Tab+",
        [*LATCHED[:3], "399.999 open tap"],
    ),
    "a second press of 200 ms is no tap": (
        "0 F9+, 100 F9-, 200 F9+, 400 F9-, 2000 Tab+",
        [*LATCHED[:3], "400 trailing release", "700 silent timedOut"],
    ),
    "a tap closes": (
        f"{LATCH}, 10000 F9+, 10100 F9-, 20000 Tab+",
        [*LATCHED, "10000 closing press", "10100 silent tap"],
    ),
    "a hold in open talks on until it ends": (
        f"{LATCH}, 10000 F9+, 11000 F9-, 20000 Tab+",
        [*LATCHED, "10000 closing press", "11000 trailing release", "11300 silent timedOut"],
    ),
    "two taps after a hold in open": (
        f"{LATCH}, 10000 F9+, 11000 F9-, 11100 F9+, 11200 F9-, 20000 Tab+",
        [
            *LATCHED, "10000 closing press", "11000 trailing release", "11100 again press",
            "11200 open tap",
        ],
    ),  # fmt: skip
    "a press in the last syllable, held": (
        "0 F9+, 1000 F9-, 1299.999 F9+, 3000 F9-, 5000 Tab+",
        [
            "0 talking press", "1000 trailing release", "1299.999 again press",
            "3000 trailing release", "3300 silent timedOut",
        ],
    ),  # fmt: skip
    "a press just when the last syllable is over": (
        "0 F9+, 1000 F9-, 1300 F9+, 1400 F9-, 5000 Tab+",
        [
            "0 talking press", "1000 trailing release", "1300 silent timedOut",
            "1300 talking press", "1400 trailing release", "1700 silent timedOut",
        ],
    ),  # fmt: skip
    "another key during the second tap": (
        "0 F9+, 100 F9-, 200 F9+, 250 Tab+, 300 F9-, 2000 Tab-",
        [*LATCHED[:3], "300 trailing release", "600 silent timedOut"],
    ),
    "unplugged in silent": (
        "0 F9+, 100 F9-, 1000 gone, 2000 Tab+",
        ["0 talking press", "100 trailing release", "400 silent timedOut"],
    ),
    "unplugged in talking": (
        "0 F9+, 1000 gone, 2000 Tab+",
        ["0 talking press", "1000 trailing release", "1300 silent timedOut"],
    ),
    "unplugged in trailing": (
        "0 F9+, 1000 F9-, 1100 gone, 2000 Tab+",
        ["0 talking press", "1000 trailing release", "1300 silent timedOut"],
    ),
    "unplugged in again": (
        "0 F9+, 100 F9-, 200 F9+, 600 gone, 2000 Tab+",
        [*LATCHED[:3], "600 trailing release", "900 silent timedOut"],
    ),
    "unplugged in open": (f"{LATCH}, 5000 gone, 9000 Tab+", [*LATCHED, "5000 silent gone"]),
    "unplugged in closing": (
        f"{LATCH}, 10000 F9+, 10500 gone, 20000 Tab+",
        [*LATCHED, "10000 closing press", "10500 trailing release", "10800 silent timedOut"],
    ),
    "Ctrl held all the time": (
        "0 Ctrl+, 1000 F9+, 2000 F9-, 3000 Ctrl-",
        ["1000 talking press", "2000 trailing release", "2300 silent timedOut"],
    ),
    "Ctrl held, and two taps": (
        "-100 Ctrl+, 0 F9+, 100 F9-, 200 F9+, 300 F9-, 400 Ctrl-",
        LATCHED,
    ),
    "Ctrl pressed and released during the hold": (
        "0 F9+, 100 Ctrl+, 200 Ctrl-, 1000 F9-, 2000 Tab+",
        ["0 talking press", "1000 trailing release", "1300 silent timedOut"],
    ),
    "Shift held for a capital": (
        "0 Shift+, 100 F9+, 1100 F9-, 1500 A+, 1600 A-, 1700 Shift-",
        [
            "0 shift: on shiftPressed", "100 talking press", "1100 trailing release",
            "1400 silent timedOut", "1500 shift: off characterTyped",
        ],
    ),  # fmt: skip
    "Shift pressed for the next letter": (
        "0 Shift+, 100 Shift-, 1000 F9+, 2000 F9-, 3000 A+, 3100 A-",
        [
            "0 shift: on shiftPressed", "1000 talking press", "2000 trailing release",
            "2300 silent timedOut", "3000 shift: off characterTyped",
        ],
    ),  # fmt: skip
    "Shift held, then Tab, which takes it back": (
        "0 Shift+, 100 F9+, 200 Tab+, 300 Tab-, 400 Shift-, 1000 F9-, 2000 Tab+",
        [
            "0 shift: on shiftPressed", "100 talking press", "200 shift: off shiftUsed",
            "1000 trailing release", "1300 silent timedOut",
        ],
    ),  # fmt: skip
    "Shift pressed twice during a talk": (
        "0 F9+, 100 Shift+, 200 Shift-, 400 Shift+, 500 Shift-, 1000 F9-, 2000 Tab+",
        [
            "0 talking press", "100 shift: on shiftPressed", "400 shift: capsLock shiftPressed",
            "1000 trailing release", "1300 silent timedOut",
        ],
    ),  # fmt: skip
}


def microseconds(text: str) -> int:
    return BEGIN_US + round(float(text) * 1000)


def pressed(text: str) -> list[Input]:
    """What hands do in a row of the table."""
    inputs: list[Input] = []
    for each in text.split(", "):
        time, what = each.split()
        if what == "gone":
            inputs.append(Gone(microseconds(time), 0))
        else:
            device = 1 if what.startswith("Tab") else 0
            inputs.append(Key(microseconds(time), device, KEYS[what[:-1]], int(what[-1] == "+")))
    return inputs


def written(lines: list[str]) -> list[Change]:
    """The changes in a row of the table."""
    states = {"talk": "silent", "shift": "off"}
    changes = []
    for line in lines:
        time, *words, state, event = line.split()
        machine = words[0][:-1] if words else "talk"
        changes.append(Change(microseconds(time), machine, states[machine], state, event))
        states[machine] = state
    return changes


@pytest.mark.parametrize("name", HANDS)
def test_the_model_talks_as_the_design_says(name: str) -> None:
    hands, changes = HANDS[name]
    assert Model([TALK]).run(pressed(hands)) == written(changes)


def test_the_program_talks_as_the_design_says(tmp_path: Path) -> None:
    logs = [pressed(hands) for hands, _ in HANDS.values()]
    made = dict(zip(HANDS, each_replayed(tmp_path, TALK_SETTINGS, logs), strict=True))
    assert made == {name: written(changes) for name, (_, changes) in HANDS.items()}


# Rules of chords that the talk machine does not need, on the model and on the program

F8, F9, CTRL, A, TAB = 66, 67, 29, 30, 15


def machine(name: str, *bindings: Binding) -> Table:
    """A machine that shows each of its events by a change."""
    rows = {"here": {binding.event: "here" for binding in bindings}}
    return Table(name, "here", rows, bindings=list(bindings))


def keys(*presses: tuple[float, int, int]) -> list[Input]:
    return [Key(BEGIN_US + round(time * 1000), 0, code, value) for time, code, value in presses]


ANY = Chord(F9, None)
EXACT = Chord(F9)
CHORDS: dict[str, tuple[list[Table], list[Input], list[tuple[float, str, str]]]] = {
    "one chord serves machines in the order of their names, taps before releases": (
        [
            machine("b", Binding("up", EXACT, "release"), Binding("tapped", EXACT, "tap")),
            machine("a10", Binding("up", EXACT, "release"), Binding("down", EXACT)),
            machine("a9", Binding("tapped", EXACT, "tap"), Binding("down", EXACT)),
        ],
        keys((0, F9, 1), (199.999, F9, 0)),
        [
            (0, "a10", "down"), (0, "a9", "down"), (199.999, "a9", "tapped"),
            (199.999, "b", "tapped"), (199.999, "a10", "up"), (199.999, "b", "up"),
        ],
    ),
    "an exact chord takes a press with all its uses": (
        [
            machine(
                "m", Binding("any", ANY), Binding("up", EXACT, "release"), Binding("free", ANY, "tap")
            )
        ],
        keys((0, F9, 1), (100, F9, 0), (1000, CTRL, 1), (1100, F9, 1), (1200, F9, 0)),
        [(100, "m", "up"), (1100, "m", "any"), (1200, "m", "free")],
    ),
    "a release comes whatever is held by then": (
        [machine("m", Binding("down", EXACT), Binding("up", EXACT, "release"))],
        keys((0, F9, 1), (100, CTRL, 1), (200, F9, 0), (300, F9, 1), (400, CTRL, 0), (500, F9, 0)),
        [(0, "m", "down"), (200, "m", "up")],
    ),
    "there is no tap after a hold": (
        [machine("m", Binding("held", EXACT, "hold", 50_000), Binding("tapped", EXACT, "tap"))],
        keys((0, F9, 1), (50, F9, 0), (100, F9, 1), (149.999, F9, 0)),
        [(50, "m", "held"), (149.999, "m", "tapped")],
    ),
    "another key ends a tap, but no hold": (
        [machine("m", Binding("held", EXACT, "hold", 150_000), Binding("tapped", EXACT, "tap"))],
        keys((0, F9, 1), (50, A, 1), (100, F9, 0), (500, F9, 1), (550, A, 0), (700, F9, 0)),
        [(650, "m", "held")],
    ),
    "holds of one time come in the order of their presses": (
        [
            machine("a", Binding("held", Chord(F8), "hold", 100_000)),
            machine("b", Binding("held", EXACT, "hold", 150_000)),
        ],
        keys((0, F9, 1), (50, F8, 1), (150, F8, 0)),
        [(150, "b", "held"), (150, "a", "held")],
    ),
    "a repeat is no press": (
        [machine("m", Binding("down", EXACT), Binding("tapped", EXACT, "tap"))],
        keys((0, F9, 1), (50, F9, 2), (100, F9, 0)),
        [(0, "m", "down"), (100, "m", "tapped")],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CHORDS)
def test_chords(name: str, tmp_path: Path) -> None:
    tables, inputs, events = CHORDS[name]
    expected = [
        Change(BEGIN_US + round(time * 1000), machine, "here", "here", event)
        for time, machine, event in events
    ]
    assert Model(tables).run(inputs) == expected
    assert each_replayed(tmp_path, settings(tables), [inputs]) == [expected]
