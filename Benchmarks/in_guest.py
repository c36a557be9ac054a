"""in_guest.py ROUNDS SAMPLES - measures in a guest, as root, and prints what it found as JSON.

For a guest with keymoded, keyd, triggerhappy and strace, and `latency` and `relay` of peers/ beside
this file, compiled. latency.py runs it.
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

# How the unit could have it scheduled.
KEYMODED = {
    "keymoded": "Nice=0",
    "keymoded-nice": "Nice=-15",
    "keymoded-fifo": "CPUSchedulingPolicy=fifo\nCPUSchedulingPriority=10",
}
# What is run to have the same done by the kernel for a relay.
RELAYS = {"relay": [], "relay-nice": ["nice", "-n", "-15"], "relay-fifo": ["chrt", "-f", "10"]}
OTHERS = ("keymoded-bare", "keyd", "thd")
NAMES = (*KEYMODED, *RELAYS, *OTHERS)


def until(condition: Callable[[], bool], what: str) -> None:
    """Waits for what another program does."""
    end = time.monotonic() + 60
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError(what)
        time.sleep(0.05)


def tell(what: str) -> None:
    """Says how far it is, for whoever looks on."""
    print(f"{time.monotonic():.0f} s: {what}", file=sys.stderr, flush=True)


class Pressing:
    """The program that makes keyboards and presses keys."""

    def __init__(self, names: tuple[str, ...]) -> None:
        self._names = names
        # Before all that is measured, or it would measure how long it waits itself.
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
        """The nanoseconds that each press took, for each name and round."""
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
    """Starts a service like keymoded's own, of one keyboard and with sockets of its own."""
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
    """Starts all that is measured, and returns how to hear of it."""

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
    # keyd is heard of on its socket, as by `keyd listen`, which would pass on what it reads there.
    ids = f"1209:{NAMES.index('keyd') + 1:04x}\n"
    Path("/etc/keyd").mkdir(exist_ok=True)
    config = f"[ids]\n{ids}[main]\nleftshift = toggle(bench)\n[bench]\n"
    Path("/etc/keyd/bench.conf").write_text(config, encoding="utf-8")
    keyd = next(path for path in ("/usr/bin/keyd.rvaiya", "/usr/bin/keyd") if Path(path).exists())
    start([keyd])
    inputs["keyd"] = f"keyd {listening('keyd.socket')}"
    # Without what the unit forbids it, for which the kernel looks at each of its calls.
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
    """The socket of this name, once somebody can connect to it."""
    found: list[str] = []

    def is_there() -> bool:
        # The flags of one that is listened on; before, connecting is refused.
        table = Path("/proc/net/unix").read_text(encoding="utf-8")
        found.extend(re.findall(rf" 00010000 .* (/\S*{name})$", table, re.MULTILINE))
        return bool(found)

    until(is_there, name)
    return found[0]


def pid_of(name: str) -> int:
    """The process of a daemon."""
    if name in KEYMODED:
        command = ["systemctl", "show", "--value", "--property", "MainPID", f"{name}-bench"]
    else:
        command = ["pgrep", "-o", "keyd"]
    return int(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


@contextlib.contextmanager
def busy() -> Iterator[None]:
    """As many programs that never rest as there are processors."""
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
    """Of each round the middle one, the one that 1 % exceed, and the longest, in microseconds."""
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
    """What each press and release, which is one change, costs a daemon in calls and in wakeups."""
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
    tracer.stderr.readline()  # It is attached.
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
    """Whether each program has its keyboard open; keyd, which opens all of them, for itself."""
    keyd = str(pid_of("keyd"))
    opened = set()
    for link in Path("/proc").glob("[0-9]*/fd/*"):
        # Programs end, and so do descriptors.
        with contextlib.suppress(OSError):
            if link.parts[2] != keyd:
                opened.add(os.readlink(link))
    return is_grabbed(nodes["keyd"]) and {*nodes.values()} - {nodes["keyd"]} <= opened


def is_grabbed(node: str) -> bool:
    """Whether some program has a device for itself."""
    descriptor = os.open(node, os.O_RDONLY | os.O_NONBLOCK)
    try:
        fcntl.ioctl(descriptor, EVIOCGRAB, 1)
    except OSError as error:
        return error.errno == errno.EBUSY
    finally:
        os.close(descriptor)  # which lets go of it
    return False


def memory(name: str) -> dict[str, int]:
    """What a daemon has of memory, in KiB."""
    text = Path(f"/proc/{pid_of(name)}/smaps_rollup").read_text(encoding="ascii")
    wanted = ("Rss", "Pss", "Anonymous")
    return {
        field.lower(): int(size)
        for field, size in re.findall(r"^(\w+): +(\d+) kB$", text, re.MULTILINE)
        if field in wanted
    }


def main() -> None:
    """Measures all."""
    rounds, samples = int(sys.argv[1]), int(sys.argv[2])
    RUN.mkdir(exist_ok=True)
    result: dict[str, object] = {}
    with contextlib.ExitStack() as undo:
        pressing = Pressing(NAMES)
        undo.callback(pressing.end)
        inputs = start_all(pressing, undo)
        # Each is to be heard of only when it follows its keyboard.
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
