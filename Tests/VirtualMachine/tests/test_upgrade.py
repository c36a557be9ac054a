"""The upgrade from version 0.1.0, which stores its states in another layout."""

import shutil
from collections.abc import Iterator

import pytest
from harness import service
from harness.build_image import Images
from harness.former_package import former_package
from harness.service import as_user, wait_until_following
from harness.vm import VirtualMachine
from support.checkout import CHECKOUT

INSTALL_SECONDS = 240

# More changes than the ring holds.
CHANGES = 1100
KEPT = 1024


@pytest.fixture(scope="module")
def vm(images: Images) -> Iterator[VirtualMachine]:
    """A guest that has the package of 0.1.0, with its service started."""
    former = former_package()
    (package,) = (CHECKOUT / ".deb").glob("*.deb")
    with VirtualMachine(images) as machine:
        shutil.copy(former, machine.shared / "former.deb")
        shutil.copy(package, machine.shared / "keymoded.deb")
        machine.run("dpkg --install /host/former.deb", timeout=INSTALL_SECONDS)
        service.add_people(machine)
        wait_until_following(machine, 1)
        yield machine


def test_upgrade_from_0_1_0_keeps_states_and_changes_for_resuming_clients(
    vm: VirtualMachine,
) -> None:
    assert vm.run("keymoded --version").stdout == "keymoded 0.1.0\n"
    resume = f"{service.program(vm, 'resume')} {CHANGES} {KEPT}"
    follower = vm.start(as_user("controller", resume, "keymoded-state", "keymoded-control"))
    follower.wait_for("changed")
    before = service.state(vm)
    assert before["sequence"] == CHANGES
    own = "shift: { threshold: 400ms }"
    vm.run(f"echo '{own}' >/etc/keymoded/keymoded.yaml")

    # Nobody is there to answer a question.
    vm.run("dpkg --install /host/keymoded.deb </dev/null", timeout=INSTALL_SECONDS)
    assert vm.run("cat /etc/keymoded/keymoded.yaml").stdout == f"{own}\n"
    assert vm.run("ls /etc/keymoded").stdout == "keymoded.yaml\n"
    assert "  threshold: 400ms\n" in vm.run("keymoded --print-config").stdout
    assert vm.run("keymoded --version").stdout != "keymoded 0.1.0\n"
    wait_until_following(vm, 1)
    assert {**service.state(vm), "time": 0} == {**before, "time": 0}
    log = "\n".join(service.log(vm))
    assert "the stored states are invalid" not in log
    # A client that resumes gets the same last changes as before the upgrade.
    ended = follower.wait(timeout=60)
    assert (ended.exit_code, ended.stderr) == (0, "")
    assert ended.stdout.splitlines()[1:] == [f"the last {KEPT} changes are the same"]

    # The next daemon reads the states in the new layout.
    vm.run("systemctl kill --signal KILL keymoded")
    wait_until_following(vm, 1)
    assert {**service.state(vm), "time": 0} == {**before, "time": 0}
