"""What the daemon costs on this machine: at its start, at rest, per key and per subscriber."""

import os
import re
import signal
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from markdown import ranged, table
from measure import side_by_side
from plot import Panel, Row, plot
from spread import Spread
from support.fifo_keyboard import FifoKeyboard
from support.readiness import ReadinessSocket
from system_calls import counted
from typed_on import CHANGES, CHANGING, QUIET, TypedOn, typed_on

FAN_OUT = (1, 16, 128, 512)
KEYSTROKES = 200


def measure(programs: Path, runs: int, sizes: list[int]) -> dict[str, object]:
    """All figures of the daemon."""
    keymoded, keymodectl = programs / "keymoded", programs / "keymodectl"
    with typed_on(keymoded) as daemon:
        daemon.subscribe(1)
        memory = daemon.process.memory_kib()
        state = [str(keymodectl), "state", "--socket-dir", str(daemon.sockets)]
        asked = side_by_side(
            {"keymodectl state": state, "keymodectl --version": [state[0], "--version"]}, 3 * runs
        )
    return {
        "start": {
            "ready_ms": times_ms(lambda: time_to_ready(keymoded), 3 * runs),
            "others": {name: figures.raw() for name, figures in asked.items()},
            "stripped_bytes": {each.name: stripped_size(each) for each in (keymoded, keymodectl)},
        },
        "memory_kib": memory,
        "per_key_event": {
            "without a change": cost(keymoded, QUIET, 1),
            "one in two a change": cost(keymoded, CHANGING, 1),
        },
        "fan_out": {str(count): fan_out(keymoded, count, runs) for count in FAN_OUT},
    }


def times_ms(once: Callable[[], float], runs: int) -> dict[str, object]:
    """The median of all times, and each of them; a first run is not counted."""
    once()
    times = [round(once() * 1000, 3) for _ in range(runs)]
    return {"median": statistics.median(times), "runs": times}


def time_to_ready(program: Path) -> float:
    """Seconds from starting the daemon, with a keyboard, until it reports that it is ready."""
    with tempfile.TemporaryDirectory(prefix="keymoded-bench-") as name:
        folder = Path(name)
        devnull = os.open(os.devnull, os.O_WRONLY)
        with FifoKeyboard(folder) as keyboard, ReadinessSocket(folder) as ready:
            command = [str(program), "--device", str(keyboard.path)]
            command += ["--socket-dir", str(folder / "sockets")]
            environment = {**os.environ, **keyboard.environment, **ready.environment}
            actions = [(os.POSIX_SPAWN_DUP2, devnull, 1), (os.POSIX_SPAWN_DUP2, devnull, 2)]
            started = time.perf_counter()
            pid = os.posix_spawn(program, command, environment, file_actions=actions)
            ready.wait()
            seconds = time.perf_counter() - started
            os.kill(pid, signal.SIGTERM)
            os.waitpid(pid, 0)
        os.close(devnull)
    return seconds


def stripped_size(program: Path) -> int:
    """The size of the program as it is installed, in bytes."""
    with tempfile.NamedTemporaryFile() as stripped:
        subprocess.run(["strip", "-o", stripped.name, program], check=True)
        return Path(stripped.name).stat().st_size


def type_one_by_one(daemon: TypedOn, keys: Sequence[tuple[int, int]], times: int) -> None:
    """Types the keys `times` times, each after the daemon is done with the one before."""
    for _ in range(times):
        for key in keys:
            daemon.type([key])
            daemon.wait_until_asleep()
        if keys is CHANGING:
            daemon.receive(CHANGES)


def cost(program: Path, keys: Sequence[tuple[int, int]], subscribers: int) -> dict[str, float]:
    """What a key event costs: instructions in user space, allocations, and system calls."""
    counted = [counts(program, keys, subscribers, times) for times in (KEYSTROKES, 2 * KEYSTROKES)]
    events = KEYSTROKES * len(keys)
    per_event = {
        what: round((counted[1][what] - counted[0][what]) / events, 3) for what in counted[0]
    }
    return per_event | calls(program, keys, subscribers)


def counts(
    program: Path, keys: Sequence[tuple[int, int]], subscribers: int, times: int
) -> dict[str, int]:
    """The instructions and the allocations of a whole run."""
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / "out"
        callgrind = ["valgrind", "--tool=callgrind", "-q", f"--callgrind-out-file={output}"]
        with typed_on(program, *callgrind) as daemon:
            daemon.subscribe(subscribers)
            type_one_by_one(daemon, keys, times)
        text = output.read_text(encoding="utf-8")
    total = re.search(r"^(?:totals|summary): (\d+)", text, re.MULTILINE)
    assert total
    # A name is beside its number only at its first use; the count of a call is in the next line.
    numbers = set(re.findall(r"^c?fn=\((\d+)\) (?:malloc|calloc|realloc)$", text, re.MULTILINE))
    called = re.findall(r"^cfn=\((\d+)\).*\ncalls=(\d+)", text, re.MULTILINE)
    return {
        "instructions": int(total[1]),
        "allocations": sum(int(count) for number, count in called if number in numbers),
    }


def calls(program: Path, keys: Sequence[tuple[int, int]], subscribers: int) -> dict[str, float]:
    """How often the daemon makes each system call, per key event."""
    with typed_on(program) as daemon:
        daemon.subscribe(subscribers)
        type_one_by_one(daemon, keys, 10)
        made = counted(daemon.process.pid, lambda: type_one_by_one(daemon, keys, KEYSTROKES))
    return {name: round(count / (KEYSTROKES * len(keys)), 3) for name, count in made.items()}


def fan_out(program: Path, subscribers: int, runs: int) -> dict[str, object]:
    """How long until the last of so many subscribers has a change, and what each costs."""
    changes = max(20, 2000 // subscribers)
    last: list[float] = []
    cpu: list[float] = []
    with typed_on(program) as daemon:
        before = daemon.process.memory_kib()
        daemon.subscribe(subscribers)
        after = daemon.process.memory_kib()
        for _ in range(runs):
            spent = daemon.cpu_seconds()
            times = []
            for _ in range(changes):
                for keys in (CHANGING[:1], CHANGING[2:3]):
                    started = time.perf_counter()
                    daemon.type(keys)
                    # The daemon sends to the latest subscriber last.
                    daemon.subscribers[-1].recv(65536)
                    times.append(time.perf_counter() - started)
                    for subscriber in daemon.subscribers[:-1]:
                        subscriber.recv(65536)
                daemon.type([CHANGING[1], CHANGING[3]])
                daemon.wait_until_asleep()
            last.append(statistics.median(times) * 1000)
            delivered = CHANGES * changes * subscribers
            cpu.append((daemon.cpu_seconds() - spent) / delivered * 1e6)
    return {
        "ms_until_the_last": round(statistics.median(last), 4),
        "cpu_microseconds_a_delivery": round(statistics.median(cpu), 3),
        "anonymous_kib_each": round((after["anonymous"] - before["anonymous"]) / subscribers, 2),
        "runs_ms": [round(each, 4) for each in last],
        "runs_cpu": [round(each, 3) for each in cpu],
    }


def tables(result: Mapping[str, Any]) -> dict[str, str]:
    """Tables of memory and start, of what a key event costs, and of many subscribers."""
    start, memory, events = result["start"], result["memory_kib"], result["per_key_event"]
    counts = list(dict.fromkeys(name for each in events.values() for name in each))
    return {
        "rest": table(
            ("", ""),
            [
                ("resident memory", f"{memory['rss']:,} KiB"),
                ("anonymous part of it", f"{memory['anonymous']:,} KiB"),
                *(
                    (f"{name}, stripped", f"{size / 1e6:.1f} MB")
                    for name, size in start["stripped_bytes"].items()
                ),
                ("from `exec` to `READY=1`", f"{start['ready_ms']['median']:.1f} ms"),
                *(
                    (f"`{name}`", f"{each['median_s'] * 1000:.1f} ms")
                    for name, each in start["others"].items()
                ),
            ],
        ),
        "keys": table(
            ("a key event", *events),
            (
                (name, *(f"{round(each.get(name, 0), 1):,.6g}" for each in events.values()))
                for name in counts
            ),
        ),
        "subscribers": table(
            ("subscribers", "until the last has it", "processor time for each", "memory for each"),
            (
                (
                    count,
                    f"{ranged(Spread.of(each['runs_ms']))} ms",
                    f"{ranged(Spread.of(each['runs_cpu']))} µs",
                    f"{each['anonymous_kib_each']:.1f} KiB",
                )
                for count, each in result["fan_out"].items()
            ),
        ),
    }


def picture(result: Mapping[str, Any]) -> str:
    """A plot of the time until the last subscriber has a change, by their number."""
    rows = []
    for count, figures in result["fan_out"].items():
        milliseconds = [each * int(count) / 1000 for each in figures["runs_cpu"]]
        last, spent = Spread.of(figures["runs_ms"]), Spread.of(milliseconds)
        rows.append(Row(f"{count} subscriber{'s' * (count != '1')}", [last, spent], is_ours=True))
    return plot(
        "Telling subscribers of a change",
        "The time until the last of 1 to 512 subscribers has a change grows with their number.",
        "milliseconds",
        ("elapsed", "processor"),
        [Panel("", rows)],
    )
