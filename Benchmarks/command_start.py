"""Measures from a change of a state to the first instruction of the command that it starts.

`keymodectl while` beside a script that reads `keymodectl watch --json` and starts the same command,
which nothing would end. As root: `PYTHONPATH=Tests:Tests/UserManager python3 Benchmarks/command_start.py`;
KEYMODED_PROGRAMS names the folder of other builds.
"""

import statistics
import subprocess
import sys
import time
from pathlib import Path

from person import Person
from support.checkout import CHECKOUT
from support.waiting import wait_until

SAMPLES = 200

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
    "keymodectl while": ["keymodectl", "while", "--any-session", "keyboard=editingText", "--"],
    "a script with keymodectl watch": ["sh", "-c", SCRIPT, "sh"],
}


def measure(way: str) -> list[int]:
    """The microseconds of each start."""
    with Person() as person:
        program = person.folder / "since_change"
        source = CHECKOUT / "Benchmarks/peers/since_change.c"
        subprocess.run(["gcc", "-O2", "-o", program, source], check=True)
        log = Path(person.write("log", ""))
        with open(log, "wb") as output:
            person.start(*WAYS[way], str(program), stdout=output)
        while not log.read_text():  # It does not listen yet.
            person.trigger("tapTextField", "tapBlankArea")
            time.sleep(0.1)
        begun = len(log.read_text().split())
        for count in range(1, SAMPLES + 1):
            person.trigger("tapTextField")
            wait_until(lambda: len(log.read_text().split()) == begun + count, "a start")  # noqa: B023
            person.trigger("tapBlankArea")
        return [int(line) for line in log.read_text().split()[begun:]]


def main() -> None:
    medians = []
    for way in WAYS:
        found = sorted(measure(way))
        medians.append(statistics.median(found))
        print(f"{way}: median {medians[-1]:.0f} µs, 95 of 100 within {found[len(found) * 95 // 100]} µs")
    print(f"ratio {medians[0] / medians[1]:.2f}")


if __name__ == "__main__":
    sys.exit(main())
