"""run.py [--runs N] [--sizes N,N,...] [--redraw] [PART...] - measures, prints, and writes results/PART.*

A part is a module here with `measure`, `summary` and `picture`; without any, all of them but
`latency`, which needs a virtual machine, and `kiosk_page`, which needs Chromium. A part that needs
root is left out without it. With --redraw, nothing is measured: the plots are drawn from the results
that are there.
"""

import argparse
import datetime
import importlib
import json
import sys
from pathlib import Path

from measure import machine

HERE = Path(__file__).parent
PARTS = ("replay", "daemon", "native")


def main() -> None:
    """Measures or draws the parts that the command line names."""
    parser = argparse.ArgumentParser()
    parser.add_argument("parts", nargs="*", metavar="PART")
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--sizes", default="100000,316228,1000000,2000000,10000000")
    parser.add_argument("--programs", type=Path, default=HERE.parent / ".build" / "release")
    parser.add_argument("--results", type=Path, default=HERE / "results")
    parser.add_argument("--redraw", action="store_true")
    options = parser.parse_args()
    sizes = [int(size) for size in options.sizes.split(",")]
    options.results.mkdir(exist_ok=True)
    left_out = []
    measured = sorted(file.stem for file in options.results.glob("*.json"))
    for name in options.parts or (measured if options.redraw else PARTS):
        part = importlib.import_module(name)
        file = options.results / f"{name}.json"
        if options.redraw:
            whole = json.loads(file.read_text(encoding="utf-8"))
        else:
            before = machine()
            try:
                result = part.measure(options.programs, options.runs, sizes)
            except PermissionError as error:
                left_out.append(f"{name}: left out: {error}")
                continue
            whole = {"date": datetime.date.today().isoformat(), "machine": before} | result
            file.write_text(json.dumps(whole, indent=1) + "\n", encoding="utf-8")
        print("\n".join(part.summary(whole)))
        file.with_suffix(".svg").write_text(part.picture(whole), encoding="utf-8")
        print(f"written: {file.with_suffix('.svg')}")
    if left_out:
        sys.exit("\n".join(left_out))


if __name__ == "__main__":
    main()
