"""The folder of messages when the disk or the operator's program misbehaves."""

import asyncio
import errno
import importlib.util
import os
import sys
import uuid
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from kiosk import EXAMPLE

from support.waiting import BOUND_SECONDS, wait_until

# Notes each call, and ends as its argument says.
PROGRAM = """#!/bin/sh
echo "$KIOSK_MESSAGE" >> "$(dirname "$0")/calls"
cat > /dev/null
{}
"""


def load() -> ModuleType:
    """The module of the example, which is not in a package."""
    specification = importlib.util.spec_from_file_location("outbox", EXAMPLE / "outbox.py")
    assert specification and specification.loader
    module = importlib.util.module_from_spec(specification)
    # Not beside the example, which is copied as it is.
    sys.dont_write_bytecode, before = True, sys.dont_write_bytecode
    specification.loader.exec_module(module)
    sys.dont_write_bytecode = before
    return module


outbox = load()


class Operator:
    """A folder of messages, and a program in shell for them."""

    def __init__(self, folder: Path, script: str) -> None:
        self.folder = folder / "state"
        self.program = folder / "program"
        self.program.write_text(PROGRAM.format(script))
        self.program.chmod(0o700)

    @property
    def calls(self) -> list[str]:
        """The ID of the message of each call."""
        calls = self.program.parent / "calls"
        return calls.read_text().split() if calls.exists() else []

    @asynccontextmanager
    async def run(self) -> AsyncIterator[Any]:
        """Delivers meanwhile."""
        box = outbox.Outbox(self.folder, [str(self.program)])
        task = asyncio.create_task(box.run())
        try:
            yield box
            assert not task.done(), task.exception()
        finally:
            task.cancel()
            await asyncio.wait([task])


async def until(condition: Callable[[], bool], what: str) -> None:
    """Waits in another thread, while this one delivers."""
    await asyncio.to_thread(wait_until, condition, what)


def reader(capfd: pytest.CaptureFixture[str]) -> Callable[[], str]:
    """Returns all that was logged until then."""
    errors: list[str] = []

    def read() -> str:
        errors.append(capfd.readouterr().err)
        return "".join(errors)

    return read


def identities(count: int) -> list[str]:
    return [str(uuid.uuid4()) for _ in range(count)]


def test_a_child_that_keeps_the_output_holds_up_nothing(tmp_path: Path) -> None:
    operator = Operator(tmp_path, "echo thanks; sleep 1000 & exit 0")

    async def deliver() -> None:
        first, second = identities(2)
        async with operator.run() as box:
            for identity in (first, second):
                await box.add(identity, "application/json", b"{}")
            async with asyncio.timeout(BOUND_SECONDS / 2):
                await until(lambda: os.listdir(operator.folder) == [], "both deliveries")
            assert operator.calls == [first, second]
            sent = {"state": "sent", "answer": "thanks"}
            assert box.states([first, second]) == {first: sent, second: sent}

    asyncio.run(deliver())


def test_a_long_answer_is_cut(tmp_path: Path) -> None:
    operator = Operator(tmp_path, "head --bytes 100000 /dev/zero | tr '\\0' x")

    async def deliver() -> None:
        [identity] = identities(1)
        async with operator.run() as box:
            await box.add(identity, "application/json", b"{}")
            await until(lambda: os.listdir(operator.folder) == [], "the delivery")
            assert box.states([identity])[identity]["answer"] == "x" * 4096

    asyncio.run(deliver())


def test_a_message_that_cannot_be_deleted_is_not_delivered_again(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    # A folder in its place cannot be unlinked, as nothing can on a disk that is read-only now.
    errors = reader(capfd)
    operator = Operator(tmp_path, 'cd "$(dirname "$0")/state" && rm *_"$KIOSK_MESSAGE"_* && mkdir "1_${KIOSK_MESSAGE}_a@b"')

    async def deliver() -> None:
        first, second = identities(2)
        async with operator.run() as box:
            await box.add(first, "application/json", b"{}")
            await until(lambda: first in box.results, "the first delivery")
            await box.add(second, "application/json", b"{}")
            await until(lambda: second in box.results, "the second delivery")
            assert operator.calls == [first, second]
            await until(lambda: len(list(operator.folder.glob("1_*"))) == 2, "two that stay")
            await until(lambda: "Is a directory; again in" in errors(), "the reason")
            # As soon as the disk allows it, they are deleted.
            for path in operator.folder.glob("1_*"):
                path.rmdir()
                path.touch()
            await until(lambda: os.listdir(operator.folder) == [], "the deletion")
            assert operator.calls == [first, second]

    asyncio.run(deliver())


def test_a_folder_that_cannot_be_read_ends_nothing(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    operator = Operator(tmp_path, "exit 0")
    errors = reader(capfd)

    async def deliver() -> None:
        [identity] = identities(1)
        async with operator.run() as box:
            operator.folder.rmdir()
            box.added.set()
            await until(lambda: "No such file" in errors(), "the reason")
            operator.folder.mkdir()
            await box.add(identity, "application/json", b"{}")
            await until(lambda: operator.calls == [identity], "the delivery")

    asyncio.run(deliver())


def test_a_folder_that_cannot_be_cleaned_ends_nothing(tmp_path: Path) -> None:
    operator = Operator(tmp_path, "exit 0")
    (operator.folder / "x.new").mkdir(parents=True)
    outbox.Outbox(operator.folder, [str(operator.program)])
    assert operator.folder.stat().st_mode & 0o777 == 0o700


def test_a_disk_that_fails_leaves_neither_half_messages_nor_descriptors(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    box = outbox.Outbox(tmp_path, ["true"])
    [identity] = identities(1)

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    before = os.listdir("/proc/self/fd")
    with pytest.raises(OSError, match="No space"):
        box.write(identity, "application/json", b"{}")
    assert os.listdir(tmp_path) == []
    calls: list[int] = []

    def fails_later(descriptor: int) -> None:
        calls.append(descriptor)
        if len(calls) == 2:
            full(descriptor)

    monkeypatch.setattr(os, "fsync", fails_later)
    with pytest.raises(OSError, match="No space"):
        box.write(identity, "application/json", b"{}")
    assert [os.listdir("/proc/self/fd"), len(calls)] == [before, 2]
