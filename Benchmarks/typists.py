"""How many Shifts of a fast hand are lost, because they look like a Shift that a remapper lifts.

    python3 Benchmarks/typists.py [--sentences 100000] [--programs .build/release]

Simulated hands type sentences with capitals, signs and corrections (Backspace); keys overlap, and Shift
goes up near the next key. Half of the hands hold Shift for a letter, and half tap it before the letter;
these may tap Shift, see a mistake, and correct it before they type the letter. A keyboard reports every 1 to 8 ms, so that events share frames; in one row
every event has its own time. `keymodectl replay` plays each recording twice: as it is, and with Shift on
a keyboard of its own, where no Shift is ever taken as lifted. A Shift is lost if its letter used one in
the second replay and not in the first. It is extra if a letter used one in the first only.
"""

from __future__ import annotations

import argparse
import json
import random
import struct
import subprocess
import tempfile
from pathlib import Path

SHIFT, BACKSPACE, SPACE, ENTER = 42, 14, 57, 28
LETTERS = [*range(16, 26), *range(30, 39), *range(44, 51)]
SIGNS = [2, 5, 9, 10, 11, 39, 40, 53]
MS = 1000

Event = tuple[int, int, int]
"""A time in microseconds, a key, and whether it goes down."""


class Hand:
    """Types at 110 to 130 words a minute; all times are in microseconds."""

    def __init__(self, seed: int, taps: bool) -> None:
        self.random = random.Random(seed)
        self.taps = taps
        self.events: list[Event] = []
        self.shifted = 0
        self.now = 1000 * MS

    def around(self, mean: float, spread: float, least: float = 8) -> int:
        return int(max(least, self.random.gauss(mean, spread)) * MS)

    def key(self, code: int) -> int:
        """Presses a key some time after the last one, and holds it, often into the next."""
        self.now += self.around(98, 32)
        self.events += [(self.now, code, 1), (self.now + self.around(92, 24, 20), code, 0)]
        return self.now

    def character(self, code: int, shift: bool, corrects: bool) -> None:
        if not shift:
            self.key(code)
            return
        start = self.now + self.around(70, 28)
        if self.taps:
            end = start + self.around(72, 20, 20)
            self.now = start
            if corrects:
                self.key(BACKSPACE)
        letter = self.key(code)
        if not self.taps:
            start = letter - self.around(60, 25)
            end = letter + self.around(70, 35, 5)
        self.events += [(start, SHIFT, 1), (end, SHIFT, 0)]
        self.shifted += 1

    def sentence(self) -> None:
        for word in range(self.random.randint(4, 12)):
            for place in range(self.random.randint(2, 9)):
                capital = place == 0 and (word == 0 or self.random.random() < 0.15)
                if self.random.random() < 0.04:
                    # A wrong letter, shifted or not, and its correction.
                    self.character(self.random.choice(LETTERS), capital, False)
                    self.key(BACKSPACE)
                corrects = self.random.random() < 0.04
                self.character(self.random.choice(LETTERS), capital, corrects)
            self.key(SPACE)
        self.character(self.random.choice(SIGNS), True, False)
        self.key(ENTER)
        self.now += 1500 * MS


def reported(events: list[Event], period: int) -> list[Event]:
    """The events at the times of a keyboard's reports; a key changes once in each."""
    reports: list[Event] = []
    last: dict[int, int] = {}
    down: dict[int, int] = {}
    for time, key, value in sorted(events):
        if down.get(key, 0) == value:
            continue  # A hand cannot press a key that it holds.
        down[key] = value
        time = -(-time // period) * period
        if time <= last.get(key, -1):
            time = last[key] + period
        last[key] = time
        reports.append((time, key, value))
    # In a report, modifiers come before the other keys.
    return sorted(reports, key=lambda event: (event[0], event[1] != SHIFT, event[1]))


def raw(events: list[Event], one_frame_a_report: bool) -> bytes:
    record = struct.Struct("=qqHHi")
    text = bytearray()
    for place, (time, key, value) in enumerate(events):
        second, rest = divmod(time, 1_000_000)
        text += record.pack(second, rest, 1, key, value)
        is_last = place + 1 == len(events) or events[place + 1][0] != time
        if is_last or not one_frame_a_report:
            text += record.pack(second, rest, 0, 0, 0)
    return bytes(text)


def used(program: Path, files: list[Path]) -> set[int]:
    """The times at which a character used a Shift that was on."""
    command = [program, "replay", "--json", "--format", "raw64", *files]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    changes = map(json.loads, output.splitlines())
    return {change["time"] for change in changes if change.get("event") == "characterTyped"}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--sentences", type=int, default=100_000)
    parser.add_argument("--programs", type=Path, default=Path(".build/release"))
    arguments = parser.parse_args()
    program = arguments.programs / "keymodectl"
    rates = [("each event by itself", 1), ("0.125 ms", 125)]
    rates += [(f"{period} ms", period * MS) for period in (1, 2, 4, 8)]
    counts = {(name, taps): [0, 0, 0] for name, _ in rates for taps in (False, True)}
    size = 5000
    with tempfile.TemporaryDirectory() as folder:
        whole, shift, others = (Path(folder) / name for name in ("whole", "shift", "others"))
        for place, start in enumerate(range(0, arguments.sentences, size)):
            hand = Hand(start, taps=place % 2 == 1)
            for _ in range(min(size, arguments.sentences - start)):
                hand.sentence()
            for name, period in rates:
                events = reported(hand.events, period)
                whole.write_bytes(raw(events, period > 1))
                shift.write_bytes(raw([event for event in events if event[1] == SHIFT], True))
                rest = [event for event in events if event[1] != SHIFT]
                others.write_bytes(raw(rest, True))
                told, right = used(program, [whole]), used(program, [shift, others])
                found = (hand.shifted, len(right - told), len(told - right))
                row = counts[name, hand.taps]
                counts[name, hand.taps] = [a + b for a, b in zip(row, found, strict=True)]
    print(f"{arguments.sentences} sentences\n")
    print("| reports | Shift is | Shifts | lost | extra |\n| --- | --- | ---: | ---: | ---: |")
    for (name, taps), (meant, lost, extra) in counts.items():
        print(f"| {name} | {'tapped' if taps else 'held'} | {meant} | {lost} | {extra} |")


main()
