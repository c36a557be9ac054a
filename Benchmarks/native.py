"""How soon after a key clients have its change, beside other programs, on this machine itself.

The programs read FIFOs instead of keyboards, and `fifo_keyboard.c` answers what programs ask a
device. So no device of the machine is touched. What the kernel does between an interrupt and the
device's buffer is left out, for all programs alike. keyd is that of Debian 13: it runs in a folder of
its own with its own libraries, because its package would start it on this machine's keyboards.
"""

import contextlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path

from figures import Rounds, with_ratio
from peers import compiled
from pressing import Pressing, busy
from support.fifo_keyboard import FifoKeyboard

NAMES = ("keymoded", "keyd", "relay")
# How many programs never rest meanwhile, and the microseconds before each press.
LOADS = {
    "idle, a key each 15 ms": (0, 15_000),
    "idle, each 2 ms": (0, 2_000),
    "one of two processors busy, each 15 ms": (1, 15_000),
    "busy, each 2 ms": (1, 2_000),
}
# Presses for each program in each round.
SAMPLES = 150
# As in keymoded's unit; keyd takes -20 itself.
PRIORITY = ["nice", "-n", "-15"]

SUITE = "trixie"
# What keyd writes into its virtual keyboards goes nowhere. The mount ends with keyd.
RUN_KEYD = 'mount --bind /dev/null "$0/dev/uinput" && exec chroot "$0" /usr/bin/keyd.rvaiya'
KEYD_CONFIGURATION = "[ids]\n*\n[main]\nleftshift = toggle(bench)\n[bench]\n"


def measure(programs: Path, runs: int) -> Rounds:
    """The times with idle processors, and with a busy one."""
    if os.geteuid() != 0:
        raise PermissionError("needs root, for keyd's folder and for a real-time priority")
    found: Rounds = {}
    with contextlib.ExitStack() as undo:
        temporary = tempfile.TemporaryDirectory(prefix="keymoded-bench-")
        folder = Path(undo.enter_context(temporary))
        keyboard = undo.enter_context(FifoKeyboard(folder))
        keyd = unpacked_keyd(folder, keyboard)
        fifos = {"keymoded": keyboard.path, "keyd": keyd / "dev/input/event0"}
        fifos |= {"relay": folder / "relay.fifo"}
        os.mkfifo(fifos["keyd"])
        os.mkfifo(fifos["relay"])
        pressing = Pressing(Path(compiled(folder, "latency")), NAMES, fifos)
        undo.callback(pressing.end)
        pressing.connect(started(programs, folder, fifos, keyboard, undo))
        for load, (loops, pause) in LOADS.items():
            with busy(loops):
                found |= pressing.measure(load, runs, SAMPLES, pause)
    return with_ratio(with_ratio(found, "keymoded", "keyd"), "keymoded", "relay")


def unpacked_keyd(folder: Path, keyboard: FifoKeyboard) -> Path:
    """A folder with Debian 13's keyd and what it loads, which takes a FIFO for a keyboard."""
    root = folder / "keyd"
    options = ["--mode=root", "--variant=extract", "--include=keyd", "--quiet"]
    subprocess.run(["mmdebstrap", *options, SUITE, root], check=True)
    for name in ("lib", "lib64"):
        (root / name).symlink_to(f"usr/{name}")
    for path in ("dev/input", "etc/keyd", "var/run"):
        (root / path).mkdir(parents=True, exist_ok=True)
    (root / "dev/uinput").touch()
    (root / "etc/keyd/bench.conf").write_text(KEYD_CONFIGURATION, encoding="utf-8")
    shutil.copy(keyboard.library, root)
    (root / "etc/ld.so.preload").write_text(f"/{keyboard.library.name}\n", encoding="utf-8")
    return root


def started(
    programs: Path,
    folder: Path,
    fifos: Mapping[str, Path],
    keyboard: FifoKeyboard,
    undo: contextlib.ExitStack,
) -> dict[str, str]:
    """Starts all that is measured, and returns for each where its changes can be read."""

    def start(command: list[str], environment: Mapping[str, str] = {}) -> None:
        process = subprocess.Popen(
            command,
            env=os.environ | environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        undo.callback(process.wait)
        undo.callback(process.kill)

    relay = compiled(folder, "relay")
    start([*PRIORITY, relay, str(fifos["relay"]), f"{folder}/relay.sock"])
    settings = folder / "keymoded.yaml"
    settings.touch()
    command = [str(programs / "keymoded"), "--config", str(settings), "--socket-dir", str(folder)]
    start([*PRIORITY, *command, "--device", str(keyboard.path)], keyboard.environment)
    start(["unshare", "--mount", "sh", "-c", RUN_KEYD, str(folder / "keyd")])
    return {
        "keymoded": f"varlink {folder}/state.sock",
        "keyd": f"keyd {folder}/keyd/var/run/keyd.socket",
        "relay": f"lines {folder}/relay.sock",
    }
