"""Two presses of Shift, with stopped daemons and clock changes in between."""

import os

import pytest
from harness import service
from harness.device_attacks import attack, unharmed
from harness.vm import VirtualMachine
from support.attack_table import AttackTable

pytestmark = pytest.mark.attack

IDLE_SECONDS = int(os.environ.get("KEYMODED_IDLE_SECONDS", "20"))


@pytest.mark.parametrize(("name", "count"), [("interleave", 60), ("stopped", 1)])
def test_kernels_stamps_decide(
    guest: VirtualMachine, told: AttackTable, name: str, count: int
) -> None:
    with unharmed(guest):
        attack(guest, told, name, count)


def test_wall_clock_means_nothing(guest: VirtualMachine, told: AttackTable) -> None:
    # Short for a watchdog, but long enough for a busy host; the attack must take longer than that.
    with service.settings(guest, "WatchdogSec=10s"), unharmed(guest):
        attack(guest, told, "clock", 5)


@pytest.mark.parametrize("watchdog", ["30s", "0"])
def test_daemon_sleeps_while_nobody_types(
    guest: VirtualMachine, told: AttackTable, watchdog: str
) -> None:
    with service.settings(guest, f"WatchdogSec={watchdog}"), unharmed(guest):
        attack(guest, told, "idle", IDLE_SECONDS)
