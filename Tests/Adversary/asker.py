"""A program that asks for the states every 5 ms, on an open connection and on a new one.

Runs as a process of its own, `asker.py SOCKET FILE`. The file gets a line for each answer: how it was
asked, and the delay in microseconds.
"""

import collections
import contextlib
import subprocess
import sys
import time
from pathlib import Path
from typing import Self

from support.checkout import ENVIRONMENT
from support.connection import Connection
from support.local_daemon import take_time_from_others
from support.waiting import wait_until


def ask(path: str, file: Path) -> None:
    """Notes every answer, until it is ended."""
    take_time_from_others()
    opened = Connection(path)
    with open(file, "w", buffering=1) as notes:
        while True:
            begin = time.monotonic()
            opened.call("GetState")
            notes.write(f"open {(time.monotonic() - begin) * 1_000_000:.0f}\n")
            begin = time.monotonic()
            message = b""
            # It may be refused before it has asked.
            with Connection(path) as new, contextlib.suppress(BrokenPipeError):
                new.send_call("GetState")
                message = new.message() or b""
            kind = "new" if b'"state"' in message else "refused"
            notes.write(f"{kind} {(time.monotonic() - begin) * 1_000_000:.0f}\n")
            # As a pace: it must not load the daemon itself.
            time.sleep(0.005)


class Asker:
    """The process, and its notes."""

    def __init__(self, path: Path, file: Path) -> None:
        self._file = file
        file.unlink(missing_ok=True)
        self._process = subprocess.Popen([sys.executable, __file__, path, file], env=ENVIRONMENT)

    def __enter__(self) -> Self:
        wait_until(lambda: self._file.exists() and self._file.stat().st_size > 0, "an answer")
        return self

    def __exit__(self, *_: object) -> None:
        assert self._process.poll() is None, "the asker has ended"
        self._process.kill()
        self._process.wait()

    def answers(self) -> dict[str, list[int]]:
        """The delays in microseconds, by how it was asked."""
        delays = collections.defaultdict(list)
        # The last line may be cut.
        for line in self._file.read_text().splitlines()[:-1]:
            kind, delay = line.split()
            delays[kind].append(int(delay))
        return delays


if __name__ == "__main__":
    ask(sys.argv[1], Path(sys.argv[2]))
