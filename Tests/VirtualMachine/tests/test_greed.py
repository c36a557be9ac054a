"""512 greedy clients against the limits of the unit, such as its memory."""

import json
import os

import pytest
from harness import service
from harness.service import as_user, main_pid
from harness.vm import VirtualMachine
from support.attack_table import AttackTable

pytestmark = pytest.mark.attack

# How many of the most expensive shapes of calls are tried; an emulator is slow.
SHAPES = 4 if "KEYMODED_SEARCH_SECONDS" in os.environ else 2


def test_greedy_clients_keep_the_service_below_half_of_its_memory_limit(
    guest: VirtualMachine, told: AttackTable
) -> None:
    before = service.state(guest)
    pid = main_pid(guest)
    # A user of both groups: only such a user can take all connections.
    greedy = as_user(
        "controller",
        f"{service.program(guest, 'greed')} /run/keymoded {pid} 0 {SHAPES}",
        "keymoded-state",
        "keymoded-control",
    )
    ended = guest.start(f"ulimit -n 2048; {greedy}").wait(timeout=120 * SHAPES)
    assert (ended.exit_code, ended.stderr) == (0, "")
    found = json.loads(ended.stdout.splitlines()[-1])
    group = "/sys/fs/cgroup/system.slice/keymoded.service"
    peak, limit = (int(guest.run(f"cat {group}/memory.{name}").stdout) for name in ("peak", "max"))
    print(f"{peak >> 10} KiB of {limit >> 10} KiB at most, {found['worst_kib']} KiB anonymous")
    told(
        "take memory of the service",
        found["tried"] * 512,
        f"{found['worst_kib']} KiB anonymous, {peak >> 10} of {limit >> 10} KiB in all",
    )
    assert main_pid(guest) == pid, "the kernel has killed it"
    assert "oom_kill 0" in guest.run(f"cat {group}/memory.events").stdout.splitlines()
    # Half is left for attacks that the test does not know.
    assert peak < limit / 2
    after = service.state(guest)
    assert {**after, "time": 0} == {**before, "time": 0}
