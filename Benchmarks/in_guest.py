"""in_guest.py ROUNDS SAMPLES - measures in a guest, as root, and prints the results as JSON.

The guest needs keymoded, keyd, triggerhappy and strace, and the compiled `latency` and `relay` of
peers/ beside this file. latency.py runs this program.
"""

import contextlib
import errno
import fcntl
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

HERE = Path(__file__).parent
RUN = Path("/run/bench")
UNITS = Path("/run/systemd/system")
PAUSE_MICROSECONDS = 500
EVIOCGRAB = 0x40044590

# The scheduling policies to compare, as settings of the unit.
KEYMODED = {
    "keymoded": "Nice=0",
    "keymoded-nice": "Nice=-15",
    "keymoded-fifo": "CPUSchedulingPolicy=fifo\nCPUSchedulingPriority=10",
}
# The commands that give a relay the same policies.
RELAYS = {"relay": [], "relay-nice": ["nice", "-n", "-15"], "relay-fifo": ["chrt", "-f", "10"]}
OTHERS = ("keymoded-bare", "keyd", "thd")
NAMES = (*KEYMODED, *RELAYS, *OTHERS)


def until(condition: Callable[[], bool], what: str) -> None:
    """Waits until a condition holds, with a time limit."""
    end = time.monotonic() + 60
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError(what)
        time.sleep(0.05)


def tell(what: str) -> None:
    """Prints the progress."""
    print(f"{time.monotonic():.0f} s: {what}", file=sys.stderr, flush=True)


class Pressing:
    """The program that makes keyboards and presses keys."""

    def __init__(self, names: tuple[str, ...]) -> None:
        self._names = names
        # Its priority is the highest; otherwise it would measure its own waiting.
        self._process = subprocess.Popen(
            ["chrt", "-f", "60", str(HERE / "latency"), *names],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.nodes = {name: self._line().split()[1] for name in names}

    def connect(self, inputs: dict[str, str]) -> None:
        self._say("".join(f"{inputs[name]}\n" for name in self._names))

    def measure(self, rounds: int, samples: int) -> dict[str, list[list[int]]]:
        """Returns the nanoseconds of each press, for each name and round."""
        self._say(f"go {rounds} {samples} {PAUSE_MICROSECONDS}\n")
        taken: dict[str, list[list[int]]] = {
            name: [[] for _ in range(rounds)] for name in self._names
        }
        while (line := self._line()) != "done":
            name, number, nanoseconds = line.split()
            taken[name][int(number)].append(int(nanoseconds))
        return taken

    def end(self) -> None:
        self._process.kill()
        self._process.wait()

    def _say(self, text: str) -> None:
        assert self._process.stdin
        self._process.stdin.write(text)
        self._process.stdin.flush()

    def _line(self) -> str:
        assert self._process.stdout
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError("the program that presses keys has ended")
        return line.strip()


def start_keymoded(name: str, node: str) -> str:
    """Starts a service with keymoded's unit, one keyboard and separate sockets."""
    unit = Path("/usr/lib/systemd/system/keymoded.service").read_text(encoding="utf-8")
    ours = re.compile("(Requires|After|Sockets|FileDescriptorStore.*|Nice|WantedBy|Also)=")
    lines = [line for line in unit.splitlines() if not ours.match(line)]
    place = lines.index("[Service]")
    command = f"ExecStart=/usr/bin/keymoded --device {node} --socket-dir /run/{name}"
    lines = [line for line in lines if not line.startswith("ExecStart=")]
    lines[place + 1 : place + 1] = [
        command,
        f"RuntimeDirectory={name}",
        *KEYMODED[name].split("\n"),
    ]
    text = "\n".join(lines) + "\n"
    (UNITS / f"{name}-bench.service").write_text(text, encoding="utf-8")
    subprocess.run(["systemctl", "daemon-reload"], check=True)
    subprocess.run(["systemctl", "start", f"{name}-bench"], check=True)
    return f"varlink /run/{name}/state.sock"


def start_all(pressing: Pressing, undo: contextlib.ExitStack) -> dict[str, str]:
    """Starts all programs, and returns where the output of each appears."""

    def start(command: list[str], output: Path | None = None) -> None:
        sink = os.open(output or os.devnull, os.O_RDWR)
        process = subprocess.Popen(command, stdout=sink, stderr=subprocess.DEVNULL)
        os.close(sink)
        undo.callback(process.wait)
        undo.callback(process.kill)

    inputs: dict[str, str] = {}
    for name in KEYMODED:
        inputs[name] = start_keymoded(name, pressing.nodes[name])
        undo.callback(subprocess.run, ["systemctl", "stop", f"{name}-bench"], check=True)
    for name, under in RELAYS.items():
        start([*under, str(HERE / "relay"), pressing.nodes[name], str(RUN / name)])
        inputs[name] = f"lines {listening(name)}"
    # This reads keyd's socket directly: `keyd listen` would only relay it.
    ids = f"1209:{NAMES.index('keyd') + 1:04x}\n"
    Path("/etc/keyd").mkdir(exist_ok=True)
    config = f"[ids]\n{ids}[main]\nleftshift = toggle(bench)\n[bench]\n"
    Path("/etc/keyd/bench.conf").write_text(config, encoding="utf-8")
    keyd = next(path for path in ("/usr/bin/keyd.rvaiya", "/usr/bin/keyd") if Path(path).exists())
    start([keyd])
    inputs["keyd"] = f"keyd {listening('keyd.socket')}"
    # This one runs without the unit's restrictions, for which the kernel checks each system call.
    bare = RUN / "keymoded-bare"
    node = pressing.nodes[bare.name]
    start(["keymoded", "--device", node, "--socket-dir", str(bare)])
    inputs[bare.name] = f"varlink {listening(f'{bare.name}/state.sock')}"
    fifo = RUN / "thd"
    os.mkfifo(fifo)
    start(["stdbuf", "-oL", "thd", "--dump", pressing.nodes["thd"]], fifo)
    inputs["thd"] = f"fifo {fifo}"
    return inputs


def listening(name: str) -> str:
    """Returns the path of the socket with this name, once a process listens on it."""
    found: list[str] = []

    def is_there() -> bool:
        # 00010000 are the flags of a listening socket.
        table = Path("/proc/net/unix").read_text(encoding="utf-8")
        found.extend(re.findall(rf" 00010000 .* (/\S*{name})$", table, re.MULTILINE))
        return bool(found)

    until(is_there, name)
    return found[0]


def pid_of(name: str) -> int:
    """Returns the process ID of a daemon."""
    if name in KEYMODED:
        command = ["systemctl", "show", "--value", "--property", "MainPID", f"{name}-bench"]
    else:
        command = ["pgrep", "-o", "keyd"]
    return int(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


@contextlib.contextmanager
def busy() -> Iterator[None]:
    """Runs one busy loop for each processor."""
    loops = [
        subprocess.Popen(["sh", "-c", "while :; do :; done"]) for _ in range(os.cpu_count() or 1)
    ]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


def figures(taken: dict[str, list[list[int]]]) -> dict[str, object]:
    """Returns the median, the 99th percentile and the maximum of each round, in microseconds."""
    return {
        name: [
            {
                what: round(sorted(times)[place] / 1000, 1)
                for what, place in (
                    ("p50", len(times) // 2),
                    ("p99", len(times) * 99 // 100),
                    ("max", len(times) - 1),
                )
            }
            for times in rounds
        ]
        for name, rounds in taken.items()
    }


def cost(name: str, pressing: Pressing, presses: int) -> dict[str, object]:
    """Returns a daemon's system calls and wakeups per key event, of which half change a state."""
    pid = pid_of(name)

    def switches() -> int:
        status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
        found = re.search(r"^voluntary_ctxt_switches:\s+(\d+)$", status, re.MULTILINE)
        assert found
        return int(found[1])

    before = switches()
    pressing.measure(1, presses)
    wakeups = switches() - before
    report = RUN / "calls"
    tracer = subprocess.Popen(
        ["strace", "-c", "-f", "-U", "calls,name", "-o", str(report), "-p", str(pid)],
        stderr=subprocess.PIPE,
        text=True,
    )
    assert tracer.stderr
    tracer.stderr.readline()  # strace is attached now.
    pressing.measure(1, presses)
    tracer.terminate()
    tracer.wait()
    calls = {
        call: int(count)
        for count, call in re.findall(
            r"^ *(\d+) (\w+)$", report.read_text(encoding="utf-8"), re.MULTILINE
        )
    }
    total = calls.pop("total", sum(calls.values()))
    return {
        "key_events": 2 * presses,
        "wakeups_per_event": round(wakeups / 2 / presses, 2),
        "calls_per_event": round(total / 2 / presses, 2),
        "calls": calls,
    }


def all_follow(nodes: dict[str, str]) -> bool:
    """Whether each program follows its keyboard; keyd opens all, so its own must be grabbed."""
    keyd = str(pid_of("keyd"))
    opened = set()
    for link in Path("/proc").glob("[0-9]*/fd/*"):
        # Processes end and close descriptors meanwhile.
        with contextlib.suppress(OSError):
            if link.parts[2] != keyd:
                opened.add(os.readlink(link))
    return is_grabbed(nodes["keyd"]) and {*nodes.values()} - {nodes["keyd"]} <= opened


def is_grabbed(node: str) -> bool:
    """Whether a program has grabbed a device."""
    descriptor = os.open(node, os.O_RDONLY | os.O_NONBLOCK)
    try:
        fcntl.ioctl(descriptor, EVIOCGRAB, 1)
    except OSError as error:
        return error.errno == errno.EBUSY
    finally:
        os.close(descriptor)  # releases the grab
    return False


def memory(name: str) -> dict[str, int]:
    """Returns the memory of a daemon, in KiB."""
    text = Path(f"/proc/{pid_of(name)}/smaps_rollup").read_text(encoding="ascii")
    wanted = ("Rss", "Pss", "Anonymous")
    return {
        field.lower(): int(size)
        for field, size in re.findall(r"^(\w+): +(\d+) kB$", text, re.MULTILINE)
        if field in wanted
    }


def main() -> None:
    """Measures everything and prints the result."""
    rounds, samples = int(sys.argv[1]), int(sys.argv[2])
    RUN.mkdir(exist_ok=True)
    result: dict[str, object] = {}
    with contextlib.ExitStack() as undo:
        pressing = Pressing(NAMES)
        undo.callback(pressing.end)
        inputs = start_all(pressing, undo)
        # Presses before a program follows its keyboard would be lost.
        subprocess.run(["udevadm", "settle"], check=True)
        until(lambda: all_follow(pressing.nodes), "everybody to follow a keyboard")
        pressing.connect(inputs)
        pressing.measure(1, 20)
        tell("all answer")
        result["idle"] = figures(pressing.measure(rounds, samples))
        tell("measured idle")
        with busy():
            result["busy"] = figures(pressing.measure(rounds, samples))
        tell("measured busy")
        result["memory_kib"] = {name: memory(name) for name in ("keymoded", "keyd")}
        result["cost"] = {name: cost(name, pressing, 100) for name in ("keymoded", "keyd")}
    print(json.dumps(result))


if __name__ == "__main__":
    main()
