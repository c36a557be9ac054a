"""run.py [--runs N] [--programs FOLDER] [--redraw | --check] [PART...] - measures keymoded

A part is a module here with `measure(programs, runs)`, which returns the value of each program in each
round. Without any, all are measured but `guest`, which needs a virtual machine. What was measured
goes into results/PART.csv, and from there into the table that stands between the lines
`<!-- table PART -->` and `<!-- end -->` of docs/performance.md or docs/state-machines.md.

With --redraw, nothing is measured: the tables are written again. With --check, nothing is written: it
fails if a table differs from the results.
"""

import argparse
import datetime
import importlib
import os
import re
import subprocess
import sys
from pathlib import Path

import figures
from support.checkout import CHECKOUT

RESULTS = Path(__file__).parent / "results"
PAGES = (CHECKOUT / "docs/performance.md", CHECKOUT / "docs/state-machines.md")
PARTS = ("daemon", "start", "replay", "native", "commands", "machines")


def main() -> None:
    """Measures, writes the tables, or checks them."""
    parser = argparse.ArgumentParser()
    parser.add_argument("parts", nargs="*", default=PARTS, metavar="PART")
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--programs", type=Path, default=CHECKOUT / ".build/release")
    parser.add_argument("--redraw", action="store_true")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    left_out = []
    if not options.redraw and not options.check:
        # Before the first part: each writes its results into the checkout.
        commit = present_commit()
        for name in options.parts:
            try:
                measure(name, commit, options.programs, options.runs)
            except PermissionError as error:
                left_out.append(f"{name}: left out: {error}")
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        if (filled := with_tables(text)) != text:
            if options.check:
                sys.exit(f"{page} differs from Benchmarks/results; run scripts/bench --redraw")
            page.write_text(filled, encoding="utf-8")
    if left_out:
        sys.exit("\n".join(left_out))


def measure(name: str, commit: str, programs: Path, runs: int) -> None:
    """Measures a part, prints its table, and writes its results."""
    note = f"{datetime.date.today()} at {commit}: {machine()}"
    found = figures.figures(importlib.import_module(name).measure(programs, runs))
    print(f"{name}\n\n{figures.table(note, found)}", flush=True)
    figures.write(RESULTS / f"{name}.csv", note, found)


def present_commit() -> str:
    """The commit of the checkout, and whether something was changed since."""
    describe = ["git", "-C", str(CHECKOUT), "describe", "--always", "--dirty"]
    return subprocess.run(describe, check=True, capture_output=True, text=True).stdout.strip()


def machine() -> str:
    """What the machine is, and how much it has to do."""
    processors = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    model = re.search(r"^model name\s*: (.*)$", processors, re.MULTILINE)
    name = model[1] if model else os.uname().machine
    return (
        f"{name}, {os.cpu_count()} processors, Linux {os.uname().release},"
        f" load {os.getloadavg()[0]:.1f}"
    )


def with_tables(page: str) -> str:
    """The page with the tables of all results; a part without results keeps what is there."""
    for path in sorted(RESULTS.glob("*.csv")):
        begin, end = f"<!-- table {path.stem} -->\n", "<!-- end -->"
        before, found, rest = page.partition(begin)
        if found:
            page = before + begin + figures.table(*figures.read(path)) + end + rest.partition(end)[2]
    return page


if __name__ == "__main__":
    main()
