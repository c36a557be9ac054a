"""Attacks by keyboards, their users and time on the daemon, on a real kernel, and typed keys.

Each is a function of the modules `attack_*.py` in ../guest.
"""

import contextlib
import os
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from harness import service
from harness.device_attacks import attack, unharmed
from harness.recorder import MARKER, REDACTED, Recorder
from harness.vm import VirtualMachine
from support.attack_table import AttackTable

pytestmark = pytest.mark.attack

# 50 plugs take 4 s, 500 take 35 s; two tests do it.
PLUGS = int(os.environ.get("KEYMODED_PLUGS", "50"))
# Multiplies the repetitions of most attacks.
TIMES = int(os.environ.get("KEYMODED_ATTACKS", "1"))
# 15 are all orders of a talk and a virtual keyboard.
TALKS = int(os.environ.get("KEYMODED_TALKS", "15"))
IDLE_SECONDS = int(os.environ.get("KEYMODED_IDLE_SECONDS", "10"))


@dataclass(frozen=True)
class Attack:
    """An attack, how often it is made, and the settings that it needs of Shift and of the unit."""

    name: str
    count: int
    shift: str = ""
    unit: str = ""


# By default Shift and Ctrl at once are a shortcut, which changes nothing.
COUNTED = "trigger: always"

ATTACKS = [
    Attack("overflow", 20 * TIMES, shift=COUNTED),
    Attack("unplug_behind", 2 * TIMES, shift="timeout: 2s"),
    Attack("plug", PLUGS),
    Attack("many_while_stopped", 200),
    Attack("grab", 5 * TIMES),
    Attack("odd_names", 1),
    # Short for a watchdog, but long enough for a busy host; the attack must take longer than that.
    Attack("stopped", 5, unit="WatchdogSec=10s"),
    # What only the watchdog may wake it from.
    Attack("moving", IDLE_SECONDS, unit="WatchdogSec=30s"),
    Attack("moving", IDLE_SECONDS, unit="WatchdogSec=0"),
    # Text that changes no state is visible nowhere.
    Attack("privacy", 50),
]


@pytest.mark.parametrize("made", ATTACKS, ids=lambda made: f"{made.name} {made.unit}".rstrip())
def test_service_is_unharmed_by_attack(
    guest: VirtualMachine, told: AttackTable, made: Attack
) -> None:
    with contextlib.ExitStack() as needed:
        if made.unit:
            needed.enter_context(service.settings(guest, made.unit))
        needed.enter_context(unharmed(guest))
        if made.shift:
            service.reload(guest, f"shift: {{ {made.shift} }}\n")
            normal = "shift: { trigger: press, timeout: off }\n"
            needed.callback(service.reload, guest, normal)
        attack(guest, told, made.name, made.count)


# A second press or release would change the state too.
TALKING = """
keyboard:
  table:
    events: [startTalking, stopTalking]
    rows:
      prepareToEditText: { startTalking: prepareToRecord, stopTalking: showingPanel }
      prepareToRecord: { startTalking: showingPanel, stopTalking: prepareToEditText }
  bindings:
    startTalking: [F9]
    stopTalking: [F9 release]
"""


def test_every_talk_begins_and_ends_while_virtual_keyboards_come_type_and_go(
    guest: VirtualMachine, told: AttackTable
) -> None:
    with unharmed(guest):
        service.reload(guest, TALKING)
        attack(guest, told, "talks", TALKS)
        service.reload(guest, "")


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


DUMP = "/run/core.dump"
PATTERN = "/proc/sys/kernel/core_pattern"
# With a limit, a crashed process exists until the program that reads its dump has ended.
PIPE_LIMIT = "/proc/sys/kernel/core_pipe_limit"


@contextlib.contextmanager
def dumps_to(guest: VirtualMachine, target: str) -> Iterator[None]:
    """Sets a core_pattern that stores the core dump of a crashed program in DUMP."""
    before = guest.run(f"cat {PATTERN}; echo 1 >{PIPE_LIMIT}").stdout.strip()
    try:
        guest.run(f"rm -f {DUMP}; echo {shlex.quote(target)} >{PATTERN}")
        guest.run(f"ulimit -c unlimited; sh -c 'kill -ABRT $$'; test -s {DUMP} && rm {DUMP}")
        yield
    finally:
        guest.run(f"echo {shlex.quote(before)} >{PATTERN}; echo 0 >{PIPE_LIMIT}; rm -f {DUMP}")


def test_crash_of_the_daemon_writes_no_core_dump_and_keeps_the_states(
    guest: VirtualMachine, told: AttackTable
) -> None:
    before = service.state(guest)
    dumped = 0
    # LimitCORE does not keep a program in core_pattern from getting the dump.
    for target in (f"|/usr/bin/tee {DUMP}", DUMP):
        with dumps_to(guest, target):
            guest.play("tap q; wait 30; tap x")
            service.kill(guest, "ABRT")
            dumped += guest.run(f"test -e {DUMP}", check=False).exit_code == 0
    told("crash", 2, f"{dumped} dumps of memory")
    assert dumped == 0
    after = service.state(guest)
    assert {**after, "time": 0} == {**before, "time": 0}


def test_crash_of_a_recorder_writes_no_core_dump(guest: VirtualMachine) -> None:
    with dumps_to(guest, f"|/usr/bin/tee {DUMP}"):
        recorder = Recorder(guest, REDACTED)
        guest.play(f"tap q; {MARKER}")
        recorder.wait_for_marker()
        guest.run(f"kill -ABRT {recorder.process.pid}")
        recorder.process.wait()
        assert guest.run(f"test -e {DUMP}", check=False).exit_code == 1
