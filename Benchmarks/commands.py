"""How soon after a change of a state the command that it starts runs.

`keymodectl while` is beside a script that reads `keymodectl watch --json` and starts the same command,
which nothing would end. Both follow the same daemon, and run under a user's service manager.
"""

import os
from pathlib import Path

from figures import Rounds, with_ratio
from peers import compiled
from pressing import percentiles
from support.waiting import wait_until

SAMPLES = 30

SCRIPT = """
keymodectl watch --json keyboard | while read -r line; do
  case $line in
  *'"to":"editingText"'*)
    time=${line#*'"time":'}
    KEYMODE_TIME=${time%%[!0-9]*} "$@"
  esac
done
"""

WAYS = {
    "`keymodectl while`": ["keymodectl", "while", "--any-session", "keyboard=editingText", "--"],
    "script": ["sh", "-c", SCRIPT, "sh"],
}


def measure(programs: Path, runs: int) -> Rounds:
    """Microseconds from the change to the first instruction of the command."""
    if os.geteuid() != 0:
        raise PermissionError("needs root, for a user's service manager")
    os.environ["KEYMODED_PROGRAMS"] = str(programs)
    from person import Person

    found: Rounds = {f"command started, {which}, µs": {} for which in ("p50", "p99")}
    for _ in range(runs):
        for way, command in WAYS.items():
            with Person() as person:
                times = started(person, command)
            for what, time in zip(found, percentiles(times).values(), strict=True):
                found[what].setdefault(way, []).append(time)
    return with_ratio(found, *WAYS)


def started(person, command: list[str]) -> list[int]:
    """The microseconds of each start in a round."""
    log = Path(person.write("log", ""))
    program = compiled(person.folder, "since_change")
    with log.open("wb") as output:
        person.start(*command, program, stdout=output)

    def times() -> list[int]:
        return [int(line) for line in log.read_text(encoding="utf-8").splitlines()]

    def is_listening() -> bool:
        person.trigger("tapTextField", "tapBlankArea")
        return bool(times())

    wait_until(is_listening, "the first start")
    begun = len(times())
    for count in range(begun + 1, begun + SAMPLES + 1):
        person.trigger("tapTextField")
        wait_until(lambda: len(times()) >= count, "a start")
        person.trigger("tapBlankArea")
    return times()[begun:]
