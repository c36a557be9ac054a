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
from typing import Any

from markdown import ranged, table
from measure import compiled
from plot import Panel, plot
from pressing import Pressing, busy, listening
from spread import Spread
from support.fifo_keyboard import FifoKeyboard
from support.waiting import wait_until

# The programs, as readers call them.
NAMES = {
    "keymoded": "keymoded",
    "keyd": "keyd",
    "calls": "C with its calls",
    "relay": "relay",
}
RELAYS = {"relay": [], "calls": ["keymoded"]}
# How many programs never rest meanwhile, and the microseconds before each press.
LOADS = {"idle": 0, "busy": 1}
HEADINGS = {"idle": "idle", "busy": "one processor busy"}
PAUSES = (15_000, 2_000)
# Each load and pause, and what readers call the two.
CONDITIONS = [
    (load, pause, f"{heading}, {pause // 1000} ms apart")
    for load, heading in HEADINGS.items()
    for pause in PAUSES
]
# Presses for each program in each round.
SAMPLES = 150
# As in keymoded's unit; keyd takes -20 itself.
PRIORITY = ["nice", "-n", "-15"]

SUITE = "trixie"
KEYD = "/usr/bin/keyd.rvaiya"
KEYD_SOCKET = Path("/var/run/keyd.socket")
# What keyd writes into its virtual keyboards goes nowhere. The mount ends with keyd.
RUN_KEYD = 'mount --bind /dev/null "$0/dev/uinput" && exec chroot "$0" ' + KEYD
KEYD_CONFIGURATION = "[ids]\n*\n[main]\nleftshift = toggle(bench)\n[bench]\n"


def measure(programs: Path, runs: int, sizes: list[int]) -> dict[str, object]:
    """The times with idle and with busy processors, at two paces."""
    if os.geteuid() != 0:
        raise PermissionError("needs root, for keyd's folder and for a real-time priority")
    result: dict[str, object] = {"unit": "microseconds", "samples_per_round": SAMPLES}
    with contextlib.ExitStack() as undo:
        temporary = tempfile.TemporaryDirectory(prefix="keymoded-bench-")
        folder = Path(undo.enter_context(temporary))
        keyboard = undo.enter_context(FifoKeyboard(folder))
        keyd = unpacked_keyd(folder, keyboard)
        result["keyd"] = subprocess.check_output(["chroot", keyd, KEYD, "-v"], text=True).strip()
        fifos = {name: folder / f"{name}.fifo" for name in RELAYS}
        fifos |= {"keymoded": keyboard.path, "keyd": keyd / "dev/input/event0"}
        for fifo in {*fifos.values()} - {keyboard.path}:
            os.mkfifo(fifo)
        pressing = Pressing(Path(compiled(folder, "latency")), NAMES, fifos)
        undo.callback(pressing.end)
        pressing.connect(started(programs, folder, fifos, keyboard, undo))
        pressing.measure(1, 20, max(PAUSES))
        for load, loops in LOADS.items():
            with busy(loops):
                result[load] = {
                    str(pause): pressing.measure(runs, SAMPLES, pause) for pause in PAUSES
                }
    return result


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
    processes: dict[str, subprocess.Popen[bytes]] = {}

    def start(name: str, command: list[str], environment: Mapping[str, str] = {}) -> None:
        process = subprocess.Popen(
            command,
            env=os.environ | environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        undo.callback(process.wait)
        undo.callback(process.kill)
        processes[name] = process

    relay = compiled(folder, "relay")
    for name, options in RELAYS.items():
        start(name, [*PRIORITY, relay, str(fifos[name]), f"{folder}/{name}.sock", *options])
    settings = folder / "keymoded.yaml"
    settings.touch()
    command = [str(programs / "keymoded"), "--config", str(settings), "--socket-dir", str(folder)]
    start(
        "keymoded",
        [*PRIORITY, *command, "--device", str(keyboard.path)],
        keyboard.environment,
    )
    start("keyd", ["unshare", "--mount", "sh", "-c", RUN_KEYD, str(folder / "keyd")])
    for name, process in processes.items():
        wait_until(lambda: follows(process, fifos[name]), f"{name} to follow its keyboard")
    listening(KEYD_SOCKET)
    return {
        "keymoded": f"varlink {listening(folder / 'state.sock')}",
        "keyd": f"keyd {folder}/keyd{KEYD_SOCKET}",
    } | {name: f"lines {listening(folder / f'{name}.sock')}" for name in RELAYS}


def follows(process: subprocess.Popen[bytes], fifo: Path) -> bool:
    """Whether the process has the FIFO open."""
    if process.poll() is not None:
        raise RuntimeError(f"{process.args} has ended")
    descriptors = Path(f"/proc/{process.pid}/fd")
    for descriptor in descriptors.iterdir():
        # The program opens and closes others meanwhile.
        with contextlib.suppress(FileNotFoundError):
            if descriptor.samefile(fifo):
                return True
    return False


def spread(result: Mapping[str, Any], load: str, pause: int, name: str, what: str) -> Spread:
    """A figure of a program over all rounds, in microseconds."""
    return Spread.of_rounds(result[load][str(pause)][name], what)


def ratios(result: Mapping[str, Any], peer: str, what: str) -> list[float]:
    """How many times as long keymoded takes as another program, for each load and pause."""
    medians = [
        [spread(result, load, pause, name, what).median for name in ("keymoded", peer)]
        for load, pause, _ in CONDITIONS
    ]
    return [ours / theirs for ours, theirs in medians]


def tables(result: Mapping[str, Any]) -> dict[str, str]:
    """A table of the times."""
    return {
        "times": table(
            ("", "", *NAMES.values(), "keymoded / keyd", "keymoded / relay"),
            (
                (
                    heading,
                    what,
                    *(ranged(spread(result, load, pause, name, what)) for name in NAMES),
                    *(f"{ratios(result, peer, what)[place]:.2f}" for peer in ("keyd", "relay")),
                )
                for place, (load, pause, heading) in enumerate(CONDITIONS)
                for what in ("p50", "p99")
            ),
        )
    }


def picture(result: Mapping[str, Any]) -> str:
    """A plot of the median and the slow presses of each program, for each load and pause."""
    panels = [
        Panel.of_latencies(heading, result[load][str(pause)], NAMES)
        for load, pause, heading in CONDITIONS
    ]
    return plot(
        "From a key to a client",
        "Times from a press until a client has read of it, for keymoded, keyd and two relays.",
        "microseconds",
        ("p50", "p99"),
        panels,
    )
