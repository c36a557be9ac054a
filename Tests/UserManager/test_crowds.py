"""A person's `keymodectl while` runs on whatever other clients do to her daemon."""

import os
import subprocess
import sys

import pytest
from person import Person
from running_while import RunningWhile
from support.attack_table import AttackTable
from support.checkout import CHECKOUT, ENVIRONMENT

pytestmark = pytest.mark.attack

SECONDS = float(os.environ.get("KEYMODED_ATTACK_SECONDS", "3"))

# The machine delays processes now and then; a fault of the daemon shows in every attempt.
ATTEMPTS = 3


@pytest.mark.parametrize("name", ["call_and_connect", "hold_all_silently", "call_and_hold_all"])
def test_command_runs_on(told: AttackTable, name: str) -> None:
    attack = CHECKOUT / "Tests/Adversary/attacks.py"
    for _ in range(ATTEMPTS):
        with Person() as person:
            running = RunningWhile(person, shell="echo up >>log; exec sleep 1000")
            person.trigger("tapTextField")
            running.wait_for_log("up")
            command = running.command
            ended = subprocess.run(
                [sys.executable, attack, name, person.sockets, str(SECONDS), "--normal"],
                env=ENVIRONMENT,
                capture_output=True,
                text=True,
                timeout=SECONDS + 120,
                check=False,
            )
            assert ended.returncode == 0, ended.stderr
            runs_on = running.command == command
            person.trigger("tapBlankArea")
            running.wait_for_no_command()
            running.close()
        if runs_on:
            break
    assert runs_on
    told(f"{name.replace('_', ' ')}, and while", int(ended.stdout), "its command runs on")
