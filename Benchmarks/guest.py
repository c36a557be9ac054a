"""How soon after a key clients have its change, beside other programs, in a virtual machine."""

import json
import os
import shutil
from pathlib import Path

from figures import Rounds, with_ratio
from harness import service
from harness.build_image import ensure_images
from harness.vm import QUICK_CLOCK, VirtualMachine
from peers import compiled

HERE = Path(__file__).parent
SUITE = "trixie"


def measure(programs: Path, runs: int) -> Rounds:
    """All figures of a guest with Debian 13, which has keyd; the programs are those of the build."""
    os.environ["KEYMODED_VM_SUITE"] = SUITE
    with VirtualMachine(ensure_images(), clock=QUICK_CLOCK) as guest:
        service.install(guest)
        command = service.program(guest, "in_guest")
        folder = guest.shared / "programs"
        for name in ("in_guest", "pressing"):
            shutil.copy(HERE / f"{name}.py", folder)
        for name in ("latency", "relay"):
            compiled(folder, name, "-static")
        found: Rounds = json.loads(guest.run(f"{command} {runs}", timeout=3000).stdout)
    return with_ratio(found, "keymoded", "keyd")
