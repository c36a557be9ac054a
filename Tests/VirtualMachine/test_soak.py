"""A long run with keyboards and subscribers that come and go."""

import json
import os
from collections.abc import Callable

import pytest
import service
from vm import VirtualMachine

pytestmark = pytest.mark.attack

# For a run of one hour: `KEYMODED_SOAK_SECONDS=3600 make vm-tests`.
SECONDS = int(os.environ.get("KEYMODED_SOAK_SECONDS", "180"))


def test_nothing_grows_and_nothing_is_lost(
    guest: VirtualMachine, told: Callable[..., None]
) -> None:
    service.copy_programs(guest, "soak")
    ended = guest.run(f"python3 -B /host/soak.py {SECONDS}", timeout=SECONDS * 10 + 600)
    result = json.loads(ended.stdout.splitlines()[-1])
    told("soak", **result)
