"""`keymodectl targets` with a real user manager: the states as units of systemd."""

import random
import re
import time

import pytest
from person import DAEMON, NO_DEVICES, Person, expect_sleep
from support.checkout import CHECKOUT
from support.connection import Connection
from support.fifo_keyboard import FifoKeyboard
from support.talk import PRESS, RELEASE, SETTINGS, TAP
from support.waiting import BOUND_SECONDS, wait_until

SERVICE = "keymode-targets.service"
CHANGES = 1000

EVENTS = [
    "shiftPressed",
    "characterTyped",
    "clickSwitchButton",
    "clickMoreButton",
    "tapTextField",
    "tapBlankArea",
]

TARGET = "keymode@keyboard:prepareToRecord.target"

# A unit as docs/actions.md shows it, but it runs something else.
FOLLOWER = "voice-memo.service"


def documented_unit() -> str:
    """The service that docs/actions.md shows."""
    section = (CHECKOUT / "docs/actions.md").read_text().partition("## States as units of systemd")
    lines = re.findall(r"^    (.*)$", section[2].partition("[Unit]")[2], re.MULTILINE)
    text = "\n".join(["[Unit]", *lines]).partition("\n$")[0]
    assert "PartOf=" in text and "WantedBy=" in text
    return re.sub("ExecStart=.*", "ExecStart=sleep infinity", text) + "\n"


def jobs(person: Person) -> list[tuple[str, str]]:
    """What the manager has started and stopped of targets of states, in order."""
    return [
        (entry["JOB_TYPE"], entry["USER_UNIT"])
        for entry in person.journal("JOB_RESULT=done")
        if "@" in entry.get("USER_UNIT", "")
    ]


def write_options(person: Person, options: str, more: str = "") -> None:
    """Restarts the service with these options, and with more settings."""
    text = f"[Service]\nExecStart=\nExecStart=/run/programs/keymodectl targets {options}\n{more}\n"
    person.write_unit(f"{SERVICE}.d/test.conf", text)
    person.systemctl("daemon-reload")
    person.systemctl("restart", SERVICE)


@pytest.fixture
def serving(person: Person) -> Person:
    """The person, with the service enabled and started."""
    person.systemctl("enable", "--now", SERVICE)
    return person


@pytest.fixture
def follower(serving: Person) -> int:
    """The PID of a service that runs while the keyboard is in prepareToRecord, as it is now."""
    serving.write_unit(FOLLOWER, documented_unit())
    serving.systemctl("daemon-reload")
    serving.systemctl("enable", FOLLOWER)
    serving.trigger("clickSwitchButton")
    serving.wait_for_target("prepareToRecord")
    pid = serving.main_pid(FOLLOWER)
    assert pid > 0
    return pid


def test_units_are_well_formed(serving: Person) -> None:
    verified = serving.run(
        *("systemd-analyze", "--user", "verify", "--man=no"),
        SERVICE,
        "keymode@a.target",
    )
    assert [line for line in verified.stderr.splitlines() if "keymode" in line] == []


def test_unit_restricts_the_program(serving: Person) -> None:
    process = serving.proc / str(serving.main_pid(SERVICE))
    status, limits = ((process / name).read_text() for name in ("status", "limits"))
    assert "\nNoNewPrivs:\t1\n" in status and "\nSeccomp:\t2\n" in status
    assert re.search("^Max core file size +0 +0 ", limits, re.MULTILINE)
    shown = serving.systemctl("status", "--no-pager", "--full", SERVICE)
    for complaint in ("ignoring", "not supported", "Failed", "cannot"):
        assert complaint not in shown


def test_thousand_changes_leave_exactly_the_right_targets(serving: Person) -> None:
    write_options(serving, "--shift")
    earlier = len(jobs(serving))
    chance = random.Random(CHANGES)
    changes = 0
    with Connection(serving.sockets / "control.sock") as control:
        while changes < CHANGES:
            for _ in range(chance.randint(1, 40)):
                answer = control.call("Trigger", event=chance.choice(EVENTS))
                changes += answer["changed"]
                # Changes come before, during and after the jobs of others.
                if chance.random() < 0.2:
                    time.sleep(chance.uniform(0, 0.05))
            states = answer["state"]["states"]
            right = [f"keymode@{name}:{states[name]}.target" for name in ("keyboard", "shift")]
            wait_until(lambda: serving.active("keymode@*") == right, str(right))  # noqa: B023
            assert serving.jobs("keymode@*") == [], "there is a job after the last change"
            assert serving.active("keymode@*") == right
    # No two targets of a machine were active at once.
    running: dict[str, str] = {}
    starts = 0
    for kind, unit in jobs(serving)[earlier:]:
        machine = unit.split(":")[0]
        if kind == "start":
            assert machine not in running, (machine, unit, running)
            running[machine] = unit
            starts += 1
        elif running.get(machine) == unit:
            del running[machine]
    assert starts > CHANGES / 40
    serving.systemctl("stop", SERVICE)
    assert serving.active("keymode@*") == []


def test_locks_have_targets_if_they_are_asked_for() -> None:
    with Person("", has_keyboard=True, leds=FifoKeyboard.CAPS_LOCK) as person:

        def expect(*states: str) -> None:
            right = sorted(f"keymode@{state}.target" for state in states)
            wait_until(lambda: person.active("keymode@*") == right, str(right))

        person.systemctl("start", SERVICE)
        expect("keyboard:prepareToEditText")
        write_options(person, "--locks")
        expect("keyboard:prepareToEditText", "caps:on", "num:off")
        person.keyboard.show(FifoKeyboard.NUM_LOCK)
        expect("keyboard:prepareToEditText", "caps:off", "num:on")
        person.systemctl("kill", "--signal=KILL", SERVICE)
        expect("keyboard:prepareToEditText", "caps:off", "num:on")
        write_options(person, "--shift")
        expect("keyboard:prepareToEditText", "shift:off")


def reload_daemon(person: Person, configuration: str) -> None:
    """Has the daemon read this configuration."""
    person.write("keymoded.yaml", configuration)
    person.systemctl("kill", "--signal=HUP", DAEMON)


def test_machine_of_ones_own_has_targets_until_a_reload_removes_it() -> None:
    with Person(NO_DEVICES + SETTINGS) as person:

        def expect(*states: str) -> None:
            right = sorted(f"keymode@{state}.target" for state in states)
            wait_until(lambda: person.active("keymode@*") == right, str(right))

        person.systemctl("start", SERVICE)
        expect("keyboard:prepareToEditText", "talk:silent")
        # The help names a target that there is.
        named = re.findall(r"keymode@\S+\.target", person.run("keymodectl", "help", "targets").stdout)
        assert named == ["keymode@keyboard:editingText.target"]
        states = "talk=talking,trailing,again,open,closing"
        command = ("tail", "-f", "/dev/null")
        heard = person.start("keymodectl", "while", "--anew", states, "--", *command)

        def starts() -> bool:
            """Whether two taps start the command; a press before it is connected does not count."""
            person.trigger(PRESS, RELEASE, PRESS, TAP)
            for _ in range(20):
                if person.pids("tail"):
                    return True
                time.sleep(0.05)
            person.trigger(PRESS, TAP)
            return False

        wait_until(starts, "the command")
        expect("keyboard:prepareToEditText", "talk:open")

        reload_daemon(person, NO_DEVICES)
        expect("keyboard:prepareToEditText")
        wait_until(lambda: person.pids("tail") == [], "the end of the command")
        assert heard.poll() is None
        # A new machine begins anew.
        reload_daemon(person, NO_DEVICES + SETTINGS)
        expect("keyboard:prepareToEditText", "talk:silent")
        assert person.pids("tail") == []
        heard.terminate()
        heard.wait(BOUND_SECONDS)


def test_documented_service_runs_while_the_state_lasts_also_without_a_daemon_for_a_while(
    serving: Person, follower: int
) -> None:
    before, daemon, pid = jobs(serving), serving.main_pid(DAEMON), serving.main_pid(SERVICE)
    # For a stopped program the daemon is back as soon as it notices its end, however long a start
    # takes on this machine.
    serving.stop(pid)
    serving.systemctl("kill", "--signal=KILL", DAEMON)
    wait_until(lambda: serving.main_pid(DAEMON) not in (0, daemon), "the next daemon")
    serving.wait("keymodectl", "state")
    serving.kill("CONT", pid)
    serving.trigger("clickSwitchButton")
    serving.wait_for_target("editingText")
    # The follower ran until then, and nothing else happened.
    assert jobs(serving) == [
        *before,
        ("stop", "keymode@keyboard:prepareToRecord.target"),
        ("start", "keymode@keyboard:editingText.target"),
    ]
    serving.wait_for_end(follower)
    assert serving.main_pid(FOLLOWER) == 0


def test_without_a_daemon_no_target_is_active(serving: Person, follower: int) -> None:
    serving.systemctl("stop", DAEMON)
    serving.wait_for_target(None)
    serving.wait_for_end(follower)
    assert serving.told(SERVICE, "StatusText") == "no keymoded runs"
    serving.systemctl("start", DAEMON)
    # Its store went with it.
    serving.wait_for_target("prepareToEditText")


def test_nothing_outlasts_a_killed_keymodectl(serving: Person, follower: int) -> None:
    write_options(serving, "", "Restart=no")
    serving.wait_for_target("prepareToRecord")
    running = serving.main_pid(FOLLOWER)
    serving.systemctl("kill", "--signal=KILL", SERVICE)
    serving.wait_for_target(None)
    serving.wait_for_end(running)
    # Without the test's setting it is started again.
    write_options(serving, "")
    killed = serving.main_pid(SERVICE)
    serving.systemctl("kill", "--signal=KILL", SERVICE)
    serving.wait_for_end(killed)
    serving.wait("systemctl", "--user", "is-active", SERVICE)
    serving.wait_for_target("prepareToRecord")


def test_manager_that_is_reloaded_loses_nothing(serving: Person, follower: int) -> None:
    pid = serving.main_pid(SERVICE)
    serving.systemctl("daemon-reload")
    serving.wait_for_target("prepareToRecord")
    assert (serving.main_pid(FOLLOWER), serving.main_pid(SERVICE)) == (follower, pid)
    serving.trigger("clickSwitchButton")
    serving.wait_for_target("editingText")


def test_manager_that_executes_itself_again_loses_nothing(serving: Person, follower: int) -> None:
    pid = serving.main_pid(SERVICE)
    serving.systemctl("daemon-reexec")
    serving.wait_for_target("prepareToRecord")
    serving.trigger("clickSwitchButton")
    serving.wait_for_target("editingText")
    serving.wait_for_end(follower)
    assert serving.main_pid(SERVICE) == pid
    stops = [job for job in jobs(serving) if job[0] == "stop"]
    assert stops[-1] == ("stop", TARGET) and stops.count(stops[-1]) == 1


def test_restarted_manager_gets_the_targets_again(serving: Person, follower: int) -> None:
    # A daemon of the system outlives a manager; it takes its place once that is gone.
    serving.systemctl("enable", DAEMON)
    serving.restart_manager()
    serving.wait_for_target("prepareToEditText")


def test_failing_targets_are_told_of(serving: Person) -> None:
    serving.systemctl("mask", TARGET)
    serving.wait_for_target("prepareToEditText")
    for _ in range(2):
        serving.trigger("clickSwitchButton")
        serving.wait_for_target(None)
        serving.trigger("clickSwitchButton")
        serving.wait_for_target("editingText")
    told = [entry["MESSAGE"] for entry in serving.journal(f"_PID={serving.main_pid(SERVICE)}")]
    assert [line for line in told if "masked" in line] == [
        "keymodectl: cannot start keymode@keyboard:prepareToRecord.target: "
        "Unit keymode@keyboard:prepareToRecord.target is masked."
    ] * 2


def test_targets_that_were_active_before_it_are_stopped(serving: Person, follower: int) -> None:
    serving.systemctl("stop", SERVICE)
    for unit in ("keymode@keyboard:another.target", "keymode@shift:on.target", TARGET):
        serving.systemctl("start", unit)
    running = serving.main_pid(FOLLOWER)
    serving.systemctl("start", SERVICE)
    wait_until(lambda: serving.active("keymode@*") == [TARGET], "the right target")
    assert serving.main_pid(FOLLOWER) == running


def test_target_that_still_stops_is_waited_for(serving: Person) -> None:
    serving.systemctl("stop", SERVICE)
    # It stops before its target does.
    ending = "ExecStop=sh -c 'until test -e %t/go; do sleep 0.1; done'"
    slow = documented_unit().replace("[Service]\n", f"[Service]\n{ending}\n")
    serving.write_unit(FOLLOWER, slow.replace("[Unit]\n", f"[Unit]\nAfter={TARGET}\n"))
    serving.systemctl("daemon-reload")
    serving.systemctl("start", TARGET, FOLLOWER)
    serving.systemctl("stop", "--no-block", TARGET)
    wait_until(lambda: serving.told(FOLLOWER, "ActiveState") == "deactivating", "the stop")
    serving.systemctl("start", SERVICE)
    (serving.runtime / "go").touch()
    serving.wait_for_target("prepareToEditText")
    assert jobs(serving)[-2:] == [
        ("stop", TARGET),
        ("start", "keymode@keyboard:prepareToEditText.target"),
    ]


def test_target_that_another_program_stops_is_left_alone(serving: Person, follower: int) -> None:
    serving.systemctl("stop", TARGET)
    serving.wait_for_end(follower)
    # A change of another machine does not start it.
    serving.trigger("shiftPressed")
    assert serving.jobs("keymode@*") == [] and serving.active("keymode@*") == []
    assert serving.main_pid(FOLLOWER) == 0
    # The next entering of the state starts it again.
    serving.trigger("clickSwitchButton")
    serving.wait_for_target("editingText")
    serving.trigger("clickSwitchButton")
    serving.wait_for_target("prepareToRecord")


def test_start_is_cancelled_when_its_state_is_left(serving: Person) -> None:
    slow = documented_unit().replace("[Service]\n", "[Service]\nExecStartPre=sleep 1000\n")
    serving.write_unit(FOLLOWER, slow)
    serving.systemctl("daemon-reload")
    serving.systemctl("enable", FOLLOWER)
    for _ in range(2):
        serving.trigger("clickSwitchButton")
        wait_until(lambda: serving.told(FOLLOWER, "ActiveState") == "activating", "the start")
        serving.trigger("clickSwitchButton")
        serving.wait_for_target("editingText")
        assert serving.told(FOLLOWER, "ActiveState") in ("inactive", "failed")
    told = [entry["MESSAGE"] for entry in serving.journal(f"_PID={serving.main_pid(SERVICE)}")]
    assert not [line for line in told if line.startswith("keymodectl: cannot")]


def test_idle_program_sleeps(serving: Person) -> None:
    serving.wait_for_target("prepareToEditText")
    expect_sleep(serving.proc / str(serving.main_pid(SERVICE)))
