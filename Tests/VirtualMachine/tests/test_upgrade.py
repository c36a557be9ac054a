"""The upgrade from the last release, and that of a package over itself."""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from harness import service
from harness.build_image import Images
from harness.former_package import former_package
from harness.service import as_user, main_pid, wait_until_following
from harness.talking import expect_one_stop, settled, talk
from harness.vm import VirtualMachine
from support.checkout import CHECKOUT
from support.push_to_talk import PUSH_TO_TALK

INSTALL_SECONDS = 240

CONFIGURATION = "/etc/keymoded/keymoded.yaml"

# More changes than the ring holds.
CHANGES = 1100
KEPT = 1024


def present_package() -> Path:
    (package,) = (CHECKOUT / ".deb").glob("keymoded_*.deb")
    return package


@pytest.fixture(scope="module", params=["the same package", "the last release"])
def former(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package that is installed first."""
    if request.param == "the same package":
        return present_package()
    return former_package(tmp_path_factory.mktemp("former"))


@pytest.fixture
def bare(former: Path, images: Images) -> Iterator[VirtualMachine]:
    """A guest without keymoded."""
    with VirtualMachine(images) as machine:
        shutil.copy(former, machine.shared / "former.deb")
        shutil.copy(present_package(), machine.shared / "keymoded.deb")
        yield machine


@pytest.fixture
def files_before(bare: VirtualMachine) -> set[str]:
    """The files of the guest before the first installation."""
    return service.files(bare)


@pytest.fixture
def vm(bare: VirtualMachine, files_before: set[str]) -> VirtualMachine:
    """The guest with the former package, and with its service started."""
    bare.run("dpkg --install /host/former.deb", timeout=INSTALL_SECONDS)
    service.add_people(bare)
    wait_until_following(bare, 1)
    return bare


def test_upgrade_keeps_states_changes_and_configuration_and_purging_leaves_nothing(
    vm: VirtualMachine, files_before: set[str]
) -> None:
    resume = f"{service.program(vm, 'resume')} {CHANGES} {KEPT}"
    follower = vm.start(as_user("controller", resume, "keymoded-state", "keymoded-control"))
    follower.wait_for("changed")
    before = service.state(vm)
    assert before["sequence"] == CHANGES
    own = "shift: { threshold: 400ms }"
    vm.run(f"echo '{own}' >{CONFIGURATION}")

    upgrade(vm)
    assert vm.run(f"cat {CONFIGURATION}").stdout == f"{own}\n"
    assert vm.run("ls /etc/keymoded").stdout == "keymoded.yaml\n"
    assert "  threshold: 400ms\n" in vm.run("keymoded --print-config").stdout
    version = re.search(r"keymoded_(.*)-", present_package().name)
    assert version
    assert vm.run("keymoded --version").stdout == f"keymoded {version[1]}\n"
    assert {**service.state(vm), "time": 0} == {**before, "time": 0}
    assert "the stored states are invalid" not in "\n".join(service.log(vm))
    # A client that resumes gets the same last changes as before the upgrade.
    ended = follower.wait(timeout=60)
    assert (ended.exit_code, ended.stderr) == (0, "")
    assert ended.stdout.splitlines()[1:] == [f"the last {KEPT} changes are the same"]

    vm.run("dpkg --purge keymoded", timeout=INSTALL_SECONDS)
    assert service.remains(vm) == []
    assert service.files(vm) == files_before


def test_upgrade_while_a_key_is_held_keeps_what_its_release_does(vm: VirtualMachine) -> None:
    vm.play("tap shift; wait 60")
    service.reload(vm, PUSH_TO_TALK)
    talking = talk(vm)
    upgrade(vm)
    assert {**settled(vm), "time": 0} == {**talking, "time": 0}
    vm.play("up f9; wait 60")
    expect_one_stop(vm, talking)
    assert "NRestarts=0" in vm.run("systemctl show --property NRestarts keymoded").stdout


@pytest.mark.parametrize("former", ["the same package"], indirect=True)
def test_configuration_that_is_written_during_an_installation_is_kept(vm: VirtualMachine) -> None:
    vm.run(f"echo 'shift: {{ threshold: 400ms }}' >{CONFIGURATION}")
    vm.run("dpkg --remove keymoded", timeout=INSTALL_SECONDS)
    vm.run("dpkg --unpack /host/keymoded.deb </dev/null", timeout=INSTALL_SECONDS)
    # The administrator does not wait until dpkg has configured the package.
    own = "shift: { threshold: 600ms }"
    vm.run(f"echo '{own}' >{CONFIGURATION}")
    vm.run("dpkg --configure keymoded </dev/null", timeout=INSTALL_SECONDS)
    assert vm.run(f"cat {CONFIGURATION}").stdout == f"{own}\n"
    assert vm.run("ls /etc/keymoded").stdout == "keymoded.yaml\n"


def upgrade(vm: VirtualMachine) -> None:
    """Installs the present package, and waits until its daemon follows the keyboard."""
    before = main_pid(vm)
    # Without a terminal, dpkg fails if it asks a question about the configuration.
    vm.run("dpkg --install /host/keymoded.deb </dev/null", timeout=INSTALL_SECONDS)
    assert main_pid(vm) not in (0, before)
    wait_until_following(vm, 1)
