#!/usr/bin/env python3
"""corpus.py RECORDINGS RESULTS [SCHEDULER] - how long the keyboard was in which state, by recording.

Workers of Dask replay the recordings in RECORDINGS with keymodectl, and DuckDB answers from its
JSON lines, which stay in RESULTS, a new folder. A SCHEDULER's workers need both under these names.
"""

import os
import subprocess
import sys
from pathlib import Path

import duckdb
from dask.distributed import Client, as_completed

BATCH = 500
COLUMNS = {"file": "text", "sequence": "long", "time": "long", "machine": "text", "to": "text"}
# A state lasts from the change that enters it until the next one.
QUESTION = """SELECT file, state, sum(until - time) / 1e6 AS seconds
  FROM (SELECT *, "to" AS state, lead(time) OVER (PARTITION BY file ORDER BY sequence) AS until
    FROM changes WHERE machine = 'keyboard')
  WHERE until IS NOT NULL GROUP BY file, state ORDER BY file, state"""


def replay(names: list[str], part: Path) -> tuple[int, bytes]:
    """Replays recordings into `part`; returns the exit status, and what is wrong with them."""
    command = ["keymodectl", "replay", "--each", "--json", "--files0-from", "-"]
    listed = b"".join(os.fsencode(name) + b"\0" for name in names)
    done = subprocess.run(command, input=listed, capture_output=True, check=False)
    if done.returncode not in (0, 4):
        raise RuntimeError(f"keymodectl ended with {done.returncode}: {done.stderr!r}")
    # Dask repeats a batch if it has lost the worker, which may still be running.
    unique = part.with_suffix(f".{os.urandom(8).hex()}")
    unique.write_bytes(done.stdout)
    unique.replace(part)
    return done.returncode, done.stderr


def main(recordings: str, results: str, scheduler: str | None = None) -> int:
    files = sorted(str(path) for path in Path(recordings).resolve().rglob("*") if path.is_file())
    if not files or Path(results).exists():
        sys.exit(f"{recordings} has no files" if not files else f"{results} exists already")
    batches = [files[start : start + BATCH] for start in range(0, len(files), BATCH)]
    folder = Path(results).resolve()
    folder.mkdir()
    parts = [folder / f"{number}.jsonl" for number in range(len(batches))]
    here = dict(n_workers=os.cpu_count(), threads_per_worker=1, dashboard_address=None)
    status = 0
    with Client(scheduler, **({} if scheduler else here)) as client:
        futures = client.map(replay, batches, parts, pure=False)
        for _, (ended, told) in as_completed(futures, with_results=True):
            sys.stderr.buffer.write(told)
            status = max(status, ended)
    changes = duckdb.read_json([*map(str, parts)], columns=COLUMNS, format="newline_delimited")
    changes.query("changes", QUESTION).write_csv("/dev/stdout")
    return status


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
