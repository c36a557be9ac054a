"""The upgrade from the last release. test_package.py has that of the package over itself."""

import shutil
from pathlib import Path

from harness import service
from harness.build_image import Images
from harness.former_package import former_package
from harness.service import wait_until_following
from harness.upgrade import INSTALL_SECONDS, share_package, upgrade
from harness.vm import VirtualMachine


def test_upgrade_from_the_last_release_loses_nothing_and_purging_leaves_nothing(
    images: Images, tmp_path: Path
) -> None:
    former = former_package(tmp_path)
    with VirtualMachine(images) as vm:
        files_before = service.files(vm)
        shutil.copy(former, vm.shared / "former.deb")
        share_package(vm)
        vm.run("dpkg --install /host/former.deb", timeout=INSTALL_SECONDS)
        service.add_people(vm)
        wait_until_following(vm, 1)
        upgrade(vm)
        vm.run("dpkg --purge keymoded", timeout=INSTALL_SECONDS)
        assert service.remains(vm) == []
        assert service.files(vm) == files_before
