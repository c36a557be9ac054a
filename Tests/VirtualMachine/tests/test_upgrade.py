"""The upgrade from version 0.1.0, which stores its states in another layout."""

import shutil
from collections.abc import Iterator

import pytest
from harness import service
from harness.build_image import Images
from harness.former_package import former_package
from harness.service import as_user, wait_until_following
from harness.talking import PUSH_TO_TALK, SILENT, TALKING, expect_one_stop, settled, talk
from harness.vm import VirtualMachine
from support.checkout import CHECKOUT

INSTALL_SECONDS = 240

# More changes than the ring holds.
CHANGES = 1100
KEPT = 1024


@pytest.fixture
def bare(images: Images) -> Iterator[VirtualMachine]:
    """A guest without keymoded."""
    with VirtualMachine(images) as machine:
        yield machine


@pytest.fixture
def files_before(bare: VirtualMachine) -> set[str]:
    """The files of the guest before the first installation."""
    return service.files(bare)


@pytest.fixture
def vm(bare: VirtualMachine, files_before: set[str]) -> VirtualMachine:
    """The guest with the package of 0.1.0, and with its service started."""
    (package,) = (CHECKOUT / ".deb").glob("keymoded_*.deb")
    shutil.copy(former_package(), bare.shared / "former.deb")
    shutil.copy(package, bare.shared / "keymoded.deb")
    bare.run("dpkg --install /host/former.deb", timeout=INSTALL_SECONDS)
    service.add_people(bare)
    wait_until_following(bare, 1)
    return bare


def test_upgrade_from_0_1_0_keeps_states_and_changes_and_purging_leaves_nothing(
    vm: VirtualMachine, files_before: set[str]
) -> None:
    assert vm.run("keymoded --version").stdout == "keymoded 0.1.0\n"
    resume = f"{service.program(vm, 'resume')} {CHANGES} {KEPT}"
    follower = vm.start(as_user("controller", resume, "keymoded-state", "keymoded-control"))
    follower.wait_for("changed")
    before = service.state(vm)
    assert before["sequence"] == CHANGES
    own = "shift: { threshold: 400ms }"
    vm.run(f"echo '{own}' >/etc/keymoded/keymoded.yaml")

    upgrade(vm)
    assert vm.run("cat /etc/keymoded/keymoded.yaml").stdout == f"{own}\n"
    assert vm.run("ls /etc/keymoded").stdout == "keymoded.yaml\n"
    assert "  threshold: 400ms\n" in vm.run("keymoded --print-config").stdout
    assert vm.run("keymoded --version").stdout != "keymoded 0.1.0\n"
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

    vm.run("dpkg --purge keymoded", timeout=INSTALL_SECONDS)
    assert service.remains(vm) == []
    assert service.files(vm) == files_before


def test_upgrade_while_keys_are_held_keeps_the_states_and_then_serves_push_to_talk(
    vm: VirtualMachine,
) -> None:
    vm.play("tap shift; wait 60; down ctrl; wait 60; up ctrl; wait 60")
    vm.play("down scroll_lock; wait 60; down f9; wait 60")
    vm.run("keymodectl wait shift=on keyboard=prepareToRecord --timeout 100")
    before = service.state(vm)
    assert before["sequence"] == 2

    upgrade(vm)
    assert {**service.state(vm), "time": 0} == {**before, "time": 0}
    vm.play("up f9; wait 60; up scroll_lock; wait 60; tap f9; wait 60")
    assert settled(vm)["sequence"] == 2, "0.1.0 awaited no releases"
    assert "NRestarts=0" in vm.run("systemctl show --property NRestarts keymoded").stdout

    # A press before the reload means what it did at its time.
    vm.play("tap scroll_lock; wait 60; down f9; wait 60")
    service.reload(vm, PUSH_TO_TALK)
    vm.play("up f9; wait 60")
    assert (settled(vm)["keyboard"], settled(vm)["sequence"]) == (SILENT, 3)
    vm.play("hold f9 600; wait 60")
    assert (settled(vm)["keyboard"], settled(vm)["sequence"]) == (SILENT, 5)
    # The next upgrade keeps the release that is awaited.
    talking = talk(vm)
    assert talking["keyboard"] == TALKING
    upgrade(vm)
    assert settled(vm)["sequence"] == talking["sequence"]
    vm.play("up f9; wait 60")
    expect_one_stop(vm, talking)


def upgrade(vm: VirtualMachine) -> None:
    """Installs the present package, and waits until its daemon follows the keyboard."""
    # Without a terminal, dpkg fails if it asks a question about the configuration.
    vm.run("dpkg --install /host/keymoded.deb </dev/null", timeout=INSTALL_SECONDS)
    wait_until_following(vm, 1)
