"""Attacks by keyboards and their users on the daemon, on a real kernel."""

import contextlib
import os
import re
from collections.abc import Iterator

import pytest
from harness import service
from harness.device_attacks import attack, unharmed
from harness.vm import VirtualMachine
from support.attack_table import AttackTable

pytestmark = pytest.mark.attack

# 50 plugs take 4 s, 500 take 35 s; two tests do it.
PLUGS = int(os.environ.get("KEYMODED_PLUGS", "50"))
# Multiplies the repetitions of most attacks.
TIMES = int(os.environ.get("KEYMODED_ATTACKS", "1"))


# The first three hold Shift and Ctrl at once, which by default is a shortcut and changes nothing.
SETTINGS = {
    "overflow": "trigger: always",
    "flood": "trigger: always",
    "unplug_held": "trigger: always",
    "unplug_behind": "timeout: 2s",
}


@contextlib.contextmanager
def shift_for(guest: VirtualMachine, name: str) -> Iterator[None]:
    """Gives Shift the settings that an attack needs."""
    if name not in SETTINGS:
        yield
        return
    service.reload(guest, f"shift: {{ {SETTINGS[name]} }}\n")
    try:
        yield
    finally:
        service.reload(guest, "shift: { trigger: press, timeout: off }\n")


@pytest.mark.parametrize(
    ("name", "count"),
    [
        ("overflow", 20 * TIMES),
        ("flood", 20_000 * TIMES),
        ("unplug_held", 10 * TIMES),
        ("unplug_behind", 2 * TIMES),
        ("plug", PLUGS),
        ("many", 200),
        ("many_while_stopped", 200),
        ("late_permission", 5 * TIMES),
        ("grab", 5 * TIMES),
        ("grab_and_loss", 5 * TIMES),
        ("odd_keys", 2),
        ("odd_names", 1),
    ],
)
def test_service_is_unharmed_by_attack(
    guest: VirtualMachine, told: AttackTable, name: str, count: int
) -> None:
    with unharmed(guest), shift_for(guest, name):
        attack(guest, told, name, count)


def test_daemon_without_udev_releases_every_short_lived_keyboard(
    guest: VirtualMachine, told: AttackTable
) -> None:
    with service.without_udev(guest):
        daemon = service.start_by_hand(guest)
        attack(guest, told, "plug", PLUGS, sockets="/run/own")
        # Without waiting for udev, the daemon has opened some that were removed at that moment.
        assert daemon.exit_code is None
        lines = daemon.stderr.splitlines()
        followed = sum("following 'Fleeting" in line for line in lines)
        gone = sum(bool(re.search(r"'Fleeting keyboard \d+' is gone", line)) for line in lines)
        assert followed == gone > 0
        daemon.terminate()
        assert daemon.wait().exit_code == 0
