"""The release of a key ends what its press began, however the release is hidden from the daemon.

Tests/KeyboardModesTests has the rules of it; here are those for which the kernel or systemd matters.
"""

from collections.abc import Iterator

import pytest
from harness import recorder, service
from harness.recorder import MARKER, Recorder
from harness.recordings import changes_in
from harness.service import MOST_TRIES, wait_until_following
from harness.talking import (
    SILENT,
    TALKING,
    expect_one_stop,
    grabbed,
    kill_and_close_gate,
    reopen_gate,
    settled,
    talk,
)
from harness.typing import followed
from harness.vm import VirtualMachine
from harness.watch import Watch
from support.input_events import F9, PRESS, RELEASE
from support.push_to_talk import PUSH_TO_TALK

# How long after its release a hidden release may take to be found.
CHECK_US = 250_000


@pytest.fixture
def guest(installed: VirtualMachine) -> Iterator[VirtualMachine]:
    """The guest, with a service that was just started for push-to-talk."""
    with service.configured(installed, PUSH_TO_TALK):
        try:
            yield installed
        finally:
            # A test that failed may have left it down.
            installed.play("up f9")


def test_release_during_a_grab_is_found_by_the_next_check(guest: VirtualMachine) -> None:
    watch = Watch(guest)
    delays = []
    for _ in range(MOST_TRIES):
        before = talk(guest)
        assert watch.states(1) == [TALKING]
        with grabbed(guest) as grabber:
            assert settled(guest)["states"]["keyboard"] == TALKING
            guest.play("up f9")
            released, code, value = map(int, grabber.read_lines(1)[0].split())
            assert (code, value) == (F9, RELEASE)
            (stopped,) = watch.changes(1)
            expect_one_stop(guest, before)
        delays.append(stopped["time"] - released)
        assert delays[-1] > 0
        # A busy host may wake the daemon late.
        if delays[-1] <= CHECK_US + 50_000:
            break
    else:
        raise AssertionError(f"found too late: {delays}")
    # The key still talks, on the same device.
    guest.play("tap f9 200")
    assert watch.states(2) == [TALKING, SILENT]


def test_release_that_the_kernel_dropped_ends_talking_and_is_in_recordings(
    guest: VirtualMachine,
) -> None:
    with followed(guest, "Stormy keyboard") as keyboard:
        recorders = [Recorder(guest, tool, keyboard.node) for tool in recorder.CONFIGURED]
        watch = Watch(guest)
        keyboard.play("down f9")
        assert watch.states(1) == [TALKING]
        before = settled(guest)
        # All recorders have read everything so far, so all lose the same events.
        for recording in recorders:
            recording.wait_for(F9, PRESS)
        readers = " ".join(str(recording.process.pid) for recording in recorders)
        guest.run(f"systemctl kill --signal STOP keymoded; kill -STOP {readers}")
        # More than the kernel keeps.
        keyboard.play("up f9;" + "tap b 0;" * 200)
        guest.run(f"systemctl kill --signal CONT keymoded; kill -CONT {readers}")
        (stopped,) = watch.changes(1)
        assert stopped["event"] == "stopTalking"
        expect_one_stop(guest, before)
        keyboard.play(f"tap f9; {MARKER}")
        assert watch.states(2) == [TALKING, SILENT]
        for recording in recorders:
            recording.wait_for_marker()
            assert recording.stop().exit_code == 0
            changes = changes_in(recording.path, "--config", guest.shared / "keymoded.yaml")
            assert [change["to"] for change in changes] == [TALKING, SILENT] * 2


# A release that is awaited is not lost by `kill -9` or by the next daemon's start.


def test_killed_daemon_forgets_no_key_that_is_held(guest: VirtualMachine, gate: None) -> None:
    before = talk(guest)
    service.kill(guest)
    wait_until_following(guest, 1)
    assert settled(guest)["sequence"] == before["sequence"], "the key is still down"
    kill_and_close_gate(guest)
    guest.play("up f9; wait 60")
    reopen_gate(guest)
    expect_one_stop(guest, before)
    # Nothing is left for the daemon after that.
    service.kill(guest)
    assert settled(guest)["sequence"] == before["sequence"] + 1
