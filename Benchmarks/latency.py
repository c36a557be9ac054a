"""How soon after a key clients have its change, beside other programs, in a virtual machine."""

import json
import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from harness import service
from harness.build_image import ensure_images
from harness.vm import QUICK_CLOCK, VirtualMachine
from markdown import ranged, table
from measure import PEERS
from plot import Panel, plot
from spread import Spread

HERE = Path(__file__).parent
# Presses for each program in each round.
SAMPLES = 300
SUITE = "trixie"


def measure(programs: Path, runs: int, sizes: list[int]) -> dict[str, object]:
    """All figures of a guest with Debian 13, which has keyd."""
    os.environ["KEYMODED_VM_SUITE"] = SUITE
    with VirtualMachine(ensure_images(), clock=QUICK_CLOCK) as guest:
        service.install(guest)
        command = service.program(guest, "in_guest")
        programs = guest.shared / "programs"
        for name in ("in_guest", "pressing", "spread", "system_calls"):
            shutil.copy(HERE / f"{name}.py", programs)
        for name in ("latency", "relay"):
            source = PEERS / f"{name}.c"
            subprocess.run(["cc", "-O2", "-static", "-o", programs / name, source], check=True)
        done = guest.run(f"{command} {runs} {SAMPLES}", timeout=3000)
        result: dict[str, object] = json.loads(done.stdout)
        guest_system = guest.run("uname -sr; nproc").stdout.split("\n")
    return {
        "guest": {"kernel": guest_system[0], "processors": int(guest_system[1]), "debian": 13},
        "samples_per_round": SAMPLES,
        "unit": "microseconds",
    } | result


# The programs of the plot, as readers call them.
NAMES = {
    "keymoded-nice": "keymoded",
    "keyd": "keyd",
    "thd": "thd of triggerhappy",
    "relay-nice": "relay",
}
# All programs that are measured.
ALL = {
    "keymoded-nice": "keymoded, `Nice=-15`, as its unit",
    "keymoded": "keymoded, `Nice=0`",
    "keymoded-fifo": "keymoded, FIFO 10",
    "keymoded-bare": "keymoded as root, without a unit",
    "keyd": "keyd, -20, which it takes itself",
    "relay-nice": "relay, -15",
    "relay": "relay, 0",
    "relay-fifo": "relay, FIFO 10",
    "thd": "`thd --dump` of triggerhappy",
}
LOADS = {"idle": "both processors idle", "busy": "both processors busy"}


def spread(result: Mapping[str, Any], load: str, name: str, what: str) -> Spread:
    """A figure of a program over all rounds, in microseconds."""
    return Spread.of_rounds(result[load][name], what)


def tables(result: Mapping[str, Any]) -> dict[str, str]:
    """Tables of the times, and of what a key event costs keymoded and keyd."""
    memory = result["memory_kib"]
    return {
        "times": table(
            ("", *(f"{load} {what}" for load in LOADS for what in ("p50", "p99"))),
            (
                (
                    text,
                    *(
                        ranged(spread(result, load, name, what))
                        for load in LOADS
                        for what in ("p50", "p99")
                    ),
                )
                for name, text in ALL.items()
            ),
        ),
        "costs": table(
            ("a key event", "system calls", "wakeups", "resident memory", "anonymous"),
            (
                (
                    name,
                    f"{each['calls_per_event']:.1f}",
                    f"{each['wakeups_per_event']:.1f}",
                    f"{memory[name]['rss']:,} KiB",
                    f"{memory[name]['anonymous']:,} KiB",
                )
                for name, each in result["cost"].items()
            ),
        ),
    }


def picture(result: Mapping[str, Any]) -> str:
    """A plot of the median and the slow presses of each program, idle and busy."""
    panels = [Panel.of_latencies(heading, result[load], NAMES) for load, heading in LOADS.items()]
    return plot(
        "From a key to a client, in a virtual machine",
        "Times from a press until a client has read of it, for keymoded and other programs.",
        "microseconds",
        ("p50", "p99"),
        panels,
    )
