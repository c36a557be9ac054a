"""The messages that the operator's program has not taken yet: one file each, the oldest first.

A message is in the folder before the page learns that it was accepted, and is deleted when the program has ended with
status 0 or 65. So the program gets each message at least once, whatever is killed, and knows a repeat by its ID.
"""

import asyncio
import os
import re
import signal
import sys
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from tempfile import TemporaryFile
from typing import BinaryIO

MOST, MOST_BYTES = 200, 64 << 20  # Messages, and bytes of all.
ANSWER_BYTES = 4096
PATIENCE_SECONDS = 60  # For the program.
PAUSE_SECONDS, LONGEST_PAUSE_SECONDS = 0.25, 30  # It doubles.
NEVER = os.EX_DATAERR  # The program's status for a message that it will never take.
NAME = re.compile(r"(?P<number>\d{1,9})_(?P<id>[0-9a-f-]{36})_(?P<type>[\w.+-]+)@(?P<subtype>[\w.+-]+)")


class Full(Exception):
    """There is no room for the message."""


class Outbox:
    """Hands messages to a program, one after the other."""

    def __init__(self, folder: Path, command: Sequence[str]) -> None:
        self.folder, self.command = folder, command
        self.results: dict[str, dict[str, str]] = {}
        self.added, self.lock = asyncio.Event(), asyncio.Lock()
        with suppress(OSError):  # run() tells what is wrong with the folder.
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            folder.chmod(0o700)
            for unfinished in filter(Path.is_file, folder.glob("*.new")):
                unfinished.unlink()

    def waiting(self) -> list[re.Match[str]]:
        """The names of the messages, the oldest first."""
        names = filter(None, map(NAME.fullmatch, os.listdir(self.folder)))
        return sorted(names, key=lambda name: int(name["number"]))

    async def add(self, identity: str, kind: str, content: bytes) -> None:
        """Keeps a message of this media type, unless it is there already or was taken."""
        async with self.lock:  # A disk may be slow, and keys are not to wait for it.
            await asyncio.to_thread(self.write, identity, kind, content)
        self.added.set()

    def write(self, identity: str, kind: str, content: bytes) -> None:
        waiting = self.waiting()
        if identity in self.results or any(name["id"] == identity for name in waiting):
            return
        size = sum((self.folder / name[0]).stat().st_size for name in waiting) + len(content)
        if len(waiting) >= MOST or size > MOST_BYTES:
            raise Full("too many wait")
        number = int(waiting[-1]["number"]) + 1 if waiting else 1
        new = self.folder / f"{identity}.new"
        try:
            with open(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            new.rename(self.folder / f"{number}_{identity}_{kind.replace('/', '@')}")
        finally:
            new.unlink(missing_ok=True)  # It is there only if something failed.
        with ExitStack() as opened:
            opened.callback(os.close, folder := os.open(self.folder, os.O_RDONLY))
            os.fsync(folder)  # Its name outlives a loss of power, too.

    def states(self, identities: Sequence[str]) -> dict[str, dict[str, str]]:
        """Of each message `waiting`, `sent` or `failed` with the program's answer, or `unknown` after a restart."""
        results = {name["id"]: {"state": "waiting"} for name in self.waiting()} | self.results
        return {each: results.get(each, {"state": "unknown"}) for each in identities}

    async def run(self) -> None:
        """Delivers for as long as the bridge lives."""
        pause = PAUSE_SECONDS
        while True:
            self.added.clear()
            try:
                waiting = self.waiting()
                problem = None
                for name in [each for each in waiting if each["id"] not in self.results]:
                    try:
                        content = open(self.folder / name[0], "rb")
                    except OSError as error:  # What the disk does not give holds up no other.
                        problem = f"{error.filename}: {error.strerror}"
                        continue
                    with content:
                        problem = await self.deliver(name, content)
                    break
                for name in [each for each in waiting if each["id"] in self.results]:  # Also an earlier one.
                    (self.folder / name[0]).unlink(missing_ok=True)
            except OSError as error:
                problem = f"{error.filename or self.command[0]}: {error.strerror}"
            if problem is not None:
                print(f"delivery: {problem}; again in {pause} s", file=sys.stderr, flush=True)
                await asyncio.sleep(pause)
                pause = min(2 * pause, LONGEST_PAUSE_SECONDS)
                continue
            pause = PAUSE_SECONDS
            if not waiting:
                await self.added.wait()

    async def deliver(self, name: re.Match[str], content: BinaryIO) -> int | str | None:
        """Runs the program, and notes its answer; returns what is wrong, or its status, unless it took the message."""
        given = {"KIOSK_MESSAGE": name["id"], "KIOSK_TYPE": f"{name['type']}/{name['subtype']}"}
        # Not a pipe, whose end comes only when every process has closed it.
        with TemporaryFile() as output:
            options = {"stdin": content, "stdout": output, "env": os.environ | given, "start_new_session": True}
            process = await asyncio.create_subprocess_exec(*self.command, **options)
            try:
                status = await asyncio.wait_for(process.wait(), PATIENCE_SECONDS)
            except TimeoutError:
                return f"no end within {PATIENCE_SECONDS} s"
            finally:
                with suppress(ProcessLookupError):  # Nothing that it started goes on.
                    os.killpg(process.pid, signal.SIGKILL)
            answer = os.pread(output.fileno(), ANSWER_BYTES, 0).decode(errors="replace").strip()
        if status not in {0, NEVER}:
            return status
        result = {"state": "failed" if status else "sent", "answer": answer}
        self.results = dict([*self.results.items(), (name["id"], result)][-MOST:])
        return None
