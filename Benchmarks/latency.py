"""How soon after a key clients have its change, beside other programs, in a virtual machine."""

import json
import os
import shutil
import statistics
import subprocess
from pathlib import Path

from harness import service
from harness.build_image import ensure_images
from harness.vm import QUICK_CLOCK, VirtualMachine
from measure import PEERS
from plot import Line, line_plot

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
        for name in ("in_guest", "system_calls"):
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


def middle(rounds: list[dict[str, float]], what: str) -> float:
    """The median of a figure over all rounds."""
    return statistics.median(figures[what] for figures in rounds)


def summary(result: dict[str, object]) -> list[str]:
    """The most important figures, as text."""
    lines = []
    for load in ("idle", "busy"):
        peers = result[load]
        assert isinstance(peers, dict)
        lines.append(f"{load:15} {'p50':>9} {'p99':>9} {'max':>9}   microseconds")
        for name, rounds in peers.items():
            each = [middle(rounds, what) for what in ("p50", "p99", "max")]
            lines.append(f"{name:15} " + " ".join(f"{figure:9.0f}" for figure in each))
    costs = result["cost"]
    assert isinstance(costs, dict)
    for name, each in costs.items():
        lines.append(
            f"{name}: {each['calls_per_event']} system calls and"
            f" {each['wakeups_per_event']} wakeups an event, {each['calls']}"
        )
    return [*lines, f"memory in KiB: {result['memory_kib']}"]


def picture(result: dict[str, object]) -> str:
    """A plot of the median and the slow presses of each program, idle and busy."""
    lines = []
    for load in ("idle", "busy"):
        peers = result[load]
        assert isinstance(peers, dict)
        for name in ("keymoded", "keyd", "relay"):
            shares = [(0.5, "p50"), (0.99, "p99"), (1.0, "max")]
            points = [(share, middle(peers[name], what)) for share, what in shares]
            lines.append(Line(f"{name}, {load}", points))
    return line_plot("From a key to a client", "share of all presses", "microseconds", lines)
