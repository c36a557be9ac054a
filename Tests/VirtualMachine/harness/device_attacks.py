"""Runs attacks on the service inside the guest, and checks that the service is unharmed."""

import contextlib
import re
from collections.abc import Iterator

from support.attack_table import AttackTable

from harness import service
from harness.vm import VirtualMachine
from harness.watch import Watch

LONGEST_SECONDS = 1800


def attack(
    guest: VirtualMachine, told: AttackTable, name: str, count: int, sockets: str = ""
) -> None:
    """Runs an attack of attack.py, which checks its effects, and adds the outcome to the table."""
    command = f"exec {service.program(guest, 'attack')} {name} {count} {sockets}"
    ended = guest.run(command, LONGEST_SECONDS, check=False)
    tell(told, ended.stdout + ended.stderr)
    assert ended.exit_code == 0


def tell(told: AttackTable, printed: str) -> None:
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
    now = service.state(guest)["states"]
    assert (now["shift"], now["keyboard"]) == ("off", "prepareToEditText")


def life(guest: VirtualMachine) -> str:
    """The service's process and how often systemd has restarted it."""
    shown = "systemctl show --property MainPID,NRestarts,ActiveState,InvocationID keymoded"
    return guest.run(shown).stdout
