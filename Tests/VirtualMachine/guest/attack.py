"""Attacks the daemon, in the guest, as root: `attack.py NAME COUNT [SOCKETS]`.

Each attack checks the states and every change that it causes. The printed line has the number of
repetitions and the outcome.
"""

import sys
from collections.abc import Callable
from pathlib import Path

import attack_devices
import attack_oddities
import attack_privacy
import attack_time
from daemon import Daemon

ATTACKS: dict[str, Callable[[Daemon, int], str]] = {
    attack.__name__: attack
    for attack in (
        attack_devices.overflow,
        attack_devices.flood,
        attack_devices.unplug_held,
        attack_devices.unplug_behind,
        attack_devices.plug,
        attack_devices.many,
        attack_devices.many_while_stopped,
        attack_devices.late_permission,
        attack_devices.grab,
        attack_devices.grab_and_loss,
        attack_oddities.odd_keys,
        attack_oddities.odd_names,
        attack_privacy.privacy,
        attack_privacy.idle,
        attack_privacy.moving,
        attack_time.interleave,
        attack_time.stopped,
        attack_time.clock,
        attack_time.suspend,
    )
}

if __name__ == "__main__":
    name, count = sys.argv[1], int(sys.argv[2])
    outcome = ATTACKS[name](Daemon(*map(Path, sys.argv[3:])), count)
    print(f"attack: {name} count {count} outcome {outcome}")
