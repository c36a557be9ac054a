"""Two presses of Shift, with stopped daemons and clock changes in between."""

import os

import pytest
from harness import service
from harness.device_attacks import attack, unharmed
from harness.vm import VirtualMachine
from support.attack_table import AttackTable

pytestmark = pytest.mark.attack

IDLE_SECONDS = int(os.environ.get("KEYMODED_IDLE_SECONDS", "10"))


@pytest.mark.parametrize(("name", "count"), [("interleave", 60), ("stopped", 1)])
def test_kernels_timestamps_decide_about_double_presses(
    guest: VirtualMachine, told: AttackTable, name: str, count: int
) -> None:
    with unharmed(guest):
        attack(guest, told, name, count)


def test_jumps_of_the_wall_clock_have_no_effect(guest: VirtualMachine, told: AttackTable) -> None:
    # Short for a watchdog, but long enough for a busy host; the attack must take longer than that.
    with service.settings(guest, "WatchdogSec=10s"), unharmed(guest):
        attack(guest, told, "clock", 5)


@pytest.mark.parametrize("watchdog", ["30s", "0"])
def test_only_the_watchdog_wakes_the_daemon_while_keyboards_are_idle(
    guest: VirtualMachine, told: AttackTable, watchdog: str
) -> None:
    with service.settings(guest, f"WatchdogSec={watchdog}"), unharmed(guest):
        attack(guest, told, "idle", IDLE_SECONDS)


def test_pointer_that_moves_and_touchpad_that_is_touched_do_not_wake_the_daemon(
    guest: VirtualMachine, told: AttackTable
) -> None:
    with unharmed(guest):
        attack(guest, told, "moving", IDLE_SECONDS)
