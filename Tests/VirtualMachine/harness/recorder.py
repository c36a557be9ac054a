"""Recordings of the guest's keyboards with the kernel's timestamps, by several programs."""

import itertools
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from support.input_events import EV_KEY, EV_SYN, EVENT, RELEASE, RIGHTMETA, SYN_DROPPED

from harness.guest_process import Completed, GuestProcess
from harness.vm import PS2_KEYBOARD, VirtualMachine

MARKER = "tap meta_r 20"
"""A key script that marks the end of a recording: tests press right Meta for nothing else.

It has no effect on keymoded, and a redacted recording has it, as it has all modifiers.
"""

_names = itertools.count(1)


@dataclass(frozen=True)
class Tool:
    """A program that records keyboards into a file, and how its progress shows."""

    suffix: str
    """The suffix of the names of its recordings."""

    command: str
    """The command line; `{devices}` stands for the devices and `{file}` for the recording."""

    event: str
    """A regular expression for the line of a key event, with `{code}` and `{value}` in it.

    Empty for recordings of the kernel's `struct input_event`.
    """

    listens: bytes = b""
    """A regular expression for its output, in the recording or stderr, once it listens.

    If empty, the program counts as listening once it has a device open.
    """

    loses_signals: bool = False
    """Whether more than one SIGINT may be needed to end the program."""

    def with_options(self, options: str) -> "Tool":
        """The same tool with more options."""
        return replace(self, command=f"{self.command} {options}")

    def has(self, code: int, value: int, recording: bytes) -> bool:
        """Whether a recording has this key event and at least one event after it.

        SYN_REPORT always comes after a key event; once it is there, the event's line is complete.
        """
        if not self.event:
            whole = recording[: len(recording) // EVENT.size * EVENT.size]
            events = [event[2:] for event in EVENT.iter_unpack(whole)]
            return (EV_KEY, code, value) in events[:-1]
        line = self.event.format(code=code, value=value)
        return bool(re.search(rf"{line}.*\n.+\n".encode(), recording, re.MULTILINE))


_EVEMU_EVENT = r"^E: \S+ 0001 {code:04x} {value:04}"
_LIBINPUT_EVENT = r"^ *- \[ *\d+, *\d+, *1, *{code}, *{value}\]"

# Most programs write to a file or a pipe in blocks of 4 KiB: hence stdbuf. Writing single lines to
# the shared folder is so slow that on a busy host the kernel dropped events: hence cat, which reads
# many lines at once. It ignores SIGINT, which is meant for the program before it.
_LINES_INTO_FILE = "| (trap '' INT; exec cat >{file})"
EVEMU = Tool(
    suffix=".evemu",
    command=f"stdbuf -oL evemu-record {{devices}} {_LINES_INTO_FILE}",
    event=_EVEMU_EVENT,
    listens=rb"^# +Waiting for events",
    loses_signals=True,
)
# "Current time" is the first line after the description. Of several devices it writes only the
# events of the first at once, those of the others at its end; they need -o. It flushes by itself.
LIBINPUT = Tool(
    suffix=".libinput.yaml",
    command="libinput record --show-keycodes -o {file} {devices}",
    event=_LIBINPUT_EVENT,
    listens=rb"^ *# Current time is",
)
EVTEST = Tool(
    suffix=".evtest",
    command=f"stdbuf -oL evtest {{devices}} {_LINES_INTO_FILE}",
    event=r"type 1 .*, code {code} .*, value {value}$",
    listens=rb"^Testing ",
)
RAW = Tool(suffix=".raw64", command="cat {devices} >{file}", event="")
REDACTED = Tool(
    suffix=".redacted.yaml",
    command="keymodectl record --output {file} {devices}",
    event=_LIBINPUT_EVENT,
    listens=rb"recording",
)
KEYMODECTL = replace(REDACTED.with_options("--show-keycodes"), suffix=".keymodectl.yaml")

FOREIGN = (EVEMU, LIBINPUT, EVTEST, RAW)
ALL = (*FOREIGN, KEYMODECTL, REDACTED)
# With the configuration that the service has by service.configure.
CONFIGURED = [
    tool.with_options("--config /host/keymoded.yaml")
    for tool in (KEYMODECTL, REDACTED)
]


class HostTooBusy(Exception):
    """A recorder got too little processor time to read all that was typed."""


class Recorder:
    """A tool that records devices of the guest into a file until the test ends or `stop()`.

    The tool is listening when `__init__` returns.
    """

    def __init__(self, vm: VirtualMachine, tool: Tool, *devices: str) -> None:
        self.tool = tool
        name = f"recorded-{next(_names)}{tool.suffix}"
        self.file = f"/host/{name}"
        """The path of the recording in the guest."""
        self.path = vm.shared / name
        """The path of the recording on the host."""
        parameters = {"devices": " ".join(devices or (PS2_KEYBOARD,)), "file": self.file}
        self.process: GuestProcess = vm.start(f"exec {tool.command.format(**parameters)}")
        if tool.listens:
            says = re.compile(tool.listens, re.MULTILINE)
            self._wait_until(
                lambda: bool(says.search(self.process.stderr.encode() + self.recording()))
            )
        else:
            vm.wait_until(f"readlink /proc/{self.process.pid}/fd/* | grep -q ^/dev/input/event")

    def recording(self) -> bytes:
        """The contents of the recording so far."""
        return self.path.read_bytes() if self.path.exists() else b""

    def lost_events(self) -> bool:
        """Whether the kernel dropped events because the tool did not read for too long.

        The recording of a foreign tool is then incomplete.
        """
        if not self.tool.event:
            return (EV_SYN, SYN_DROPPED) in [
                event[2:4] for event in EVENT.iter_unpack(self.recording())
            ]
        return bool(re.search(rb"[-+>] SYN_DROPPED", self.recording()))

    def wait_for_marker(self) -> None:
        """Waits until the marker, and so all that was typed before it, is in the recording."""
        self.wait_for(RIGHTMETA, RELEASE)

    def wait_for(self, code: int, value: int) -> None:
        """Waits until a key event is in the recording."""
        self._wait_until(lambda: self.tool.has(code, value, self.recording()))

    def stop(self) -> Completed:
        """Ends the tool as Ctrl+C does, so that it closes the device and completes its file."""
        if self.tool.loses_signals:
            return self.process.interrupt_until_it_ends()
        self.process.interrupt()
        return self.process.wait()

    def _wait_until(self, condition: Callable[[], bool]) -> None:
        self.process.wait_until(lambda _: condition(), "what is to be recorded")


def record(vm: VirtualMachine, script: str, tools: Sequence[Tool] = ALL) -> list[Recorder]:
    """Types the script and the marker while all of these tools record at once."""
    recorders = [Recorder(vm, tool) for tool in tools]
    # On a slow host QEMU's queue may overflow; the wait keeps it from losing the marker.
    vm.play(f"{script}; wait 100; {MARKER}")
    for recorder in recorders:
        recorder.wait_for_marker()
        recorder.stop()
    for recorder in recorders:
        # The kernel buffers 64 events for each program. Only foreign tools may lose events.
        if recorder.tool in FOREIGN and recorder.lost_events():
            raise HostTooBusy(f"the host was too busy for '{recorder.tool.command}'")
    return recorders
