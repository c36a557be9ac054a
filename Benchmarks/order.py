"""Writes `symbols`: the functions that a key runs in the daemon, in the order in which they call each other,
and then the variables that the daemon writes. To see these, it has to run as root.

The linker puts these next to each other (see the Makefile). Since the last key, the processor's caches
have lost the daemon, so a key waits for each page and line of memory that it needs. A page with a written
variable takes 4 KiB of memory.

A list from older sources or another compiler does no harm: the linker passes over names that it does
not find.
"""

import re
import subprocess
import tempfile
from collections import defaultdict
from pathlib import Path

from support.checkout import CHECKOUT
from support.input_events import ESC, INSERT, PRESS, RELEASE
from typed_on import CHANGING, typed_on

PROGRAM = CHECKOUT / ".build/release/keymoded"
SYMBOLS = Path(__file__).parent / "symbols"
# Changes of both machines.
KEYS = [*CHANGING, (INSERT, PRESS), (INSERT, RELEASE), (ESC, PRESS), (ESC, RELEASE)]


def main() -> None:
    """Writes the list."""
    aliases = same_address()
    names = [name for each in in_order(calls(profile())) for name in aliases.get(each, [])]
    names += written_variables()
    SYMBOLS.write_text("".join(f"{name}\n" for name in dict.fromkeys(names)), encoding="utf-8")


def profile() -> str:
    """What callgrind says about some keys, after others that have run what runs only once."""
    with tempfile.TemporaryDirectory() as folder:
        output = f"--callgrind-out-file={folder}/out"
        options = ["--tool=callgrind", "-q", "--dump-instr=yes", "--demangle=no", output]
        with typed_on(PROGRAM, "valgrind", *options) as daemon:
            for order in ("--zero", "--dump"):
                daemon.type(KEYS, 10)
                command = ["callgrind_control", order, str(daemon.process.pid)]
                subprocess.run(command, check=True, capture_output=True)
            # The order is obeyed at the next instructions.
            daemon.type(KEYS, 1)
        return Path(folder, "out.1").read_text(encoding="utf-8")


def calls(text: str) -> dict[str, list[str]]:
    """The functions that each function calls, by the places of the calls in it."""
    names: dict[str, str] = {}
    found: dict[str, list[str]] = defaultdict(list)
    function = called = ""
    for line in text.splitlines():
        # A name stands only beside the first use of its number.
        if match := re.fullmatch(r"(c?)fn=\((\d+)\)(?: (.*))?", line):
            if match[3]:
                names[match[2]] = match[3].split("'")[0]
            if match[1]:
                called = names[match[2]]
            else:
                function = names[match[2]]
                found[function] += []
        elif line.startswith("calls="):
            found[function].append(called)
    return found


def in_order(calls: dict[str, list[str]]) -> list[str]:
    """Each function once, before those that it calls."""
    called = {name for each in calls.values() for name in each}
    waiting = [*reversed(calls), *(name for name in calls if name not in called)]
    ordered: dict[str, None] = {}
    while waiting:
        name = waiting.pop()
        if name not in ordered:
            ordered[name] = None
            waiting += reversed(calls.get(name, []))
    return list(ordered)


def same_address() -> dict[str, list[str]]:
    """All names of each function of the program."""
    names: dict[str, list[str]] = defaultdict(list)
    for address, _, name in (line.split(" ", 2) for line in symbols()):
        names[address].append(name)
    return {name: each for each in names.values() for name in each}


def written_variables() -> list[str]:
    """The variables that are zero in the program's file, and not in the daemon after some keys."""
    with typed_on(PROGRAM) as daemon:
        daemon.type(KEYS, 10)
        # The first of a program's mappings begins at the address 0 of its file.
        maps = (daemon.process.folder / "maps").read_text().splitlines()
        start = next(int(line.split("-")[0], 16) for line in maps if line.endswith(PROGRAM.name))
        with (daemon.process.folder / "mem").open("rb") as memory:

            def is_written(address: str, size: str) -> bool:
                memory.seek(start + int(address, 16))
                return any(memory.read(int(size, 16)))

            found = (line.split(" ", 3) for line in symbols("--print-size", "--numeric-sort"))
            variables = [each for each in found if len(each) == 4 and each[2] in "bB"]
            return [name for address, size, _, name in variables if is_written(address, size)]


def symbols(*options: str) -> list[str]:
    """The lines of nm about what the program defines."""
    command = ["nm", "--defined-only", *options, PROGRAM]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()


if __name__ == "__main__":
    main()
