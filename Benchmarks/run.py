"""run.py [--runs N] [--sizes N,N,...] [PART...] - measures, prints, and writes results/PART.*

A part is a module here with `measure`, `summary` and `picture`; without any, all of them but
`latency`, which needs a virtual machine, and `kiosk_page`, which needs Chromium.
"""

import argparse
import datetime
import importlib
import json
from pathlib import Path

from measure import machine

HERE = Path(__file__).parent
PARTS = ("replay", "daemon")


def main() -> None:
    """Measures the parts that the command line names."""
    parser = argparse.ArgumentParser()
    parser.add_argument("parts", nargs="*", default=PARTS, metavar="PART")
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--sizes", default="100000,316228,1000000,2000000,10000000")
    parser.add_argument("--programs", type=Path, default=HERE.parent / ".build" / "release")
    parser.add_argument("--results", type=Path, default=HERE / "results")
    options = parser.parse_args()
    sizes = [int(size) for size in options.sizes.split(",")]
    options.results.mkdir(exist_ok=True)
    for name in options.parts:
        part = importlib.import_module(name)
        before = machine()
        result = part.measure(options.programs, options.runs, sizes)
        print("\n".join(part.summary(result)))
        whole = {"date": datetime.date.today().isoformat(), "machine": before} | result
        file = options.results / f"{name}.json"
        file.write_text(json.dumps(whole, indent=1) + "\n", encoding="utf-8")
        file.with_suffix(".svg").write_text(part.picture(result), encoding="utf-8")
        print(f"written: {file} and {file.with_suffix('.svg').name}")


if __name__ == "__main__":
    main()
