"""How fast `keymodectl replay` reads recordings, beside other programs that read them.

evemu-record, libinput record, evtest and cat have recorded the same typing, in a virtual machine, for
the tests of the formats. The recordings here repeat that typing, each time with later times.
"""

import re
import tempfile
from collections.abc import Callable
from pathlib import Path

from figures import Rounds, with_ratio
from peers import compiled
from start import seconds
from support.checkout import CHECKOUT
from support.input_events import EVENT

RECORDED = CHECKOUT / "Tests/RecordingsTests/Recordings"
EVENTS = 2_000_000
# The seconds from one repetition to the next: more than the typing takes. They are whole ones, so
# that the fractions of all times stay as they are.
PERIOD = 11

OURS = "`keymodectl replay --json`"


def measure(programs: Path, runs: int) -> Rounds:
    """Million events a second of each tool's recordings."""
    found: Rounds = {}
    with tempfile.TemporaryDirectory(prefix="keymoded-bench-") as name:
        folder = Path(name)
        reader = compiled(folder, "evemu_reader", "-levemu")
        for tool, typing in TYPING.items():
            path = folder / "recording"
            events = write(path, *typing())
            commands = {OURS: [str(programs / "keymodectl"), "replay", "--json", str(path)]}
            if tool == "evemu-record":
                commands["libevemu"] = [reader, str(path)]
            commands["`wc -l`"] = ["wc", "-l", str(path)]
            found[f"`{tool}`, million events a second"] = {
                program: [events / each / 1e6 for each in times]
                for program, times in side_by_side(commands, runs).items()
            }
    return with_ratio(found, OURS, "libevemu")


def side_by_side(commands: dict[str, list[str]], runs: int) -> dict[str, list[float]]:
    """The seconds of each command; the commands run in turn, and the first round is not counted."""
    times = [{name: seconds(command) for name, command in commands.items()} for _ in range(runs + 1)]
    return {name: [each[name] for each in times[1:]] for name in commands}


# What is before the first event, the events later by so many seconds, and how many these are.
Typing = tuple[bytes, Callable[[int], bytes], int]


def lines(name: str, start: bytes, seconds: bytes) -> Typing:
    """A real recording whose events begin with `start`, and have their seconds behind `seconds`."""
    header, found, events = (RECORDED / name).read_bytes().partition(start)
    pattern = re.compile(rb"^(%b)( *\d+)" % seconds, re.MULTILINE)

    def later(by: int) -> bytes:
        return pattern.sub(
            lambda each: each[1] + b"%*d" % (len(each[2]), int(each[2]) + by), found + events
        )

    return header, later, len(pattern.findall(found + events))


def records(name: str) -> Typing:
    """A real recording of what a device sends."""
    events = list(EVENT.iter_unpack((RECORDED / name).read_bytes()))

    def later(by: int) -> bytes:
        return b"".join(EVENT.pack(each[0] + by, *each[1:]) for each in events)

    return b"", later, len(events)


# By what the tool is called.
TYPING: dict[str, Callable[[], Typing]] = {
    "evemu-record": lambda: lines("typing.evemu", b"E: ", b"E: "),
    "libinput record": lambda: lines("typing.libinput.yaml", b"  - evdev:", rb"    - \["),
    "evtest": lambda: lines("typing.evtest", b"Event: time", b"Event: time"),
    "cat": lambda: records("typing.raw64"),
}


def write(path: Path, header: bytes, later: Callable[[int], bytes], events: int) -> int:
    """Repeats the typing until there are enough events, and returns their number."""
    repetitions = -(-EVENTS // events)
    with path.open("wb") as file:
        file.write(header)
        file.writelines(later(number * PERIOD) for number in range(repetitions))
    return repetitions * events
