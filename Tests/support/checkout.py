"""Where this checkout is, and how other Python processes import the modules of its tests."""

import os
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[2]

# The programs under test.
PROGRAMS = Path(os.environ.get("KEYMODED_PROGRAMS", CHECKOUT / ".build/release"))

# The environment of a Python process that imports this package.
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(CHECKOUT / "Tests")}
