"""Attacks the daemon, in the guest, as root: `attack.py NAME COUNT [SOCKETS]`.

Each attack is a function of one of the modules below, which checks the states and every change that
it causes. The printed line has the number of repetitions and the outcome.
"""

import sys
from pathlib import Path

import attack_devices
import attack_privacy
import attack_talks
import attack_time
from daemon import Daemon

MODULES = (attack_devices, attack_privacy, attack_talks, attack_time)

if __name__ == "__main__":
    name, count = sys.argv[1], int(sys.argv[2])
    (attack,) = (getattr(module, name) for module in MODULES if hasattr(module, name))
    outcome = attack(Daemon(*map(Path, sys.argv[3:])), count)
    print(f"attack: {name} count {count} outcome {outcome}")
