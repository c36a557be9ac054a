"""A subscriber that does everything right, and notes how late each change reaches it.

Runs as a process of its own, `innocent.py SOCKET FILE`, so that attackers do not slow it down. The
file gets a line for each change: its sequence, and its delay in microseconds.
"""

import re
import subprocess
import sys
from pathlib import Path

from support.checkout import ENVIRONMENT
from support.clock import boot_time
from support.connection import MONITOR, Connection
from support.local_daemon import take_time_from_others
from support.waiting import wait_until

CHANGE = re.compile(rb'"sequence":(\d+),"time":(\d+),"machine"')
MISSED = re.compile(rb'"missed":(\d+)')


def clock_offset(path: str) -> int:
    """The real time minus the recording's, in microseconds, by the quickest of 200 calls."""
    best = (1 << 62, 0)
    with Connection(path) as connection:
        for _ in range(200):
            before = boot_time()
            stamp: int = connection.call("GetState")["state"]["time"]
            after = boot_time()
            best = min(best, (after - before, (before + after) // 2 - stamp))
    return best[1]


def follow(path: str, file: Path) -> None:
    """Notes every change until the daemon ends the connection."""
    take_time_from_others()
    offset = clock_offset(path)
    connection = Connection(path)
    connection.send(MONITOR)
    with open(file, "wb", buffering=1 << 20) as notes:
        notes.write(b"ready\n")
        notes.flush()
        while message := connection.message():
            arrived = boot_time() - offset
            for missed in MISSED.findall(message):
                if missed != b"0":
                    notes.write(b"missed %s\n" % missed)
            for sequence, stamp in CHANGE.findall(message):
                notes.write(b"%s %d\n" % (sequence, arrived - int(stamp)))
            notes.flush()


class Innocent:
    """The process of the subscriber, and its notes."""

    def __init__(self, path: Path, file: Path) -> None:
        self._file = file
        self._process = subprocess.Popen([sys.executable, __file__, path, file], env=ENVIRONMENT)
        wait_until(self._has_begun, "the innocent subscriber to begin")

    def _has_begun(self) -> bool:
        assert self._process.poll() is None, "the innocent subscriber has ended"
        return self._file.exists() and self._file.stat().st_size > 0

    def mark(self) -> int:
        """The present end of the notes, for `since`."""
        return self._file.stat().st_size

    def since(self, start: int, end: int) -> list[tuple[int, int]]:
        """The sequences and delays, in microseconds, of the changes between two marks."""
        with open(self._file, "rb") as file:
            file.seek(start)
            text = file.read(end - start)
        lines = text.decode().splitlines()
        assert not [line for line in lines if line.startswith("missed")], (
            "the daemon reported lost changes"
        )
        return [(int(a), int(b)) for a, b in (line.split() for line in lines if line != "ready")]

    def all(self) -> list[tuple[int, int]]:
        """The sequences and delays of all changes so far."""
        return self.since(0, self.mark())

    def stop(self) -> None:
        """Ends it."""
        self._process.kill()
        self._process.wait()


if __name__ == "__main__":
    follow(sys.argv[1], Path(sys.argv[2]))
