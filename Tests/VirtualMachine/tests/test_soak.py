"""A run with keyboards and subscribers that come and go."""

import json
import os

import pytest
from harness import service
from harness.vm import VirtualMachine
from support.attack_table import AttackTable

pytestmark = pytest.mark.attack

# `make soak` runs it for an hour.
SECONDS = int(os.environ.get("KEYMODED_SOAK_SECONDS", "20"))


def test_long_run_loses_no_change_and_does_not_grow(
    guest: VirtualMachine, told: AttackTable
) -> None:
    command = f"{service.program(guest, 'soak')} {SECONDS}"
    ended = guest.run(command, timeout=SECONDS * 10 + 600)
    result = json.loads(ended.stdout.splitlines()[-1])
    told("soak", **result)
