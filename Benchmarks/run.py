"""run.py [--runs N] [--sizes N,N,...] [--redraw | --check] [PART...] - measures, and writes results/PART.*

A part is a module here with `measure`, `tables` and `picture`; without any, all of them but `latency`,
which needs a virtual machine, `kiosk_page`, which needs Chromium, and `corpus`, which needs Dask. A
part that needs root is left out without it. Then the tables of docs/performance.md are written.

With --redraw, nothing is measured: the plots and the tables are written from the results that are
there. With --check, nothing is written: it fails if a plot or a table differs from the results.
"""

import argparse
import datetime
import importlib
import json
import sys
from pathlib import Path
from typing import Any

import aims
import page
from measure import machine

HERE = Path(__file__).parent
RESULTS = HERE / "results"
PARTS = ("replay", "daemon", "native")


def main() -> None:
    """Measures, draws or checks."""
    parser = argparse.ArgumentParser()
    parser.add_argument("parts", nargs="*", default=PARTS, metavar="PART")
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--sizes", default="1000,10000,100000,1000000")
    parser.add_argument("--programs", type=Path, default=HERE.parent / ".build" / "release")
    parser.add_argument("--redraw", action="store_true")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    sizes = [int(size) for size in options.sizes.split(",")]
    left_out = []
    if not options.redraw and not options.check:
        for name in options.parts:
            try:
                measure(name, options.programs, options.runs, sizes)
            except PermissionError as error:
                left_out.append(f"{name}: left out: {error}")
    results = {
        file.stem: json.loads(file.read_text(encoding="utf-8"))
        for file in sorted(RESULTS.glob("*.json"))
    }
    for file, text in written(results).items():
        if file.exists() and file.read_text(encoding="utf-8") == text:
            continue
        if options.check:
            sys.exit(f"{file} differs from Benchmarks/results; run scripts/bench --redraw")
        file.write_text(text, encoding="utf-8")
        print(f"written: {file}")
    if left_out:
        sys.exit("\n".join(left_out))


def measure(name: str, programs: Path, runs: int, sizes: list[int]) -> None:
    """Measures a part, prints its tables, and writes its results."""
    part = importlib.import_module(name)
    before = machine()
    result = part.measure(programs, runs, sizes)
    result = {"date": datetime.date.today().isoformat(), "machine": before} | result
    for title, table in part.tables(result).items():
        print(f"{name} {title}\n\n{table}")
    (RESULTS / f"{name}.json").write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


def written(results: dict[str, Any]) -> dict[Path, str]:
    """All plots, and the page with all tables, of these results."""
    files: dict[Path, str] = {}
    tables = {"aims": aims.table_of(results)}
    for name, result in results.items():
        part = importlib.import_module(name)
        files[RESULTS / f"{name}.svg"] = part.picture(result)
        tables |= {f"{name} {title}": table for title, table in part.tables(result).items()}
    files[page.PAGE] = page.filled(page.PAGE.read_text(encoding="utf-8"), tables)
    return files


if __name__ == "__main__":
    main()
