"""Switches that bounce, and a Shift that nobody uses, on a real kernel with the daemon's timer."""

import json
import random
from collections.abc import Iterator

import pytest
import recorder
import service
from recorder import record
from recordings import changes_in, replay, typing
from service import CONFIGURATION, Watch, configure
from vm import VirtualMachine


@pytest.fixture
def guest(installed: VirtualMachine) -> Iterator[VirtualMachine]:
    """The guest, at the end with a service that has no configuration, and is stopped."""
    with service.cleared_away(installed):
        yield installed


def start(guest: VirtualMachine, configuration: str) -> None:
    configure(guest, configuration)
    service.restart(guest)


@pytest.mark.parametrize("trigger", ["press", "tap"])
def test_recordings_replay_to_what_the_daemon_told(guest: VirtualMachine, trigger: str) -> None:
    # As long as a bounce may be, so that some of the typing is.
    start(guest, f"shift: {{ timeout: 200ms, trigger: {trigger} }}\ndebounce: 100ms\n")
    options = f"--config {CONFIGURATION}"
    tools = [tool.with_options(options) for tool in (recorder.KEYMODECTL, recorder.REDACTED)]
    watch = Watch(guest)
    # A recording ends with its last event: nothing must be due after that.
    script = typing(random.Random(7), 60)
    bounces = "; ".join(["tap shift 30; wait 40; tap shift 30; wait 300"] * 5)
    recordings = record(guest, f"{script}; {bounces}; tap a 20", tools)
    live = watch.rest(guest)[:-1]
    assert len(live) > 10
    assert "timedOut" in {change["event"] for change in live}
    used = str(guest.shared / "keymoded.yaml")
    for recording in recordings:
        assert changes_in(recording.path, "--config", used) == live
        counted = replay(recording.path, "--config", used, "--stats").stdout.splitlines()[-1]
        assert json.loads(counted)["stats"]["bounces"] > 3


def test_unused_shift_is_off_at_its_microsecond(guest: VirtualMachine) -> None:
    start(guest, "shift: { timeout: 300ms }\n")
    watch = Watch(guest)
    guest.play("tap shift")
    on, off = watch.changes(2)
    assert (on["to"], off["to"], off["event"]) == ("on", "off", "timedOut")
    assert off["time"] - on["time"] == 300_000
    state = service.state(guest)
    assert state["time"] > off["time"]
    # With nothing due, nothing wakes the daemon: the watchdog does twice a minute.
    switches = "grep -h ctxt /proc/$(systemctl show --value -p MainPID keymoded)/task/*/status"
    before, after = guest.run(f"{switches}; sleep 3; echo; {switches}").stdout.split("\n\n")
    moved = [sum(int(line.split()[1]) for line in part.splitlines()) for part in (before, after)]
    assert moved[1] - moved[0] <= 2


def test_restart_forgets_no_time(guest: VirtualMachine) -> None:
    start(guest, "shift: { timeout: 8s }\n")
    watch = Watch(guest)
    guest.play("tap shift")
    (on,) = watch.changes(1)
    guest.run("systemctl restart keymoded")
    assert service.state(guest)["shift"] == "on", "or it would prove nothing"
    guest.run("keymodectl wait shift=off --timeout 20")
    assert service.state(guest)["shiftSince"] - on["time"] == 8_000_000


def test_late_daemon_judges_by_the_kernels_stamps(guest: VirtualMachine) -> None:
    start(guest, "shift: { timeout: 5s }\n")
    watch = Watch(guest)
    signal = "systemctl kill --kill-whom=main --signal"
    guest.play("tap shift")
    (on,) = watch.changes(1)
    guest.run(f"{signal} STOP keymoded")
    try:
        guest.play("tap a")
        # Until the timeout is over, while the character waits to be read.
        guest.run("sleep 6")
    finally:
        guest.run(f"{signal} CONT keymoded")
    (off,) = watch.changes(1)
    assert off["event"] == "characterTyped"
    assert off["time"] - on["time"] < 5_000_000
