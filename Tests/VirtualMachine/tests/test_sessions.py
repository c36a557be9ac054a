"""Login sessions: what the harness assumes about them, and what follows them.

Only what needs logind, or the service under PID 1: Tests/UserManager has the other rules of
`keymodectl targets` and `keymodectl while`.
"""

import contextlib
import json
import re
from collections.abc import Callable, Iterator

import pytest
from harness import service
from harness.guest_process import GuestProcess
from harness.pushing_to_talk import RUNS, PushToTalk, now
from harness.sessions import (
    EMPTY_TERMINAL,
    Session,
    UserUnit,
    as_user,
    escaped,
    manager,
    session,
    switch_to_console,
    systemctl,
)
from harness.talking import TALKING, usb_keyboard
from harness.vm import VirtualMachine
from support.push_to_talk import PUSH_TO_TALK
from support.time_stamps import in_time

TARGETS = "keymode-targets.service"
SECOND_US = 1_000_000


def is_front(desk: Session) -> bool:
    return desk.properties()["Active"] == "yes"


def test_session_is_on_the_seat_and_in_front(installed: VirtualMachine) -> None:
    with session(installed) as desk:
        properties = desk.properties()
        assert {
            name: properties[name]
            for name in ("Name", "Seat", "VTNr", "Class", "Type", "Active", "LockedHint", "Remote")
        } == {
            "Name": "alice",
            "Seat": "seat0",
            "VTNr": "7",
            "Class": "user",
            "Type": "tty",
            "Active": "yes",
            "LockedHint": "no",
            "Remote": "no",
        }
        switch_to_console(installed, EMPTY_TERMINAL)
        installed.wait_until(f"loginctl show-session {desk.id} | grep -x Active=no")
        desk.bring_to_front()
        assert is_front(desk)
        desk.lock()
        assert desk.properties()["LockedHint"] == "yes"
        desk.unlock()
        assert desk.properties()["LockedHint"] == "no"
    gone = installed.run(f"loginctl show-session {desk.id}", check=False)
    assert gone.exit_code != 0


def test_command_runs_inside_the_session_as_its_user(installed: VirtualMachine) -> None:
    with session(installed) as desk:
        asked = desk.run(
            """
            id -un; id -Gn | fmt -1 | sort; pwd; echo $XDG_SESSION_ID
            busctl --json=short call org.freedesktop.login1 /org/freedesktop/login1 \
              org.freedesktop.login1.Manager GetSessionByPID u $$ | jq -r '.data[0]'
            systemctl --user is-system-running --wait
            """
        )
        assert asked.stdout.splitlines() == [
            "alice",
            "alice",
            "keymoded-control",
            "keymoded-state",
            "/home/alice",
            desk.id,
            f"/org/freedesktop/login1/session/{escaped(desk.id)}",
            "running",
        ]
        process = desk.start("exec sleep 600")
        desk.close()
        assert process.wait().exit_code == 137


def test_user_unit_and_plain_commands_have_no_session(installed: VirtualMachine) -> None:
    ask = (
        "id -un; busctl call org.freedesktop.login1 /org/freedesktop/login1 "
        "org.freedesktop.login1.Manager GetSessionByPID u $$ 2>&1; true"
    )
    with manager(installed):
        plain = installed.run(as_user("alice", ask))
        unit = UserUnit(installed, ask).process.wait()
        for completed in (plain, unit):
            assert re.fullmatch(
                r"alice\nCall failed: PID \d+ does not belong to any known session\s*",
                completed.stdout,
            )
        lasting = UserUnit(installed, "echo started; exec sleep 600")
        lasting.process.wait_for("started")
        assert systemctl(installed, f"is-active {lasting.name}").stdout == "active\n"
        lasting.stop()
    assert installed.run("loginctl list-users --no-legend").stdout == ""


def test_idle_daemon_sleeps_beside_a_session(guest: VirtualMachine) -> None:
    with session(guest):
        service.expect_asleep(guest, lambda: guest.run("sleep 10"))


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


Elsewhere = Callable[[VirtualMachine, Session], contextlib.AbstractContextManager[int]]


@pytest.fixture
def talking(installed: VirtualMachine) -> Iterator[VirtualMachine]:
    """The guest, with a service for push-to-talk; no key is down at the end, and nothing runs."""
    with service.configured(installed, PUSH_TO_TALK):
        yield installed
        installed.play("up f9")
        installed.end_leftovers()
        installed.wait_until(f"! {RUNS} && ! pgrep -f '^keymodectl while'")


def press(guest: VirtualMachine) -> None:
    guest.play("down f9")
    guest.run(f"keymodectl wait keyboard={TALKING} --timeout 100")


def begin(guest: VirtualMachine, talker: PushToTalk) -> None:
    """Presses the key, and waits until a recorder runs."""
    number = len(talker.recordings()) + 1
    press(guest)
    talker.wait_for_recording(number)


def record(guest: VirtualMachine, talker: PushToTalk) -> None:
    """Holds the key until a recorder runs, and waits for the end of the recording."""
    begin(guest, talker)
    guest.play("up f9")
    talker.wait_for_end()


def expect_silence(guest: VirtualMachine, talker: PushToTalk) -> None:
    """Checks that no recorder runs, and that none begins within 300 ms."""
    before = talker.recordings()
    guest.run(f"! {RUNS} && sleep 0.3 && ! {RUNS}")
    assert talker.recordings() == before


def test_recording_ends_with_the_session_in_front_and_with_the_keyboard(
    talking: VirtualMachine,
) -> None:
    with session(talking) as desk:
        talker = PushToTalk(talking, desk.start, recorder="stubborn descendant")

        def microseconds_to_end(elsewhere: Elsewhere) -> int:
            begin(talking, talker)
            with elsewhere(talking, desk) as time:
                recording = talker.wait_for_end()
                # A key that is typed now is not meant for this session.
                talking.play("up f9; wait 100; tap f9 100; wait 100")
                press(talking)
                expect_silence(talking, talker)
            # It is still down.
            expect_silence(talking, talker)
            talking.play("up f9; wait 100")
            record(talking, talker)
            return recording.stamps[-1] - time

        for elsewhere in (locked, locked_before_logind_restarts, on_another_console):
            in_time(lambda elsewhere=elsewhere: microseconds_to_end(elsewhere), SECOND_US)

        def microseconds_to_end_unplugged() -> int:
            with usb_keyboard(talking) as unplug:
                begin(talking, talker)
                time = now(talking)
                unplug()
                recording = talker.wait_for_end()
            expect_silence(talking, talker)
            talking.play("up f9")
            return recording.stamps[-1] - time

        in_time(microseconds_to_end_unplugged, SECOND_US)


def test_recording_ends_with_keymodectl_in_a_session_and_as_root(talking: VirtualMachine) -> None:
    with session(talking) as desk:

        def microseconds_to_end(start: Callable[[str], GuestProcess], options: str) -> int:
            talker = PushToTalk(talking, start, options, recorder="stubborn descendant")
            begin(talking, talker)
            time = now(talking)
            talking.run("pkill -KILL -x keymodectl")
            recording = talker.wait_for_end()
            talking.play("up f9")
            return recording.stamps[-1] - time

        # Half a second is the grace.
        for start, options in ((desk.start, ""), (talking.start, "--any-session")):
            in_time(
                lambda start=start, options=options: microseconds_to_end(start, options),
                SECOND_US + SECOND_US // 2,
            )


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
        record(talking, talker)
        begin(talking, talker)
        with locked(talking, desk):
            talker.wait_for_end()
            talking.play("up f9; wait 100; tap f9 100; wait 100")
            expect_silence(talking, talker)
        record(talking, talker)
        assert of_root.recordings() == []
        of_root.process.terminate()
        assert "session" in of_root.process.wait().stderr


@pytest.fixture
def desk(guest: VirtualMachine) -> Iterator[Session]:
    """Alice's session, in front, with the service of the targets enabled and started."""
    with session(guest) as opened:
        try:
            systemctl(guest, f"enable --now {TARGETS}")
            yield opened
        finally:
            systemctl(guest, f"disable --now {TARGETS}", check=False)
            guest.run("rm -rf ~alice/.config ~alice/.local")


def wait_for_target(vm: VirtualMachine, state: str | None) -> None:
    """Waits until exactly the target of this state of the keyboard is active; None: no target."""
    wanted = f"keymode-keyboard@{state}.target" if state else ""
    shown = "systemctl --user list-units --plain --no-legend --full --state=active"
    vm.run(
        as_user(
            "alice",
            f"until [ \"$({shown} 'keymode-*@*.target' | cut -d' ' -f1)\" = '{wanted}' ]; "
            "do sleep 0.05; done",
        ),
        timeout=30,
    )


def jobs(vm: VirtualMachine) -> list[tuple[str, str]]:
    """What alice's manager has started and stopped of targets of states, in order."""
    fields = "--output json --output-fields=USER_UNIT,JOB_TYPE"
    entries = map(json.loads, service.journal(vm, f"{fields} JOB_RESULT=done"))
    return [
        (entry["JOB_TYPE"], entry["USER_UNIT"])
        for entry in entries
        if "@" in entry.get("USER_UNIT", "")
    ]


def test_unit_of_the_targets_restricts_the_program(guest: VirtualMachine, desk: Session) -> None:
    pid = int(systemctl(guest, f"show --value --property MainPID {TARGETS}").stdout)
    status = guest.run(f"cat /proc/{pid}/status").stdout
    assert re.search(r"^NoNewPrivs:\t1$", status, re.MULTILINE)
    assert re.search(r"^Seccomp:\t2$", status, re.MULTILINE)
    limits = guest.run(f"cat /proc/{pid}/limits").stdout
    assert re.search("^Max core file size +0 +0 ", limits, re.MULTILINE)
    shown = systemctl(guest, f"status --no-pager --full {TARGETS}").stdout
    for complaint in ("ignoring", "not supported", "Failed", "cannot"):
        assert complaint not in shown


def test_targets_outlive_a_restart_of_the_service_and_follow_the_session(
    guest: VirtualMachine, desk: Session
) -> None:
    guest.run("keymodectl trigger clickSwitchButton")
    wait_for_target(guest, "prepareToRecord")
    before = jobs(guest)
    # For a stopped program the daemon is back as soon as it notices its end, however slow the
    # guest is.
    systemctl(guest, f"kill --signal STOP {TARGETS}")
    guest.run("systemctl restart keymoded && keymodectl state")
    systemctl(guest, f"kill --signal CONT {TARGETS}")
    guest.run("keymodectl trigger clickSwitchButton")
    wait_for_target(guest, "editingText")
    assert jobs(guest) == [
        *before,
        ("stop", "keymode-keyboard@prepareToRecord.target"),
        ("start", "keymode-keyboard@editingText.target"),
    ]
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
