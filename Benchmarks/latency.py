"""How soon after a key clients have its change, beside other programs, in a virtual machine."""

import json
import os
import shutil
import subprocess
from pathlib import Path

from harness import service
from harness.build_image import ensure_images
from harness.vm import QUICK_CLOCK, VirtualMachine
from measure import PEERS
from plot import Panel, Row, plot
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


def summary(result: dict[str, object]) -> list[str]:
    """The most important figures, as text."""
    lines = []
    for load in LOADS:
        peers = result[load]
        assert isinstance(peers, dict)
        lines.append(f"{load:15} {'p50':>9} {'p99':>9} {'max':>9}   microseconds")
        for name, rounds in peers.items():
            each = [Spread.of_rounds(rounds, what).median for what in ("p50", "p99", "max")]
            lines.append(f"{name:15} " + " ".join(f"{figure:9.0f}" for figure in each))
    costs = result["cost"]
    assert isinstance(costs, dict)
    for name, each in costs.items():
        lines.append(
            f"{name}: {each['calls_per_event']} system calls and"
            f" {each['wakeups_per_event']} wakeups an event, {each['calls']}"
        )
    return [*lines, f"memory in KiB: {result['memory_kib']}"]


# The programs of the plot, as readers call them.
NAMES = {
    "keymoded-nice": "keymoded",
    "keyd": "keyd",
    "thd": "thd of triggerhappy",
    "relay-nice": "relay",
}
LOADS = {"idle": "both processors idle", "busy": "both processors busy"}


def picture(result: dict[str, object]) -> str:
    """A plot of the median and the slow presses of each program, idle and busy."""
    panels = []
    for load, heading in LOADS.items():
        peers = result[load]
        assert isinstance(peers, dict)
        rows = [
            Row(
                name,
                [Spread.of_rounds(peers[key], what) for what in ("p50", "p99")],
                name == "keymoded",
            )
            for key, name in NAMES.items()
        ]
        panels.append(Panel(heading, rows))
    return plot(
        "From a key to a client, in a virtual machine",
        "Times from a press until a client has read of it, for keymoded and other programs.",
        "microseconds; whiskers from the lowest to the highest round",
        ("p50", "p99"),
        panels,
    )
