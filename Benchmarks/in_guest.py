"""in_guest.py ROUNDS SAMPLES - measures in a guest, as root, and prints the figures as JSON.

The guest has keymoded, keyd, triggerhappy and strace, and beside this file the modules that it imports
and the compiled `latency` and `relay` of peers/. latency.py runs it.
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
from pathlib import Path

from pressing import Pressing, busy, listening
from support.input_events import EVIOCGRAB
from support.process import Process
from support.waiting import wait_until
from system_calls import counted

HERE = Path(__file__).parent
RUN = Path("/run/bench")
UNITS = Path("/run/systemd/system")
KEYD_SOCKET = Path("/var/run/keyd.socket")
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
        inputs[name] = f"lines {listening(RUN / name)}"
    # keyd sends on its socket; `keyd listen` only passes on what it reads there.
    ids = f"1209:{NAMES.index('keyd') + 1:04x}\n"
    Path("/etc/keyd").mkdir(exist_ok=True)
    config = f"[ids]\n{ids}[main]\nleftshift = toggle(bench)\n[bench]\n"
    Path("/etc/keyd/bench.conf").write_text(config, encoding="utf-8")
    keyd = next(path for path in ("/usr/bin/keyd.rvaiya", "/usr/bin/keyd") if Path(path).exists())
    start([keyd])
    inputs["keyd"] = f"keyd {listening(KEYD_SOCKET)}"
    # Without the unit's system call filter, which the kernel applies to each call.
    bare = RUN / "keymoded-bare"
    node = pressing.nodes[bare.name]
    start(["keymoded", "--device", node, "--socket-dir", str(bare)])
    inputs[bare.name] = f"varlink {listening(bare / 'state.sock')}"
    fifo = RUN / "thd"
    os.mkfifo(fifo)
    start(["stdbuf", "-oL", "thd", "--dump", pressing.nodes["thd"]], fifo)
    inputs["thd"] = f"fifo {fifo}"
    return inputs


def pid_of(name: str) -> int:
    """The process of a daemon."""
    if name in KEYMODED:
        command = ["systemctl", "show", "--value", "--property", "MainPID", f"{name}-bench"]
    else:
        command = ["pgrep", "-o", "keyd"]
    return int(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def cost(name: str, pressing: Pressing, presses: int) -> dict[str, object]:
    """What each press and release, which is one change, costs a daemon in calls and in wakeups."""
    process = Process(pid_of(name))
    before = int(process.status("voluntary_ctxt_switches"))
    pressing.measure(1, presses, PAUSE_MICROSECONDS)
    wakeups = int(process.status("voluntary_ctxt_switches")) - before
    calls = counted(process.pid, lambda: pressing.measure(1, presses, PAUSE_MICROSECONDS))
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
        pressing = Pressing(HERE / "latency", NAMES)
        undo.callback(pressing.end)
        inputs = start_all(pressing, undo)
        subprocess.run(["udevadm", "settle"], check=True)
        wait_until(lambda: all_follow(pressing.nodes), "every program to follow its keyboard")
        pressing.connect(inputs)
        pressing.measure(1, 20, PAUSE_MICROSECONDS)
        report("every program answers")
        result["idle"] = pressing.measure(rounds, samples, PAUSE_MICROSECONDS)
        report("measured idle")
        with busy(os.cpu_count() or 1):
            result["busy"] = pressing.measure(rounds, samples, PAUSE_MICROSECONDS)
        report("measured busy")
        result["memory_kib"] = {
            name: Process(pid_of(name)).memory_kib() for name in ("keymoded", "keyd")
        }
        result["cost"] = {name: cost(name, pressing, 100) for name in ("keymoded", "keyd")}
    print(json.dumps(result))


if __name__ == "__main__":
    main()
