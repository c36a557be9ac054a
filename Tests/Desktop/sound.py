"""PipeWire with a microphone that records silence, and the recordings made with it."""

import contextlib
import os
import struct
from collections.abc import Iterator
from pathlib import Path

from seat import Seat

# What Debian's pipewire.conf loads for sound, except access to devices, the real-time kit and the
# portal, which need a system bus. The microphone's clock is the computer's.
SETTINGS = """
context.properties = { core.daemon = true core.name = pipewire-0 }
context.spa-libs = {
  audio.convert.* = audioconvert/libspa-audioconvert
  support.* = support/libspa-support
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
context.objects = [
  { factory = adapter
    args = {
      factory.name = support.null-audio-sink
      node.name = microphone
      media.class = Audio/Source/Virtual
      audio.position = MONO
    } }
]
"""


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
        settings = seat.write("pipewire.conf", SETTINGS)
        seat.start_bus()
        seat.start("pipewire", "-c", str(settings))
        seat.wait_for((seat.folder / "run/pipewire-0").exists, "PipeWire")
        seat.start("wireplumber")
        seat.wait_for(lambda: "WirePlumber" in seat.run("pw-cli", "ls", "Client"), "WirePlumber")

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
