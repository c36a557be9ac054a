"""keymoded beside model.py, where the daemon is killed and started anew, and reloaded.

A replay has no restart and no reload, so the unit tests play the cases: KeysTests.swift reads them from
a file in the form of Keys.txt, with the changes of the model. A failure shows the shortest case that was
found; it can be a case of Keys.txt.
"""

import os
import re
import subprocess
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from generate import configuration, is_valid, log, section
from model import Gone, Input, Key, Model, Reload, Restart, Table, shipped_keyboard
from support.checkout import CHECKOUT
from test_machines import LOGS, SEEDS

# After the last input: every row by time is over.
LONGER_US = 10**11
# The longest search for a shorter case, in runs of the unit tests.
ATTEMPTS = 40

Case = tuple[list[Table], list[Input]]


def played(folder: Path, cases: Iterable[Case]) -> dict[int, str]:
    """The cases, by number, whose changes are others than the model's, with those that were made."""
    lines = list[str]()
    numbers = dict[int, int]()
    for number, (tables, inputs) in enumerate(cases):
        lines += section(str(number), tables, inputs, Model(tables).run(inputs, LONGER_US), LONGER_US)
        # The line with the steps is the one before the empty one.
        numbers[len(lines) - 1] = number
    file = folder / "Keys.txt"
    file.write_text("\n".join(lines))
    ended = subprocess.run(
        [
            *(os.environ.get("SWIFT", "swift"), "test", "--skip-build", "--disable-xctest"),
            *("--filter", "KeysTests/furtherChanges"),
        ],
        cwd=CHECKOUT,
        env={**os.environ, "KEYMODED_KEYS": str(file)},
        capture_output=True,
        text=True,
        timeout=600,
    )
    found = re.findall(r"line (\d+): .* leads to (\[.*\])", ended.stdout + ended.stderr)
    assert (ended.returncode != 0) == bool(found), f"{ended.stdout}\n{ended.stderr}"
    assert "furtherChanges" in ended.stdout or "further cases" in ended.stdout, ended.stdout
    return {numbers[int(line)]: made for line, made in found}


# Shorter cases


def consistent(inputs: Iterable[Input]) -> list[Input] | None:
    """The inputs without releases of keys that are up; nothing if a key is pressed that is down."""
    down, kept = set[tuple[int, int]](), list[Input]()
    for each in inputs:
        if isinstance(each, Key):
            key = (each.device, each.code)
            if (each.value == 1) == (key in down):
                if each.value == 1:
                    return None
                continue
            if each.value != 2:
                down ^= {key}
        elif isinstance(each, Gone):
            down = {key for key in down if key[0] != each.device}
        elif isinstance(each, Restart):
            down = set(each.down)
        kept.append(each)
    return kept


def without(inputs: list[Input], first: int, after: int) -> list[Input] | None:
    """The inputs without those in a range; a press that is left out is down at no restart."""
    left_out, kept = set[tuple[int, int]](), list[Input]()
    for number, each in enumerate(inputs):
        is_left_out = first <= number < after
        if isinstance(each, Key) and each.value == 1:
            left_out -= {(each.device, each.code)}
            if is_left_out:
                left_out |= {(each.device, each.code)}
        elif isinstance(each, Restart):
            each = replace(each, down=tuple(key for key in each.down if key not in left_out))
        if not is_left_out:
            kept.append(each)
    return consistent(kept)


def simpler_machines(case: Case) -> Iterator[Case]:
    """The case without one machine, and without one row by time, or one use of a key."""
    tables, inputs = case
    all_tables = [tables, *(each.tables for each in inputs if isinstance(each, Reload))]

    def changed(change: Callable[[list[Table]], list[Table]]) -> Case:
        return change(tables), [
            replace(each, tables=change(each.tables)) if isinstance(each, Reload) else each
            for each in inputs
        ]

    for name in {table.name for some in all_tables for table in some}:
        yield changed(lambda some, name=name: [table for table in some if table.name != name])
    for place, some in enumerate(all_tables):
        for table in some:
            simpler = [
                replace(table, after={each: row for each, row in table.after.items() if each != state})
                for state in table.after
            ]
            simpler += [
                replace(table, bindings=[each for each in table.bindings if each != binding])
                for binding in table.bindings
                if binding not in shipped_keyboard().bindings
            ]
            for other in simpler:
                if is_valid(other):
                    changed_one = [other if each is table else each for each in some]
                    if place == 0:
                        yield changed_one, inputs
                    else:
                        yield tables, [
                            replace(each, tables=changed_one)
                            if isinstance(each, Reload) and each.tables is some
                            else each
                            for each in inputs
                        ]


def shorter(case: Case) -> Iterator[Case]:
    """Cases that have less, those that have the least first."""
    tables, inputs = case
    size = len(inputs)
    while size := size // 2:
        for first in range(0, len(inputs), size):
            if kept := without(inputs, first, first + size):
                yield tables, kept
    yield from simpler_machines(case)


def shortest(folder: Path, case: Case) -> Case:
    """A short case whose changes still differ."""
    for _ in range(ATTEMPTS):
        cases = list(shorter(case))
        differing = played(folder, cases)
        if not differing:
            return case
        case = cases[min(differing)]
    return case


# Random restarts and reloads


def test_restarts_and_reloads_make_the_changes_of_the_model(tmp_path: Path) -> None:
    cases = []
    for seed in range(SEEDS):
        tables = configuration(seed)
        cases += [(tables, log(seed, number, tables, restarts=True)) for number in range(LOGS)]
    differing = played(tmp_path, cases)
    if differing:
        seed, number = divmod(min(differing), LOGS)
        tables, inputs = shortest(tmp_path, cases[min(differing)])
        made = played(tmp_path, [(tables, inputs)])[0]
        expected = Model(tables).run(inputs, LONGER_US)
        text = "\n".join(section(f"seed {seed}, log {number}", tables, inputs, expected, LONGER_US))
        pytest.fail(
            f"{len(differing)} of {len(cases)} differ, such as this one.\n{text}leads to\n{made}",
            pytrace=False,
        )
