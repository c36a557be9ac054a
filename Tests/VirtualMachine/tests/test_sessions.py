"""Tests of the harness's login sessions: what other tests assume about them and about logind."""

import re

from harness import service
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
from harness.vm import VirtualMachine


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
