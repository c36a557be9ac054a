"""The package for arm64, as `make deb-arm64` leaves it."""

import atexit
import functools
import shutil
import subprocess
import tempfile
from pathlib import Path

from support.checkout import CHECKOUT

# Has QEMU and the libraries for arm64; scripts/arm64-root makes it.
ROOT = CHECKOUT / ".arm64/root"


@functools.cache
def unpacked() -> Path:
    """The folder with its programs, unpacked until the tests end."""
    (package,) = (CHECKOUT / ".deb-arm64").glob("keymoded_*_arm64.deb")
    folder = tempfile.mkdtemp(prefix="keymoded-arm64-")
    atexit.register(shutil.rmtree, folder)
    subprocess.run(["dpkg-deb", "--extract", package, folder], check=True)
    return Path(folder) / "usr/bin"
