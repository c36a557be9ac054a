"""Attacks on the service from inside the guest, and the proof that it is the same afterwards."""

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
    """Takes what came of one attack: the fixture `told`."""

    def __call__(self, attack: str, count: int, outcome: str) -> None: ...


def attack(guest: VirtualMachine, told: Table, name: str, count: int, sockets: str = "") -> None:
    """Runs one of the attacks of attack.py, which checks what comes of it, for the table."""
    service.copy_programs(guest, *PARTS)
    ended = guest.run(
        f"exec python3 /host/attack.py {name} {count} {sockets}", LONGEST_SECONDS, check=False
    )
    tell(told, ended.stdout + ended.stderr)
    assert ended.exit_code == 0


def tell(told: Table, printed: str) -> None:
    """Adds what an attack printed to the table; fails if it did not go well."""
    outcome = re.fullmatch(r"attack: (\w+) count (\d+) outcome (.*)\n", printed)
    assert outcome, printed
    told(outcome[1], int(outcome[2]), outcome[3])


@contextlib.contextmanager
def unharmed(guest: VirtualMachine) -> Iterator[None]:
    """The service is the same process afterwards, and no key of any keyboard is stuck."""
    before = life(guest)
    assert "NRestarts=0" in before
    yield
    assert life(guest) == before
    watch = Watch(guest)
    # With a modifier held, a letter would be no character, and Insert not be bound.
    guest.play("tap shift; wait 30; tap a; wait 30; tap insert; wait 30; tap esc")
    assert watch.states(4) == ["on", "off", "editingText", "prepareToEditText"]
    now = service.state(guest)
    assert (now["shift"], now["keyboard"]) == ("off", "prepareToEditText")


def life(guest: VirtualMachine) -> str:
    """Which process the service is, and how often it was started again."""
    shown = "systemctl show --property MainPID,NRestarts,ActiveState,InvocationID keymoded"
    return guest.run(shown).stdout


@contextlib.contextmanager
def without_udev(guest: VirtualMachine) -> Iterator[GuestProcess]:
    """A daemon that sees no udev in place of the service, serving in /run/own."""
    guest.run(f"systemctl stop {service.UNITS}; mv {CONTROL} {CONTROL}.hidden")
    try:
        daemon = guest.start("exec keymoded --socket-dir /run/own")
        guest.wait_until("keymodectl state --socket-dir /run/own")
        yield daemon
        daemon.terminate()
        assert daemon.wait().exit_code == 0
    finally:
        guest.run(f"mv {CONTROL}.hidden {CONTROL}; rm -rf /run/own")
