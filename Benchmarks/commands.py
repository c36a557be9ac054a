"""How soon after a change of a state the command that it starts runs.

`keymodectl while` is beside a script that reads `keymodectl watch --json` and starts the same command,
which nothing would end. Both follow the same daemon, in turn, in a session with a service manager.
"""

import os
import statistics
import time
from pathlib import Path

from figures import Rounds, with_ratio
from peers import compiled
from support.waiting import wait_until

# Starts by each way in each round.
SAMPLES = 100

SCRIPT = """
keymodectl watch --json keyboard | while read -r line; do
  case $line in
  *'"to":"showingPanel"'*)
    time=${line#*'"time":'}
    KEYMODE_TIME=${time%%[!0-9]*} "$@"
  esac
done
"""

# The event that enters the state of each, and what waits for that state. The events follow each other.
WAYS = {
    "`keymodectl while`": (
        "tapTextField",
        ["keymodectl", "while", "--any-session", "keyboard=editingText", "--"],
    ),
    "script": ("clickMoreButton", ["sh", "-c", SCRIPT, "sh"]),
}
LEAVE = "tapBlankArea"


def measure(programs: Path, runs: int) -> Rounds:
    """Microseconds from the change to the first instruction of the command, the median of a round."""
    if os.geteuid() != 0:
        raise PermissionError("needs root, for a user's service manager")
    os.environ["KEYMODED_PROGRAMS"] = str(programs)
    from person import Person

    medians: dict[str, list[float]] = {way: [] for way in WAYS}
    with Person() as person:
        program = compiled(person.folder, "since_change")
        logs = {way: Path(person.write(f"log of {event}", "")) for way, (event, _) in WAYS.items()}
        for way, (_, command) in WAYS.items():
            with logs[way].open("wb") as output:
                person.start(*command, program, stdout=output)
        wait_until(lambda: are_listening(person, logs), "the first starts")
        for _ in range(runs):
            for way, times in one_round(person, logs).items():
                medians[way].append(statistics.median(times))
    return with_ratio({"a command starts, µs": medians}, *WAYS)


def starts(log: Path) -> list[int]:
    """The microseconds of each start so far."""
    return [int(line) for line in log.read_text(encoding="utf-8").splitlines()]


def are_listening(person, logs: dict[str, Path]) -> bool:
    """Enters and leaves both states, and returns whether each has ever started its command."""
    person.trigger(*(event for event, _ in WAYS.values()), LEAVE)
    time.sleep(0.5)
    return all(starts(log) for log in logs.values())


def one_round(person, logs: dict[str, Path]) -> dict[str, list[int]]:
    """The microseconds of each start in a round."""
    before = {way: len(starts(log)) for way, log in logs.items()}
    for count in range(1, SAMPLES + 1):
        for way, (event, _) in WAYS.items():
            person.trigger(event)
            wait_until(lambda: len(starts(logs[way])) == before[way] + count, way)  # noqa: B023
        person.trigger(LEAVE)
    return {way: starts(log)[before[way] :] for way, log in logs.items()}
