"""The package of the last release, built from this project's history, for tests of upgrades."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from support.checkout import CHECKOUT


def former_package(folder: Path) -> Path:
    """Builds the package of the last tag such as `1.0.0` or `v1.0.0` in a folder, and returns it.

    Skips the test where there is no such tag, as before the first release.
    """
    tag = _last_release()
    source = folder / "source"
    source.mkdir()
    archive = subprocess.run(
        ["git", "-C", CHECKOUT, "archive", tag], stdout=subprocess.PIPE, check=True
    )
    subprocess.run(["tar", "-x", "-C", source], input=archive.stdout, check=True)
    made = subprocess.run(
        ["make", "-C", source, "deb"],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert made.returncode == 0, made.stdout[-4000:]
    (built,) = (source / ".deb").glob("*.deb")
    package = Path(shutil.move(built, folder))
    shutil.rmtree(source)
    return package


def _last_release() -> str:
    """The newest tag of a version that this commit comes after."""
    listed = subprocess.run(
        ["git", "-C", CHECKOUT, "tag", "--merged", "HEAD", "--sort=-version:refname"],
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    tags = [tag for tag in listed.stdout.split() if re.fullmatch(r"v?\d+(\.\d+)+", tag)]
    if not tags:
        pytest.skip("this checkout has no tag of a version, so there is no release to upgrade from")
    return tags[0]
