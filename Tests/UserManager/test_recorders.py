"""What `keymodectl while` runs ends with the state, and with all that it needs.

The recorder of push-to-talk must never be left running.
"""

import shlex
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pytest
from person import DAEMON, Person, expect_sleep, sleeps
from support.clock import boot_time
from support.input_events import F9, PRESS, RELEASE
from support.push_to_talk import PUSH_TO_TALK
from support.time_stamps import NAME, PROGRAM, Talker, in_time
from support.waiting import BOUND_SECONDS, wait_until

SECOND_US = 1_000_000

TALKING = "prepareToRecord"

KEYMODECTL = "keymodectl"


@pytest.fixture
def talking() -> Iterator[Person]:
    """A person with a keyboard, whose F9 is push-to-talk."""
    with Person(PUSH_TO_TALK, has_keyboard=True) as person:
        person.write("stamps.py", PROGRAM.read_text())
        yield person


class PushToTalk(Talker):
    """`keymodectl while` with the recorder, in the person's session or as a unit of hers."""

    def __init__(self, person: Person, recorder: str = "", unit: str | None = None) -> None:
        self._person = person
        self._output = person.write("stamps", "")
        command = (
            f"exec keymodectl while keyboard={TALKING} --grace 500ms -- "
            f"/usr/bin/python3 -IS stamps.py {recorder}"
        )
        if unit:
            output = f"--property=StandardOutput=append:{self._output}"
            started = ["systemd-run", "--user", "--quiet", f"--unit={unit}", output]
            # As in the unit of docs/actions.md.
            watched = ["--property=Type=notify", "--property=WatchdogSignal=SIGKILL"]
            environment = f"--setenv=PATH={person.environment['PATH']}"
            folder = f"--working-directory={person.folder}"
            person.run(*started, *watched, environment, folder, "sh", "-c", command)
        else:
            with open(self._output, "ab") as output_file:
                self.process = person.start("sh", "-c", command, stdout=output_file)

    def lines(self) -> list[str]:
        return self._output.read_text().split("\n")[:-1]

    def is_recording(self) -> bool:
        return self._person.pids(NAME) != []

    def press(self) -> None:
        self._person.keyboard.send(F9, PRESS)

    def release(self) -> None:
        self._person.keyboard.send(F9, RELEASE)


def test_recorder_runs_exactly_while_the_key_is_held(talking: Person) -> None:
    talker = PushToTalk(talking)
    # It follows the states once it has started a recorder.
    talker.record()

    def too_long(stamps: int) -> int:
        number = len(talker.recordings()) + 1
        pressed = talking.keyboard.send(F9, PRESS)
        talker.wait_for_recording(number, stamps)
        released = talking.keyboard.send(F9, RELEASE)
        recording = talker.wait_for_end()
        assert (recording.event, recording.since) == ("startTalking", pressed)
        assert recording.stamps[0] > pressed
        return abs(recording.stamps[-1] - released)

    for stamps in (2, 100):
        in_time(lambda stamps=stamps: too_long(stamps), 150_000)  # type: ignore[misc]
    # These are too short for the recorder to say anything, perhaps.
    sequence = talking.state()["sequence"]
    for _ in range(5):
        talking.keyboard.press(F9)
    wait_until(lambda: talking.state()["sequence"] == sequence + 10, "ten changes")
    talker.wait_for_end()
    talker.expect_silence()
    talker.record()


def test_daemon_wakes_four_times_a_second_while_a_release_is_awaited(talking: Person) -> None:
    process = talking.proc / str(daemon(talking))
    talking.keyboard.send(F9, PRESS)
    wait_until(lambda: talking.state()["states"]["keyboard"] == TALKING, TALKING)
    begin, before = time.monotonic(), sleeps(process)
    time.sleep(10)
    rate = (sleeps(process) - before) / (time.monotonic() - begin)
    assert 2 < rate <= 4.5
    talking.keyboard.send(F9, RELEASE)
    wait_until(lambda: talking.state()["states"]["keyboard"] != TALKING, "the end of talking")
    expect_sleep(process)


def kill(*names: str) -> Callable[[Person], None]:
    """What kills all processes with these names."""
    return lambda person: person.kill("KILL", *(pid for name in names for pid in person.pids(name)))


@dataclass(frozen=True)
class End:
    """What ends a recording while the key is held."""

    act: Callable[[Person], object]
    undo: Callable[[Person], object] = lambda _: None
    within: int = SECOND_US
    """The time until the recording has ended, in µs. The grace is half a second."""
    is_survived: bool = True
    """Whether keymodectl begins another recording at the next press, once it is undone."""
    # As awkward as a recorder can be.
    recorder: str = "stubborn descendant"


def daemon(person: Person) -> int:
    return person.main_pid(DAEMON)


ENDS = {
    # It is asked every 300 ms, and has half a second to answer.
    "a daemon that hangs": End(
        lambda person: person.stop(daemon(person)),
        lambda person: person.kill("CONT", daemon(person)),
        within=1_500_000,
    ),
    "a crash of the recorder": End(kill("python3", NAME)),
    "a crash of keymodectl": End(kill(KEYMODECTL), is_survived=False),
    "the end of the service": End(
        lambda person: person.systemctl("stop", DAEMON),
        lambda person: person.systemctl("start", DAEMON),
    ),
}


@pytest.mark.parametrize("end", ENDS.values(), ids=ENDS.keys())
def test_recording_ends_within_a_second_after(talking: Person, end: End) -> None:
    def microseconds_to_end() -> int:
        talker = PushToTalk(talking, end.recorder)
        talker.begin()
        begun = boot_time()
        end.act(talking)
        recording = talker.wait_for_end()
        talker.expect_silence()
        talker.release()
        end.undo(talking)
        if end.is_survived:
            talker.record()
            talker.process.terminate()
        talker.process.wait(BOUND_SECONDS)
        return recording.stamps[-1] - begun

    in_time(microseconds_to_end, end.within)


def test_recording_ends_with_the_daemon_and_begins_again_with_the_next_one(talking: Person) -> None:
    gate = talking.folder / "gate"
    wait = f"while test -e {shlex.quote(str(gate))}; do sleep 0.01; done"
    talking.write_unit(f"{DAEMON}.d/gate.conf", f'[Service]\nExecStartPre=sh -c "{wait}"\n')
    talking.systemctl("daemon-reload")
    talker = PushToTalk(talking)

    def microseconds_to_end() -> int:
        number = len(talker.recordings()) + 1
        # Without a key, since the next daemon has a FIFO whose keys are all up.
        talking.trigger("startTalking")
        talker.wait_for_recording(number)
        gate.touch()
        killed = boot_time()
        talking.systemctl("kill", "--signal=KILL", DAEMON)
        recording = talker.wait_for_end()
        talker.expect_silence()
        gate.unlink()
        talker.wait_for_recording(number + 1)
        talking.trigger("stopTalking")
        talker.wait_for_end()
        return recording.stamps[-1] - killed

    in_time(microseconds_to_end, SECOND_US)


def test_recording_ends_with_the_unit_that_runs_keymodectl(talking: Person) -> None:
    unit = "speech.service"
    talker = PushToTalk(talking, "stubborn descendant", unit)
    talker.record()
    talker.begin()
    talking.systemctl("stop", unit)
    assert talking.pids(NAME) == []
    assert talking.told(unit, "Result") == "success"


def test_idle_keymodectl_in_a_unit_has_no_watchdog_and_one_that_hangs_is_killed(
    talking: Person,
) -> None:
    def microseconds_to_end() -> int:
        talker = PushToTalk(talking, "stubborn descendant", "speech.service")
        # An idle keymodectl has no watchdog; it may be stopped as long as one likes.
        pid = talking.main_pid("speech.service")
        wait_until(lambda: talking.active("keymode-while-*-command.service"), "the unit")
        talking.stop(pid)
        time.sleep(1.5)
        talking.kill("CONT", pid)
        talker.record()
        assert talking.main_pid("speech.service") == pid

        talker.begin()
        stopped = boot_time()
        talking.stop(pid)
        recording = talker.wait_for_end()
        talker.release()
        talking.wait_for_end(pid)
        return recording.stamps[-1] - stopped

    in_time(microseconds_to_end, 2 * SECOND_US)
