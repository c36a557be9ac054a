"""The programs in C beside which keymoded is measured, and those that measure it."""

import subprocess
from pathlib import Path


def compiled(folder: Path, name: str, *options: str) -> str:
    """The program of NAME.c, compiled into the folder."""
    source = Path(__file__).parent / f"{name}.c"
    subprocess.run(["cc", "-O2", "-o", folder / name, source, *options], check=True)
    return str(folder / name)
