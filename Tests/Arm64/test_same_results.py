"""The programs of the arm64 package, emulated, give the same bytes as those for this machine."""

import os
import subprocess
from pathlib import Path

import pytest
from package import ROOT, unpacked
from support.checkout import CHECKOUT, PROGRAMS
from support.connection import Connection, Message
from support.waiting import BOUND_SECONDS, wait_until

RECORDINGS = CHECKOUT / "Tests/RecordingsTests/Recordings"
CORPUS = CHECKOUT / "Tests/Fuzzing/Corpus"
# A recording, and how many changes its keys make.
DEMO, CHANGES = "examples/demo.evemu", 10
FORMATS = ("evemu", "evtest", "getevent", "libinput", "raw32", "raw64")


HERE = [f"{PROGRAMS}/"]


@pytest.fixture(scope="session")
def emulated() -> list[str]:
    """The beginning of a command line that runs a program of the package, to which its name is added."""
    return [f"{ROOT}/usr/bin/qemu-aarch64", "-L", str(ROOT), f"{unpacked()}/"]


def command(beginning: list[str], program: str, *words: str | Path) -> list[str]:
    return [*beginning[:-1], f"{beginning[-1]}{program}", *map(str, words)]


def outcome(arguments: list[str]) -> tuple[int, bytes, bytes]:
    """The exit status, the output and the errors of a program that ends."""
    ended = subprocess.run(
        arguments,
        cwd=CHECKOUT,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=BOUND_SECONDS,
        env={"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8"},
    )
    return ended.returncode, ended.stdout, ended.stderr


def expect_same(emulated: list[str], program: str, *words: str | Path) -> tuple[int, bytes, bytes]:
    """Runs both programs, which must do the same, and returns what they did."""
    here = outcome(command(HERE, program, *words))
    assert outcome(command(emulated, program, *words)) == here
    return here


def files(*folders: Path) -> list[str]:
    found = [path for folder in folders for path in folder.rglob("*") if path.is_file()]
    return sorted(str(path.relative_to(CHECKOUT)) for path in found)


def test_programs_are_for_arm64(emulated: list[str]) -> None:
    for name in ("keymoded", "keymodectl"):
        # e_machine of an ELF file; 183 is EM_AARCH64.
        header = Path(command(emulated, name)[-1]).read_bytes()[:20]
        assert (header[:4], int.from_bytes(header[18:], "little")) == (b"\x7fELF", 183)
        assert expect_same(emulated, name, "--version")[0] == 0
        assert expect_same(emulated, name, "--help")[0] == 0


@pytest.mark.parametrize(
    "path", [*files(RECORDINGS, *(CORPUS / name for name in FORMATS)), DEMO]
)
def test_replay_is_the_same(emulated: list[str], path: str) -> None:
    for options in ([], ["--json"]):
        expect_same(emulated, "keymodectl", "replay", *options, path)


def test_replay_of_an_example_has_its_changes(emulated: list[str]) -> None:
    status, changes, errors = expect_same(
        emulated, "keymodectl", "replay", "--json", DEMO
    )
    assert (status, errors, changes.count(b'"to"')) == (0, b"", CHANGES)


@pytest.mark.parametrize("path", files(CORPUS / "configuration", CHECKOUT / "data/recipes"))
def test_check_of_a_configuration_is_the_same(emulated: list[str], path: str) -> None:
    for option in ("--check", "--print-config"):
        expect_same(emulated, "keymoded", option, "--config", path)


@pytest.mark.parametrize("machine", ["shift", "keyboard", "caps", "num"])
@pytest.mark.parametrize("language", ["mermaid", "dot"])
def test_diagrams_are_the_same(emulated: list[str], machine: str, language: str) -> None:
    assert expect_same(emulated, "keymodectl", "graph", machine, "--format", language)[0] == 0


def told(beginning: list[str], folder: Path) -> tuple[list[Message], tuple[int, bytes, bytes]]:
    """The changes that a client is told of a recording, by time since the first, and what `state` does."""
    folder.mkdir()
    daemon = subprocess.Popen(
        command(beginning, "keymoded", "--recording", DEMO, "--speed", "max", "--socket-dir", folder),
        cwd=CHECKOUT,
        stdout=subprocess.DEVNULL,
    )
    try:
        socket = folder / "state.sock"
        wait_until(socket.exists, "the daemon's socket")
        with Connection(socket) as first:
            last = first.call("Monitor", more=True)["state"]
            while last["sequence"] < CHANGES:
                last = first.reply()["state"]
        printed = outcome(command(beginning, "keymodectl", "state", "--socket-dir", folder))
        with Connection(socket) as later:
            reply = later.call("Monitor", more=True, after=0, instance=last["instance"])
    finally:
        daemon.kill()
        daemon.wait()
    assert reply["missed"] == 0
    begin = reply["changes"][0]["time"]
    return [{**change, "time": change["time"] - begin} for change in reply["changes"]], printed


def test_client_of_a_recording_is_told_the_same(emulated: list[str], tmp_path: Path) -> None:
    here = told(HERE, tmp_path / "here")
    assert len(here[0]) == CHANGES
    assert here[1] == (0, b"shift     off\nkeyboard  prepareToEditText\n", b"")
    assert told(emulated, tmp_path / "emulated") == here
