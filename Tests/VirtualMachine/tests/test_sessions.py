"""What follows login sessions.

Only what needs logind, or the service under PID 1: Tests/UserManager has the other rules of
`keymodectl targets` and `keymodectl while`.
"""

import contextlib
from collections.abc import Callable, Iterator

import pytest
from harness import service
from harness.guest_process import GuestProcess
from harness.sessions import (
    EMPTY_TERMINAL,
    UPTIME,
    Session,
    UserUnit,
    as_user,
    microseconds,
    session,
    switch_to_console,
    systemctl,
)
from harness.talking import TALKING, usb_keyboard
from harness.vm import VirtualMachine
from support.push_to_talk import PUSH_TO_TALK
from support.talk import SETTINGS as TALK
from support.time_stamps import NAME, Talker, in_time
from support.waiting import NotInTimeError, wait_until

TARGETS = "keymode-targets.service"
SECOND_US = 1_000_000


# What acts while a session is in front


@contextlib.contextmanager
def locked(_: VirtualMachine, desk: Session) -> Iterator[int]:
    time = desk.lock()
    try:
        yield time
    finally:
        desk.unlock()


@contextlib.contextmanager
def locked_before_logind_restarts(guest: VirtualMachine, desk: Session) -> Iterator[int]:
    """logind forgets at its restart that a session is locked."""
    time = desk.lock()
    guest.run("systemctl restart systemd-logind")
    assert desk.properties()["LockedHint"] == "no"
    try:
        yield time
    finally:
        desk.lock()
        desk.unlock()


@contextlib.contextmanager
def on_another_console(guest: VirtualMachine, desk: Session) -> Iterator[int]:
    time = switch_to_console(guest)
    try:
        yield time
    finally:
        desk.bring_to_front()


SLEEP = """
mkdir -p /run/systemd/system/systemd-suspend.service.d
printf '[Service]\\nExecStart=\\nExecStart=sleep 1\\n' >/run/systemd/system/systemd-suspend.service.d/test.conf
systemctl daemon-reload
systemctl suspend
"""
"""Has logind announce a sleep and its end, without the kernel's suspend in between."""

AWAKE = (
    "busctl get-property org.freedesktop.login1 /org/freedesktop/login1 "
    "org.freedesktop.login1.Manager PreparingForSleep | grep -qx 'b false'"
)


@contextlib.contextmanager
def asleep(guest: VirtualMachine, _: Session) -> Iterator[int]:
    time = now(guest)
    guest.run(SLEEP)
    try:
        yield time
    finally:
        guest.wait_until(AWAKE)
        guest.run("rm -r /run/systemd/system/systemd-suspend.service.d; systemctl daemon-reload")


RUNS = f"pgrep -x {NAME} >/dev/null"
"""Succeeds in the guest while a recorder runs."""


class PushToTalk(Talker):
    """Push-to-talk in the guest, started in a session or otherwise."""

    CONDITION = f"keyboard={TALKING}"
    OPTIONS = ""

    def __init__(
        self,
        vm: VirtualMachine,
        start: Callable[[str], GuestProcess],
        options: str = "",
        recorder: str = "",
    ) -> None:
        self._vm = vm
        stamps = service.program(vm, "stamps").replace("python3", "python3 -IS")
        self.process = start(
            f"exec keymodectl while {self.CONDITION} --grace 500ms {self.OPTIONS} {options} -- "
            f"{stamps} {recorder}"
        )

    def lines(self) -> list[str]:
        return self.process.lines()

    def is_recording(self) -> bool:
        return self._vm.run(RUNS, check=False).exit_code == 0

    def press(self) -> None:
        self._vm.play("down f9")
        self._vm.run(f"keymodectl wait keyboard={TALKING} --timeout 100")

    def release(self) -> None:
        self._vm.play("up f9")


def now(vm: VirtualMachine) -> int:
    """The guest's time since its boot, in microseconds."""
    return microseconds(vm.run(UPTIME))


Elsewhere = Callable[[VirtualMachine, Session], contextlib.AbstractContextManager[int]]


@pytest.fixture
def talking(installed: VirtualMachine) -> Iterator[VirtualMachine]:
    """The guest, with a service for push-to-talk; no key is down at the end, and nothing runs."""
    with service.configured(installed, PUSH_TO_TALK):
        yield installed
        installed.play("up f9")
        installed.end_leftovers()
        installed.wait_until(f"! {RUNS} && ! pgrep -f '^keymodectl while'")


def test_recording_ends_with_the_session_in_front_and_with_the_keyboard(
    talking: VirtualMachine,
) -> None:
    with session(talking) as desk:
        talker = PushToTalk(talking, desk.start, recorder="stubborn descendant")

        def microseconds_to_end(elsewhere: Elsewhere) -> int:
            talker.begin()
            with elsewhere(talking, desk) as time:
                recording = talker.wait_for_end()
                # A key that is typed now is not meant for this session.
                talking.play("up f9; wait 100; tap f9 100; wait 100")
                talker.press()
                talker.expect_silence()
            # It is still down.
            talker.expect_silence()
            talking.play("up f9; wait 100")
            talker.record()
            return recording.stamps[-1] - time

        for elsewhere in (locked, locked_before_logind_restarts, on_another_console):
            in_time(lambda elsewhere=elsewhere: microseconds_to_end(elsewhere), SECOND_US)

        def microseconds_to_end_unplugged() -> int:
            with usb_keyboard(talking) as unplug:
                talker.begin()
                time = now(talking)
                unplug()
                recording = talker.wait_for_end()
            talker.expect_silence()
            talking.play("up f9")
            return recording.stamps[-1] - time

        in_time(microseconds_to_end_unplugged, SECOND_US)


# Of the recipe's machine `talk`, which two taps latch


ANOTHER, THEIR_TERMINAL = "bob", 8

LATCHING = "tap ctrl_r 60; wait 100; tap ctrl_r 60"


class LatchedTalk(PushToTalk):
    """Push-to-talk by the machine `talk`, with `--anew`; two taps begin it."""

    CONDITION = "talk=talking,trailing,again,open,closing"
    OPTIONS = "--anew"

    def press(self) -> None:
        for _ in range(service.MOST_TRIES):
            self._vm.play(LATCHING)
            if talk_state(self._vm) == "open":
                return
            # The host was late.
            self._vm.run("keymodectl wait talk=silent --timeout 100")
        raise AssertionError("two taps never latched")

    def tap(self) -> str:
        """Taps the key, and returns the state."""
        self._vm.play("tap ctrl_r 60")
        return talk_state(self._vm)

    def end(self) -> None:
        """Ends what is latched by a tap; a tap that a late host made a hold talks on for a moment."""
        self.tap()
        self._vm.run("keymodectl wait talk=silent --timeout 100")
        wait_until(lambda: not self.is_recording(), "the end of the recorder")


def talk_state(vm: VirtualMachine) -> str:
    """The state of `talk` after all typed keys have acted."""
    return str(service.settled_state(vm)["states"]["talk"])


@pytest.fixture
def latching(installed: VirtualMachine) -> Iterator[VirtualMachine]:
    """The guest, with a service that has the recipe; nothing runs at the end."""
    with service.configured(installed, TALK):
        yield installed
        installed.end_leftovers()
        installed.wait_until(f"! {RUNS} && ! pgrep -f '^keymodectl while'")


@pytest.fixture
def another_person(installed: VirtualMachine) -> Iterator[str]:
    """Another user, who may read the states."""
    installed.run(f"useradd --create-home --groups keymoded-state {ANOTHER}")
    yield ANOTHER
    installed.run(f"userdel --remove {ANOTHER}")


@contextlib.contextmanager
def another_logged_in(guest: VirtualMachine, desk: Session) -> Iterator[int]:
    """Another person's session is in front, in which a recorder waits as well."""
    time = now(guest)
    with session(guest, THEIR_TERMINAL, ANOTHER) as theirs:
        talker = LatchedTalk(guest, theirs.start)
        talker.expect_silence()
        assert talk_state(guest) == "open"
        yield time
        assert talker.recordings() == []
    desk.bring_to_front()


def test_anew_what_is_latched_is_silent_elsewhere_and_until_the_next_press(
    latching: VirtualMachine, another_person: str
) -> None:
    with session(latching) as desk:
        talker = LatchedTalk(latching, desk.start)
        for elsewhere in (locked, on_another_console, another_logged_in, asleep):
            latch_until_recording(talker)
            with elsewhere(latching, desk):
                talker.wait_for_end()
                talker.expect_silence()
            # It is still latched.
            talker.expect_silence()
            assert talk_state(latching) == "open"
            # Who holds the key is heard, since that is another state.
            number = len(talker.recordings()) + 1
            latching.play("down ctrl_r")
            talker.wait_for_recording(number)
            assert talk_state(latching) == "closing"
            latching.play("wait 300; up ctrl_r")
            latching.run("keymodectl wait talk=silent --timeout 100")
            talker.wait_for_end()
            # And who latches it anew.
            latch_until_recording(talker)
            talker.end()


def latch_until_recording(talker: LatchedTalk) -> None:
    """Latches until it counts: once keymodectl is connected, and knows of the session."""

    def counts() -> bool:
        talker.press()
        with contextlib.suppress(NotInTimeError):
            wait_until(talker.is_recording, "a recorder", seconds=2)
            return True
        talker.end()
        return False

    wait_until(counts, "a recorder")


def test_recording_ends_with_keymodectl_as_root(talking: VirtualMachine) -> None:
    def microseconds_to_end() -> int:
        talker = PushToTalk(talking, talking.start, "--any-session", "stubborn descendant")
        talker.begin()
        time = now(talking)
        talking.run("pkill -KILL -x keymodectl")
        recording = talker.wait_for_end()
        talking.play("up f9")
        return recording.stamps[-1] - time

    # Half a second is the grace.
    in_time(microseconds_to_end, SECOND_US + SECOND_US // 2)


def test_unit_of_the_users_manager_follows_her_session_and_root_has_none(
    talking: VirtualMachine,
) -> None:
    with session(talking) as desk, contextlib.ExitStack() as ends:

        def start(command: str) -> GuestProcess:
            unit = UserUnit(talking, command)
            ends.callback(unit.stop)
            return unit.process

        talker = PushToTalk(talking, start)
        of_root = PushToTalk(talking, talking.start)
        talker.record()
        talker.begin()
        with locked(talking, desk):
            talker.wait_for_end()
            talking.play("up f9; wait 100; tap f9 100; wait 100")
            talker.expect_silence()
        talker.record()
        assert of_root.recordings() == []
        of_root.process.terminate()
        assert "session" in of_root.process.wait().stderr


def wait_for_target(vm: VirtualMachine, state: str | None) -> None:
    """Waits until exactly the target of this state of the keyboard is active; None: no target."""
    wanted = f"keymode@keyboard:{state}.target" if state else ""
    shown = "systemctl --user list-units --plain --no-legend --full --state=active"
    vm.run(
        as_user(
            "alice",
            f"until [ \"$({shown} 'keymode@*.target' | cut -d' ' -f1)\" = '{wanted}' ]; "
            "do sleep 0.05; done",
        ),
        timeout=30,
    )


def test_targets_follow_the_session(guest: VirtualMachine) -> None:
    with session(guest) as desk:
        systemctl(guest, f"start {TARGETS}")
        guest.run("keymodectl trigger clickSwitchButton")
        wait_for_target(guest, "prepareToRecord")
        desk.lock()
        wait_for_target(guest, None)
        guest.run("keymodectl trigger clickSwitchButton")
        desk.unlock()
        # That state was entered on a locked screen; the next one counts.
        guest.run("keymodectl trigger clickMoreButton")
        wait_for_target(guest, "showingPanel")
        switch_to_console(guest, EMPTY_TERMINAL)
        wait_for_target(guest, None)
        desk.bring_to_front()
        wait_for_target(guest, "showingPanel")
