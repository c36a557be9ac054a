"""The daemon's memory has a bound, however greedy its clients are. MemoryMax is based on it."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from support.attack_table import AttackTable
from support.checkout import CHECKOUT, ENVIRONMENT
from support.local_daemon import LocalDaemon, write_recording

pytestmark = pytest.mark.attack

GREED = CHECKOUT / "Tests/Adversary/greed.py"

# How many seconds to search for other shapes of calls, besides those that are known to cost most.
SECONDS = float(os.environ.get("KEYMODED_SEARCH_SECONDS", "0"))

# At most 64 MB with all clients connected, and 8 MB after they have gone.
MOST_KIB = 64_000_000 // 1024
MOST_LEFT_KIB = 8_000_000 // 1024


def test_memory_with_512_greedy_clients_has_a_bound(tmp_path: Path, told: AttackTable) -> None:
    recording = tmp_path / "recording.evemu"
    # More changes than are kept, without waiting.
    write_recording(recording, 10)
    daemon = LocalDaemon(tmp_path, "--recording", recording, "--speed", "max")
    try:
        ended = subprocess.run(
            [sys.executable, GREED, tmp_path, str(daemon.pid), str(SECONDS)],
            env=ENVIRONMENT,
            capture_output=True,
            text=True,
            timeout=SECONDS + 300,
            check=False,
        )
        assert ended.returncode == 0, ended.stderr
        assert daemon.pid
    finally:
        daemon.kill()
    *lines, last = ended.stdout.splitlines()
    print(*lines, sep="\n")
    found = json.loads(last)
    told(
        "take memory",
        found["tried"] * 512,
        f"{found['worst_kib']} KiB anonymous at most, {found['left_kib']} KiB afterwards",
    )
    assert found["worst_kib"] <= MOST_KIB, found["shape"]
    assert found["left_kib"] <= MOST_LEFT_KIB
