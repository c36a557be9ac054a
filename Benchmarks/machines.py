"""What an event costs in the library of state machines, and in machines written without it."""

import subprocess
from pathlib import Path

from figures import Rounds

PACKAGE = Path(__file__).parent / "machines"
PEER = "classes, as GKStateMachine"


def measure(_programs: Path, runs: int) -> Rounds:
    """The nanoseconds for an event in each round, and how many times a class's they are."""
    build = ["swift", "build", "-c", "release", "--package-path", str(PACKAGE)]
    subprocess.run([*build, "--quiet"], check=True)
    found: dict[str, list[float]] = {}
    for _ in range(runs):
        command = [PACKAGE / ".build/release/machines"]
        output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        for line in output.splitlines():
            what, _, nanoseconds = line.partition("\t")
            found.setdefault(what, []).append(float(nanoseconds))
    return {
        what: {
            "ns": values,
            "times a class": [ns / peer for ns, peer in zip(values, found[PEER], strict=True)],
        }
        for what, values in found.items()
    }
