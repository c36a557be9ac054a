"""in_guest.py ROUNDS - measures in a guest, as root, and prints the figures as JSON.

The guest has keymoded, keyd and strace, and beside this file `pressing.py` and the compiled `latency`
and `relay` of peers/. guest.py runs it.
"""

import contextlib
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from pressing import Pressing, busy
from support.process import Process

HERE = Path(__file__).parent
NAMES = ("keymoded", "keyd", "relay")
SAMPLES = 300
PAUSE_MICROSECONDS = 500
REST_SECONDS = 30
# What a key costs is counted so slowly that no two keys share a wakeup, also under strace.
COUNTED, SLOWLY_MICROSECONDS = 100, 10_000
KEYD = "/usr/bin/keyd.rvaiya"
RELAY_SOCKET = "/run/relay.sock"
# The service follows the other keyboards otherwise, too.
SETTINGS = "[Service]\nExecStart=\nExecStart=/usr/bin/keymoded --device {}\n"
KEYD_CONFIGURATION = "[ids]\n1209:{:04x}\n[main]\nleftshift = toggle(bench)\n[bench]\n"


def start_all(pressing: Pressing, undo: contextlib.ExitStack) -> dict[str, int]:
    """Starts all that is measured, and returns the process of each."""
    settings = Path("/run/systemd/system/keymoded.service.d/bench.conf")
    settings.parent.mkdir(parents=True, exist_ok=True)
    settings.write_text(SETTINGS.format(pressing.nodes["keymoded"]), encoding="utf-8")
    subprocess.run(["systemctl", "daemon-reload"], check=True)
    subprocess.run(["systemctl", "restart", "keymoded"], check=True)
    show = ["systemctl", "show", "--value", "--property", "MainPID", "keymoded"]
    processes = {"keymoded": int(subprocess.check_output(show))}
    # The number of its keyboard, as `latency` gives it.
    configuration = KEYD_CONFIGURATION.format(NAMES.index("keyd") + 1)
    Path("/etc/keyd").mkdir(exist_ok=True)
    Path("/etc/keyd/bench.conf").write_text(configuration, encoding="utf-8")
    relay = ["nice", "-n", "-15", str(HERE / "relay"), pressing.nodes["relay"], RELAY_SOCKET]
    for name, command in (("keyd", [KEYD]), ("relay", relay)):
        process = subprocess.Popen(command, stdout=sys.stderr)
        undo.callback(process.wait)
        undo.callback(process.kill)
        processes[name] = process.pid
    return processes


def wakeups(process: Process) -> int:
    """How often the process has waited since its start."""
    return int(process.status("voluntary_ctxt_switches"))


def cost(process: Process, pressing: Pressing) -> dict[str, float]:
    """Its memory, its wakeups at rest, and what a key event of its keyboard costs it."""
    memory = process.memory_kib()
    resting = wakeups(process)
    time.sleep(REST_SECONDS)
    rested = wakeups(process)
    pressing.measure("", 1, COUNTED, SLOWLY_MICROSECONDS)
    typed = wakeups(process)
    calls = system_calls(process.pid, pressing)
    return {
        "resident memory, KiB": memory["rss"],
        "anonymous part of it, KiB": memory["anonymous"],
        f"wakeups in {REST_SECONDS} s at rest": rested - resting,
        "wakeups for a key event": (typed - rested) / 2 / COUNTED,
        "system calls for a key event": calls / 2 / COUNTED,
    }


def system_calls(pid: int, pressing: Pressing) -> int:
    """How many calls a process makes while a round is measured, by strace."""
    with tempfile.NamedTemporaryFile("r") as report:
        strace = ["strace", "-f", "-c", "-U", "calls,name", "-o", report.name, "-p", str(pid)]
        tracer = subprocess.Popen(strace, stderr=subprocess.PIPE, text=True)
        assert tracer.stderr
        tracer.stderr.readline()  # It is attached.
        pressing.measure("", 1, COUNTED, SLOWLY_MICROSECONDS)
        tracer.terminate()
        tracer.communicate()
        return sum(map(int, re.findall(r"^ *(\d+) (?!total)\w+$", report.read(), re.MULTILINE)))


def main() -> None:
    """Measures everything."""
    rounds = int(sys.argv[1])
    with contextlib.ExitStack() as undo:
        pressing = Pressing(HERE / "latency", NAMES)
        undo.callback(pressing.end)
        processes = start_all(pressing, undo)
        pressing.connect(
            {
                "keymoded": "varlink /run/keymoded/state.sock",
                "keyd": "keyd /var/run/keyd.socket",
                "relay": f"lines {RELAY_SOCKET}",
            }
        )
        found = pressing.measure("both processors idle", rounds, SAMPLES, PAUSE_MICROSECONDS)
        with busy(os.cpu_count() or 1):
            found |= pressing.measure("both busy", rounds, SAMPLES, PAUSE_MICROSECONDS)
        for name in ("keymoded", "keyd"):
            for what, value in cost(Process(processes[name]), pressing).items():
                found.setdefault(what, {})[name] = [value]
    print(json.dumps(found))


if __name__ == "__main__":
    main()
