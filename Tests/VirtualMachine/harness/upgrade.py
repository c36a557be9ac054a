"""An upgrade of the package while a person talks and clients ask: what it must not lose."""

import re
import shutil
from pathlib import Path

from support.checkout import CHECKOUT
from support.push_to_talk import PUSH_TO_TALK

from harness import service
from harness.service import main_pid, wait_until_following
from harness.talking import expect_one_stop, settled, talk
from harness.vm import VirtualMachine

# Without a terminal, dpkg fails if it asks a question about the configuration. The guest's dpkg
# leaves out manual pages and documents; this package is installed with them.
INSTALL = "dpkg --path-include='*' --install /host/keymoded.deb </dev/null"

# Half a minute is usual.
INSTALL_SECONDS = 900


def present_package() -> Path:
    """What `make deb` has built."""
    (package,) = (CHECKOUT / ".deb").glob("keymoded_*.deb")
    return package


def share_package(vm: VirtualMachine) -> None:
    """Copies the present package to where `INSTALL` finds it."""
    shutil.copy(present_package(), vm.shared / "keymoded.deb")


def upgrade(vm: VirtualMachine) -> None:
    """Upgrades the installed package, whose service runs, to the present one.

    Checks that no client is refused, and that states, the configuration and a held key are kept.
    Tests/UserManager has the changes that a client gets which was connected.
    """
    service.reload(vm, PUSH_TO_TALK)
    talking, pid = talk(vm), main_pid(vm)
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

    assert vm.run(f"cat {service.CONFIGURATION}").stdout == PUSH_TO_TALK
    assert vm.run("ls /etc/keymoded").stdout == "keymoded.yaml\n"
    wait_until_following(vm, 1)
    vm.play("up f9")
    expect_one_stop(vm, talking)
