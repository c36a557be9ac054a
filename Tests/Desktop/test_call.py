"""The example for calls: the microphone Push-to-talk, with PipeWire.

The real microphone hears a tone all the time.
"""

import contextlib
import itertools
import json
import os
import re
import signal
import time
from array import array
from collections.abc import Callable, Iterator

import pytest
from seat import EXAMPLES, Seat, kill
from sound import Sound, real_time
from support.checkout import CHECKOUT
from support.input_events import F9, PRESS
from support.time_stamps import in_time
from support.user_manager import require_root
from support.waiting import BOUND_SECONDS, wait_until

RATE = 48000

# The programs while the key is held, by how their command lines begin.
DAEMON = "keymoded --config"
WAITING = "keymodectl while"
OPEN = "pw-loopback"

# The session of the person, for logind.
IN_FRONT, LOCKED = "seat0 Active", "seat0 Active LockedHint"

FILES = ["call-microphone", "call-microphone.conf"]
UNIT = "call-microphone.service"


class Listener:
    """A program in a call: it records from Push-to-talk all the time. Positions are in samples."""

    _numbers = itertools.count(1)

    def __init__(self, seat: Seat) -> None:
        self._path = seat.folder / f"call-{next(self._numbers)}.wav"
        form = ["--rate", str(RATE), "--channels", "1", "--format", "f32", "--latency", "20ms"]
        # WirePlumber would let it follow the default microphone, if Push-to-talk once was that.
        chosen = ["--target", "push-to-talk", "-P", "{ node.dont-reconnect = true }"]
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

    def expect_silence(self) -> None:
        """Checks that the next third of a second is exactly silent."""
        since = self.position
        wait_until(lambda: self.position > since + RATE // 3, "sound in the call")
        assert not self.tones(since)


class Call:
    """The example, installed by its page and running, and someone who listens."""

    def __init__(self, seat: Seat) -> None:
        self.seat = seat
        seat.install("call")
        settings = (CHECKOUT / "data/recipes/push-to-talk.yaml").read_text()
        seat.write("keymoded.yaml", settings + 'devices: { ignore: ["*"] }\n')
        seat.start_keymoded()
        self.sound = Sound(seat)
        seat.start_logind(IN_FRONT)
        seat.start_unit(UNIT)
        self.begin()

    def begin(self) -> None:
        """Has the microphone hear the tone, and begins a call."""
        self.sound.play_tone()
        self.listener = Listener(self.seat)
        self.listener.expect_silence()

    def restart_sound(self) -> None:
        """Starts PipeWire and WirePlumber anew, and begins another call."""
        for name in ("wireplumber", "pipewire"):
            for process in self.processes(name):
                kill(process)
        self.seat.wait_for(lambda: not self.processes("pipewire"), "the end of PipeWire")
        self.sound.start()
        self.begin()

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

    def press(self) -> None:
        """Presses the key, and waits until the tone is in the call."""
        before = self.listener.position
        self.seat.trigger("startTalking")
        self.wait_for_tone(before)

    def release(self) -> None:
        """Releases the key, and waits until the microphone is closed."""
        self.seat.trigger("stopTalking")
        self.wait_until_closed()

    def wait_for_tone(self, since: int) -> None:
        """Waits until the tone is heard after this position."""
        self.seat.wait_for(lambda: bool(self.listener.tones(since)), "the tone")

    def start_by_hand(self, microphone: str = "") -> int:
        """Starts what opens the microphone, without a key. Its process leads a group."""
        chosen = f"MICROPHONE={microphone}"
        return self.seat.start("env", chosen, ".local/bin/call-microphone").pid

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
            self.seat.trigger("stopTalking")
        self.seat.wait_for(lambda: bool(self.processes(WAITING)), "keymodectl")

    @property
    def is_open(self) -> bool:
        """Whether the example records from any microphone."""
        return "input.call-microphone:" in self.seat.run("pw-link", "--links")

    def wait_until_closed(self) -> None:
        """Waits until no program records from the real microphone."""
        self.seat.wait_for(lambda: not self.is_open, "a closed microphone")


@pytest.fixture(scope="module")
def call() -> Iterator[Call]:
    """The example, running. Each test leaves it as it was: silent, with everything alive."""
    require_root()
    with real_time():
        seat = Seat()
        try:
            yield Call(seat)
        finally:
            seat.close()


def test_example_is_short_and_its_page_has_the_command_of_its_unit() -> None:
    texts = [(EXAMPLES / "call" / name).read_text() for name in (*FILES, UNIT)]
    assert sum(len(text.splitlines()) for text in texts) <= 60
    (command,) = re.findall(r"^ExecStart=(.*)$", texts[-1], re.MULTILINE)
    page = " ".join((EXAMPLES / "call/README.md").read_text().split())
    assert f"`exec {command.replace('%h', '~')}`" in page


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
        call.seat.trigger("startTalking", "stopTalking")
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
        took = microseconds_to_tone(lambda: call.seat.trigger("startTalking"))
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
    page = (EXAMPLES / "call/README.md").read_text()
    (recipe,) = re.findall(r"^    (keymodectl while .*\n.*wpctl.*\n.*wpctl.*)$", page, re.MULTILINE)

    def is_muted() -> bool:
        return "MUTED" in call.seat.run("wpctl", "get-volume", "@DEFAULT_AUDIO_SOURCE@")

    call.seat.run("wpctl", "set-mute", "@DEFAULT_AUDIO_SOURCE@", "1")
    running = call.seat.start_managed("sh", "-c", f"exec {recipe}")
    for _ in range(2):
        assert is_muted()
        call.seat.trigger("startTalking")
        call.seat.wait_for(lambda: not is_muted(), "an open microphone")
        call.seat.trigger("stopTalking")
        call.seat.wait_for(is_muted, "a muted microphone")
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
    call.seat.trigger("stopTalking")
    # Push-to-talk, which is then the only microphone, does not record from itself.
    call.seat.run("pw-cli", "destroy", "tone")
    call.seat.wait_for(lambda: call.default == "push-to-talk", "another default microphone")
    call.seat.trigger("startTalking")
    call.listener.expect_silence()
    assert not call.is_open
    call.seat.trigger("stopTalking")
    assert call.source == source
    call.restart_sound()


def test_unplugged_keyboard_silences_the_call(call: Call) -> None:
    call.seat.kill_keymoded()
    keyboard = call.seat.start_keymoded_with_keyboard()
    held = call.listener.position
    keyboard.send(F9, PRESS)
    call.wait_for_tone(held)
    unplugged = call.listener.position
    keyboard.unplug()
    assert call.listener.seconds_of_tone(unplugged) < 1
    call.wait_until_closed()
    assert call.seat.keyboard == "editingText", "the daemon lives on"
    call.seat.kill_keymoded()
    call.seat.start_keymoded()
    call.press()
    call.release()


def test_locked_session_silences_the_call(call: Call) -> None:
    call.press()
    locked = call.listener.position
    call.seat.write("session", LOCKED)
    assert call.listener.seconds_of_tone(locked) < 1
    call.wait_until_closed()
    # Nor does a key that is typed on the lock screen open it.
    call.seat.trigger("stopTalking", "startTalking")
    call.listener.expect_silence()
    call.seat.trigger("stopTalking")
    call.seat.write("session", IN_FRONT)

    # A key that is pressed before keymodectl hears of that still opens nothing.
    def opens() -> bool:
        pressed = call.listener.position
        call.seat.trigger("startTalking")
        wait_until(lambda: call.listener.position > pressed + RATE // 2, "sound in the call")
        call.release()
        return bool(call.listener.tones(pressed))

    call.seat.wait_for(opens, "the tone")


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
        call.seat.trigger("stopTalking")
        assert call.listener.seconds_of_tone(released) < 1
    call.heal(name, act, victim)
    call.wait_until_closed()
    call.listener.expect_silence()
    call.press()
    call.release()
