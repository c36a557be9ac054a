"""The messages that the operator's program has not taken yet: one file each, the oldest first.

A message is in the folder before the page learns that it was accepted, and is deleted when the program has ended with
status 0. So the program gets each message at least once, whatever is killed, and knows a repeat by its ID.
"""

import asyncio
import os
import re
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

MOST = 200  # Messages.
MOST_BYTES = 64 << 20
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
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder.chmod(0o700)
        for unfinished in folder.glob("*.new"):
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
            raise Full
        number = int(waiting[-1]["number"]) + 1 if waiting else 1
        path = self.folder / f"{number}_{identity}_{kind.replace('/', '@')}"
        new = self.folder / f"{identity}.new"
        with open(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        new.rename(path)
        folder = os.open(self.folder, os.O_RDONLY)
        os.fsync(folder)  # Its name outlives a loss of power, too.
        os.close(folder)


    def state(self, identity: str) -> dict[str, str]:
        """`waiting`, `sent` with the program's answer, or `failed`. What is not known any more was taken."""
        if any(name["id"] == identity for name in self.waiting()):
            return {"state": "waiting"}
        return self.results.get(identity, {"state": "sent"})

    async def run(self) -> None:
        """Delivers for as long as the bridge lives."""
        pause = PAUSE_SECONDS
        while True:
            self.added.clear()
            if not (waiting := self.waiting()):
                await self.added.wait()
                continue
            name = waiting[0]
            status, answer = await self.deliver(name)
            if status in {0, NEVER}:
                self.results[name["id"]] = {"state": "failed" if status else "sent", "answer": answer}
                if len(self.results) > MOST:
                    del self.results[next(iter(self.results))]
                (self.folder / name[0]).unlink(missing_ok=True)
                pause = PAUSE_SECONDS
                continue
            print(f"delivery: {status}; again in {pause} s", file=sys.stderr, flush=True)
            await asyncio.sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE_SECONDS)

    async def deliver(self, name: re.Match[str]) -> tuple[int | str, str]:
        """Runs the program, and returns its status, or what is wrong with it, and its answer."""
        given = {"KIOSK_MESSAGE": name["id"], "KIOSK_TYPE": f"{name['type']}/{name['subtype']}"}
        options = {"stdout": asyncio.subprocess.PIPE, "env": os.environ | given, "start_new_session": True}
        try:
            with open(self.folder / name[0], "rb") as content:
                process = await asyncio.create_subprocess_exec(*self.command, stdin=content, **options)
        except OSError as error:
            return f"{self.command[0]}: {error.strerror}", ""
        answer = b""
        try:
            async with asyncio.timeout(PATIENCE_SECONDS):
                while part := await process.stdout.read(ANSWER_BYTES):
                    answer = (answer + part)[:ANSWER_BYTES]
                return await process.wait(), answer.decode(errors="replace").strip()
        except TimeoutError:
            return f"no end within {PATIENCE_SECONDS} s", ""
        finally:
            with suppress(ProcessLookupError):  # Nothing that it started goes on.
                os.killpg(process.pid, signal.SIGKILL)
