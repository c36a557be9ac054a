"""An upgrade of the package while a person talks and clients ask: what it must not lose."""

import re
import shutil
from pathlib import Path

from support.checkout import CHECKOUT
from support.push_to_talk import PUSH_TO_TALK

from harness import service
from harness.service import as_user, main_pid, wait_until_following
from harness.talking import expect_one_stop, settled, talk
from harness.vm import VirtualMachine

# Without a terminal, dpkg fails if it asks a question about the configuration. The guest's dpkg
# leaves out manual pages and documents; this package is installed with them.
INSTALL = "dpkg --path-include='*' --install /host/keymoded.deb </dev/null"

# Half a minute is usual.
INSTALL_SECONDS = 900

# More changes than the ring holds.
CHANGES = 1100
KEPT = 1024


def present_package() -> Path:
    """What `make deb` has built."""
    (package,) = (CHECKOUT / ".deb").glob("keymoded_*.deb")
    return package


def share_package(vm: VirtualMachine) -> None:
    """Copies the present package to where `INSTALL` finds it."""
    shutil.copy(present_package(), vm.shared / "keymoded.deb")


def upgrade(vm: VirtualMachine) -> None:
    """Upgrades the installed package, whose service runs, to the present one.

    Checks that no client is refused, and that states, changes, the configuration and a held key are
    kept.
    """
    service.reload(vm, PUSH_TO_TALK)
    talk(vm)
    resume = f"{service.program(vm, 'resume')} {CHANGES} {KEPT}"
    follower = vm.start(as_user("controller", resume, "keymoded-state", "keymoded-control"))
    follower.wait_for("changed")
    talking, pid = settled(vm), main_pid(vm)
    connects = "socat -u OPEN:/dev/null UNIX-CONNECT:/run/keymoded/state.sock"
    asking = vm.start(f"while {connects}; do sleep 0.05; done")

    vm.run(INSTALL, timeout=INSTALL_SECONDS)
    assert asking.exit_code is None, asking.stderr
    asking.kill()
    assert main_pid(vm) not in (0, pid)
    version = re.search(r"keymoded_(.*)-", present_package().name)
    assert version
    assert vm.run("keymoded --version").stdout == f"keymoded {version[1]}\n"
    assert "NRestarts=0" in vm.run("systemctl show --property NRestarts keymoded").stdout
    assert {**settled(vm), "time": 0} == {**talking, "time": 0}
    assert "the stored states are invalid" not in "\n".join(service.log(vm))
    # A client that resumes gets the same last changes as before the upgrade.
    ended = follower.wait(timeout=60)
    assert (ended.exit_code, ended.stderr) == (0, "")
    assert ended.stdout.splitlines()[1:] == [f"the last {KEPT} changes are the same"]

    assert vm.run(f"cat {service.CONFIGURATION}").stdout == PUSH_TO_TALK
    assert vm.run("ls /etc/keymoded").stdout == "keymoded.yaml\n"
    wait_until_following(vm, 1)
    vm.play("up f9")
    expect_one_stop(vm, talking)
