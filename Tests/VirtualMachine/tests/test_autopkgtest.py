"""debian/tests, as Debian's machines run them: by autopkgtest, which installs the package itself."""

import shutil
import subprocess

import pytest
from harness.build_image import Images
from harness.vm import VirtualMachine
from support.checkout import CHECKOUT

# What the tests read, apart from the installed package.
SOURCES = ("debian", "README.md", "examples")

# A minute is usual.
SECONDS = 900


def test_the_tests_of_the_debian_package_pass(images: Images) -> None:
    (package,) = (CHECKOUT / ".deb").glob("keymoded_*.deb")
    with VirtualMachine(images) as vm:
        if vm.run("command -v autopkgtest", check=False).exit_code != 0:
            pytest.skip("only the guest with Debian 13 has autopkgtest")
        shutil.copy(package, vm.shared)
        tracked = ["git", "-C", str(CHECKOUT), "ls-files", "-z", "--", *SOURCES]
        listed = subprocess.run(tracked, stdout=subprocess.PIPE, check=True).stdout
        source = vm.shared / "source"
        source.mkdir()
        copy = ["xargs", "-0", "cp", "--parents", f"--target-directory={source}"]
        subprocess.run(copy, input=listed, cwd=CHECKOUT, check=True)

        # The restriction demands what the guest is: a machine that a test may change. autopkgtest
        # runs in it, so it cannot know that.
        ended = vm.run(
            "autopkgtest --ignore-restrictions=isolation-container --no-built-binaries "
            f"/host/{package.name} /host/source/ -- null",
            timeout=SECONDS,
            check=False,
        )
        said = ended.stdout + ended.stderr
        assert ended.exit_code == 0, said[-8000:]
        assert "service              PASS" in said
