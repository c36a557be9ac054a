"""Attacks on the service from inside the guest, and checks that it is unharmed."""

import contextlib
import re
from collections.abc import Iterator
from typing import Protocol

import service
from guest_process import GuestProcess
from service import Watch
from vm import VirtualMachine

PARTS = ("attack", "attack_devices", "attack_oddities", "attack_privacy", "attack_time")
CONTROL = "/run/udev/control"
LONGEST_SECONDS = 1800


class Table(Protocol):
    """The fixture `told`, which takes the outcome of one attack."""

    def __call__(self, attack: str, count: int, outcome: str) -> None: ...


def attack(guest: VirtualMachine, told: Table, name: str, count: int, sockets: str = "") -> None:
    """Runs an attack of attack.py, which checks its effects, and adds the outcome to the table."""
    service.copy_programs(guest, *PARTS)
    ended = guest.run(
        f"exec python3 /host/attack.py {name} {count} {sockets}", LONGEST_SECONDS, check=False
    )
    tell(told, ended.stdout + ended.stderr)
    assert ended.exit_code == 0


def tell(told: Table, printed: str) -> None:
    """Adds the line that an attack printed to the table; fails if the attack failed."""
    outcome = re.fullmatch(r"attack: (\w+) count (\d+) outcome (.*)\n", printed)
    assert outcome, printed
    told(outcome[1], int(outcome[2]), outcome[3])


@contextlib.contextmanager
def unharmed(guest: VirtualMachine) -> Iterator[None]:
    """Checks at the end that the service is the same process and that no key is stuck."""
    before = life(guest)
    assert "NRestarts=0" in before
    yield
    assert life(guest) == before
    watch = Watch(guest)
    # With a modifier held, a letter would not be a character, and Insert not be bound.
    guest.play("tap shift; wait 30; tap a; wait 30; tap insert; wait 30; tap esc")
    assert watch.states(4) == ["on", "off", "editingText", "prepareToEditText"]
    now = service.state(guest)
    assert (now["shift"], now["keyboard"]) == ("off", "prepareToEditText")


def life(guest: VirtualMachine) -> str:
    """The service's process and how often systemd has restarted it."""
    shown = "systemctl show --property MainPID,NRestarts,ActiveState,InvocationID keymoded"
    return guest.run(shown).stdout


@contextlib.contextmanager
def without_udev(guest: VirtualMachine) -> Iterator[GuestProcess]:
    """Runs a daemon that sees no udev in place of the service, with sockets in /run/own."""
    guest.run(f"systemctl stop {service.UNITS}; mv {CONTROL} {CONTROL}.hidden")
    try:
        daemon = guest.start("exec keymoded --socket-dir /run/own")
        guest.wait_until("keymodectl state --socket-dir /run/own")
        yield daemon
        daemon.terminate()
        assert daemon.wait().exit_code == 0
    finally:
        guest.run(f"mv {CONTROL}.hidden {CONTROL}; rm -rf /run/own")
