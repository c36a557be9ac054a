"""The namespaces of a user's manager: nothing stays, and nothing beside them is touched."""

import os
import signal
import subprocess
import sys
from pathlib import Path

from person import Person
from support.checkout import ENVIRONMENT
from support.user_manager import UserManager, mounted_cgroups
from support.waiting import wait_until


def remains(manager: UserManager) -> list[str]:
    """What is left of a manager on this machine: its home, its control group, its mounts."""
    name = manager.cgroup.name
    left = [str(path) for path in (manager.folder, manager.cgroup) if path.exists()]
    return left + [line for line in Path("/proc/mounts").read_text().splitlines() if name in line]


def test_nothing_is_left_of_a_manager_that_is_closed() -> None:
    with Person() as person:
        person.systemctl("enable", "--now", "keymode-targets.service")
        running = person.start("sh", "-c", "setsid sleep 1000 & setsid sleep 1000")
        assert remains(person) == [str(person.folder), str(person.cgroup)]
    assert remains(person) == []
    assert running.wait() != 0


def test_nothing_is_left_of_a_manager_whose_test_is_killed() -> None:
    program = """
import sys
from support.user_manager import UserManager
manager = UserManager()
print(manager.folder, manager.cgroup, manager.first, flush=True)
sys.stdin.read()
"""
    test = subprocess.Popen(
        [sys.executable, "-c", program],
        env=ENVIRONMENT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert test.stdout
    folder, cgroup, first = test.stdout.readline().split()
    paths = [Path(folder), Path(cgroup), Path("/proc") / first]
    assert all(path.exists() for path in paths)
    os.killpg(test.pid, signal.SIGKILL)
    test.communicate()
    wait_until(lambda: not any(path.exists() for path in paths), f"the end of {paths}")


def test_no_process_of_the_machine_is_moved() -> None:
    def groups() -> set[str]:
        own = Path("/proc/self/cgroup").read_text()
        names = {each.name for each in mounted_cgroups().iterdir() if each.is_dir()}
        # Another test, which runs beside this one, may have a manager too.
        return {own, *(name for name in names if not name.startswith("keymoded-"))}

    before = groups()
    with UserManager() as manager:
        assert groups() == before
        # Its own is all that it sees.
        assert manager.pids("pytest") == []
        cgroups = manager.run("cat", "/proc/self/cgroup").stdout.splitlines()
        assert "0::/user.slice/user-65534.slice/session-1.scope" in cgroups
    assert groups() == before
