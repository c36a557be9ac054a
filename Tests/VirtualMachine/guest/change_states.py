"""Changes states at random, and checks at every rest that exactly the right targets are active.

Runs in the guest, as a user whose manager runs keymode-targets.service with --shift:
`change_states.py COUNT`. Between two rests there are up to 40 events, most without a pause. The
last line that it prints says how many changes and rests there were.
"""

import random
import subprocess
import sys
import time

from daemon import CONTROL
from support.connection import Connection
from support.waiting import wait_until

EVENTS = [
    "shiftPressed",
    "characterTyped",
    "clickSwitchButton",
    "clickMoreButton",
    "tapTextField",
    "tapBlankArea",
]


def shown(*what: str) -> set[str]:
    """The first word of each line that `systemctl --user` shows of targets of states."""
    lines = subprocess.run(
        ["systemctl", "--user", "--plain", "--no-legend", "--full", *what, "keymode-*@*.target"],
        check=True,
        capture_output=True,
        text=True,
    ).stdout.splitlines()
    return {line.split()[0] for line in lines}


def main(count: int) -> None:
    source = random.Random(count)
    control = Connection(CONTROL)
    changes = rests = 0
    while changes < count:
        for _ in range(source.randint(1, 40)):
            answer = control.call("Trigger", event=source.choice(EVENTS))
            changes += answer["changed"]
            if source.random() < 0.2:
                time.sleep(source.uniform(0, 0.05))
        state = answer["state"]
        right = {f"keymode-{machine}@{state[machine]}.target" for machine in ("shift", "keyboard")}
        wait_until(lambda: shown("list-units", "--state=active") == right, f"{right}", 20)  # noqa: B023
        assert shown("list-jobs") == set(), "there is a job after the last change"
        assert shown("list-units", "--state=active") == right
        rests += 1
    print(f"{changes} changes, right at {rests} rests")


if __name__ == "__main__":
    main(int(sys.argv[1]))
