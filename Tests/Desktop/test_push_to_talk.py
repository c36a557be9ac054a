"""The example for push-to-talk, with PipeWire and a microphone that records silence."""

import os
import signal
import subprocess
import time
import wave
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from seat import EXAMPLES, Desktop, Seat, kill
from sound import Sound, real_time, recorded_seconds
from support import readme
from support.input_events import PRESS, RELEASE, RIGHTCTRL, A, evemu_key_frame
from support.talk import PRESS as PRESSED
from support.talk import RELEASE as RELEASED
from support.talk import SETTINGS, TAP
from support.user_manager import require_root
from support.waiting import BOUND_SECONDS
from text_fields import AccessibleDesktop

# The programs that run while the microphone is open, by how their command lines begin.
DAEMON = "keymoded"
WAITING = "keymodectl while"
RECORDING = "pw-record"

# What the voice of the tests says, and the recognizer understands but for a word.
SENTENCES = [
    "please call me back",
    "we should talk about the new plan before the end of the week",
]

# The mark of microphone.css.
RED = (0xCC, 0x29, 0x36)

BAR = """{
  "layer": "top",
  "height": 28,
  "include": ["~/.config/waybar/microphone.jsonc"],
  "modules-right": ["custom/microphone"]
}"""


def wrong_words(said: str, typed: str) -> int:
    """How many words must be replaced, removed or added to make one text of the other."""
    expected, found = said.split(), typed.split()
    row = list(range(len(found) + 1))
    for number, word in enumerate(expected, 1):
        above, row[0] = row[:], number
        for column, other in enumerate(found, 1):
            row[column] = min(
                above[column] + 1, row[column - 1] + 1, above[column - 1] + (word != other)
            )
    return row[-1]


class Talk:
    """A microphone, and the example running."""

    def __init__(self, seat: Seat) -> None:
        self.seat = seat
        seat.install("push-to-talk")
        seat.write("keymoded.yaml", 'devices: { ignore: ["*"] }\n')
        # As the second step of README has it.
        seat.write("keymoded.yaml.d/push-to-talk.yaml", SETTINGS)
        discard = (EXAMPLES / "push-to-talk/discard.yaml").read_text()
        seat.write("keymoded.yaml.d/discard.yaml", discard)
        seat.kill_keymoded()
        self.sound = Sound(seat)
        seat.run("mkdir", "done")

    def start(self, *command: str) -> subprocess.Popen[bytes]:
        """Starts the example with this command, or one that collects the recordings."""
        return self.seat.start_managed(".local/bin/push-to-talk", *(command or ("mv", "-t", "done")))

    @property
    def recordings(self) -> list[Path]:
        """The collected recordings, in the order of their time."""
        return sorted((self.seat.folder / "done").iterdir())

    def hold(self, send: Callable[[int], object] | None = None) -> None:
        """Begins to talk, and waits until the microphone is open.

        Presses again if the microphone stays closed: `keymodectl while` was not connected yet. `send` presses or
        releases a key; without it, events are sent instead.
        """
        send = send or (lambda value: self.seat.trigger(PRESSED if value == PRESS else RELEASED))

        def opens() -> bool:
            send(PRESS)
            end = time.monotonic() + 2
            while time.monotonic() < end:
                if self.sound.open_microphones() == 1:
                    return True
            send(RELEASE)
            self.seat.run("keymodectl", "wait", "talk=silent")
            return False

        self.seat.wait_for(opens, "an open microphone")

    def wait_for_sound(self) -> None:
        """Waits until the recorder has written sound into its file, which is the newest."""
        folder = self.seat.folder / "run/push-to-talk"
        # Their names are their times.
        self.seat.wait_for(lambda: max(folder.iterdir()).stat().st_size > 44, "sound")

    def processes(self, *names: str) -> list[int]:
        """The processes whose command lines begin so, in the order of the names."""
        running = self.seat.processes().items()
        return [number for name in names for number, line in running if line.startswith(name)]

    def wait_until_closed(self) -> float:
        """Waits until the microphone is closed, and returns how long that took, in seconds."""
        began = time.monotonic()
        self.seat.wait_for(lambda: self.sound.open_microphones() == 0, "a closed microphone")
        return time.monotonic() - began


@pytest.fixture
def talk(seat: Seat) -> Iterator[Talk]:
    """A microphone, and the installed example."""
    require_root()
    with real_time():
        yield Talk(seat)


# The lengths of the holds, in seconds, and the pauses before them.
HOLDS, PAUSE = [1.0, 3.0, 1.5, 2.0], 1.0

# How many seconds the recipe listens after a release.
TRAILING = 0.3


def test_recordings_are_as_long_as_the_key_is_held(talk: Talk) -> None:
    # The first key starts the time of the recording, and leaves the example time to connect.
    keys = evemu_key_frame(0, A, PRESS) + evemu_key_frame(1000, A, RELEASE)
    now = 2.0
    for length in HOLDS:
        for value in (PRESS, RELEASE):
            keys += evemu_key_frame(round(now * 1_000_000), RIGHTCTRL, value)
            now += length if value == PRESS else PAUSE
    keyboard = talk.seat.write("keys.evemu", "# EVEMU 1.3\n" + keys)
    talk.start()
    talk.seat.start_keymoded("--recording", str(keyboard))
    talk.seat.wait_for(lambda: len(talk.recordings) == len(HOLDS), "the recordings")
    # The sound begins when the recorder has reached the microphone, which is no error of keymoded.
    # Tests/UserManager has how soon a recorder begins and ends.
    lost = [
        held + TRAILING - recorded_seconds(path)
        for held, path in zip(HOLDS, talk.recordings, strict=True)
    ]
    assert all(-0.1 <= seconds <= 0.7 for seconds in lost), lost


def test_commands_of_readme_record_while_the_key_is_held(talk: Talk) -> None:
    seat = talk.seat
    seat.start_keymoded()
    # The others copy the configuration that this keymoded has, and apply it.
    *_, record = readme.commands("Talk in three commands")
    seat.start_managed("sh", "-c", f"exec {record}")
    talk.hold()
    speech = seat.folder / "speech.wav"
    seat.wait_for(lambda: speech.exists() and speech.stat().st_size > 44, "sound")
    assert talk.processes(RECORDING)
    seat.trigger(RELEASED)
    assert talk.wait_until_closed() < 1
    seat.wait_for(lambda: not talk.processes(RECORDING), "the recorder to end")
    with wave.open(str(speech)) as sound:
        assert sound.getnframes() > 0


# Tests/UserManager kills the others, too.
VICTIMS = [(DAEMON,), (RECORDING,), (WAITING,)]


@pytest.mark.parametrize("victims", VICTIMS, ids=" and ".join)
def test_no_crash_leaves_the_microphone_open(talk: Talk, victims: tuple[str, ...]) -> None:
    seat = talk.seat
    seat.start_keymoded()
    example = talk.start()
    began = time.monotonic()
    talk.hold()
    talk.wait_for_sound()
    victims_now = talk.processes(*victims)
    assert len(victims_now) == len(victims)
    for number in victims_now:
        kill(number)
    assert talk.wait_until_closed() < 1
    assert not talk.processes(RECORDING)

    # The recording is handed over, and has the sound up to the crash.
    seat.wait_for(lambda: len(talk.recordings) == 1, "the recording")
    seconds = recorded_seconds(talk.recordings[-1], may_be_cut=RECORDING in victims)
    assert 0 < seconds < time.monotonic() - began

    # The example ends with what waits for the state, and its unit starts it again.
    if victims in [(DAEMON,), (RECORDING,)]:
        os.killpg(example.pid, signal.SIGTERM)
    example.wait(BOUND_SECONDS)
    seat.wait_for(lambda: not talk.processes(WAITING), "the rest to end")
    assert "Restart=always" in (EXAMPLES / "push-to-talk/push-to-talk.service").read_text()


def test_commands_outlive_the_state_and_run_in_order(talk: Talk) -> None:
    seat = talk.seat
    seat.start_keymoded()
    talk.start("sh", "-c", 'until [ -e go ]; do sleep 0.02; done; echo "$0" >> told')
    for _ in range(3):
        talk.hold()
        talk.wait_for_sound()
        seat.trigger(RELEASED)
        talk.wait_until_closed()
    seat.write("go", "")
    told = seat.folder / "told"
    seat.wait_for(lambda: told.exists() and len(told.read_text().split()) == 3, "three commands")
    assert told.read_text().split() == sorted(told.read_text().split())
    kept = seat.folder / "run/push-to-talk"
    seat.wait_for(lambda: not list(kept.iterdir()), "the recordings to be removed")


def test_unit_of_the_example_starts_and_records(talk: Talk) -> None:
    talk.seat.start_keymoded()
    heard = talk.seat.folder / "done/heard"
    program = talk.seat.write("bin/pocketsphinx_continuous", f"#!/bin/sh\ntouch {heard}\n")
    program.chmod(0o755)
    talk.seat.start_unit("push-to-talk.service")
    talk.hold()
    talk.wait_for_sound()
    talk.seat.trigger(RELEASED)
    assert talk.wait_until_closed() < 1
    talk.seat.wait_for(heard.exists, "the command")


def test_recording_stays_if_its_command_fails(talk: Talk) -> None:
    talk.seat.start_keymoded()
    talk.start("false")
    talk.hold()
    talk.wait_for_sound()
    talk.seat.trigger(RELEASED)
    talk.seat.wait_for(lambda: "this recording was not handed over" in talk.seat.log, "a message")
    (kept,) = (talk.seat.folder / "run/push-to-talk").iterdir()
    assert recorded_seconds(kept) > 0


def test_two_taps_record_until_the_next_one(talk: Talk) -> None:
    seat = talk.seat
    seat.start_keymoded()
    talk.start()
    talk.hold()
    seat.trigger(RELEASED, PRESSED, TAP)
    talk.wait_for_sound()
    # Longer than the last syllable of a hold would have been.
    time.sleep(0.5)
    assert talk.sound.open_microphones() == 1
    assert seat.run("keymodectl", "state", "talk") == "open\n"
    seat.trigger(PRESSED, TAP)
    assert talk.wait_until_closed() < 1
    seat.wait_for(lambda: len(talk.recordings) == 1, "the recording")
    assert recorded_seconds(talk.recordings[0]) > 0.4


@pytest.mark.parametrize("lead", [(), (RELEASED, PRESSED, TAP)], ids=["held", "latched"])
def test_escape_throws_away_what_is_said(talk: Talk, lead: tuple[str, ...]) -> None:
    seat = talk.seat
    seat.start_keymoded()
    talk.start("sh", "-c", 'echo "$0" >> told; sleep 1')
    # The command of an earlier recording may still run when the next one is thrown away.
    for _ in range(2):
        talk.hold()
        talk.wait_for_sound()
        seat.trigger(RELEASED)
        talk.wait_until_closed()
        talk.hold()
        seat.trigger(*lead)
        talk.wait_for_sound()
        seat.trigger("talk.discard")
        assert talk.wait_until_closed() < 1
        seat.run("keymodectl", "wait", "talk=silent")
    kept = seat.folder / "run/push-to-talk"
    seat.wait_for(lambda: not list(kept.iterdir()), "the recordings to be removed")
    assert len((seat.folder / "told").read_text().split()) == 2


def test_latched_state_opens_no_microphone_of_an_example_that_starts(talk: Talk) -> None:
    seat = talk.seat
    seat.start_keymoded()
    seat.trigger(PRESSED, RELEASED, PRESSED, TAP)
    talk.start()
    seat.wait_for(lambda: bool(talk.processes(WAITING)), "keymodectl while")
    # If it opened at once, this would be enough for that.
    time.sleep(1)
    assert talk.sound.open_microphones() == 0
    seat.trigger(PRESSED, TAP)
    talk.hold()
    assert talk.sound.open_microphones() == 1


@pytest.mark.parametrize("sentence", SENTENCES)
def test_what_is_said_while_the_key_is_held_is_typed_into_the_window(
    talk: Talk, sentence: str
) -> None:
    seat = talk.seat
    keyboard = seat.start_keymoded_with_keyboard()
    fields = AccessibleDesktop(seat)
    fields.turn_on()
    Desktop(seat)
    # sway gives no window the focus of keys without a keyboard.
    seat.start("wvkbd-mobintl", "--hidden")
    fields.open_field("Chat")
    talk.start(".local/bin/dictate")
    talk.hold(lambda value: keyboard.send(RIGHTCTRL, value))
    talk.wait_for_sound()
    talk.sound.speak(sentence)
    keyboard.send(RIGHTCTRL, RELEASE)
    assert talk.wait_until_closed() < 1
    seat.wait_for(lambda: fields.texts() not in ([], [""]), "a text")
    text = ""

    def is_typed() -> bool:
        nonlocal text
        (text,) = fields.texts()
        return text.endswith(" ") and not talk.processes("wtype")

    seat.wait_for(is_typed, "the whole text")
    assert wrong_words(sentence, text) <= 1, text
    kept = seat.folder / "run/push-to-talk"
    seat.wait_for(lambda: not list(kept.iterdir()), "the recording to be removed")


TYPISTS = {
    "wtype -": {"WAYLAND_DISPLAY": "wayland-1", "XDG_CURRENT_DESKTOP": "sway"},
    "type-in-gnome": {"WAYLAND_DISPLAY": "wayland-0", "XDG_CURRENT_DESKTOP": "ubuntu:GNOME"},
    "wl-copy": {"WAYLAND_DISPLAY": "wayland-0", "XDG_CURRENT_DESKTOP": "KDE"},
    "xdotool type --file -": {"XDG_CURRENT_DESKTOP": "GNOME"},
}


@pytest.mark.parametrize(("command", "environment"), TYPISTS.items(), ids=TYPISTS)
def test_each_desktop_has_a_program_that_types(
    seat: Seat, command: str, environment: dict[str, str]
) -> None:
    seat.environment |= environment
    name = command.partition(" ")[0]
    programs = {
        "examples/push-to-talk/pocketsphinx_continuous": r"printf ' Hello,\n world. *\n'",
        f"examples/push-to-talk/{name}": f"echo {name} $* > called; cat > typed",
    }
    for path, script in programs.items():
        seat.write(path, f"#!/bin/sh\n{script}\n").chmod(0o755)
    seat.environment["PATH"] = f"{seat.folder}/examples/push-to-talk:{seat.environment['PATH']}"
    seat.run("sh", "examples/push-to-talk/dictate", "speech.wav")
    assert (seat.folder / "called").read_text().split() == command.split()
    assert (seat.folder / "typed").read_text() == "Hello, world. * "


def test_mark_is_in_the_bar_while_the_microphone_is_open(talk: Talk) -> None:
    seat = talk.seat
    seat.start_keymoded()
    talk.start()
    seat.write(".config/waybar/config", BAR)
    seat.write(".config/waybar/style.css", '@import "microphone.css";\n')
    desktop = Desktop(seat, "bar {\n swaybar_command waybar\n}")
    for end in (lambda: seat.trigger(RELEASED), seat.kill_keymoded):
        desktop.wait_for(lambda seen: seen.colors()[RED] == 0, "no mark")
        talk.hold()
        desktop.wait_for(lambda seen: seen.colors()[RED] > 300, "the mark")
        end()
    desktop.wait_for(lambda seen: seen.colors()[RED] == 0, "no mark")
