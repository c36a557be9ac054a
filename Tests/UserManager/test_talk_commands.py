"""The units of examples/talk-commands, with stand-ins that log how they are called: the stop always runs."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from person import DAEMON, NO_DEVICES, Person
from support.checkout import CHECKOUT
from support.talk import PRESS, RELEASE, SETTINGS, TAP
from support.waiting import wait_until

EXAMPLE = CHECKOUT / "examples/talk-commands"

# The command lines are those of the manual pages of mumble 1.5, voxtype's `record`, and obs-cli 0.9.
COMMANDS = {
    "talk-mumble.service": ("mumble rpc starttalking", "mumble rpc stoptalking"),
    "talk-voxtype.service": ("voxtype record start", "voxtype record stop"),
    "talk-obs.service": ("obs-cli input unmute Mic/Aux", "obs-cli input mute Mic/Aux"),
}
UNIT, (START, STOP) = next(iter(COMMANDS.items()))

# Where the tests' programs are.
PATH = "[Service]\nExecSearchPath=%h/.local/bin:/run/programs:/usr/bin:/bin\n"
STAND_IN = '#!/bin/sh\necho "${0##*/} $*" >>"$HOME/calls"\n'


class Talking(Person):
    """A person with the machine `talk`, the example's units, and the programs that these call."""

    def __init__(self) -> None:
        super().__init__(NO_DEVICES + SETTINGS)
        self.write("calls", "")
        for command, _ in COMMANDS.values():
            self.write(f".local/bin/{command.split()[0]}", STAND_IN).chmod(0o755)
        self.write(".local/bin/talk-command", (EXAMPLE / "talk-command").read_text()).chmod(0o755)
        for unit in COMMANDS:
            self.write_unit(unit, (EXAMPLE / unit).read_text())
            self.write_unit(f"{unit}.d/path.conf", PATH)
        self.systemctl("daemon-reload")

    @property
    def calls(self) -> list[str]:
        """How the programs were called."""
        return (self.folder / "calls").read_text().splitlines()

    def forget(self) -> None:
        """Forgets the calls."""
        self.write("calls", "")

    def wait_for_calls(self, *calls: str) -> None:
        """Waits until these have been called, and nothing else has."""
        try:
            wait_until(lambda: self.calls == list(calls), f"{calls}")
        except AssertionError as error:
            raise AssertionError(f"{self.calls}") from error

    def hold(self, unit: str = UNIT) -> None:
        """Starts a unit, and begins to talk."""
        self.systemctl("start", unit)
        self.press_until(COMMANDS[unit][0])
        self.wait_for_calls(COMMANDS[unit][0])

    def press_until(self, start: str) -> None:
        """Presses the key until this has been called.

        `keymodectl while` is connected by then, but the daemon may not have read what it asks for.
        """
        wait_until(self.has_reader, "a connection")

        def calls() -> bool:
            if self.talk != "silent":
                self.trigger(RELEASE)
                self.run("keymodectl", "wait", "talk=silent")
            self.trigger(PRESS)
            end = time.monotonic() + 5
            while start not in self.calls and time.monotonic() < end:
                time.sleep(0.01)
            return start in self.calls

        wait_until(calls, start)

    def has_reader(self) -> bool:
        """Whether a program is connected to the daemon, to read the states."""
        socket, connected = str(self.sockets / "state.sock"), "03"
        sockets = [line.split() for line in Path("/proc/net/unix").read_text().splitlines()]
        return any(line[5] == connected and line[-1] == socket for line in sockets)

    @property
    def talk(self) -> str:
        """The state of the machine `talk`."""
        state: str = self.state()["states"]["talk"]
        return state


@pytest.fixture
def talking() -> Iterator[Talking]:
    person = Talking()
    try:
        yield person
    finally:
        person.close()


def test_units_are_well_formed(talking: Talking) -> None:
    verified = talking.run("systemd-analyze", "--user", "verify", "--man=no", *COMMANDS)
    assert [line for line in verified.stderr.splitlines() if "talk-" in line] == []


@pytest.mark.parametrize("unit", COMMANDS)
def test_commands_run_at_the_press_and_after_the_release(talking: Talking, unit: str) -> None:
    start, stop = COMMANDS[unit]
    talking.hold(unit)
    talking.trigger(RELEASE)
    talking.wait_for_calls(start, stop)
    talking.trigger(PRESS)
    talking.wait_for_calls(start, stop, start)
    # The states between, of a second press and of a latched key, are one time of talking.
    talking.trigger(RELEASE, PRESS, TAP, PRESS, RELEASE)
    talking.wait_for_calls(start, stop, start, stop)
    talking.systemctl("stop", unit)
    talking.wait_for_calls(start, stop, start, stop, stop)


def kill(name: str) -> Callable[[Talking], object]:
    """What kills all processes with this name."""
    return lambda person: person.kill("KILL", *person.pids(name))


ENDS = {
    "keymodectl": kill("keymodectl"),
    "the daemon": lambda person: person.kill("KILL", person.main_pid(DAEMON)),
    "a hanging keymodectl": lambda person: person.kill("STOP", *person.pids("keymodectl")),
    "a hanging daemon": lambda person: person.kill("STOP", person.main_pid(DAEMON)),
    "the unit's first process": lambda person: person.kill("KILL", person.main_pid(UNIT)),
    "what waits for the release": kill("flock"),
    "what lasts while one talks": kill("sleep"),
    "all of the unit": lambda person: person.systemctl("kill", "--signal=KILL", UNIT),
    "the unit": lambda person: person.systemctl("stop", UNIT),
    "the service manager": lambda person: person.kill_manager(),
}


@pytest.mark.parametrize("end", ENDS)
def test_stop_runs_whatever_is_killed(talking: Talking, end: str) -> None:
    talking.hold()
    parts = "keymodectl", "flock", "sleep"
    wait_until(lambda: all(talking.pids(name) for name in parts), "all parts")
    ENDS[end](talking)
    # Twice, if a part that survives runs it and the unit does too.
    wait_until(lambda: STOP in talking.calls, "the stop")
    assert talking.calls[0] == START and set(talking.calls[1:]) == {STOP}


@pytest.mark.parametrize("end", ["keymodectl", "the daemon", "the unit's first process"])
def test_next_press_starts_again_after_a_kill(talking: Talking, end: str) -> None:
    talking.hold()
    first = talking.main_pid(UNIT)
    ENDS[end](talking)
    wait_until(lambda: STOP in talking.calls, "the stop")
    if end != "the daemon":
        wait_until(lambda: talking.main_pid(UNIT) not in (0, first), "the next run of the unit")
        talking.systemctl("start", UNIT)
    talking.wait("keymodectl", "state")
    talking.forget()

    # What was held is over.
    talking.press_until(START)
    talking.trigger(RELEASE)
    wait_until(lambda: talking.calls[-1] == STOP, "the stop")


def test_command_that_hangs_keeps_no_microphone_open(talking: Talking) -> None:
    name = START.split()[0]
    hangs = 'case "$*" in *start*) exec sleep 1000 ;; esac\n'
    talking.write(f".local/bin/{name}", STAND_IN + hangs).chmod(0o755)
    talking.hold()
    talking.trigger(RELEASE)
    talking.wait_for_calls(START, STOP)
