"""What `keymodectl while` runs ends with the state, with the session, and with all that it needs.

The recorder of push-to-talk must never be left running.
"""

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pytest
from harness import service
from harness.guest_process import GuestProcess
from harness.pushing_to_talk import RUNS, PushToTalk, in_time, now
from harness.sessions import Session, UserUnit, session, switch_to_console
from harness.talking import PUSH_TO_TALK, SILENT, TALKING, usb_keyboard
from harness.vm import VirtualMachine
from harness.watch import Watch

SECOND_US = 1_000_000

# What the command lines of the processes begin with.
RECORDER, KEYMODECTL, GUARDIAN = "python3 -IS", "keymodectl while", "keymode-guardian"


@pytest.fixture(scope="module")
def desk(installed: VirtualMachine) -> Iterator[Session]:
    """A session in front, with the service for push-to-talk."""
    with session(installed) as opened, service.cleared_away(installed):
        service.configure(installed, PUSH_TO_TALK)
        service.restart(installed)
        yield opened


@pytest.fixture
def guest(installed: VirtualMachine, desk: Session) -> Iterator[VirtualMachine]:
    """The guest, with no key down at the end, when nothing of the test may run on."""
    yield installed
    installed.play("up f9")
    installed.end_leftovers()
    installed.wait_until(f"! {RUNS} && ! pgrep -f '^({KEYMODECTL}|{GUARDIAN})'")


@contextlib.contextmanager
def locked(_: VirtualMachine, desk: Session) -> Iterator[None]:
    desk.lock()
    try:
        yield
    finally:
        desk.unlock()


@contextlib.contextmanager
def locked_before_logind_restarts(guest: VirtualMachine, desk: Session) -> Iterator[None]:
    """logind forgets at its restart that a session is locked."""
    desk.lock()
    guest.run("systemctl restart systemd-logind")
    assert desk.properties()["LockedHint"] == "no"
    try:
        yield
    finally:
        desk.lock()
        desk.unlock()


@contextlib.contextmanager
def on_another_console(guest: VirtualMachine, desk: Session) -> Iterator[None]:
    switch_to_console(guest)
    try:
        yield
    finally:
        desk.bring_to_front()


def press(guest: VirtualMachine) -> None:
    guest.play("down f9")
    guest.run(f"keymodectl wait keyboard={TALKING} --timeout 100")


def record(guest: VirtualMachine, talker: PushToTalk) -> None:
    """Holds the key until a recorder runs, and waits for the end of the recording."""
    number = len(talker.recordings()) + 1
    guest.play("down f9")
    talker.wait_for_recording(number)
    guest.play("up f9")
    talker.wait_for_end()


def expect_silence(guest: VirtualMachine, talker: PushToTalk) -> None:
    """Checks that no recorder runs, and that none begins within 300 ms."""
    before = talker.recordings()
    guest.run(f"! {RUNS} && sleep 0.3 && ! {RUNS}")
    assert talker.recordings() == before


def test_recorder_runs_exactly_while_the_key_is_held(guest: VirtualMachine, desk: Session) -> None:
    talker = PushToTalk(guest, desk.start)
    # It follows the states once it has started a recorder.
    record(guest, talker)
    watch = Watch(guest)

    def too_long(stamps: int) -> int:
        number = len(talker.recordings()) + 1
        guest.play("down f9")
        talker.wait_for_recording(number, stamps)
        guest.play("up f9")
        recording = talker.wait_for_end()
        pressed, released = watch.changes(2)
        assert (recording.event, recording.since) == ("startTalking", pressed["time"])
        assert recording.stamps[0] > pressed["time"]
        return abs(int(recording.stamps[-1] - released["time"]))

    for stamps in (2, 100):
        in_time(lambda stamps=stamps: too_long(stamps), 150_000)
    # These are too short for the recorder to say anything, perhaps.
    guest.play("tap f9 30; wait 100;" * 5)
    watch.changes(10)
    guest.wait_until(f"! {RUNS}")
    expect_silence(guest, talker)


@dataclass(frozen=True)
class End:
    """What ends a recording while the key is held."""

    act: Callable[[VirtualMachine, Session], int]
    """Does it; returns the time just before, in microseconds."""
    undo: Callable[[VirtualMachine, Session], object] = lambda *_: None
    is_survived: bool = True
    """Whether keymodectl begins another recording at the next press, once it is undone."""


def kill(beginnings: str) -> Callable[[VirtualMachine, Session], int]:
    return lambda guest, _: now(guest, f"pkill -KILL -f '^({beginnings})'")


ENDS = {
    "a crash of the recorder": End(kill(RECORDER)),
    "a crash of keymodectl": End(kill(KEYMODECTL), is_survived=False),
    "a crash of the guardian": End(kill(GUARDIAN), is_survived=False),
    "the end of the service": End(
        lambda guest, _: now(guest, f"systemctl stop {service.UNITS}"),
        lambda guest, _: service.restart(guest),
    ),
    "the lock of the session": End(lambda _, desk: desk.lock(), lambda _, desk: desk.unlock()),
    "another console in front": End(
        lambda guest, _: switch_to_console(guest), lambda _, desk: desk.bring_to_front()
    ),
}


@pytest.mark.parametrize("end", ENDS.values(), ids=ENDS.keys())
def test_recording_ends_within_a_second_after(
    guest: VirtualMachine, desk: Session, end: End
) -> None:
    # As awkward as a recorder can be.
    expect_end_within_a_second(guest, desk, end, "stubborn descendant")


def test_crash_of_keymodectl_and_its_guardian_at_once_leaves_no_recorder(
    guest: VirtualMachine, desk: Session
) -> None:
    # Only the first process of the command is sure to end then.
    both = End(kill(f"{KEYMODECTL}|{GUARDIAN}"), is_survived=False)
    expect_end_within_a_second(guest, desk, both, "")


def expect_end_within_a_second(
    guest: VirtualMachine, desk: Session, end: End, recorder: str
) -> None:
    def microseconds_to_end() -> int:
        talker = PushToTalk(guest, desk.start, recorder=recorder)
        press(guest)
        talker.wait_for_recording(1)
        ended = end.act(guest, desk)
        recording = talker.wait_for_end()
        expect_silence(guest, talker)
        guest.play("up f9")
        end.undo(guest, desk)
        if end.is_survived:
            record(guest, talker)
            talker.process.terminate()
        talker.process.wait()
        return recording.stamps[-1] - ended

    in_time(microseconds_to_end, SECOND_US)


def test_recording_ends_within_a_second_after_the_keyboard_is_unplugged(
    guest: VirtualMachine, desk: Session
) -> None:
    talker = PushToTalk(guest, desk.start)

    def microseconds_to_end() -> int:
        number = len(talker.recordings()) + 1
        with usb_keyboard(guest) as unplug:
            guest.play("down f9")
            talker.wait_for_recording(number)
            begun = now(guest)
            unplug()
            recording = talker.wait_for_end()
        expect_silence(guest, talker)
        guest.play("up f9")
        return recording.stamps[-1] - begun

    in_time(microseconds_to_end, SECOND_US)


def test_recording_ends_with_the_daemon_and_begins_again_with_the_next_one(
    guest: VirtualMachine, desk: Session
) -> None:
    (guest.shared / "gate").write_text("while test -e /run/gate; do sleep 0.05; done\n")
    with service.settings(guest, "ExecStartPre=+/bin/sh /host/gate"):
        talker = PushToTalk(guest, desk.start)

        def microseconds_to_end() -> int:
            number = len(talker.recordings()) + 1
            guest.play("down f9")
            talker.wait_for_recording(number)
            killed = now(guest, "touch /run/gate; systemctl kill --signal KILL keymoded")
            recording = talker.wait_for_end()
            expect_silence(guest, talker)
            # The key is still down, as the next daemon finds.
            guest.run("rm /run/gate")
            talker.wait_for_recording(number + 1)
            guest.play("up f9")
            talker.wait_for_end()
            return recording.stamps[-1] - killed

        in_time(microseconds_to_end, SECOND_US)


@pytest.mark.parametrize("elsewhere", [locked, locked_before_logind_restarts, on_another_console])
def test_key_that_is_not_meant_for_the_session_starts_nothing(
    guest: VirtualMachine,
    desk: Session,
    elsewhere: Callable[[VirtualMachine, Session], contextlib.AbstractContextManager[None]],
) -> None:
    talker = PushToTalk(guest, desk.start)
    record(guest, talker)
    with elsewhere(guest, desk):
        guest.play("tap f9 100; wait 100")
        press(guest)
        expect_silence(guest, talker)
    # It is still down, but was not meant for this session.
    expect_silence(guest, talker)
    guest.play("up f9; wait 100")
    record(guest, talker)


def test_process_of_root_belongs_to_no_session(guest: VirtualMachine) -> None:
    with_sessions = PushToTalk(guest, guest.start)
    regardless = PushToTalk(guest, guest.start, "--any-session")
    record(guest, regardless)
    assert with_sessions.recordings() == []
    with_sessions.process.terminate()
    assert "session" in with_sessions.process.wait().stderr


def test_service_of_the_users_manager_follows_her_session(
    guest: VirtualMachine, desk: Session
) -> None:
    with contextlib.ExitStack() as ends:

        def start(command: str) -> GuestProcess:
            unit = UserUnit(guest, command)
            ends.callback(unit.stop)
            return unit.process

        talker = PushToTalk(guest, start)
        record(guest, talker)
        guest.play("down f9")
        talker.wait_for_recording(2)
        with locked(guest, desk):
            talker.wait_for_end()
            guest.play("up f9; wait 100; tap f9 100; wait 100")
            expect_silence(guest, talker)
        record(guest, talker)
        guest.play("down f9")
        talker.wait_for_recording(4)
    # The end of the service has ended the recording.
    expect_silence(guest, talker)
    guest.run(f"keymodectl wait keyboard={TALKING} --timeout 100")
    guest.play("up f9")
    guest.run(f"keymodectl wait keyboard={SILENT} --timeout 100")
