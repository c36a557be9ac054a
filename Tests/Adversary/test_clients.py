"""Whatever other clients do, the innocent subscriber gets every change, and gets it in time."""

import contextlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import attacks
import pytest
from connection import Connection
from local_daemon import Daemon, write_recording
from innocent import Innocent

pytestmark = pytest.mark.attack

# How long each attack lasts.
SECONDS = float(os.environ.get("KEYMODED_ATTACK_SECONDS", "3"))

# A busy host delays everybody now and then; a fault of the daemon shows every time.
ATTEMPTS = 5

# What delay under attack may be, in terms of the worst without one.
FACTOR = 3.0

# More than all attacks and the quiet between them take, if each needs every attempt.
LONGEST = 60 + len(attacks.ATTACKS) * ATTEMPTS * (2 * SECONDS + 2)


@dataclass
class Scene:
    """The daemon, and who watches how it does."""

    daemon: Daemon
    innocent: Innocent
    quiet: list[int] = field(default_factory=list)

    def delays(self, begin: int, end: int) -> list[int]:
        """How late each change came between two marks, having checked that none is missing."""
        noted = self.innocent.since(begin, end)
        assert noted, "no change came"
        numbers = [number for number, _ in noted]
        assert numbers == list(range(numbers[0], numbers[0] + len(numbers)))
        return [late for _, late in noted]

    def watch_in_quiet(self, seconds: float) -> None:
        """Lets nobody do anything for a while, and notes how late changes come then."""
        begin = self.innocent.mark()
        time.sleep(seconds)
        self.quiet.append(max(self.delays(begin, self.innocent.mark())))

    @property
    def allowed(self) -> float:
        """The worst delay that is acceptable, in microseconds."""
        return FACTOR * max(self.quiet)


@contextlib.contextmanager
def followed(
    folder: Path, recording: Path, files: int | None = None
) -> Iterator[tuple[Daemon, Innocent]]:
    """A daemon that plays a recording, and the innocent subscriber that follows it."""
    with contextlib.ExitStack() as undo:
        daemon = Daemon(folder, recording, files=files)
        undo.callback(daemon.kill)
        innocent = Innocent(daemon.state_socket, folder / "notes")
        undo.callback(innocent.stop)
        yield daemon, innocent


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    """A daemon that makes 200 changes a second, and the innocent subscriber."""
    folder = tmp_path_factory.mktemp("scene")
    recording = folder / "recording.evemu"
    write_recording(recording, LONGEST)
    with followed(folder, recording) as (daemon, innocent):
        scene = Scene(daemon, innocent)
        scene.watch_in_quiet(SECONDS)
        yield scene
        # From the first change to the last, over all attacks.
        scene.delays(0, innocent.mark())
        assert daemon.is_running
        assert daemon.stop() == 0


def attack(name: str, scene: Scene) -> attacks.Result:
    """Attacks for a while, in another process."""
    ended = subprocess.run(
        [sys.executable, attacks.__file__, name, scene.daemon.folder, str(SECONDS)],
        capture_output=True,
        text=True,
        timeout=SECONDS + 60,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    return attacks.Result(**json.loads(ended.stdout.splitlines()[-1]))


@pytest.mark.parametrize("name", attacks.ATTACKS)
def test_innocent_subscriber_loses_nothing(
    scene: Scene, name: str, told: Callable[..., None]
) -> None:
    worst, attempt = 0, 0
    while attempt == 0 or (worst > scene.allowed and attempt < ATTEMPTS):
        attempt += 1
        begin = scene.innocent.mark()
        result = attack(name, scene)
        end = scene.innocent.mark()
        assert result.count > 0
        assert not result.amiss
        worst = max(scene.delays(begin, end))
        # The worst of more is worse, so quiet is watched for as long.
        scene.watch_in_quiet(SECONDS)
    ratio = worst / max(scene.quiet)
    told(
        name.replace("_", " "),
        result.count,
        f"{'served' if worst <= scene.allowed else 'late'}, {scene.daemon.resident_kib} KiB",
        delay=f"{worst / 1000:.1f} ms, {ratio:.1f} of the quiet worst"
        + (f", attempt {attempt}" if attempt > 1 else ""),
    )
    assert worst <= scene.allowed
    wait_until(lambda: scene.daemon.clients == 1, "the attackers are gone")


def wait_until(holds: Callable[[], bool], what: str) -> None:
    """Waits until something is so, for at most half a minute."""
    deadline = time.monotonic() + 30
    while not holds():
        assert time.monotonic() < deadline, f"never: {what}"
        time.sleep(0.01)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root sees how many descriptors are taken")
def test_without_descriptors_left_it_waits_instead_of_spinning(
    tmp_path: Path, told: Callable[..., None]
) -> None:
    recording = tmp_path / "recording.evemu"
    write_recording(recording, 120)
    with followed(tmp_path, recording, files=64) as (daemon, innocent):
        held = [attacks.silent_socket(daemon.state_socket) for _ in range(200)]
        wait_until(lambda: daemon.open_files == 64, "all descriptors are taken")
        begin, cpu = innocent.mark(), daemon.cpu_seconds
        time.sleep(SECONDS)
        used = daemon.cpu_seconds - cpu
        noted = innocent.since(begin, innocent.mark())
        numbers = [number for number, _ in noted]
        assert numbers == list(range(numbers[0], numbers[0] + len(numbers)))
        # 200 changes a second take a few hundredths; spinning would take all.
        assert used < SECONDS / 4
        for client in held:
            client.close()
        wait_until(lambda: daemon.open_files < 20, "those who have gone are let go")
        later = Connection(daemon.state_socket)
        assert later.call("GetState")["state"]["sequence"] > 0
        later.close()
        worst = max(late for _, late in noted) / 1000
        told(
            "take all descriptors",
            200,
            f"waits, {100 * used / SECONDS:.0f} % of a processor",
            delay=f"{worst:.1f} ms",
        )
