"""A subscriber gets every change in time, whatever other clients do."""

import contextlib
import os
import resource
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import attacks
import pytest
from asker import Asker
from innocent import Innocent
from support.attack_table import AttackTable
from support.connection import Connection
from support.local_daemon import LocalDaemon, take_time_from_others, write_recording
from support.process import Process
from support.waiting import BOUND_SECONDS, wait_until
from target import silent_socket

pytestmark = pytest.mark.attack

# How long each attack lasts.
SECONDS = float(os.environ.get("KEYMODED_ATTACK_SECONDS", "3"))

# The machine delays processes now and then; a fault of the daemon shows in every attempt.
ATTEMPTS = 5

LATEST_US = 1_000_000

# `keymodectl while` ends its command if no answer comes in twice this time.
LATEST_ANSWER_US = 250_000

# More than all attacks take, if each needs every attempt.
LONGEST = 60 + len(attacks.ATTACKS) * (
    ATTEMPTS * (SECONDS + 2) + attacks.PATIENCE_SECONDS
)


@dataclass
class Watched:
    """A daemon, and the innocent subscriber that watches it."""

    folder: Path
    daemon: LocalDaemon
    innocent: Innocent

    @property
    def process(self) -> Process:
        """The daemon's process."""
        return Process(self.daemon.pid)

    def worst_delay(self, begin: int) -> int:
        """The worst delay of the changes since a mark, in microseconds; none may be missing."""
        wait_until(lambda: self.innocent.mark() > begin, "another change")
        noted = self.innocent.since(begin, self.innocent.mark())
        assert_gapless(noted)
        return max(late for _, late in noted)

    def worst_under(self, name: str) -> tuple[int, int]:
        """Attacks for a while, in another process; returns how often, and the worst delay."""
        begin = self.innocent.mark()
        count = attacks.attack(name, self.folder, SECONDS)
        return count, self.worst_delay(begin)


def assert_gapless(noted: list[tuple[int, int]]) -> None:
    """Asserts that no change is missing."""
    numbers = [number for number, _ in noted]
    assert numbers == list(range(numbers[0], numbers[0] + len(numbers)))


@contextlib.contextmanager
def followed(folder: Path, recording: Path, files: int | None = None) -> Iterator[Watched]:
    """A daemon that plays a recording, and the innocent subscriber that follows it."""
    with contextlib.ExitStack() as undo:

        def prepare() -> None:
            take_time_from_others()
            if files is not None:
                resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))

        daemon = LocalDaemon(folder, "--recording", recording, "--speed", "1", prepare=prepare)
        undo.callback(daemon.kill)
        innocent = Innocent(daemon.state_socket, folder / "notes")
        undo.callback(innocent.stop)
        yield Watched(folder, daemon, innocent)


@pytest.fixture(scope="module")
def watched(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Watched]:
    """A daemon that makes 200 changes a second."""
    folder = tmp_path_factory.mktemp("target")
    write_recording(folder / "recording.evemu", LONGEST)
    with followed(folder, folder / "recording.evemu") as watched:
        yield watched
        # From the first change to the last, over all attacks.
        assert_gapless(watched.innocent.all())
        assert watched.daemon.close() == 0


@pytest.mark.parametrize("name", attacks.ATTACKS)
def test_innocent_subscriber_gets_every_change_in_time(
    watched: Watched, name: str, told: AttackTable
) -> None:
    for _ in range(ATTEMPTS):
        count, worst = watched.worst_under(name)
        assert count > 0
        if worst < LATEST_US:
            break
    memory = f"{watched.process.resident_kib()} KiB"
    told(name.replace("_", " "), count, memory, delay=f"{worst / 1000:.1f} ms")
    assert worst < LATEST_US
    wait_until(lambda: watched.daemon.clients() == 1, "the attackers to be gone")


@pytest.mark.parametrize("name", [attack.__name__ for attack in attacks.CROWDS])
def test_answers_come_in_time_on_open_and_new_connections(
    tmp_path: Path, name: str, told: AttackTable
) -> None:
    """The daemon has no priority over the attackers here, unlike the service."""
    recording = tmp_path / "recording.evemu"
    write_recording(recording, LONGEST)
    daemon = LocalDaemon(tmp_path, "--recording", recording, "--speed", "1")
    try:
        for _ in range(ATTEMPTS):
            with Asker(daemon.state_socket, tmp_path / "notes") as asker:
                count = attacks.attack(name, tmp_path, SECONDS, "--normal")
            worst = {kind: max(times) for kind, times in asker.answers().items()}
            if max(worst.values()) < LATEST_ANSWER_US:
                break
        # All were served: connections on which no call has come make room.
        assert set(worst) == {"open", "new"}
        assert max(worst.values()) < LATEST_ANSWER_US
        outcome = f"answers in {worst['open'] / 1000:.1f} ms, {worst['new'] / 1000:.1f} ms if new"
        told(name.replace("_", " ") + ", at normal priority", count, outcome)
    finally:
        daemon.close()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root sees how many descriptors are taken")
def test_daemon_without_free_descriptors_waits_and_does_not_spin(
    tmp_path: Path, told: AttackTable
) -> None:
    recording = tmp_path / "recording.evemu"
    write_recording(recording, 3 * BOUND_SECONDS + SECONDS)
    with followed(tmp_path, recording, files=64) as watched:
        daemon, innocent = watched.process, watched.innocent
        held = [silent_socket(watched.daemon.state_socket) for _ in range(200)]
        wait_until(lambda: daemon.descriptors() == 64, "all descriptors to be taken")
        mark, cpu, begin = innocent.mark(), daemon.cpu_seconds(), time.monotonic()
        time.sleep(SECONDS)
        share = (daemon.cpu_seconds() - cpu) / (time.monotonic() - begin)
        worst = watched.worst_delay(mark)
        # 200 changes a second take a few hundredths of a processor; spinning would take all of it.
        assert share < 1 / 4
        for client in held:
            client.close()
        wait_until(lambda: daemon.descriptors() < 20, "closed connections to be released")
        with Connection(watched.daemon.state_socket) as later:
            assert later.call("GetState")["state"]["sequence"] > 0
        told(
            "take all descriptors",
            200,
            f"waits, {100 * share:.0f} % of a processor",
            delay=f"{worst / 1000:.1f} ms",
        )
