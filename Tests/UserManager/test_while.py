"""Commands under `keymodectl while`, run by a real daemon's states and contained by a real systemd.

Tests/SessionTests has the tables of when a command starts and ends.
"""

import os
import pty
import re
import signal
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from person import DAEMON, Person, expect_sleep
from running_while import RunningWhile, process_name
from support.waiting import BOUND_SECONDS, wait_until

Start = Callable[..., RunningWhile]


@pytest.fixture(scope="module")
def somebody() -> Iterator[Person]:
    """A person for all tests of this file."""
    with Person() as person:
        yield person


@pytest.fixture
def person(somebody: Person) -> Person:
    """The person, whose daemon is in its initial states."""
    somebody.systemctl("stop", DAEMON)
    somebody.systemctl("start", DAEMON)
    return somebody


@pytest.fixture
def start(person: Person) -> Iterator[Start]:
    """Starts `keymodectl while`; at the end nothing of it may be left.

    With `until` it enters the state then, and waits until the command has written this line.
    """
    running: list[RunningWhile] = []

    def start(*arguments: str, until: str | None = None, **options: object) -> RunningWhile:
        running.append(RunningWhile(person, *arguments, **options))  # type: ignore[arg-type]
        if until:
            enter(person)
            running[-1].wait_for_log(until)
        return running[-1]

    yield start
    for each in running:
        each.close()


def enter(person: Person) -> None:
    person.trigger("tapTextField")


def leave(person: Person) -> None:
    person.trigger("tapBlankArea")


# When it runs


def test_command_starts_on_entering_with_the_state_in_its_environment_and_ends_on_leaving(
    person: Person, start: Start
) -> None:
    running = start(
        shell="env | sed -n '/^KEYMODE_TIME/d;/^KEYMODE_/p' | sort >log; exec sleep 1000"
    )
    # keymodectl may find the first state; it sees how the second is entered.
    enter(person)
    wait_until(lambda: len(running.log) == 7, "the command")
    leave(person)
    running.wait_for_no_command()
    enter(person)
    running.wait_for_log(
        "KEYMODE_CAPS=unknown",
        "KEYMODE_EVENT=tapTextField",
        "KEYMODE_KEYBOARD=editingText",
        "KEYMODE_MACHINE=keyboard",
        "KEYMODE_NUM=unknown",
        "KEYMODE_SHIFT=off",
        "KEYMODE_STATE=editingText",
    )
    leave(person)
    running.wait_for_no_command()
    assert running.errors == ""


def test_environment_is_that_of_keymodectl_whatever_its_names_and_bytes(
    person: Person, start: Start
) -> None:
    enter(person)
    odd = {"BASH_FUNC_x%%": "() { :; }", "ODD": "$HOME %h \\x \t'\"", "BYTES": "\udcff\udc80"}
    words = [f"{name}={value}" for name, value in odd.items()]
    # A shell would leave some of them out.
    dump = "import os; open('environment', 'wb').write(b'\\0'.join(map(b'='.join, os.environb.items())))"
    command = ("keyboard=editingText", "--once", "--", "/usr/bin/python3", "-c", dump)
    running = start(*command, under=("env", *words))
    assert running.end() == 0
    found = (running.folder / "environment").read_bytes().split(b"\0")
    expected = {**person.environment, **odd}
    assert sorted(each for each in found if not each.startswith(b"KEYMODE_")) == sorted(
        os.fsencode(f"{name}={value}") for name, value in expected.items()
    )


def test_1000_commands_that_end_at_once_lose_no_exit_status(person: Person) -> None:
    enter(person)
    script = """
    for number in $(seq 250); do
      keymodectl while --any-session --once keyboard=editingText -- sh -c "exit $((number % 100))"
      echo $?
    done
    """
    started = [
        person.start("sh", "-c", script, stdout=subprocess.PIPE, text=True) for _ in range(4)
    ]
    for each in started:
        output, _ = each.communicate(timeout=120)
        assert output.split() == [str(number % 100) for number in range(1, 251)]


def test_anew_counts_only_what_is_entered_while_connected(person: Person, start: Start) -> None:
    states = "keyboard=prepareToEditText,editingText,showingPanel"
    running = start(
        *("--anew", "--grace", "100ms", states, "--"),
        *("sh", "-c", 'echo "$KEYMODE_EVENT" >>log; exec sleep 1000'),
    )

    def expect_start_by_a_change(number: int) -> None:
        def has_started() -> bool:
            person.trigger("clickMoreButton")
            return len(running.log) == number

        # It may be connected later than this test changes the state.
        wait_until(has_started, "the command")
        assert running.log == ["clickMoreButton"] * number

    expect_start_by_a_change(1)
    # The next daemon continues with the states.
    before = person.main_pid(DAEMON)
    person.systemctl("kill", "--signal=KILL", "--kill-whom=main", DAEMON)
    wait_until(lambda: person.main_pid(DAEMON) not in (0, before), "the next daemon")
    person.wait("keymodectl", "state")
    running.wait_for_no_command()
    expect_start_by_a_change(2)
    # More than the daemon keeps for a client that does not read.
    running.signal(signal.SIGSTOP)
    person.trigger(*["clickMoreButton"] * 3000)
    running.signal(signal.SIGCONT)
    running.wait_for_no_command()
    expect_start_by_a_change(3)


# Ending


def test_command_that_ignores_sigterm_is_killed_after_the_grace_with_what_it_started(
    person: Person, start: Start
) -> None:
    running = start(
        "--grace",
        "100ms",
        shell="trap '' TERM; setsid sh -c 'sleep 1000; :' & echo up >log; wait; sleep 1000; :",
        until="up",
    )
    leave(person)
    running.wait_for_no_command()


def stat(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return ""


@pytest.mark.parametrize(
    "script",
    [
        "trap '' TERM; setsid sh -c 'sleep 1000; :' & echo ran >>log",
        "setsid --fork sh -c 'kill -STOP $$'; echo ran >>log",
        # In a control group that it made itself.
        "g=/sys/fs/cgroup$(sed -n s/^0:://p /proc/self/cgroup); mkdir $g/in.ner; trap '' TERM; sleep 1000 & "
        "echo $! >$g/in.ner/cgroup.procs; echo ran >>log",
    ],
)
def test_what_a_command_leaves_behind_is_ended_before_it_starts_again(
    person: Person, start: Start, script: str
) -> None:
    running = start("--grace", "100ms", shell=script, until="ran")
    running.wait_for_no_command()
    leave(person)
    enter(person)
    running.wait_for_log("ran", "ran")
    running.wait_for_no_command()


def test_what_leaves_on_purpose_leaves(person: Person, start: Start) -> None:
    own = "setsid systemd-run --user --scope --quiet --unit=left.scope sleep 1000"
    running = start("--grace", "100ms", shell=f"{own} & exec sleep 1000")
    enter(person)
    wait_until(lambda: person.active("left.scope"), "the other scope")
    leave(person)
    running.wait_for_no_command()
    assert person.active("left.scope")
    person.systemctl("stop", "left.scope")


def test_1000_quick_changes_start_no_second_command_at_a_time_and_miss_no_final_state(
    person: Person, start: Start
) -> None:
    running = start(
        "--grace",
        "1000",
        shell="flock -n -E 9 lock sleep 1000; [ $? = 9 ] && echo twice >>log",
    )
    for round in range(4):
        for _ in range(125):
            enter(person)
            leave(person)
        if round % 2 == 0:
            enter(person)
            wait_until(lambda: len(running.named("sleep")) == 1, "the command")
            leave(person)
        running.wait_for_no_command()
    assert running.log == []


def test_process_that_is_started_at_the_moment_of_the_order_to_end_is_asked_to_end_too(
    person: Person, start: Start
) -> None:
    # Shells block signals while they start a process, and so take the order alone.
    shell = """
import os, signal, time
block = lambda how: signal.pthread_sigmask(how, [signal.SIGTERM])
block(signal.SIG_BLOCK)
open("log", "a").write("up\\n")
while signal.SIGTERM not in signal.sigpending(): time.sleep(0.01)
if os.fork() == 0:
  signal.sigwait([signal.SIGTERM])
  open("log", "a").write("asked\\n")
block(signal.SIG_UNBLOCK)
"""
    running = start(
        *("--grace", "1000", "keyboard=editingText", "--", "/usr/bin/python3", "-c", shell),
        until="up",
    )
    leave(person)
    running.wait_for_log("up", "asked")
    running.wait_for_no_command()


# Violence

# A pipeline, a session of its own, and a child that ignores SIGTERM.
FAMILY = (
    "setsid sleep 1000 & (trap '' TERM; exec sleep 1000) & sleep 1000 | cat & echo up >log; wait"
)


UNIT_STOPPED = "keymodectl: systemd's unit of the command was stopped; so was the command"


@pytest.fixture
def family(person: Person, start: Start) -> RunningWhile:
    """A command of several processes, which runs."""
    running = start("--grace", "100ms", shell=FAMILY)
    enter(person)
    wait_until(lambda: len(running.named("sleep")) == 3, "the family")
    return running


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM, "stop"])
def test_end_of_the_keeper_or_its_unit_leaves_nothing_and_keymodectl_says_so(
    family: RunningWhile, how: int | str
) -> None:
    assert family.unit
    if isinstance(how, int):
        os.kill(family.keeper, how)
    else:
        family.person.systemctl("stop", family.unit.name)
    assert family.end() == 1
    assert family.errors == UNIT_STOPPED
    family.wait_for_nothing()


@pytest.mark.parametrize(
    "setting",
    [
        "KillMode=none",
        # The command has used up what the user may have: no shell of the unit can start a program.
        "LimitNPROC=1",
    ],
)
def test_what_systemd_misses_is_killed_by_the_kernel(
    person: Person, start: Start, setting: str
) -> None:
    drop_in = "keymode-while-.service.d/test.conf"
    person.write_unit(drop_in, f"[Service]\n{setting}\n")
    try:
        running = start("--grace", "100ms", shell=FAMILY)
        enter(person)
        wait_until(lambda: len(running.named("sleep")) == 3, "the family")
        running.signal(signal.SIGKILL)
        running.wait_for_nothing()
    finally:
        person.write_unit(drop_in, "")


def test_command_that_stops_its_keeper_does_not_outlive_keymodectl(family: RunningWhile) -> None:
    os.kill(family.keeper, signal.SIGSTOP)
    family.signal(signal.SIGKILL)
    family.wait_for_nothing()


def test_command_ends_with_keymodectl_although_the_manager_is_stopped(
    family: RunningWhile,
) -> None:
    (manager,) = family.person.pids("systemd")
    family.person.stop(manager)
    try:
        family.signal(signal.SIGKILL)
        family.wait_for_no_command()
    finally:
        family.person.kill("CONT", manager)
    family.wait_for_nothing()


def test_command_ends_with_its_unit_although_keymodectl_is_stopped(family: RunningWhile) -> None:
    assert family.unit
    family.signal(signal.SIGSTOP)
    family.person.systemctl("stop", family.unit.name)
    assert not family.command
    family.signal(signal.SIGCONT)
    wait_until(lambda: family.errors == UNIT_STOPPED, "the message")


def test_first_process_that_has_left_and_ignores_sigterm_is_killed_after_the_grace(
    person: Person, start: Start
) -> None:
    leaving = "exec systemd-run --user --scope --quiet sh -c"
    stubborn = "trap \"\" TERM; echo up >>log; exec sleep 1000"
    running = start("--grace", "100ms", shell=f"{leaving} '{stubborn}'", until="up")
    leave(person)
    enter(person)
    running.wait_for_log("up", "up")
    running.signal(signal.SIGTERM)
    assert running.end() == 128 + signal.SIGTERM
    wait_until(lambda: not person.active("run-*.scope"), "the end of the command")


# It belongs to root, and has left the group, as `sudo -i` does where it begins a session of its own.
BEYOND_REACH = """
import os, signal
os.setresuid(0, 0, 0)
signal.signal(signal.SIGTERM, signal.SIG_IGN)
group = "/sys/fs/cgroup/services/cgroup.procs"
open(group, "w").write("0")
open("log", "a").write("up\\n")
while os.path.exists("log"): signal.sigtimedwait([], 0.05)
"""


def test_first_process_of_root_that_has_left_is_not_waited_for(
    person: Person, start: Start
) -> None:
    person.as_root("cp", "/usr/bin/python3", "/run/python3")
    person.as_root("chmod", "u+s", "/run/python3")
    words = ("keyboard=editingText", "--", "/run/python3", "-c", BEYOND_REACH)
    running = start("--grace", "100ms", *words, until="up")
    leave(person)
    enter(person)
    running.wait_for_log("up", "up")
    running.signal(signal.SIGTERM)
    assert running.end() == 128 + signal.SIGTERM
    (running.folder / "log").unlink()
    wait_until(lambda: not person.pids("python3"), "the end of the commands")


# Both have the number 1 there.
IN_A_NAMESPACE = ("unshare", "--user", "--map-current-user", "--pid", "--fork")


def test_in_another_pid_namespace_only_keymodectl_moves_and_only_its_command_ends(
    person: Person, start: Start
) -> None:
    options = ("--grace", "60s")
    enter(person)
    stubborn = "trap '' TERM; echo up >>log; exec sleep 1000"
    first = start(*options, shell=stubborn, under=IN_A_NAMESPACE)
    first.wait_for_log("up")
    shell = "trap 'exit 0' TERM; echo up >>log; sleep 1000 & wait"
    second = start("--grace", "100ms", shell=shell, under=IN_A_NAMESPACE)
    second.wait_for_log("up")
    assert [process_name(each.number) for each in (first, second)] == ["keymodectl"] * 2
    # To keymodectl, and to the keeper, the number of a process of another namespace is 0.
    other = subprocess.Popen(["sleep", "1000"])
    (second.runs[0] / "cgroup.procs").write_text(str(other.pid))
    leave(person)
    second.wait_for_no_command()
    assert other.wait() == -signal.SIGKILL
    assert not second.has_ended
    enter(person)
    second.wait_for_log("up", "up")
    second.signal(signal.SIGKILL)
    second.wait_for_no_command()
    # The first is in its grace. The kernel ends what is in its namespace with its first process.
    first.signal(signal.SIGKILL)
    first.wait_for_no_command()


def test_number_that_is_used_again_within_the_grace_is_no_obstacle(
    person: Person, start: Start
) -> None:
    enter(person)
    # The command is of the outer namespace, so that it does not end with keymodectl's.
    first = start("--grace", "60s", shell="echo up >>log; exec sleep 1000", under=IN_A_NAMESPACE)
    first.wait_for_log("up")
    other = subprocess.Popen(["sleep", "1000"])
    (first.runs[0] / "cgroup.procs").write_text(str(other.pid))
    first.signal(signal.SIGKILL)
    second = start(shell="echo up >>log; exec sleep 1000", under=IN_A_NAMESPACE)
    second.wait_for_log("up")
    assert first.command == {other.pid}
    other.kill()
    other.wait()
    second.signal(signal.SIGKILL)


def test_no_group_of_a_run_stays(person: Person, start: Start) -> None:
    # The command makes groups of its own.
    making = "cd /sys/fs/cgroup$(sed -n s/^0:://p /proc/self/cgroup); mkdir -p in.ner/most .other"
    running = start(shell=f"({making}); echo ran >>log", until="ran")
    wait_until(lambda: not running.runs, "the end of the group")
    leave(person)
    # Nor where no more files may be open.
    assert running.unit
    pid = running.unit.name.split("-")[2]  # In the namespace.
    person.run("prlimit", f"--pid={pid}", "--nofile=5")
    enter(person)
    wait_until(lambda: running.errors != "", "a message")
    assert running.errors == "keymodectl: cannot run 'sh': Too many open files"
    assert not running.runs


# With a file `refuse`, waiting for a process's end is refused, as beyond `max_user_watches`.
REFUSING = r"""
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <unistd.h>
int epoll_ctl(int all, int operation, int file, struct epoll_event *event) {
  char path[64], name[64] = "";
  snprintf(path, sizeof path, "/proc/self/fd/%d", file);
  (void)!readlink(path, name, sizeof name - 1);
  if (operation == EPOLL_CTL_ADD && strstr(name, "pidfd") && access("refuse", F_OK) == 0) {
    errno = ENOSPC;
    return -1;
  }
  return (int)syscall(SYS_epoll_ctl, all, operation, file, event);
}
"""


def test_command_whose_end_cannot_be_awaited_is_killed_and_forgotten(
    person: Person, start: Start
) -> None:
    source, library = person.write("refusing.c", REFUSING), person.folder / "refusing.so"
    subprocess.run(["gcc", "-shared", "-fPIC", "-o", library, source], check=True)
    running = start(
        shell="echo up >>log; exec sleep 1000", under=("env", f"LD_PRELOAD={library}"), until="up"
    )
    leave(person)
    running.wait_for_no_command()
    (running.folder / "refuse").touch()
    enter(person)
    wait_until(lambda: running.errors != "", "a message")
    assert running.errors == "keymodectl: cannot run 'sh': No space left on device"
    children = Path(f"/proc/{running.number}/task/{running.number}/children")
    assert children.read_text() == ""
    assert not running.runs


def test_without_a_daemon_keymodectl_says_so_once_and_waits_for_one(
    person: Person, start: Start
) -> None:
    person.systemctl("stop", DAEMON)
    running = start(shell="echo ran >>log")
    wait_until(lambda: running.errors != "", "a message")
    person.systemctl("start", DAEMON)
    enter(person)
    running.wait_for_log("ran")
    assert running.errors.startswith("keymodectl: no keymoded listens on ")
    assert running.errors.endswith("\nwaiting for it")


def test_command_ends_also_where_no_more_files_may_be_open(person: Person, start: Start) -> None:
    running = start(
        "--grace", "100ms", shell="setsid sleep 1000 & echo up >>log; exec sleep 1000", until="up"
    )
    assert running.unit
    pid = running.unit.name.split("-")[2]  # In the namespace.
    person.run("prlimit", f"--pid={pid}", "--nofile=5")
    leave(person)
    running.wait_for_no_command()


def test_orphans_of_the_caller_are_not_adopted(person: Person, start: Start) -> None:
    script = 'for _ in $(seq 20); do (sleep 0.1 &); done; exec keymodectl "$@"'
    running = start(shell="exec sleep 1000", under=("sh", "-c", script))
    enter(person)
    wait_until(lambda: running.command, "the command")
    time.sleep(0.3)
    children = Path(f"/proc/{running.number}/task/{running.number}/children").read_text().split()
    assert len(children) == 1, "the command"


def test_stopped_command_ends_without_a_kill(person: Person, start: Start) -> None:
    running = start("--grace", "1000", shell="trap 'echo end >>log; exit' TERM; kill -STOP $$; :")
    enter(person)
    wait_until(lambda: any(" T " in stat(pid) for pid in running.command), "a stop")
    leave(person)
    running.wait_for_log("end")
    running.wait_for_no_command()


def test_each_process_is_asked_to_end_once_in_the_process_group_and_elsewhere(
    person: Person, start: Start
) -> None:
    member = "trap 'echo asked >>log' TERM; sleep 0.05; echo up >>log"
    waiting = "while [ ! -e go ]; do sleep 0.01; done"
    running = start(
        "--grace",
        "1000",
        shell=f'({member}; {waiting}) & setsid sh -c "{member}; {waiting}" & exec sleep 1000',
    )
    enter(person)
    running.wait_for_log("up", "up")
    leave(person)
    wait_until(lambda: running.log.count("asked") >= 2, "both")
    (running.folder / "go").touch()
    running.wait_for_no_command()
    assert running.log == ["up", "up", "asked", "asked"]


def test_command_under_a_tracer_that_hangs_starts_again(person: Person, start: Start) -> None:
    running = start("--grace", "100ms", shell="echo up >>log; exec sleep 1000", until="up")
    wait_until(lambda: running.named("sleep"), "the command")
    (traced,) = running.command
    seize = (
        "import ctypes, sys; print(ctypes.CDLL(None).ptrace(0x4206, int(sys.argv[1]), None, None))"
    )
    tracer = subprocess.Popen(
        [sys.executable, "-c", f"{seize}; sys.stdout.flush(); sys.stdin.read()", str(traced)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert tracer.stdout and tracer.stdout.readline() == "0\n"
        leave(person)
        running.wait_for_no_command()
        enter(person)
        running.wait_for_log("up", "up")
    finally:
        tracer.communicate()


# Signals and statuses


def test_signal_ends_keymodectl_after_the_grace_whatever_the_command_does(
    person: Person, start: Start
) -> None:
    shell = "trap '' TERM; echo up >>log; while :; do sleep 0.01; done"
    running = start("--grace", "100ms", shell=shell, until="up")
    running.signal(signal.SIGTERM)
    assert running.end() == 128 + signal.SIGTERM
    running.wait_for_nothing()


def test_once_ends_where_sigchld_was_ignored_at_the_start(person: Person, start: Start) -> None:
    enter(person)
    running = start("--once", shell="exit 7", under=("env", "--ignore-signal=CHLD"))
    assert running.end() == 7


@pytest.mark.parametrize("name", ["INT", "TERM", "HUP", "QUIT"])
def test_signal_that_ends_keymodectl_ends_the_command_by_the_same(
    start: Start, person: Person, name: str
) -> None:
    trap = f"trap 'echo {name} >>log; exit 0' {name}"
    running = start(
        "--grace", "1000", shell=f"{trap}; echo up >>log; while :; do sleep 0.01; done", until="up"
    )
    number = signal.Signals[f"SIG{name}"]
    running.signal(number)
    assert running.end() == 128 + number
    assert running.log == ["up", name]
    running.wait_for_nothing()


def test_ctrl_z_ends_the_command_before_it_stops_keymodectl(person: Person, start: Start) -> None:
    running = start(
        "--grace", "100ms", shell="trap '' TERM; echo up >>log; sleep 1000; :", until="up"
    )
    running.signal(signal.SIGTSTP)
    wait_until(lambda: " T " in stat(running.number), "the stop")
    assert not running.command
    running.signal(signal.SIGCONT)
    leave(person)
    enter(person)
    running.wait_for_log("up", "up")


@pytest.mark.parametrize(
    ("command", "status"),
    [
        ("true", 0),
        ("sh -c 'exit 7'", 7),
        ("sh -c 'kill -KILL $$'", 137),
        ("sh -c 'kill -TERM $$'", 143),
        ("/nonexistent/x", 127),
        ("/etc/passwd", 126),
    ],
)
def test_once_passes_on_the_exit_status(person: Person, command: str, status: int) -> None:
    enter(person)
    call = "exec keymodectl while --any-session --once keyboard=editingText --"
    ended = person.run("sh", "-c", f"{call} {command}", check=False)
    assert ended.returncode == status
    name = command.split()[0]
    assert ended.stderr.startswith(f"keymodectl: cannot run '{name}': ") == (status in (126, 127))


def test_command_that_does_not_exist_is_named_and_tried_again_with_the_next_entering(
    person: Person, start: Start
) -> None:
    running = start("keyboard=editingText", "--", "./late", "argument")
    enter(person)
    wait_until(lambda: running.errors != "", "a message")
    assert running.errors == "keymodectl: cannot run './late': No such file or directory"
    late = running.folder / "late"
    late.write_text("#!/bin/sh\necho $1 >>log\n")
    late.chmod(0o755)
    leave(person)
    enter(person)
    running.wait_for_log("argument")


def test_no_wait_ends_without_a_daemon_also_while_the_session_is_not_in_front(
    person: Person, start: Start
) -> None:
    person.systemctl("stop", DAEMON)
    # A file that is no socket refuses connections, so whether the session is in front is unknown.
    bus = f"DBUS_SYSTEM_BUS_ADDRESS=unix:path={person.write('bus', '')}"
    words = ("--no-wait", "shift=on", "--", "true")
    running = start(*words, any_session=False, under=("env", bus))
    assert running.end() == 3
    assert "\nkeymodectl: no keymoded listens on " in running.errors
    assert "\nstart " in running.errors


def test_without_a_manager_nothing_is_started_and_the_error_says_what_to_do(
    person: Person,
) -> None:
    enter(person)
    for environment in ({"XDG_RUNTIME_DIR": ""}, {"XDG_RUNTIME_DIR": "/nonexistent"}):
        words = ("while", "--any-session", "--once", "keyboard=editingText", "--", "true")
        ended = person.run("keymodectl", *words, check=False, environment=environment)
        assert ended.returncode == 1
        assert ended.stderr.startswith(
            "keymodectl: no command can be started, because systemd could not end it: "
            "cannot connect to 'the user's service manager': "
        )
        assert "loginctl enable-linger" in ended.stderr
        assert "keymodectl watch --json" in ended.stderr


def test_command_inherits_no_descriptor_and_no_signal_of_keymodectl(
    person: Person, start: Start
) -> None:
    running = start(shell="exec sleep 1000")
    enter(person)
    wait_until(lambda: running.named("sleep"), "the command")
    (command,) = running.command
    assert os.getpgid(command) == command
    status = dict(
        line.split(":\t") for line in Path(f"/proc/{command}/status").read_text().splitlines()
    )
    for name in ("SigBlk", "SigIgn"):
        # Those from 32 on mean nothing by default; the first two belong to the C library.
        assert int(status[name], 16) & 0x7FFF_FFFF == 0

    def descriptors() -> set[int]:
        return {int(each.name) for each in Path(f"/proc/{command}/fd").iterdir()}

    # A program that starts has its libraries open for a moment. One that was inherited stays.
    wait_until(lambda: descriptors() <= {0, 1, 2, 10}, "no other descriptor")


def test_keymodectl_and_the_keeper_sleep_while_no_command_runs_and_nothing_happens(
    person: Person, start: Start
) -> None:
    running = start(shell="echo up >>log; exec sleep 1000", until="up")
    leave(person)
    running.wait_for_no_command()
    # What the manager does for others is not told to keymodectl.
    expect_sleep(
        *(Path("/proc") / str(pid) for pid in (running.number, running.keeper)),
        meanwhile=lambda: person.systemctl("start", "basic.target"),
    )


# On a terminal


class OnTerminal:
    """`keymodectl while` with a terminal for its input and its messages."""

    def __init__(self, person: Person, *options: str, shell: tuple[str, ...] = ()) -> None:
        """Starts it, or a shell that has the terminal and is told to start it."""
        self.person = person
        # The test keeps both descriptors, so that the terminal's settings stay readable.
        self.master, self.terminal = pty.openpty()
        os.set_blocking(self.master, False)
        self.text = ""
        command = ("keymodectl", "while", "--any-session", *options, "keyboard=editingText", "--")
        command += ("sleep", "1000")
        streams = {"stdin": self.terminal, "stderr": self.terminal}
        if not shell:
            self.process = person.start(*command, **streams)
            return
        self.process = person.start(*shell, **streams, stdout=self.terminal)
        self.type(" ".join(command) + "\r")

    def shows(self, text: str) -> bool:
        """Whether the terminal has shown this text."""
        try:
            self.text += os.read(self.master, 4096).decode()
        except BlockingIOError:
            pass
        return text in self.text

    def wait_for(self, text: str) -> None:
        wait_until(lambda: self.shows(text), f"{text!r}")

    def type(self, text: str) -> None:
        os.write(self.master, text.encode())

    @property
    def echoes(self) -> bool:
        return bool(termios.tcgetattr(self.terminal)[3] & termios.ECHO)

    def interrupt(self) -> int:
        """Ends it by SIGINT, and returns its exit status."""
        # nsenter, which has started it, is its parent.
        tasks = Path("/proc") / str(self.process.pid) / "task" / str(self.process.pid)
        os.kill(int((tasks / "children").read_text().split()[0]), signal.SIGINT)
        status: int = self.process.wait(BOUND_SECONDS)
        return status

    def close(self) -> None:
        self.process.kill()
        os.close(self.master)
        os.close(self.terminal)


def test_terminal_shows_what_is_waited_for_started_and_ended_and_nothing_that_is_typed(
    person: Person,
) -> None:
    running = OnTerminal(person)
    try:
        running.wait_for("keymodectl: waiting for keyboard=editingText; Ctrl+C ends it\r\n")
        wait_until(lambda: not running.echoes, "the silence")
        os.write(running.master, b"\x1b[20~" * 20)
        enter(person)
        running.wait_for("keymodectl: started sleep\r\n")
        leave(person)
        running.wait_for("keymodectl: sleep ended\r\n")
        assert running.interrupt() != 0
        assert running.echoes
        assert re.findall(r"20~", running.text) == []
        # Nothing is left for the next program.
        os.set_blocking(running.terminal, False)
        with pytest.raises(BlockingIOError):
            os.read(running.terminal, 100)
    finally:
        running.close()


def test_terminal_is_quiet_with_an_option(person: Person) -> None:
    running = OnTerminal(person, "--quiet")
    try:
        wait_until(lambda: not running.echoes, "the silence")
        enter(person)
        wait_until(lambda: bool(person.pids("sleep")), "the command")
        running.interrupt()
        assert not running.shows("keymodectl")
    finally:
        running.close()


# An interactive shell with a terminal of its own, which neither edits lines nor changes the echo.
SHELL = ("setsid", "--ctty", "dash", "-i")


def test_ctrl_z_gives_the_terminal_back_and_fg_takes_it_again(person: Person) -> None:
    running = OnTerminal(person, shell=SHELL)
    try:
        running.wait_for("keymodectl: waiting for keyboard=editingText; Ctrl+C ends it\r\n")
        wait_until(lambda: not running.echoes, "the silence")
        enter(person)
        running.wait_for("keymodectl: started sleep\r\n")
        running.type("\x1a")
        running.wait_for("keymodectl: sleep ended\r\n")
        running.wait_for("Stopped")
        assert running.echoes
        # The shell takes commands, and shows them.
        running.type("echo $((6 * 7))\r")
        running.wait_for("42\r\n")

        # The state counts once it is entered again.
        running.type("fg\r")
        wait_until(lambda: not running.echoes, "the silence again")
        running.type("\x1b[20~" * 20)
        assert running.text.count("started sleep") == 1
        leave(person)
        enter(person)
        wait_until(
            lambda: running.shows("") and running.text.count("started sleep") == 2, "a start"
        )
        running.type("\x03")
        wait_until(lambda: running.echoes, "the echo after the end")
        assert "20~" not in running.text
        running.type("exit\r")
        assert running.process.wait(BOUND_SECONDS) in (0, 130)
    finally:
        running.close()


def test_ctrl_z_while_it_waits_stops_it_and_bg_leaves_the_terminal_to_the_shell(
    person: Person,
) -> None:
    running = OnTerminal(person, shell=SHELL)
    try:
        running.wait_for("keymodectl: waiting for keyboard=editingText; Ctrl+C ends it\r\n")
        wait_until(lambda: not running.echoes, "the silence")
        running.type("\x1a")
        running.wait_for("Stopped")
        running.type("bg\r")
        running.type("echo $((6 * 7))\r")
        running.wait_for("42\r\n")
        enter(person)
        running.wait_for("keymodectl: started sleep\r\n")
        assert running.echoes
        running.type("fg\r")
        wait_until(lambda: not running.echoes, "the silence in the foreground")
        running.type("\x03")
        wait_until(lambda: running.echoes, "the echo after the end")
    finally:
        running.close()
