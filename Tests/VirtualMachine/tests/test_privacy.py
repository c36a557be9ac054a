"""keymoded does not leak typed keys."""

import contextlib
import shlex
from collections.abc import Iterator

import pytest
from harness import service
from harness.device_attacks import attack, unharmed
from harness.recorder import MARKER, REDACTED, Recorder
from harness.vm import VirtualMachine
from support.attack_table import AttackTable

pytestmark = pytest.mark.attack

DUMP = "/run/core.dump"
PATTERN = "/proc/sys/kernel/core_pattern"
# With a limit, a crashed process exists until the program that reads its dump has ended.
PIPE_LIMIT = "/proc/sys/kernel/core_pipe_limit"


def test_text_that_changes_no_state_is_visible_nowhere(
    guest: VirtualMachine, told: AttackTable
) -> None:
    with unharmed(guest):
        attack(guest, told, "privacy", 50)


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


def test_crash_of_the_daemon_writes_no_core_dump(guest: VirtualMachine, told: AttackTable) -> None:
    before = service.state(guest)
    dumped = 0
    # LimitCORE does not keep a program in core_pattern from getting the dump.
    for target in (f"|/usr/bin/tee {DUMP}", DUMP):
        with dumps_to(guest, target):
            guest.play("tap q; wait 30; tap x")
            pid = service.main_pid(guest)
            guest.run(f"kill -ABRT {pid}")
            guest.wait_until(
                f"systemctl show --value --property MainPID keymoded | grep -vx -e 0 -e {pid}"
            )
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
