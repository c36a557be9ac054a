"""in_guest.py ROUNDS SAMPLES - measures in a guest, as root, and prints the figures as JSON.

The guest has keymoded, keyd, triggerhappy and strace, and beside this file the compiled `latency`
and `relay` of peers/. latency.py runs it.
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
from collections.abc import Iterator
from pathlib import Path

from spread import percentiles
from support.input_events import EVIOCGRAB
from support.process import Process
from support.waiting import wait_until
from system_calls import counted

HERE = Path(__file__).parent
RUN = Path("/run/bench")
UNITS = Path("/run/systemd/system")
PAUSE_MICROSECONDS = 500

# How systemd could schedule it.
KEYMODED = {
    "keymoded": "Nice=0",
    "keymoded-nice": "Nice=-15",
    "keymoded-fifo": "CPUSchedulingPolicy=fifo\nCPUSchedulingPriority=10",
}
# The same for a relay, by the program that runs it.
RELAYS = {"relay": [], "relay-nice": ["nice", "-n", "-15"], "relay-fifo": ["chrt", "-f", "10"]}
OTHERS = ("keymoded-bare", "keyd", "thd")
NAMES = (*KEYMODED, *RELAYS, *OTHERS)


def report(what: str) -> None:
    """Reports the progress."""
    print(f"{time.monotonic():.0f} s: {what}", file=sys.stderr, flush=True)


class Pressing:
    """The program that makes keyboards and presses keys."""

    def __init__(self, names: tuple[str, ...]) -> None:
        self._names = names
        # With a higher priority than all that is measured, or it would measure its own waits.
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
    """Starts a service like keymoded's own, for one keyboard and with its own sockets."""
    unit = Path("/usr/lib/systemd/system/keymoded.service").read_text(encoding="utf-8")
    ours = re.compile("(Requires|After|Sockets|FileDescriptorStore.*|Nice|WantedBy|Also)=")
    lines = [line for line in unit.splitlines() if not ours.match(line)]
    section = lines.index("[Service]")
    command = f"ExecStart=/usr/bin/keymoded --device {node} --socket-dir /run/{name}"
    lines = [line for line in lines if not line.startswith("ExecStart=")]
    lines[section + 1 : section + 1] = [
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
    """Starts all that is measured, and returns for each where its changes can be read."""

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
    # keyd sends on its socket; `keyd listen` only passes on what it reads there.
    ids = f"1209:{NAMES.index('keyd') + 1:04x}\n"
    Path("/etc/keyd").mkdir(exist_ok=True)
    config = f"[ids]\n{ids}[main]\nleftshift = toggle(bench)\n[bench]\n"
    Path("/etc/keyd/bench.conf").write_text(config, encoding="utf-8")
    keyd = next(path for path in ("/usr/bin/keyd.rvaiya", "/usr/bin/keyd") if Path(path).exists())
    start([keyd])
    inputs["keyd"] = f"keyd {listening('keyd.socket')}"
    # Without the unit's system call filter, which the kernel applies to each call.
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
    """The path of the socket of this name, once a program listens on it."""
    found: list[str] = []

    def is_there() -> bool:
        # The flags of a socket that a program listens on; before, connecting is refused.
        table = Path("/proc/net/unix").read_text(encoding="utf-8")
        found.extend(re.findall(rf" 00010000 .* (/\S*{name})$", table, re.MULTILINE))
        return bool(found)

    wait_until(is_there, f"the socket {name}")
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
    """Each round's percentiles, in microseconds."""
    return {
        name: [percentiles([time / 1000 for time in times], 1) for times in rounds]
        for name, rounds in taken.items()
    }


def cost(name: str, pressing: Pressing, presses: int) -> dict[str, object]:
    """What each press and release, which is one change, costs a daemon in calls and in wakeups."""
    process = Process(pid_of(name))
    before = int(process.status("voluntary_ctxt_switches"))
    pressing.measure(1, presses)
    wakeups = int(process.status("voluntary_ctxt_switches")) - before
    calls = counted(process.pid, lambda: pressing.measure(1, presses))
    return {
        "key_events": 2 * presses,
        "wakeups_per_event": round(wakeups / 2 / presses, 2),
        "calls_per_event": round(sum(calls.values()) / 2 / presses, 2),
        "calls": calls,
    }


def all_follow(nodes: dict[str, str]) -> bool:
    """Whether each program has its keyboard open; keyd, which opens all of them, grabs its own."""
    keyd = str(pid_of("keyd"))
    opened = set()
    for link in Path("/proc").glob("[0-9]*/fd/*"):
        # Programs end, and so do descriptors.
        with contextlib.suppress(OSError):
            if link.parts[2] != keyd:
                opened.add(os.readlink(link))
    return is_grabbed(nodes["keyd"]) and {*nodes.values()} - {nodes["keyd"]} <= opened


def is_grabbed(node: str) -> bool:
    """Whether a program has grabbed the device."""
    descriptor = os.open(node, os.O_RDONLY | os.O_NONBLOCK)
    try:
        fcntl.ioctl(descriptor, EVIOCGRAB, 1)
    except OSError as error:
        return error.errno == errno.EBUSY
    finally:
        os.close(descriptor)  # This also ends a grab.
    return False


def main() -> None:
    """Measures everything."""
    rounds, samples = int(sys.argv[1]), int(sys.argv[2])
    RUN.mkdir(exist_ok=True)
    result: dict[str, object] = {}
    with contextlib.ExitStack() as undo:
        pressing = Pressing(NAMES)
        undo.callback(pressing.end)
        inputs = start_all(pressing, undo)
        subprocess.run(["udevadm", "settle"], check=True)
        wait_until(lambda: all_follow(pressing.nodes), "every program to follow its keyboard")
        pressing.connect(inputs)
        pressing.measure(1, 20)
        report("every program answers")
        result["idle"] = figures(pressing.measure(rounds, samples))
        report("measured idle")
        with busy():
            result["busy"] = figures(pressing.measure(rounds, samples))
        report("measured busy")
        result["memory_kib"] = {
            name: Process(pid_of(name)).memory_kib() for name in ("keymoded", "keyd")
        }
        result["cost"] = {name: cost(name, pressing, 100) for name in ("keymoded", "keyd")}
    print(json.dumps(result))


if __name__ == "__main__":
    main()
