"""PipeWire with a microphone that records silence or a tone, and the recordings made with it."""

import contextlib
import os
import struct
from collections.abc import Iterator
from pathlib import Path

from seat import Seat
from support.microphone import MICROPHONE
from support.waiting import BOUND_SECONDS

# What Debian's pipewire.conf loads for sound, except access to devices, the real-time kit and the
# portal, which need a system bus. The microphone's clock is the computer's.
SETTINGS = """
context.properties = { core.daemon = true core.name = pipewire-0 }
context.spa-libs = {
  audio.convert.* = audioconvert/libspa-audioconvert
  support.* = support/libspa-support
  audiotestsrc = audiotestsrc/libspa-audiotestsrc
}
context.modules = [
  { name = libpipewire-module-protocol-native }
  { name = libpipewire-module-metadata }
  { name = libpipewire-module-spa-node-factory }
  { name = libpipewire-module-client-node }
  { name = libpipewire-module-client-device }
  { name = libpipewire-module-access }
  { name = libpipewire-module-adapter }
  { name = libpipewire-module-link-factory }
  { name = libpipewire-module-session-manager }
]
"""
SETTINGS += MICROPHONE


@contextlib.contextmanager
def real_time() -> Iterator[None]:
    """Gives this process, and those that it starts, a real-time priority where that is allowed.

    Desktops give it to PipeWire, which otherwise drops sound while all processors are busy.
    """
    before, parameters = os.sched_getscheduler(0), os.sched_getparam(0)
    with contextlib.suppress(PermissionError):
        os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))
    try:
        yield
    finally:
        os.sched_setscheduler(0, before, parameters)


class Sound:
    """PipeWire and WirePlumber, which connects recorders with the microphone."""

    def __init__(self, seat: Seat) -> None:
        self.seat = seat
        # Here, PipeWire reads the parts that are installed beside it, too.
        seat.write(".config/pipewire/pipewire.conf", SETTINGS)
        seat.start_bus()
        self.start()

    def start(self) -> None:
        """Starts both, also again."""
        seat = self.seat
        (seat.folder / "run/pipewire-0").unlink(missing_ok=True)
        seat.start("pipewire")
        seat.wait_for((seat.folder / "run/pipewire-0").exists, "PipeWire")
        seat.start("wireplumber")
        seat.wait_for(lambda: "WirePlumber" in seat.run("pw-cli", "ls", "Client"), "WirePlumber")

    def play_tone(self) -> None:
        """Has the microphone record a tone instead of silence."""

        def ports() -> list[str]:
            listed = self.seat.run("pw-link", "--output")
            return [port for port in listed.splitlines() if port.startswith("tone:")]

        self.seat.wait_for(lambda: bool(ports()), "the tone")
        self.seat.run("pw-link", ports()[0], "microphone:input_MONO")

    def stop_tone(self) -> None:
        """Has the microphone record silence again."""
        ports = self.seat.run("pw-link", "--output").splitlines()
        port = next(port for port in ports if port.startswith("tone:"))
        self.seat.run("pw-link", "--disconnect", port, "microphone:input_MONO")

    def speak(self, sentence: str) -> None:
        """Has the microphone record this sentence, and returns once it is said."""
        seat = self.seat
        # The voice of a person, in pieces: no recognizer is made for the voices that are computed.
        seat.run("flite", "-voice", "rms", "-t", sentence, "-o", "said.wav")
        # Of itself it would go to loudspeakers. It plays nothing until it is linked.
        alone = "{ node.autoconnect = false, node.name = speaker }"
        speaking = seat.start("pw-play", "--properties", alone, "said.wav")
        output = "speaker:output_MONO"
        seat.wait_for(lambda: output in seat.run("pw-link", "--output").split(), "the speaker")
        seat.run("pw-link", output, "microphone:input_MONO")
        assert speaking.wait(BOUND_SECONDS) == 0, seat.log

    def open_microphones(self) -> int:
        """How many programs record."""
        listed = self.seat.run("pw-cli", "ls", "Node")
        return listed.count('media.class = "Stream/Input/Audio"')


def recorded_seconds(path: Path, may_be_cut: bool = False) -> float:
    """The length of a recording of one channel with 16 bits at 16 kHz.

    A recording may be cut if its recorder was killed. Then its header says 0 bytes, and its sound is
    the rest of the file, as for ffmpeg.
    """
    data = path.read_bytes()
    header = struct.unpack("<4sI4s4sIHHIIHH4sI", data[:44])
    riff, _, wave, form, form_size, coding, channels, rate, speed, frame, bits, name, size = header
    assert (riff, wave, form, name) == (b"RIFF", b"WAVE", b"fmt ", b"data")
    assert (form_size, coding, channels, rate, speed) == (16, 1, 1, 16000, 32000)
    assert (frame, bits) == (2, 16)
    sound = len(data) - 44
    assert size == sound or (may_be_cut and size == 0), f"a header that says {size} of {sound} bytes"
    return sound / speed
