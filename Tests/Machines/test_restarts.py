"""keymoded beside model.py, where the daemon is killed and started anew, and reloaded.

A replay has no restart and no reload, so the unit tests play the cases: KeysTests.swift reads them from
a file in the form of Keys.txt, with the changes of the model. A failure shows the shortest case that was
found; it can be a case of Keys.txt.
"""

import contextlib
import os
import re
import subprocess
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from generate import configuration, configurations, is_valid, log, section, settings
from model import Change, Gone, Input, Key, Model, Reload, Restart, Table, shipped_keyboard
from support.checkout import CHECKOUT
from support.clock import boot_time
from support.connection import Connection
from support.fifo_keyboard import FifoKeyboard
from support.local_daemon import LocalDaemon
from support.waiting import NotInTimeError, wait_until
from test_machines import LIVE_SEEDS, LOGS, SEEDS, change

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
    assert "further cases" in ended.stdout, "the test did not run"
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
    every = [tables, *configurations(inputs)]

    def changed(change: Callable[[list[Table]], list[Table]]) -> Case:
        return change(tables), [
            replace(each, tables=change(each.tables))
            if isinstance(each, Reload | Restart) and each.tables is not None
            else each
            for each in inputs
        ]

    for left_out in {table.name for some in every for table in some}:
        yield changed(lambda some, name=left_out: [table for table in some if table.name != name])
    for table in (table for some in every for table in some):
        others = [
            replace(table, after={each: row for each, row in table.after.items() if each != state})
            for state in table.after
        ]
        others += [
            replace(table, bindings=[each for each in table.bindings if each != binding])
            for binding in table.bindings
            if binding not in shipped_keyboard().bindings
        ]
        for other in filter(is_valid, others):
            # This table alone, though another configuration may have an equal one.
            yield changed(
                lambda some, old=table, new=other: [new if each is old else each for each in some]
            )


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


# The daemon, killed and reloaded


class Hands:
    """Does what a log says to a daemon, and notes between which times each of it took place."""

    def __init__(self, folder: Path, tables: list[Table]) -> None:
        self.keyboard = FifoKeyboard(folder)
        starts = boot_time()
        self.daemon = LocalDaemon(
            folder,
            *("--device", self.keyboard.path),
            settings=settings(tables),
            environment=self.keyboard.environment,
        )
        # When the daemon started, at the earliest and at the latest.
        self.start = (starts, boot_time())
        self.lines: list[dict[str, Any]] = []
        with Connection(self.daemon.state_socket) as client:
            self.instance = client.call("GetState")["state"]["instance"]
        # The inputs as they would have been at the earliest, and at the latest.
        self.earliest, self.latest = list[Input](), list[Input]()

    def close(self) -> None:
        self.daemon.close()
        self.keyboard.unplug()

    def collect(self) -> None:
        """Reads the changes so far, once the daemon has taken all keys, which come before calls."""
        wait_until(self.keyboard.is_read, "the daemon to read the keys")
        with Connection(self.daemon.state_socket) as client:
            # The reply tells that the daemon has taken the keys that it had read before.
            client.call("GetState")
            reply = client.call("Monitor", more=True, after=len(self.lines), instance=self.instance)
        assert not reply["missed"] and not reply["restarted"]
        self.lines += reply["changes"]

    def play(self, inputs: list[Input]) -> None:
        """Does everything at about its time."""
        # Short rows of initial states are over by the first of it, whenever exactly the daemon started.
        begin = boot_time() - inputs[0].time + 20_000
        for each in inputs:
            time.sleep(max(0, begin + each.time - boot_time()) / 1e6)
            if isinstance(each, Key):
                now = self.keyboard.send(each.code, each.value)
                self._note(each, now, now)
            elif isinstance(each, Reload):
                self.collect()
                self.daemon.settings.write_text(settings(each.tables))
                before = boot_time()
                self.daemon.reload()
                self._note(each, before, boot_time())
            elif isinstance(each, Restart):
                self._restart(each)
                begin += boot_time() - begin - each.time

    def _restart(self, restart: Restart) -> None:
        self.collect()
        before = boot_time()
        self.daemon.kill()
        killed = boot_time()
        self.keyboard.hold(code for _, code in restart.down)
        if restart.tables is not None:
            self.daemon.settings.write_text(settings(restart.tables))
        starts = boot_time()
        self.daemon.start()
        self._note(replace(restart, killed=before), starts, starts)
        self.latest[-1] = replace(restart, killed=killed, time=boot_time())

    def _note(self, taken: Input, earliest: int, latest: int) -> None:
        self.earliest.append(replace(taken, time=earliest))
        self.latest.append(replace(taken, time=latest))


def told(lines: Iterable[dict[str, Any] | Change]) -> list[tuple[str, str, str, str]]:
    changes = [each if isinstance(each, Change) else change(each) for each in lines]
    return [(each.machine, each.before, each.after, each.event) for each in changes]


def suits(inputs: list[Input], changes: list[Change]) -> bool:
    """Whether a log is quick, has keys of the keyboard alone, a restart and a reload, and some changes."""
    codes = (each.code for each in inputs if isinstance(each, Key))
    return (
        inputs[-1].time - inputs[0].time < 1_500_000
        and all(code <= FifoKeyboard.LAST_KEY for code in codes)
        and {type(each) for each in inputs} >= {Restart, Reload}
        and len(changes) >= 3
    )


@pytest.mark.parametrize("seed", range(LIVE_SEEDS))
def test_a_daemon_that_is_killed_and_reloaded_makes_the_changes_of_the_model(
    seed: int, tmp_path: Path
) -> None:
    tables = configuration(seed)
    for number in range(100, 1000):
        inputs = log(seed, number, tables, inputs=10, devices=1, restarts=True, quick=True)
        if not suits(inputs, Model(tables).run(inputs)):
            continue
        folder = tmp_path / str(number)
        folder.mkdir()
        hands = Hands(folder, tables)
        try:
            hands.play(inputs)
            possible = [
                Model(tables, start).run(each)
                for start in hands.start
                for each in (hands.earliest, hands.latest)
            ]
            expected = possible[-1]
            if any(told(each) != told(expected) for each in possible):
                # Something was due while the daemon was killed, started or reloaded.
                continue
            # Changes that do not come are those of the report.
            with contextlib.suppress(NotInTimeError):
                wait_until(lambda: hands.collect() or len(hands.lines) >= len(expected), "all", 5)
        finally:
            hands.close()
        made = [change(line) for line in hands.lines[: len(expected)]]
        name = f"seed {seed}, log {number}"
        text = "\n".join([*section(name, tables, hands.latest, expected, 0), *map(str, made)])
        assert told(made) == told(expected), text
        for each, *times in zip(made, *possible, strict=True):
            assert min(one.time for one in times) <= each.time <= max(one.time for one in times), text
        return
    pytest.fail("no log of this configuration suits a live daemon")
