"""`keymodectl targets` with a real user manager: the states as units of systemd."""

import json
import re
from collections.abc import Iterator

import pytest
from harness import service
from harness.sessions import (
    EMPTY_TERMINAL,
    Session,
    as_user,
    session,
    switch_to_console,
    systemctl,
)
from harness.vm import VirtualMachine
from support.checkout import CHECKOUT

SERVICE = "keymode-targets.service"
CHANGES = 1000

# In the home of alice.
UNITS = ".config/systemd/user"

# A unit as docs/actions.md shows it, but it runs something else.
FOLLOWER = "voice-memo.service"


def write(vm: VirtualMachine, name: str, text: str) -> None:
    """Writes a file of alice's units, and reloads her manager."""
    (vm.shared / "unit").write_text(text)
    vm.run(
        as_user(
            "alice",
            f"install -D -m 644 /host/unit {UNITS}/{name} && systemctl --user daemon-reload",
        )
    )


def documented_unit() -> str:
    """The service that docs/actions.md shows."""
    section = (CHECKOUT / "docs/actions.md").read_text().partition("## States as units of systemd")
    lines = re.findall(r"^    (.*)$", section[2].partition("[Unit]")[2], re.MULTILINE)
    text = "\n".join(["[Unit]", *lines]).partition("\n$")[0]
    assert "PartOf=" in text and "WantedBy=" in text
    return re.sub("ExecStart=.*", "ExecStart=sleep infinity", text) + "\n"


@pytest.fixture
def desk(guest: VirtualMachine) -> Iterator[Session]:
    """Alice's session, in front, with the service enabled and started."""
    with session(guest) as opened:
        try:
            systemctl(guest, f"enable --now {SERVICE}")
            yield opened
        finally:
            systemctl(guest, f"disable --now {SERVICE}", check=False)
            guest.run("rm -rf ~alice/.config ~alice/.local")


def active(vm: VirtualMachine) -> list[str]:
    """The active targets of states."""
    shown = systemctl(
        vm, "list-units --plain --no-legend --full --state=active 'keymode-*@*.target'"
    )
    return [line.split()[0] for line in shown.stdout.splitlines()]


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


def trigger(vm: VirtualMachine, event: str) -> None:
    vm.run(f"keymodectl trigger {event}")


def main_pid(vm: VirtualMachine, unit: str) -> int:
    return int(systemctl(vm, f"show --value --property MainPID {unit}").stdout)


def jobs(vm: VirtualMachine) -> list[tuple[str, str]]:
    """What alice's manager has started and stopped of targets of states, in order."""
    fields = "--output json --output-fields=USER_UNIT,JOB_TYPE"
    entries = map(json.loads, service.journal(vm, f"{fields} JOB_RESULT=done"))
    return [
        (entry["JOB_TYPE"], entry["USER_UNIT"])
        for entry in entries
        if "@" in entry.get("USER_UNIT", "")
    ]


def write_options(vm: VirtualMachine, options: str, more: str = "") -> None:
    """Restarts the service with these options, and with more settings."""
    text = f"[Service]\nExecStart=\nExecStart=/usr/bin/keymodectl targets {options}\n{more}\n"
    write(vm, f"{SERVICE}.d/test.conf", text)
    systemctl(vm, f"restart {SERVICE}")


def test_units_are_well_formed_and_restrict_the_program(
    guest: VirtualMachine, desk: Session
) -> None:
    verified = desk.run(
        f"systemd-analyze --user verify --man=no /usr/lib/systemd/user/{SERVICE} "
        "keymode-keyboard@a.target keymode-shift@a.target",
        check=False,
    )
    ours = [line for line in verified.stderr.splitlines() if "keymode" in line]
    assert (verified.exit_code, ours) == (0, [])
    pid = main_pid(guest, SERVICE)
    status = guest.run(f"cat /proc/{pid}/status").stdout
    assert re.search(r"^NoNewPrivs:\t1$", status, re.MULTILINE)
    assert re.search(r"^Seccomp:\t2$", status, re.MULTILINE)
    assert re.search("^Max core file size +0 +0 ", guest.run(f"cat /proc/{pid}/limits").stdout, re.M)
    shown = systemctl(guest, f"status --no-pager --full {SERVICE}").stdout
    for complaint in ("ignoring", "not supported", "Failed", "cannot"):
        assert complaint not in shown


def test_thousand_changes_leave_exactly_the_right_targets(
    guest: VirtualMachine, desk: Session
) -> None:
    earlier = len(jobs(guest))
    write_options(guest, "--shift")
    program = service.program(guest, "change_states")
    done = guest.run(as_user("alice", f"exec {program} {CHANGES}"), timeout=1500)
    print(done.stdout)
    assert int(done.stdout.split()[0]) >= CHANGES
    # No two targets of a machine were active at once.
    running: dict[str, str] = {}
    starts = 0
    for kind, unit in jobs(guest)[earlier:]:
        machine = unit.split("@")[0]
        if kind == "start":
            assert machine not in running, (machine, unit, running)
            running[machine] = unit
            starts += 1
        elif running.get(machine) == unit:
            del running[machine]
    assert starts > CHANGES / 40
    systemctl(guest, f"stop {SERVICE}")
    assert active(guest) == []


def test_states_of_a_table_of_the_user_are_instances_unchanged(installed: VirtualMachine) -> None:
    table = """
    keyboard:
      table:
        states: [my_State-2, a--b]
        events: [go]
        rows:
          prepareToEditText: { go: my_State-2 }
          my_State-2: { go: a--b }
    """
    follower = (
        "[Unit]\nPartOf=keymode-keyboard@my_State-2.target\n"
        "[Service]\nType=oneshot\nRemainAfterExit=yes\nExecStart=true\n"
        "[Install]\nWantedBy=keymode-keyboard@my_State-2.target\n"
    )
    with service.configured(installed, table), session(installed):
        try:
            systemctl(installed, f"start {SERVICE}")
            write(installed, "mine.service", follower)
            systemctl(installed, "enable mine.service")
            wait_for_target(installed, "prepareToEditText")
            trigger(installed, "go")
            wait_for_target(installed, "my_State-2")
            assert systemctl(installed, "is-active mine.service").stdout == "active\n"
            trigger(installed, "go")
            wait_for_target(installed, "a--b")
            stopped = systemctl(installed, "is-active mine.service", check=False)
            assert stopped.stdout == "inactive\n"
        finally:
            systemctl(installed, f"stop {SERVICE}")
            installed.run("rm -rf ~alice/.config")


@pytest.fixture
def follower(guest: VirtualMachine, desk: Session) -> int:
    """The PID of a service that runs while the keyboard is in prepareToRecord, as it is now."""
    write(guest, FOLLOWER, documented_unit())
    systemctl(guest, f"enable {FOLLOWER}")
    trigger(guest, "clickSwitchButton")
    wait_for_target(guest, "prepareToRecord")
    pid = main_pid(guest, FOLLOWER)
    assert pid > 0
    return pid


def test_documented_service_runs_while_the_state_lasts(
    guest: VirtualMachine, follower: int
) -> None:
    trigger(guest, "clickSwitchButton")
    guest.wait_until(f"! test -e /proc/{follower}")
    assert main_pid(guest, FOLLOWER) == 0


def seconds_away(vm: VirtualMachine) -> float:
    """How long the daemon was away when it was last restarted."""
    times = vm.run(
        "systemctl show --value keymoded --property ActiveExitTimestampMonotonic "
        "--property ActiveEnterTimestampMonotonic"
    ).stdout.split()
    return abs(int(times[0]) - int(times[1])) / 1e6


@pytest.mark.parametrize("how", ["restart", "kill --signal KILL"])
def test_restart_of_the_daemon_stops_nothing(
    guest: VirtualMachine, follower: int, how: str
) -> None:
    for _ in range(service.MOST_TRIES):
        before, pid = jobs(guest), service.main_pid(guest)
        guest.run(
            f"systemctl {how} keymoded; "
            "until systemctl is-active --quiet keymoded && "
            f'[ "$(systemctl show --value --property MainPID keymoded)" != {pid} ]; '
            "do sleep 0.05; done; keymodectl state; sleep 2"
        )
        away = seconds_away(guest)
        # On a busy host the daemon may take too long to start.
        if away < 0.8:
            assert main_pid(guest, FOLLOWER) == follower
            assert active(guest) == ["keymode-keyboard@prepareToRecord.target"]
            assert jobs(guest) == before
            return
        wait_for_target(guest, "prepareToRecord")
        follower = main_pid(guest, FOLLOWER)
    raise AssertionError(f"the daemon never took less than {away} s to start")


def test_without_a_daemon_no_target_is_active(guest: VirtualMachine, follower: int) -> None:
    guest.run(f"systemctl stop {service.UNITS}")
    wait_for_target(guest, None)
    guest.wait_until(f"! test -e /proc/{follower}")
    assert "no keymoded runs" in systemctl(guest, f"status {SERVICE}").stdout
    service.restart(guest)
    wait_for_target(guest, "prepareToEditText")


def test_nothing_outlasts_a_killed_keymodectl(guest: VirtualMachine, follower: int) -> None:
    write_options(guest, "", "Restart=no")
    wait_for_target(guest, "prepareToRecord")
    running = main_pid(guest, FOLLOWER)
    systemctl(guest, f"kill --signal KILL {SERVICE}")
    wait_for_target(guest, None)
    guest.wait_until(f"! test -e /proc/{running}")
    # Without the test's setting it is started again.
    write_options(guest, "")
    killed = main_pid(guest, SERVICE)
    systemctl(guest, f"kill --signal KILL {SERVICE}")
    guest.wait_until(f"! test -e /proc/{killed}")
    guest.wait_until(as_user("alice", f"systemctl --user is-active {SERVICE}"))
    wait_for_target(guest, "prepareToRecord")


def test_manager_that_executes_itself_again_loses_nothing(
    guest: VirtualMachine, follower: int
) -> None:
    pid = main_pid(guest, SERVICE)
    for again in ("daemon-reload", "daemon-reexec"):
        systemctl(guest, again)
        wait_for_target(guest, "prepareToRecord")
        assert main_pid(guest, FOLLOWER) == follower
        trigger(guest, "clickSwitchButton")
        wait_for_target(guest, "editingText")
        trigger(guest, "clickSwitchButton")
        wait_for_target(guest, "prepareToRecord")
        follower = main_pid(guest, FOLLOWER)
    assert main_pid(guest, SERVICE) == pid


def test_restarted_manager_gets_the_targets_again(
    guest: VirtualMachine, desk: Session, follower: int
) -> None:
    # One that is not a unit of the manager waits for the next manager.
    systemctl(guest, f"disable --now {SERVICE}")
    by_hand = desk.start("exec keymodectl targets")
    wait_for_target(guest, "prepareToRecord")
    guest.run("systemctl restart user@$(id -u alice)")
    wait_for_target(guest, "prepareToRecord")
    assert main_pid(guest, FOLLOWER) not in (0, follower)
    assert by_hand.exit_code is None
    by_hand.interrupt()
    assert by_hand.wait().exit_code == 130
    wait_for_target(guest, None)
    # The service is enabled, so the next manager starts it.
    systemctl(guest, f"enable {SERVICE}")
    guest.run("systemctl restart user@$(id -u alice)")
    wait_for_target(guest, "prepareToRecord")


def test_session_that_is_not_in_front_has_no_target(
    guest: VirtualMachine, desk: Session, follower: int
) -> None:
    desk.lock()
    wait_for_target(guest, None)
    guest.wait_until(f"! test -e /proc/{follower}")
    trigger(guest, "clickSwitchButton")
    desk.unlock()
    # That state was entered on a locked screen; the next one counts.
    trigger(guest, "clickMoreButton")
    wait_for_target(guest, "showingPanel")
    switch_to_console(guest, EMPTY_TERMINAL)
    wait_for_target(guest, None)
    desk.bring_to_front()
    wait_for_target(guest, "showingPanel")
    write_options(guest, "--any-session")
    desk.lock()
    trigger(guest, "clickMoreButton")
    wait_for_target(guest, service.state(guest)["keyboard"])


def test_failing_targets_are_told_of_once(guest: VirtualMachine, desk: Session) -> None:
    systemctl(guest, "mask keymode-keyboard@prepareToRecord.target")
    wait_for_target(guest, "prepareToEditText")
    for _ in range(3):
        trigger(guest, "clickSwitchButton")
        wait_for_target(guest, None)
        trigger(guest, "clickSwitchButton")
        wait_for_target(guest, "editingText")
    pid = main_pid(guest, SERVICE)
    told = service.journal(guest, f"_PID={pid}")
    assert [line for line in told if "masked" in line] == [
        "keymodectl: cannot start keymode-keyboard@prepareToRecord.target: "
        "Unit keymode-keyboard@prepareToRecord.target is masked."
    ]


def test_idle_program_sleeps(guest: VirtualMachine, desk: Session) -> None:
    wait_for_target(guest, "prepareToEditText")
    pid = main_pid(guest, SERVICE)
    count = (
        f"cat /proc/{pid}/task/*/status | awk '/^voluntary/ {{ n += $2 }} END {{ print n }}'"
    )
    # The first time it may still be busy with what came before.
    for _ in range(3):
        before, after = guest.run(f"{count}; sleep 15; {count}").stdout.split()
        if before == after:
            return
    raise AssertionError(f"{int(after) - int(before)} waits in 15 s")
