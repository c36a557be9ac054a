"""A long time of everything at once."""

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from vm import VirtualMachine

pytestmark = pytest.mark.attack

# An hour is what is promised: `KEYMODED_SOAK_SECONDS=3600 make vm-tests`.
SECONDS = int(os.environ.get("KEYMODED_SOAK_SECONDS", "180"))


def test_nothing_grows_and_nothing_is_lost(
    guest: VirtualMachine, told: Callable[..., None]
) -> None:
    for name in ("soak.py", "daemon.py", "uinput.py"):
        shutil.copy(Path(__file__).with_name(name), guest.shared / name)
    ended = guest.run(f"python3 -B /host/soak.py {SECONDS}", timeout=SECONDS * 3 + 120)
    result = json.loads(ended.stdout.splitlines()[-1])
    told("soak", **result)
