"""examples/corpus/corpus.py with two real workers, one of which is killed while it replays a batch."""

import csv
import json
import os
import random
import select
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import psutil
import pytest
from support.checkout import CHECKOUT, PROGRAMS
from support.input_events import COMPOSE, ESC, INSERT, LEFTSHIFT, SCROLLLOCK, evemu_line
from support.waiting import BOUND_SECONDS, wait_until

KEYMODECTL = str(PROGRAMS / "keymodectl")
PROGRAM = CHECKOUT / "examples/corpus/corpus.py"
LETTER_A = 30
LOOPBACK = ("127.0.0.1", "::1")

# Three batches of corpus.py: one for each worker, and one more. Copies keep the tests quick.
SESSIONS, COPIES = 40, 30

# What workers start as keymodectl: the first call tells its worker, and waits until that is killed.
DELAYED = """#!/bin/sh
echo call >>"$FOLDER/calls"
if mkdir "$FOLDER/first" 2>/dev/null; then
  echo $PPID >"$FOLDER/worker"
  read -r _ <"$FOLDER/killed"
fi
exec "$KEYMODECTL" "$@"
"""


class Session:
    """A process, and everything that it starts."""

    def __init__(self, command: list[str], environment: dict[str, str], **streams: object) -> None:
        self.process = subprocess.Popen(
            command,
            env=os.environ | environment,
            start_new_session=True,
            preexec_fn=lambda: os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:2]),
            **streams,
        )

    def members(self) -> list[psutil.Process]:
        """The processes of the session that are running."""
        found = []
        for process in psutil.process_iter():
            try:
                if os.getsid(process.pid) == self.process.pid:
                    found.append(process)
            except (ProcessLookupError, PermissionError):
                continue
        return [
            each for each in found if each.pid != self.process.pid or self.process.poll() is None
        ]

    def __enter__(self) -> "Session":
        return self

    def __exit__(self, *_: object) -> None:
        for member in self.members():
            member.kill()
        self.process.wait()


@pytest.fixture(scope="module")
def recordings(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of recordings, some in a folder of their own, and some with odd names."""
    folder = tmp_path_factory.mktemp("recordings")
    (folder / "more").mkdir()
    chance = random.Random(20261122)
    for session in range(SESSIONS):
        lines = ["# EVEMU 1.3\n", "N: a keyboard\n"]
        time = chance.randrange(1, 10**12)
        # The LEDs of some sessions change locks, which the answer leaves out.
        lines += ["L: 01 1\n"] if session % 3 == 1 else []
        # The first session has no changes at all.
        for _ in range(session):
            key = chance.choice([COMPOSE, ESC, INSERT, LEFTSHIFT, SCROLLLOCK, LETTER_A])
            for value in (1, 0):
                time += chance.randrange(1, 10**7)
                led = [evemu_line(time, 0x11, 1, value)] if session % 3 == 1 else []
                lines += [evemu_line(time, 1, key, value), *led, evemu_line(time, 0, 0, 0)]
        for copy in range(COPIES):
            name = ["%d-%d", "more/%d-%d", '%d "%d"', "%d\n%d é", "%d\\%d"][copy % 5]
            (folder / (name % (session, copy))).write_text("".join(lines))
    (folder / "more/empty").touch()
    (folder / "more/damaged").write_text("# EVEMU 1.3\nE: 1.0 0001 zz\n")
    return folder


@pytest.fixture(scope="module")
def expected(recordings: Path) -> dict[tuple[str, str], int]:
    """Microseconds by file and state, from the output of one replay for each session."""
    times: dict[tuple[str, str], int] = {}
    alike: dict[bytes, list[Path]] = {}
    for path in recordings.rglob("*"):
        if path.is_file() and path.name not in ("empty", "damaged"):
            alike.setdefault(path.read_bytes(), []).append(path)
    assert len(alike) == SESSIONS
    for paths in alike.values():
        command = [KEYMODECTL, "replay", "--json", str(paths[0])]
        output = subprocess.run(command, check=True, capture_output=True).stdout
        changes = [json.loads(line) for line in output.splitlines()]
        changes = [change for change in changes if change.get("machine") == "keyboard"]
        for change, following in zip(changes, changes[1:], strict=False):
            for path in paths:
                key = (str(path), change["to"])
                times[key] = times.get(key, 0) + following["time"] - change["time"]
    return times


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """The environment of workers, with the keymodectl that waits."""
    (tmp_path / "bin").mkdir()
    delayed = tmp_path / "bin/keymodectl"
    delayed.write_text(DELAYED)
    delayed.chmod(0o755)
    os.mkfifo(tmp_path / "worker")
    os.mkfifo(tmp_path / "killed")
    return {
        "PATH": f"{tmp_path}/bin:{os.environ['PATH']}",
        "FOLDER": str(tmp_path),
        "KEYMODECTL": KEYMODECTL,
        "TMPDIR": str(tmp_path),
    }


@pytest.fixture(params=["workers of its own", "a cluster"])
def scheduler(
    request: pytest.FixtureRequest, tmp_path: Path, environment: dict[str, str]
) -> Iterator[tuple[list[str], list[Session]]]:
    """The arguments for corpus.py that name the scheduler, and the sessions of the cluster."""
    if request.param == "workers of its own":
        yield [], []
        return
    file = tmp_path / "scheduler.json"
    common = ["--scheduler-file", str(file), "--host", "127.0.0.1"]
    # Without a dashboard, its port would still be open, and on every address.
    common += ["--no-dashboard", "--dashboard-address", "127.0.0.1:0"]

    def command(name: str, *options: str) -> list[str]:
        return [sys.executable, "-m", f"distributed.cli.dask_{name}", *common, *options]

    with ExitStack() as stack:
        log = stack.enter_context((tmp_path / "cluster.log").open("wb"))
        sessions = [
            stack.enter_context(
                Session(command("scheduler", "--port", "0"), environment, stderr=log)
            )
        ]
        wait_until(file.exists, "the scheduler")
        for _ in range(2):
            options = ["--nthreads", "1", "--nworkers", "1", "--no-nanny"]
            sessions.append(
                stack.enter_context(Session(command("worker", *options), environment, stderr=log))
            )
        text = (tmp_path / "cluster.log").read_text
        wait_until(lambda: text().count("Registered to") >= 2, "two workers")
        yield [json.loads(file.read_text())["address"]], sessions


def test_the_answer_is_complete_though_a_worker_is_killed(
    recordings: Path,
    expected: dict[tuple[str, str], int],
    scheduler: tuple[list[str], list[Session]],
    environment: dict[str, str],
    tmp_path: Path,
) -> None:
    address, cluster = scheduler
    command = [sys.executable, str(PROGRAM), str(recordings), str(tmp_path / "results"), *address]
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    telling = os.open(tmp_path / "worker", os.O_RDONLY | os.O_NONBLOCK)
    with os.fdopen(telling) as told, Session(command, environment, **streams) as program:
        assert select.select([told], [], [], BOUND_SECONDS)[0], "no worker has begun"
        worker = int(told.readline())
        members = {each.pid for session in (program, *cluster) for each in session.members()}
        assert worker in members
        listening = [
            connection.laddr.ip
            for connection in psutil.net_connections("inet")
            if connection.status == psutil.CONN_LISTEN and connection.pid in members
        ]
        assert listening
        assert set(listening) <= set(LOOPBACK)
        os.kill(worker, signal.SIGKILL)
        (tmp_path / "killed").write_text("killed\n")
        output, errors = program.process.communicate(timeout=BOUND_SECONDS)
        wait_until(lambda: not program.members(), "the end of everything that the program started")
    assert program.process.returncode == 4, errors
    assert f"{recordings}/more/empty: not a recording" in errors
    assert f"{recordings}/more/damaged:2: " in errors
    rows = list(csv.DictReader(output.splitlines(keepends=True)))
    answer = {(row["file"], row["state"]): round(float(row["seconds"]) * 1e6) for row in rows}
    assert answer == expected
    assert len(rows) == len(expected) > 1000
    calls = (tmp_path / "calls").read_text().splitlines()
    assert len(calls) == 4, "three batches, and that of the killed worker again"
    assert len(list((tmp_path / "results").iterdir())) == 3


def test_results_of_before_and_a_folder_without_files_are_refused(
    tmp_path: Path, recordings: Path
) -> None:
    (tmp_path / "empty").mkdir()
    for arguments, problem in (
        ([recordings, tmp_path / "empty"], f"{tmp_path}/empty exists already\n"),
        ([tmp_path / "empty", tmp_path / "results"], f"{tmp_path}/empty has no files\n"),
    ):
        command = [sys.executable, str(PROGRAM), *map(str, arguments)]
        ended = subprocess.run(command, check=False, capture_output=True, text=True)
        assert (ended.returncode, ended.stdout, ended.stderr) == (1, "", problem)
    assert [path.name for path in tmp_path.iterdir()] == ["empty"]
