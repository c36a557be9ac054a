"""The package of version 0.1.0, built from this project's history, for tests of upgrades."""

import fcntl
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from support.checkout import CHECKOUT

# The last commit of version 0.1.0.
COMMIT = "baebe69c0587260f095e67f8d4385beb9f19fbd3"

# What its manifest asks for.
COMPILER = (6, 2)

FOLDER = CHECKOUT / ".former"


def former_package() -> Path:
    """Returns the package, after building it if needed.

    Skips the test without the history, and with a compiler that is too old for that version.
    """
    package = FOLDER / "keymoded.deb"
    FOLDER.mkdir(exist_ok=True)
    with open(FOLDER / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # two test runs at once: the second waits for the first
        if not package.exists():
            _build(package)
    return package


def _build(package: Path) -> None:
    git = ["git", "-C", str(CHECKOUT)]
    known = subprocess.run(
        [*git, "cat-file", "-e", f"{COMMIT}^{{commit}}"], capture_output=True, check=False
    )
    if known.returncode != 0:
        pytest.skip("this checkout does not have the commit of version 0.1.0")
    if (version := _compiler()) < COMPILER:
        pytest.skip(f"version 0.1.0 needs Swift {COMPILER}, and the compiler is of {version}")
    source = FOLDER / "source"
    shutil.rmtree(source, ignore_errors=True)
    source.mkdir()
    archive = subprocess.run([*git, "archive", COMMIT], stdout=subprocess.PIPE, check=True)
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
    shutil.move(built, package)
    shutil.rmtree(source)


def _compiler() -> tuple[int, ...]:
    """The version of the compiler: major and minor."""
    command = [os.environ.get("SWIFT", "swift"), "--version"]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    found = re.search(r"Swift version (\d+)\.(\d+)", said)
    assert found, said
    return tuple(map(int, found.groups()))
