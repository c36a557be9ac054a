"""Who may read the states: the person in front, by keymoded-seat.service."""

import contextlib
import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from harness import service
from harness.service import as_user, journal
from harness.sessions import Session, switch_to_console, wait_until_manager_ended
from harness.sessions import as_user as in_manager
from harness.vm import VirtualMachine

PEOPLE = ("anna", "bert", "carl")
"""Three users without any of the groups, each logged in on a console."""

SEAT = "keymoded-seat.service"
UNITS = "keymoded-state.socket keymoded-control.socket"


class Room:
    """The guest with these people, and a greeter."""

    def __init__(self, vm: VirtualMachine, sessions: list[Session]) -> None:
        self.vm = vm
        self.sessions = sessions

    def try_case(self, name: str, *sessions: Session) -> Any:
        """What a case of guest/people.py returns, for these sessions or those of the people."""
        given = sessions or self.sessions[:3]
        words = " ".join(f"{session.uid}:{session.terminal}" for session in given)
        return json.loads(self.vm.run(f"{service.program(self.vm, 'people')} {name} {words}").stdout)


@pytest.fixture(scope="module")
def room(installed: VirtualMachine) -> Iterator[Room]:
    """The people, logged in, and the service enabled and started with the sockets."""
    installed.run(
        f"for name in {' '.join(PEOPLE)} greeter; do useradd --create-home $name; done; "
        f"{service.STOP}; systemctl stop {UNITS}; systemctl enable --quiet {SEAT} {UNITS}; "
        f"systemctl start {UNITS}"
    )
    with contextlib.ExitStack() as stack:
        sessions = []
        for terminal, user in enumerate((*PEOPLE, "greeter"), start=20):
            kind = "greeter" if user == "greeter" else "user"
            sessions.append(Session(installed, terminal, user, kind))
            stack.callback(wait_until_manager_ended, installed, user)
            stack.callback(sessions[-1].close)
        yield Room(installed, sessions)
        switch_to_console(installed, 1)
        installed.run(
            f"systemctl disable --quiet {SEAT} {UNITS}; systemctl stop {SEAT} {UNITS} keymoded; "
            f"{service.STOP}"
        )


def test_person_in_front_reads_and_nobody_else(room: Room) -> None:
    assert room.try_case("reads")


def test_connections_of_the_person_before_end_with_the_switch(room: Room) -> None:
    times = room.try_case("cut")
    print("milliseconds from the switch to the end of the connections:", times)
    # One of the host's pauses may be in the worst of them.
    assert times[len(times) * 3 // 4] <= 300


def test_of_three_people_within_50_ms_the_last_has_the_right(room: Room) -> None:
    assert room.try_case("quick") > 0


def test_connection_that_waited_to_be_accepted_gets_nothing(room: Room) -> None:
    assert room.try_case("backlog") == ""


def test_next_person_gets_no_change_of_before(room: Room) -> None:
    assert room.try_case("changes") == [[], [], True, True]


def test_restart_of_each_part_leads_to_the_right_again(room: Room) -> None:
    assert room.try_case("restarts")


def test_200_fast_switches_leave_the_right_to_the_last(room: Room) -> None:
    assert room.try_case("many")


def test_greeter_and_empty_console_have_no_right(room: Room) -> None:
    assert room.try_case("nobody", room.sessions[0], room.sessions[3])


def test_error_says_which_right_is_missing(room: Room) -> None:
    vm, (anna, bert, *_) = room.vm, room.sessions
    anna.bring_to_front()
    room.try_case("reads", anna)
    assert "shift     off\n" in anna.run("exec keymodectl state").stdout
    denied = (
        "keymodectl: no permission to use '/run/keymoded/state.sock':\n"
        "only the person in front and members of the group 'keymoded-state' may use it;\n"
    )
    join = "'sudo adduser $USER keymoded-state' and a restart of the computer allow it\n"
    refused = bert.run("exec keymodectl state", check=False)
    assert (refused.exit_code, refused.stdout) == (5, "")
    assert refused.stderr == f"{denied}systemd-logind says that another user is in front;\n{join}"

    vm.run("adduser --quiet bert keymoded-state || usermod --append --groups keymoded-state bert")
    try:
        older = vm.run(as_user("bert", "keymodectl state", "bert"), check=False)
        assert (older.exit_code, older.stderr) == (
            5,
            f"{denied}your session is older than your membership: 'sg keymoded-state -c COMMAND' runs "
            "a command with it, and a restart of the computer gives it to all\n",
        )
        vm.run(as_user("bert", "sg keymoded-state -c 'keymodectl state'", "bert"))
    finally:
        vm.run("gpasswd --delete bert keymoded-state")

    switch_to_console(vm)
    refused = vm.run(as_user("anna", "keymodectl state"), check=False)
    assert refused.stderr == f"{denied}systemd-logind says that nobody is in front;\n{join}"
    with contextlib.ExitStack() as stack:
        vm.run(f"systemctl stop {SEAT}")
        stack.callback(vm.run, f"systemctl start {SEAT}")
        anna.bring_to_front()
        refused = anna.run("exec keymodectl state", check=False)
        assert refused.stderr == (
            f"{denied}systemd-logind says that you are in front: "
            "'systemctl status keymoded-seat' says more\n"
        )


@pytest.mark.parametrize(
    "command",
    [
        "wait shift=off",
        "watch --format {shift}",
        "while --once shift=off -- true",
    ],
)
def test_user_unit_that_starts_before_the_right_waits_for_it(room: Room, command: str) -> None:
    vm, (anna, bert, *_) = room.vm, room.sessions
    anna.bring_to_front()
    unit = f"early-{command.split()[0]}"
    # `watch` ends with the reader of its output.
    line = f"keymodectl {command}" + (" | grep -m 1 off" if "watch" in command else "")
    vm.run(
        in_manager(
            "bert",
            f"exec systemd-run --user --quiet --unit {unit} --property RemainAfterExit=yes "
            f"bash -c 'set -o pipefail; {line} || test $? -eq 141'",
        )
    )
    log = f"_SYSTEMD_USER_UNIT={unit}.service"
    vm.wait_until(f"journalctl --sync; journalctl {log} | grep -q waiting.for.it")
    show = f"systemctl --user show --value --property SubState,Result {unit}"
    assert vm.run(in_manager("bert", f"exec {show}")).stdout.split() == ["success", "running"]
    bert.bring_to_front()
    vm.wait_until(
        f"({in_manager('bert', f'exec {show}')}) | grep -qx exited",
    )
    assert vm.run(in_manager("bert", f"exec {show}")).stdout.split() == ["success", "exited"]
    # `while` looks at the session first.
    reason = "this session is not the active one" if "while" in command else "no permission"
    assert [reason in line for line in journal(vm, log)].count(True) == 1, journal(vm, log)
    vm.run(in_manager("bert", f"exec systemctl --user stop {unit}"))


def test_right_goes_with_the_service(room: Room) -> None:
    try:
        assert room.try_case("stopped") == "0o660"
        room.vm.run(as_user("reader", "keymodectl state"))
    finally:
        room.vm.run(f"systemctl start {SEAT}")


def test_without_logind_it_names_nobody_and_says_so(room: Room) -> None:
    room.vm.run(f"systemctl stop {SEAT}")
    try:
        seat = room.vm.start(
            "exec unshare --mount sh -c 'mount -t tmpfs tmpfs /run/dbus && exec keymodectl seat' 2>&1"
        )
        seat.wait_for("there is no systemd-logind: only members of the socket's group may read")
        room.vm.run("test $(stat -c %a /run/keymoded/state.sock) = 660")
        assert not room.try_case("has_acl")
        seat.kill()
    finally:
        room.vm.run(f"systemctl start {SEAT}")


def test_security_exposure_of_the_service_is_low(installed: VirtualMachine) -> None:
    judged = installed.run(
        f"systemd-analyze security --offline=true --threshold=15 --no-pager "
        f"/usr/lib/systemd/system/{SEAT}",
        check=False,
    )
    overall = re.search(f"Overall exposure level for {SEAT}: .*", judged.stdout)
    assert overall
    print(overall[0])
    assert judged.exit_code == 0, judged.stdout
