"""`kill -9` of each process that takes part, and the end of the state: nothing of the command is left."""

import contextlib
import os
import random
import signal
import statistics
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from person import DAEMON, Person
from running_while import GRACE_AND_A_SECOND_US, HOPPERS, RunningWhile, processes
from support.attack_table import AttackTable
from support.connection import Connection, Message
from support.waiting import wait_until

pytestmark = pytest.mark.attack

COUNT = int(os.environ.get("KEYMODED_KILLS", "5"))


def tell(told: AttackTable, attack: str, delays: list[float]) -> None:
    """Tells of the worst delay. A busy machine may spoil some; a fault would delay most."""
    told(attack, len(delays), "nothing left", delay=f"{max(delays) * 1000:.0f} ms")
    assert statistics.median(delays) * 1_000_000 < GRACE_AND_A_SECOND_US


def kill_keymodectl(person: Person) -> None:
    person.kill("KILL", *person.pids("keymodectl"))


def kill_daemon(person: Person) -> None:
    person.systemctl("kill", "--signal=KILL", DAEMON)


def leave_the_state(person: Person) -> None:
    person.trigger("tapBlankArea")


@pytest.mark.parametrize(
    "kill", [kill_keymodectl, kill_daemon, Person.kill_manager, leave_the_state]
)
def test_nothing_is_left(told: AttackTable, kill: Callable[[Person], None]) -> None:
    delays = []
    with Person() as person:
        for _ in range(COUNT):
            running = RunningWhile(person, *HOPPERS)
            person.trigger("tapTextField")
            running.wait_for_log("up")
            assert running.unit
            run = running.unit / "run-1"
            begin = time.monotonic()
            kill(person)
            wait_until(lambda run=run: not processes(run), "the end")
            delays.append(time.monotonic() - begin)
            if kill is Person.kill_manager:
                assert running.end() == 1
                ended = "the service manager has ended; so has the command"
                assert running.errors == f"keymodectl: {ended}"
                # Its services run on, and the next manager would not start them.
                person.kill("KILL", *person.pids("keymoded"))
                person.start_manager()
                person.systemctl("start", DAEMON)
            else:
                running.close()
                person.wait("keymodectl", "state")
                if kill is not leave_the_state:
                    leave_the_state(person)
            assert not person.active("keymode-while-*")
    tell(told, kill.__name__.replace("_", " "), delays)


# It ignores the order to end, and so does what it has started.
STUBBORN = "trap '' TERM; echo up >>log; while :; do sleep 1000; done"


@pytest.fixture(scope="module")
def editing() -> Iterator[Person]:
    """A person whose keyboard is in editingText."""
    with Person() as person:
        person.trigger("tapTextField")
        yield person


@pytest.fixture(params=["quiet", "busy"])
def load(request: pytest.FixtureRequest) -> Iterator[str]:
    """The machine at rest, or with a busy loop on each processor."""
    count = (os.cpu_count() or 1) if request.param == "busy" else 0
    loops = [subprocess.Popen(["sh", "-c", "while :; do :; done"]) for _ in range(count)]
    yield request.param
    for each in loops:
        each.kill()
        each.wait()


@pytest.mark.parametrize("grace", [0, 1, 10, 300])
def test_command_that_ignores_sigterm_does_not_outlive_keymodectl_whatever_the_grace(
    told: AttackTable, editing: Person, load: str, grace: int
) -> None:
    delays = []
    for _ in range(COUNT):
        running = RunningWhile(editing, "--grace", f"{grace}ms", shell=STUBBORN)
        running.wait_for_log("up")
        begin = time.monotonic()
        running.signal(signal.SIGKILL)
        running.wait_for_no_command()
        delays.append(time.monotonic() - begin)
        running.wait_for_nothing()
    attack = f"kill keymodectl, {load}, grace {grace} ms"
    told(attack, COUNT, "nothing left", f"{max(delays) * 1000:.0f} ms")
    assert statistics.median(delays) < grace / 1000 + 1


# It needs a moment to write its end. It tells each order that it gets.
RECORDER = """
trap 'echo asked >>log; sleep 0.2; echo trailer >>log; exit' TERM
echo up >>log; while :; do sleep 0.01; done
"""


def kill(running: RunningWhile) -> None:
    running.signal(signal.SIGKILL)


def kill_keeper(running: RunningWhile) -> None:
    os.kill(running.keeper, signal.SIGKILL)


def kill_manager(running: RunningWhile) -> None:
    running.person.kill_manager()


def stop_unit(running: RunningWhile) -> None:
    assert running.unit
    running.person.systemctl("stop", "--no-block", running.unit.name, check=False)


def stop_scope(running: RunningWhile) -> None:
    running.person.systemctl("stop", "--no-block", running.scope.name, check=False)


Acts = list[Callable[[RunningWhile], None]]


def names(acts: Acts) -> str:
    return ", ".join(act.__name__.replace("_", " ") for act in acts)


def record_until(acts: Acts, person: Person) -> RunningWhile:
    """Has a recorder run until these acts, and checks that it could write its end."""
    running = RunningWhile(person, "--grace", "3s", shell=RECORDER)
    running.wait_for_log("up")
    for act in acts:
        # The first may have ended already what the second would.
        with contextlib.suppress(ProcessLookupError, ValueError):
            act(running)
    running.wait_for_no_command()
    # keymodectl may ask, and be killed then.
    asked = running.log.count("asked") if kill in acts[1:] else 1
    assert running.log == ["up", *["asked"] * asked, "trailer"]
    return running


@pytest.mark.parametrize(
    "acts",
    [
        *([kill], [kill, stop_unit], [kill, stop_scope]),
        *([stop_unit], [stop_unit, kill], [stop_scope], [stop_scope, kill]),
        *([kill_keeper], [kill_keeper, kill], [kill_keeper, stop_unit]),
    ],
    ids=names,
)
def test_recorder_has_its_grace_to_write_its_end(
    told: AttackTable, editing: Person, load: str, acts: Acts
) -> None:
    for _ in range(COUNT):
        record_until(acts, editing).wait_for_nothing()
    told(f"a recorder, {load}: {names(acts)}", COUNT, "its end is whole")


@pytest.mark.parametrize(
    "acts", [[kill, kill_manager], [kill_manager], [kill_manager, kill_keeper]], ids=names
)
def test_recorder_has_its_grace_to_write_its_end_without_a_manager(acts: Acts) -> None:
    with Person() as person:
        person.trigger("tapTextField")
        record_until(acts, person)


@pytest.mark.parametrize("how", ["kill", "stop"])
def test_recorder_of_a_service_has_its_grace_and_is_the_only_one(how: str) -> None:
    with Person() as person:
        log = person.write("log", "")
        person.write("recorder", RECORDER)
        unit = "speech.service"
        run = ["systemd-run", "--user", "--quiet", f"--unit={unit}", "-pRestart=always"]
        run += ["-pType=notify", "-pRestartSec=0", f"-pWorkingDirectory={person.folder}"]
        program = "/run/programs/keymodectl while --any-session keyboard=editingText"
        run += [f"-pEnvironment=KEYMODED_SOCKET_DIR={person.sockets}"]
        person.run(*run, *program.split(), "--", "sh", "recorder")
        person.trigger("tapTextField")
        wait_until(lambda: log.read_text() == "up\n", "the recorder")
        if how == "kill":
            person.kill("KILL", person.main_pid(unit))
            # The next one starts once the first has ended.
            wait_until(lambda: log.read_text() == "up\nasked\ntrailer\nup\n", "the next one")
        person.systemctl("stop", unit)
        assert log.read_text() == "up\nasked\ntrailer\n" * (2 if how == "kill" else 1)
        wait_until(lambda: not person.active("keymode-while-*"), "the end of the unit")


VICTIMS = ["keymodectl", "the keeper", "both", "the unit"]


def test_random_kills_while_states_change_leave_nothing(told: AttackTable) -> None:
    """The kill may come before the command, while it starts, runs or ends, and after it."""
    dice = random.Random(30)
    delays = []
    with Person() as person:
        for _ in range(4 * COUNT):
            running = RunningWhile(person, *HOPPERS)
            numbers = {"keymodectl": running.number, "the keeper": running.keeper}
            with Connection(person.sockets / "control.sock") as control:
                for _ in range(dice.randint(1, 30)):
                    control.call("Trigger", event=dice.choice(["tapTextField", "tapBlankArea"]))
                    time.sleep(dice.uniform(0, 0.02))
            victim = dice.choice(VICTIMS)
            begin = time.monotonic()
            for name, number in numbers.items():
                if victim in (name, "both"):
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(number, signal.SIGKILL)
            if victim == "the unit":
                assert running.unit
                person.systemctl("stop", running.unit.name, check=False)
            running.wait_for_nothing()
            delays.append(time.monotonic() - begin)
    tell(told, "random kills", delays)


# What a client meets of a daemon that is killed, and where there is none yet.
GONE = (ConnectionError, FileNotFoundError)


def continued(reply: Message, instance: str, latest: int) -> int:
    """The last change of a subscriber that has those up to `latest`, and gets this reply."""
    state = reply["state"]
    assert state["instance"] == instance, "the daemon has lost its states"
    assert reply["missed"] == 0, f"{reply['missed']} changes are lost"
    numbers = [change["sequence"] for change in reply["changes"]]
    assert numbers == [*range(latest + 1, state["sequence"] + 1)], f"{numbers} after {latest}"
    return latest + len(numbers)


def test_killing_the_daemon_again_and_again_loses_no_change(told: AttackTable) -> None:
    is_ending = threading.Event()
    acknowledged, latest, kills = 0, 0, 6 * COUNT
    dice = random.Random(kills)

    def send(path: Path) -> None:
        nonlocal acknowledged
        while not is_ending.wait(0.01):
            with contextlib.suppress(*GONE), Connection(path) as control:
                # The store keeps the last eight changes: the subscriber may be a few behind.
                while not is_ending.wait(0.005):
                    if acknowledged > latest + 3:
                        continue
                    answer = control.call("Trigger", event="shiftPressed")
                    acknowledged = answer["state"]["sequence"]

    with Person() as person:
        state = person.state()
        instance, latest = state["instance"], state["sequence"]
        sender = threading.Thread(target=send, args=[person.sockets / "control.sock"])
        sender.start()
        try:
            while kills > 0:
                person.wait("keymodectl", "state")
                begin, is_killed = latest, False
                with (
                    contextlib.suppress(*GONE),
                    Connection(person.sockets / "state.sock") as client,
                ):
                    client.send_call("Monitor", more=True, after=latest, instance=instance)
                    while True:
                        latest = continued(client.reply(), instance, latest)
                        # A daemon makes a change before it is killed.
                        if latest > begin and not is_killed:
                            time.sleep(dice.uniform(0, 0.02))
                            person.kill("KILL", *person.pids("keymoded"))
                            is_killed = True
                            kills -= 1
        finally:
            is_ending.set()
            sender.join()
        person.wait("keymodectl", "state")
        with Connection(person.sockets / "state.sock") as client:
            reply = client.call("Monitor", more=True, after=latest, instance=instance)
        assert continued(reply, instance, latest) >= acknowledged
    told("kill keymoded", 6 * COUNT, f"{acknowledged} changes, none lost")
