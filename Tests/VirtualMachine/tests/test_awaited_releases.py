"""A release that is awaited is not lost by a reload, by `kill -9` or by the next daemon's start."""

from collections.abc import Iterator

import pytest
from harness import service
from harness.service import reload, wait_until_following
from harness.talking import (
    SILENT,
    end_grab,
    expect_one_stop,
    settled,
    start_grab,
    talk,
    talking_guest,
    usb_keyboard,
)
from harness.vm import VirtualMachine
from harness.watch import Watch
from support.push_to_talk import PUSH_TO_TALK, TABLE

guest = talking_guest


def test_reload_that_keeps_the_binding_keeps_talking(guest: VirtualMachine) -> None:
    before = talk(guest)
    reload(guest, f"shift: {{ threshold: 400ms }}\n{PUSH_TO_TALK}")
    assert settled(guest)["sequence"] == before["sequence"]
    guest.play("wait 500; up f9; wait 60")
    expect_one_stop(guest, before)


@pytest.mark.parametrize(
    "replacement",
    [
        TABLE,
        f"{TABLE}  bindings: {{ startTalking: [F9], stopTalking: [F10 release] }}\n",
        "devices: {}\n",
    ],
    ids=["nothing bound", "another key", "no table"],
)
def test_reload_that_unbinds_the_release_ends_talking(
    guest: VirtualMachine, replacement: str
) -> None:
    before = talk(guest)
    watch = Watch(guest)
    reload(guest, replacement)
    (stopped,) = watch.changes(1)
    assert (stopped["to"], stopped["event"]) == (SILENT, "stopTalking")
    guest.play("up f9; wait 60")
    expect_one_stop(guest, before)


@pytest.fixture
def gate(guest: VirtualMachine) -> Iterator[None]:
    """Lets a test hold the next daemon's start back, with the file /run/gate."""
    (guest.shared / "gate").write_text("while test -e /run/gate; do sleep 0.05; done\n")
    with service.settings(guest, "ExecStartPre=+/bin/sh /host/gate"):
        yield
        guest.run("rm -f /run/gate")


def kill(guest: VirtualMachine) -> None:
    """Kills the daemon, and waits until the next one follows the keyboard."""
    pid = service.main_pid(guest)
    guest.run("systemctl kill --signal KILL keymoded")
    shown = "systemctl show --value --property MainPID keymoded"
    guest.wait_until(f'pid=$({shown}); test "$pid" != 0 -a "$pid" != {pid}')
    wait_until_following(guest, 1)


def kill_and_close_gate(guest: VirtualMachine) -> None:
    """Kills the daemon, and holds the next one back."""
    guest.run("touch /run/gate; systemctl kill --signal KILL keymoded")
    guest.wait_until("pgrep -f '/bin/sh /host/gate'")


def test_release_before_the_next_daemon_ends_talking(guest: VirtualMachine, gate: None) -> None:
    before = talk(guest)
    kill_and_close_gate(guest)
    guest.play("up f9; wait 60")
    guest.run("rm /run/gate")
    expect_one_stop(guest, before)
    # Nothing is left for the daemon after that.
    kill(guest)
    assert settled(guest)["sequence"] == before["sequence"] + 1


def test_release_after_the_next_daemon_has_begun_ends_talking(guest: VirtualMachine) -> None:
    before = talk(guest)
    for _ in range(3):
        kill(guest)
        assert settled(guest)["sequence"] == before["sequence"], "the key is still down"
    # The kernel repeats it, or not: nothing starts anew.
    guest.play("wait 300; up f9; wait 60")
    expect_one_stop(guest, before)
    guest.play("tap f9 100; wait 60")
    assert settled(guest)["sequence"] == before["sequence"] + 3


def test_keyboard_unplugged_before_the_next_daemon_ends_talking(
    guest: VirtualMachine, gate: None
) -> None:
    with usb_keyboard(guest) as unplug:
        before = talk(guest)
        kill_and_close_gate(guest)
        unplug()
    guest.run("rm /run/gate")
    expect_one_stop(guest, before)


def test_next_daemon_finds_a_release_during_a_grab(guest: VirtualMachine) -> None:
    before = talk(guest)
    grabber = start_grab(guest)
    kill(guest)
    assert settled(guest)["sequence"] == before["sequence"]
    guest.play("up f9")
    grabber.read_lines(1)
    expect_one_stop(guest, before)
    end_grab(grabber)
