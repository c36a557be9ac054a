"""512 greedy clients against the limits of the unit, such as its memory."""

import json
import os
import shutil
from collections.abc import Callable

import pytest
import service
from service import CHECKOUT, as_user
from vm import VirtualMachine

pytestmark = pytest.mark.attack

# How many of the most expensive shapes of calls are tried; an emulator is slow.
SHAPES = 4 if "KEYMODED_SEARCH_SECONDS" in os.environ else 2

PID = "systemctl show --value --property MainPID keymoded"


def test_greedy_clients_do_not_have_the_service_killed(
    guest: VirtualMachine, told: Callable[..., None]
) -> None:
    for name in ("greed", "connection"):
        shutil.copy(CHECKOUT / f"Tests/Adversary/{name}.py", guest.shared)
    before = service.state(guest)
    pid = guest.run(PID).stdout
    # A user of both groups: only such a user can take all connections.
    greedy = as_user(
        "controller",
        f"python3 /host/greed.py /run/keymoded {pid.strip()} 0 {SHAPES}",
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
    assert guest.run(PID).stdout == pid, "the kernel has killed it"
    assert "oom_kill 0" in guest.run(f"cat {group}/memory.events").stdout.splitlines()
    # Half is left for attacks that the test does not know.
    assert peak < limit / 2
    after = service.state(guest)
    assert {**after, "time": 0} == {**before, "time": 0}
