"""keymode-call.service: the microphone Push-to-talk, with PipeWire.

The real microphone hears a tone all the time.
"""

import contextlib
import itertools
import json
import os
import re
import shutil
import signal
import time
from array import array
from collections.abc import Callable, Iterator

import pytest
from seat import Seat, kill
from sound import Sound, real_time
from support.checkout import CHECKOUT
from support.input_events import PRESS as DOWN
from support.input_events import RIGHTCTRL
from support.talk import PRESS, RELEASE, SETTINGS, TAP
from support.time_stamps import in_time
from support.user_manager import require_root
from support.waiting import BOUND_SECONDS, NotInTimeError, wait_until

RATE = 48000

# The programs while the key is held, by how their command lines begin.
DAEMON = "keymoded --config"
WAITING = "keymodectl while"
OPEN = "pw-loopback"
WATCHER = "pw-metadata"

# The session of the person, for logind.
IN_FRONT, LOCKED, ASLEEP = "seat0 Active", "seat0 Active LockedHint", "seat0 Active Asleep"

UNIT = "keymode-call.service"
PROGRAM = "libexec/keymoded/keymode-call"


class Listener:
    """A program in a call: it records from Push-to-talk all the time. Positions are in samples."""

    _numbers = itertools.count(1)

    def __init__(
        self, seat: Seat, target: str = "push-to-talk", stays: bool = True, sink: bool = False
    ) -> None:
        """With `stays`, PipeWire gives it no other microphone if that one is gone."""
        self._path = seat.folder / f"call-{next(self._numbers)}.wav"
        form = ["--rate", str(RATE), "--channels", "1", "--format", "f32", "--latency", "20ms"]
        # WirePlumber would let it follow the default microphone, if Push-to-talk once was that.
        chosen = ["--target", target, "-P", ""]
        chosen[-1] = f"{{ node.dont-reconnect = {stays} stream.capture.sink = {sink} }}".lower()
        self.process = seat.start("pw-record", *chosen, *form, str(self._path))
        seat.wait_for(lambda: self._path.exists() and self.position > 0, "sound in the call")

    @property
    def _sound(self) -> bytes:
        header, found, sound = self._path.read_bytes().partition(b"data")
        return sound[4:] if found else b""

    @property
    def position(self) -> int:
        """How much was heard so far."""
        return len(self._sound) // 4

    def tones(self, since: int) -> list[int]:
        """The positions of all samples after this one that are not exactly zero."""
        sound = self._sound[since * 4 :]
        if not sound.strip(b"\0"):
            return []
        samples = array("f", sound[: len(sound) // 4 * 4])
        return [since + position for position, sample in enumerate(samples) if sample != 0]

    def seconds_of_tone(self, since: int) -> float:
        """Waits until 200 ms are silent, or nothing flows for 500 ms, and returns how long that took."""
        end = since
        moved, last = time.monotonic(), since

        def is_silent() -> bool:
            nonlocal end, moved, last
            position = self.position
            if position != last:
                moved, last = time.monotonic(), position
            sounds = [since, *self.tones(since)]
            for end, following in itertools.pairwise([*sounds, position]):
                if following - end >= RATE // 5:
                    return True
            return time.monotonic() - moved > 0.5

        wait_until(is_silent, "silence in the call")
        return (end - since) / RATE

    def expect_tone(self) -> None:
        """Checks that the next third of a second has the tone."""
        since = self.position
        wait_until(lambda: self.position > since + RATE // 3, "sound in the call")
        assert self.tones(since)

    def expect_silence(self) -> None:
        """Checks that the next third of a second is exactly silent."""
        since = self.position
        wait_until(lambda: self.position > since + RATE // 3, "sound in the call")
        assert not self.tones(since)


class Call:
    """The service, running, and someone who listens."""

    def __init__(self, seat: Seat) -> None:
        self.seat = seat
        seat.write("keymoded.yaml", SETTINGS + 'devices: { ignore: ["*"] }\n')
        seat.start_keymoded()
        self.sound = Sound(seat)
        seat.start_logind(IN_FRONT)
        self.start()
        self.begin()

    def start(self, *settings: str) -> None:
        """Starts the service, with more settings of its unit."""
        self.seat.start_package_unit(UNIT, *settings)

    def stop(self) -> None:
        """Stops the service."""
        self.seat.manager.systemctl("stop", UNIT)

    def begin(self) -> None:
        """Has the microphone hear the tone, and begins a call."""
        self.sound.play_tone()
        self.listen()

    def listen(self) -> None:
        """Begins a call."""
        self.listener = Listener(self.seat)
        self.listener.expect_silence()
        self.wait_until_heard()

    def restart_sound(self) -> None:
        """Starts PipeWire and WirePlumber anew, and begins another call."""
        for name in ("wireplumber", "pipewire"):
            for process in self.processes(name):
                kill(process)
        self.seat.wait_for(lambda: not self.processes("pipewire"), "the end of PipeWire")
        # Otherwise a microphone is muted again that was so when WirePlumber last wrote this.
        shutil.rmtree(self.seat.folder / ".local/state/wireplumber", ignore_errors=True)
        self.sound.start()
        # The service makes it again.
        self.seat.wait_for(lambda: self.is_there, "Push-to-talk")
        self.begin()

    @property
    def is_there(self) -> bool:
        """Whether there is a microphone Push-to-talk."""
        return 'node.name = "push-to-talk"' in self.seat.run("pw-cli", "ls", "Node")

    def processes(self, name: str) -> list[int]:
        """The processes whose command lines begin so."""
        return [pid for pid, line in self.seat.processes().items() if self._is(line, name)]

    @staticmethod
    def _is(line: str, name: str) -> bool:
        # The unit starts keymodectl by its path.
        return re.sub(r"^/\S*/", "", line).startswith(name)

    @property
    def source(self) -> str:
        """What PipeWire says of Push-to-talk; another one would have another number."""
        nodes = self.seat.run("pw-cli", "ls", "Node").split("\tid ")
        (found,) = [node for node in nodes if 'node.name = "push-to-talk"' in node]
        return found

    @property
    def default(self) -> str:
        """The name of the default microphone."""
        shown = self.seat.run("wpctl", "inspect", "@DEFAULT_AUDIO_SOURCE@")
        (name,) = re.findall(r'node\.name = "(.*)"', shown)
        return str(name)

    def choose(self, name: str) -> None:
        """Makes a microphone the default, as the desktop's settings do."""
        chosen = json.dumps({"name": name})
        key = "default.configured.audio.source"
        self.seat.run("pw-metadata", "0", key, chosen, "Spa:String:JSON")
        self.seat.wait_for(lambda: self.default == name, f"the default {name}")

    def wait_until_heard(self) -> None:
        """Presses and releases the key until it counts, which it does once the service is connected."""

        def opens() -> bool:
            pressed = self.listener.position
            self.seat.trigger(PRESS)
            wait_until(lambda: self.listener.position > pressed + RATE // 2, "sound in the call")
            self.release()
            return bool(self.listener.tones(pressed))

        self.seat.wait_for(opens, "the tone")

    def press(self) -> None:
        """Presses the key, and waits until the tone is in the call."""
        before = self.listener.position
        self.seat.trigger(PRESS)
        self.wait_for_tone(before)

    def release(self) -> None:
        """Releases the key, and waits until the microphone is closed."""
        self.seat.trigger(RELEASE)
        # A press while trailing would begin nothing anew.
        self.seat.run("keymodectl", "wait", "talk=silent", "--timeout", "10s")
        self.wait_until_closed()

    def wait_for_tone(self, since: int) -> None:
        """Waits until the tone is heard after this position."""
        self.seat.wait_for(lambda: bool(self.listener.tones(since)), "the tone")

    def start_by_hand(self, microphone: str = "") -> int:
        """Starts what opens the microphone, without a key. Its process leads a group."""
        chosen = f"MICROPHONE={microphone}"
        return self.seat.start("env", chosen, PROGRAM, "--open").pid

    def heal(self, name: str, act: signal.Signals, process: int) -> None:
        """Brings a program back that was killed or stopped, with the key up."""
        if act == signal.SIGSTOP:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGCONT)
        elif name == DAEMON:
            self.seat.start_keymoded()
        elif name in ("wireplumber", "pipewire"):
            self.restart_sound()
        if name == DAEMON and act == signal.SIGSTOP:
            self.seat.trigger(RELEASE)
        self.seat.wait_for(lambda: bool(self.processes(WAITING)), "keymodectl")
        self.wait_until_heard()

    @property
    def is_open(self) -> bool:
        """Whether the service records from any microphone."""
        return "input.keymode-call:" in self.seat.run("pw-link", "--links")

    def wait_until_closed(self) -> None:
        """Waits until no program records from the real microphone."""
        self.seat.wait_for(lambda: not self.is_open, "a closed microphone")


@pytest.fixture(scope="module")
def call() -> Iterator[Call]:
    """The service, running. Each test leaves it as it was: silent, with everything alive."""
    require_root()
    with real_time():
        seat = Seat()
        try:
            yield Call(seat)
        finally:
            seat.close()


def test_recipes_of_the_page_have_the_states_of_the_unit() -> None:
    unit = (CHECKOUT / "systemd/user" / UNIT).read_text()
    (states,) = re.findall(r"^ExecStart=@libexecdir@/keymode-call (talk=\S+)$", unit, re.MULTILINE)
    assert (CHECKOUT / "docs/call.md").read_text().count(f"keymodectl while --anew {states} --") == 2


def test_call_hears_the_tone_only_while_the_key_is_held(call: Call) -> None:
    assert call.default == "microphone"
    source = call.source
    for _ in range(50):
        began = call.listener.position
        call.press()
        released = call.listener.position
        call.release()
        assert call.listener.tones(began)
        assert call.listener.seconds_of_tone(released) < 1
    call.listener.expect_silence()
    assert call.source == source


def test_keys_that_are_only_tapped_leave_nothing_open(call: Call) -> None:
    for _ in range(20):
        call.seat.trigger(PRESS, RELEASE)
    call.seat.wait_for(lambda: not call.processes(OPEN), "the end of the last command")
    call.wait_until_closed()
    call.listener.expect_silence()
    assert "push-to-talk:input" not in call.seat.run("pw-link", "--links")


def test_tone_begins_soon(call: Call) -> None:
    def microseconds_to_tone(begin: Callable[[], object]) -> int:
        position, began = call.listener.position, time.monotonic()
        begin()
        call.wait_for_tone(position)
        return round((time.monotonic() - began) * 1_000_000)

    def own_start() -> int:
        programs = []
        took = microseconds_to_tone(lambda: programs.append(call.start_by_hand()))
        kill(programs[0])
        call.wait_until_closed()
        return took

    def held_start() -> int:
        took = microseconds_to_tone(lambda: call.seat.trigger(PRESS))
        call.release()
        return took

    in_time(lambda: held_start() - own_start(), 100_000)


def test_chosen_source_stays_and_hears_the_other_microphone(call: Call) -> None:
    source = call.source
    call.choose("push-to-talk")
    for _ in range(3):
        call.press()
        assert call.default == "push-to-talk"
        call.release()
        assert call.default == "push-to-talk"
    assert call.source == source
    call.choose("microphone")


def test_microphone_can_be_chosen_and_no_other_is_opened_in_its_place(call: Call) -> None:
    position = call.listener.position
    program = call.start_by_hand("microphone")
    call.wait_for_tone(position)
    kill(program)
    call.wait_until_closed()
    for name in ("absent", "push-to-talk"):
        program = call.start_by_hand(name)
        call.seat.wait_for(lambda: not call.processes(OPEN), "the end of what cannot record")
        call.listener.expect_silence()
        os.killpg(program, signal.SIGKILL)


def test_recipe_of_wpctl_mutes_the_default_microphone(call: Call) -> None:
    page = (CHECKOUT / "docs/call.md").read_text()
    (recipe,) = re.findall(r"^    (keymodectl while .*\n.*wpctl.*\n.*wpctl.*)$", page, re.MULTILINE)

    def is_muted() -> bool:
        return "MUTED" in call.seat.run("wpctl", "get-volume", "@DEFAULT_AUDIO_SOURCE@")

    def opens() -> bool:
        """Presses the key, which counts once keymodectl is connected; returns whether it did."""
        call.seat.trigger(PRESS)
        with contextlib.suppress(NotInTimeError):
            wait_until(lambda: not is_muted(), "an open microphone", seconds=2)
            return True
        call.seat.trigger(RELEASE)
        call.seat.run("keymodectl", "wait", "talk=silent", "--timeout", "10s")
        return False

    call.seat.run("wpctl", "set-mute", "@DEFAULT_AUDIO_SOURCE@", "1")
    running = call.seat.start_managed("sh", "-c", f"exec {recipe}")
    try:
        for _ in range(2):
            assert is_muted()
            call.seat.wait_for(opens, "an open microphone")
            call.seat.trigger(RELEASE)
            call.seat.wait_for(is_muted, "a muted microphone")
    finally:
        os.killpg(running.pid, signal.SIGTERM)
        running.wait(BOUND_SECONDS)
        call.seat.run("wpctl", "set-mute", "@DEFAULT_AUDIO_SOURCE@", "0")


def test_unplugged_microphone_is_silent_and_no_other_is_opened(call: Call) -> None:
    source = call.source
    call.press()
    unplugged = call.listener.position
    call.seat.run("pw-cli", "destroy", "microphone")
    assert call.listener.seconds_of_tone(unplugged) < 1
    call.wait_until_closed()
    call.seat.trigger(RELEASE)
    # Push-to-talk, which is then the only microphone, does not record from itself.
    call.seat.run("pw-cli", "destroy", "tone")
    call.seat.wait_for(lambda: call.default == "push-to-talk", "another default microphone")
    call.seat.trigger(PRESS)
    call.listener.expect_silence()
    assert not call.is_open
    call.seat.trigger(RELEASE)
    assert call.source == source
    call.restart_sound()


def test_unplugged_keyboard_silences_the_call(call: Call) -> None:
    call.seat.kill_keymoded()
    keyboard = call.seat.start_keymoded_with_keyboard()
    call.wait_until_heard()
    held = call.listener.position
    keyboard.send(RIGHTCTRL, DOWN)
    call.wait_for_tone(held)
    unplugged = call.listener.position
    keyboard.unplug()
    call.seat.run("keymodectl", "wait", "talk=trailing,silent", "--timeout", "10s")
    assert call.listener.seconds_of_tone(unplugged) < 1
    call.wait_until_closed()
    # The daemon lives on.
    call.seat.run("keymodectl", "wait", "talk=silent", "--timeout", "10s")
    call.seat.kill_keymoded()
    call.seat.start_keymoded()
    call.wait_until_heard()
    call.press()
    call.release()


def test_locked_session_silences_the_call(call: Call) -> None:
    call.press()
    locked = call.listener.position
    call.seat.tell("session", LOCKED)
    assert call.listener.seconds_of_tone(locked) < 1
    call.wait_until_closed()
    # Nor does a key that is typed on the lock screen open it.
    call.seat.trigger(RELEASE, PRESS)
    call.listener.expect_silence()
    call.seat.trigger(RELEASE)
    call.seat.tell("session", IN_FRONT)

    # A key that is pressed before keymodectl hears of that still opens nothing.
    call.wait_until_heard()


@pytest.mark.parametrize("away", [LOCKED, ASLEEP])
def test_latched_key_opens_nothing_after_a_lock_or_a_sleep_until_it_is_pressed(
    call: Call, away: str
) -> None:
    call.press()
    call.seat.trigger(RELEASE, PRESS, TAP)
    call.listener.expect_tone()
    left = call.listener.position
    call.seat.tell("session", away)
    assert call.listener.seconds_of_tone(left) < 1
    call.seat.tell("session", IN_FRONT)
    for _ in range(3):
        call.listener.expect_silence()
    # A hold talks on, and a tap ends it.
    call.press()
    call.release()
    call.listener.expect_silence()


def test_release_of_a_key_that_was_held_through_a_lock_opens_nothing(call: Call) -> None:
    call.press()
    call.seat.tell("session", LOCKED)
    call.wait_until_closed()
    call.seat.tell("session", IN_FRONT)
    call.listener.expect_silence()
    call.seat.trigger(RELEASE)
    call.listener.expect_silence()
    call.press()
    call.release()


def test_stopped_service_leaves_a_call_its_silent_microphone(call: Call) -> None:
    source = call.source
    # PipeWire would give it the real microphone if Push-to-talk were gone.
    movable = Listener(call.seat, stays=False)
    since = movable.position
    call.press()
    call.seat.wait_for(lambda: bool(movable.tones(since)), "the tone")
    call.stop()
    assert movable.seconds_of_tone(since) < 5
    for _ in range(3):
        movable.expect_silence()
    assert call.source == source
    call.seat.trigger(RELEASE)
    for listener in (movable, call.listener):
        kill(listener.process.pid)
    # Nothing records from it, so it goes with the service.
    call.seat.wait_for(lambda: "pw-record" not in call.seat.run("pw-link", "--links"), "no call")
    call.start()
    call.stop()
    assert not call.is_there
    call.start()
    call.listen()
    call.press()
    call.release()


def test_sounds_tell_of_the_microphone_and_are_not_in_the_call(call: Call) -> None:
    call.stop()
    call.start("Environment=KEYMODE_CALL_SOUNDS=yes")
    call.wait_until_heard()
    properties = (
        "factory.name = support.null-audio-sink node.name = loudspeaker "
        "media.class = Audio/Sink audio.position = [ MONO ] object.linger = true"
    )
    call.seat.run("pw-cli", "create-node", "adapter", f"{{ {properties} }}")
    heard = Listener(call.seat, "loudspeaker", sink=True)
    call.sound.stop_tone()
    for act in (lambda: call.seat.trigger(PRESS), lambda: kill(call.processes(OPEN)[0])):
        since, before = heard.position, call.listener.position
        act()
        call.seat.wait_for(lambda since=since: bool(heard.tones(since)), "a sound")
        assert heard.seconds_of_tone(since) < 5
        assert not call.listener.tones(before)
    call.seat.trigger(RELEASE)
    call.seat.run("pw-cli", "destroy", "loudspeaker")
    kill(heard.process.pid)
    call.sound.play_tone()
    call.stop()
    call.start()
    call.wait_until_heard()


def test_service_without_its_programs_says_what_to_install(call: Call) -> None:
    ended = call.seat.start("env", "PATH=/nowhere", "/bin/sh", PROGRAM, "talk=open")
    assert ended.wait(BOUND_SECONDS) == 78
    assert "install pipewire-bin" in call.seat.log


KILL, STOP = signal.SIGKILL, signal.SIGSTOP

# The seconds within which the tone must have ended. The manager's watchdog takes one to notice that
# keymodectl hangs, and systemd may add a quarter. While WirePlumber is stopped, what is linked stays.
ACTS = [
    (OPEN, KILL, 1.0),
    (OPEN, STOP, 1.0),
    (WAITING, KILL, 1.0),
    (WAITING, STOP, 1.5),
    (DAEMON, KILL, 1.0),
    (DAEMON, STOP, 1.0),
    (WATCHER, KILL, 1.0),
    ("wireplumber", KILL, 1.0),
    ("wireplumber", STOP, None),
    ("pipewire", KILL, 1.0),
    ("pipewire", STOP, 1.0),
]


@pytest.mark.parametrize(("name", "act", "limit"), ACTS)
def test_call_hears_nothing_after(
    call: Call, name: str, act: signal.Signals, limit: float | None
) -> None:
    call.press()
    (victim,) = call.processes(name)
    began = call.listener.position
    os.kill(victim, act)
    if limit:
        assert call.listener.seconds_of_tone(began) < limit
    # The release of the key, which the others hear of.
    if name != DAEMON:
        released = call.listener.position
        call.seat.trigger(RELEASE)
        assert call.listener.seconds_of_tone(released) < 1
    call.heal(name, act, victim)
    call.wait_until_closed()
    call.listener.expect_silence()
    call.press()
    call.release()
