"""The folder of messages when the disk or the operator's program misbehaves."""

import json
import os
import uuid
from pathlib import Path

from kiosk import Kiosk
from test_delivery import put, queue

from support.waiting import BOUND_SECONDS, wait_until

# Notes each call, and ends as its argument says.
PROGRAM = """#!/bin/sh
echo "$KIOSK_MESSAGE" >> "$(dirname "$0")/calls"
cat > /dev/null
{}
"""


def start(folder: Path, script: str) -> Kiosk:
    """A kiosk whose messages get to a program in shell."""
    program = folder / "program"
    program.write_text(PROGRAM.format(script))
    program.chmod(0o700)
    return Kiosk(folder, "", "--deliver", str(program))


def hand(kiosk: Kiosk) -> str:
    """Hands a message over, and returns its ID."""
    identity = str(uuid.uuid4())
    assert put(kiosk, b"{}", identity) == 202
    return identity


def results(kiosk: Kiosk, *identities: str) -> list[dict[str, str]]:
    """What became of messages."""
    headers = {"Authorization": f"Bearer {kiosk.bridge.token}"}
    status, body = kiosk.bridge.ask("GET", f"/messages?ids={','.join(identities)}", headers=headers)
    assert status == 200
    found: dict[str, dict[str, str]] = json.loads(body)
    return [found[identity] for identity in identities]


def calls(folder: Path) -> list[str]:
    """The ID of the message of each call."""
    noted = folder / "calls"
    return noted.read_text().split() if noted.exists() else []


def has_logged(kiosk: Kiosk, words: str) -> bool:
    return any(words in line for line in kiosk.bridge.log)


def test_a_child_that_keeps_the_output_holds_up_nothing(tmp_path: Path) -> None:
    with start(tmp_path, "echo thanks; sleep 1000 & exit 0") as kiosk:
        identities = [hand(kiosk), hand(kiosk)]
        wait_until(lambda: queue(kiosk) == [], "both deliveries", BOUND_SECONDS / 2)
        assert calls(tmp_path) == identities
        assert results(kiosk, *identities) == [{"state": "sent", "answer": "thanks"}] * 2


def test_a_long_answer_is_cut(tmp_path: Path) -> None:
    with start(tmp_path, "head --bytes 100000 /dev/zero | tr '\\0' x") as kiosk:
        identity = hand(kiosk)
        wait_until(lambda: queue(kiosk) == [], "the delivery")
        assert results(kiosk, identity) == [{"state": "sent", "answer": "x" * 4096}]


def test_a_message_that_cannot_be_deleted_is_not_delivered_again(tmp_path: Path) -> None:
    # A folder in its place cannot be unlinked, as nothing can on a disk that is read-only now.
    script = 'cd "$STATE_DIRECTORY" && rm *_"$KIOSK_MESSAGE"_* && mkdir "1_${KIOSK_MESSAGE}_a@b"'
    with start(tmp_path, script) as kiosk:
        identities = []
        for _ in range(2):
            identities.append(hand(kiosk))
            wait_until(lambda: results(kiosk, identities[-1])[0]["state"] == "sent", "a delivery")
        assert calls(tmp_path) == identities
        wait_until(lambda: has_logged(kiosk, "Is a directory; again in"), "the reason")
        # As soon as the disk allows it, they are deleted.
        for path in queue(kiosk):
            path.rmdir()
            path.touch()
        wait_until(lambda: queue(kiosk) == [], "the deletion")
        assert calls(tmp_path) == identities


def test_a_message_that_cannot_be_read_holds_up_no_other(tmp_path: Path) -> None:
    with start(tmp_path, "exit 0") as kiosk:
        # A folder cannot be read, nor can a file that a damaged disk has left.
        (strange := kiosk.bridge.state / f"1_{uuid.uuid4()}_audio@webm").mkdir()
        identities = [hand(kiosk), hand(kiosk)]
        wait_until(lambda: queue(kiosk) == [strange], "both deliveries", BOUND_SECONDS / 2)
        assert calls(tmp_path) == identities
        wait_until(lambda: has_logged(kiosk, f"{strange}: Is a directory; again in"), "the reason")


def test_a_folder_that_cannot_be_read_ends_nothing(tmp_path: Path) -> None:
    with start(tmp_path, '[ -e "$(dirname "$0")/well" ]') as kiosk:
        hand(kiosk)
        wait_until(lambda: has_logged(kiosk, "delivery: 1"), "a try")
        kiosk.bridge.state.rename(tmp_path / "elsewhere")
        wait_until(lambda: has_logged(kiosk, "No such file"), "the reason")
        (tmp_path / "elsewhere").rename(kiosk.bridge.state)
        (tmp_path / "well").touch()
        wait_until(lambda: queue(kiosk) == [], "the delivery")


# Python runs this module at its start: the disk is full after so many calls as a file beside it says.
FULL = """
import errno, os, pathlib
own, full, calls = os.fsync, pathlib.Path(__file__).with_name("full"), []
def fsync(descriptor):
    if full.exists():
        calls.append(descriptor)
        if len(calls) > int(full.read_text()):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    own(descriptor)
os.fsync = fsync
"""


def test_a_disk_that_fails_leaves_neither_half_messages_nor_descriptors(tmp_path: Path) -> None:
    with start(tmp_path, "exit 1") as kiosk:
        kiosk.bridge.kill()
        (tmp_path / "bridge/sitecustomize.py").write_text(FULL)
        kiosk.bridge.start()
        assert kiosk.bridge.process
        descriptors = Path(f"/proc/{kiosk.bridge.process.pid}/fd")
        before = None
        # First that of the message; then twice that of the folder, which comes after it.
        for done in ("0", "2", "4"):
            (tmp_path / "bridge/full").write_text(done)
            assert put(kiosk, b"{}") == 507
            before = before or len(os.listdir(descriptors))
            wait_until(lambda: len(os.listdir(descriptors)) <= before, "closed descriptors")
            assert list(kiosk.bridge.state.glob("*.new")) == []
        assert has_logged(kiosk, "no room: [Errno 28] No space left on device")
