"""Debouncing and the timeout of Shift, on a real kernel with the daemon's timer."""

import json
import random
from collections.abc import Iterator

import pytest
from harness import recorder, service
from harness.recorder import KeyRecorder, record
from harness.recordings import changes_in, replay, typing
from harness.service import CONFIGURATION, configure
from harness.vm import PS2_KEYBOARD, VirtualMachine
from harness.watch import Watch


@pytest.fixture
def guest(installed: VirtualMachine) -> Iterator[VirtualMachine]:
    """The guest; at the end its service is stopped and has no configuration."""
    with service.cleared_away(installed):
        yield installed


def start(guest: VirtualMachine, configuration: str) -> None:
    configure(guest, configuration)
    service.restart(guest)


@pytest.mark.parametrize("trigger", ["press", "tap"])
def test_recordings_replay_to_the_changes_of_the_daemon(
    guest: VirtualMachine, trigger: str
) -> None:
    # A slow host may type too late for bounces; then it types again.
    seeds = range(7, 7 + service.MOST_TRIES)
    assert any(recorded_bounces(guest, trigger, seed) > 3 for seed in seeds)


def recorded_bounces(guest: VirtualMachine, trigger: str, seed: int) -> int:
    """Checks that recordings replay to the daemon's changes; returns their number of bounces."""
    # The longest debounce time, so that some of the typing bounces.
    start(guest, f"shift: {{ timeout: 200ms, trigger: {trigger} }}\ndebounce: 100ms\n")
    options = f"--config {CONFIGURATION}"
    tools = [tool.with_options(options) for tool in (recorder.KEYMODECTL, recorder.REDACTED)]
    watch = Watch(guest)
    # A replay ends with the last event, so no deadline may be pending then.
    script = typing(random.Random(seed), 60)
    bounces = "; ".join(["tap shift 30; wait 40; tap shift 30; wait 300"] * 5)
    recordings = record(guest, f"{script}; {bounces}; tap a 20", tools)
    live = watch.rest(guest)[:-1]
    assert len(live) > 10
    assert "timedOut" in {change["event"] for change in live}
    used = str(guest.shared / "keymoded.yaml")
    counts = []
    for recording in recordings:
        assert changes_in(recording.path, "--config", used) == live
        counted = replay(recording.path, "--config", used, "--stats").stdout.splitlines()[-1]
        counts.append(json.loads(counted)["stats"]["bounces"])
    assert counts[0] == counts[1]
    return int(counts[0])


def test_shift_times_out_at_the_exact_microsecond(guest: VirtualMachine) -> None:
    start(guest, "shift: { timeout: 300ms }\n")
    watch = Watch(guest)
    guest.play("tap shift")
    on, off = watch.changes(2)
    assert (on["to"], off["to"], off["event"]) == ("on", "off", "timedOut")
    assert off["time"] - on["time"] == 300_000
    state = service.state(guest)
    assert state["time"] > off["time"]
    # Without a deadline, nothing wakes the daemon.
    service.expect_asleep(guest, lambda: guest.run("sleep 3"))


def test_restart_keeps_the_deadline_of_shift(guest: VirtualMachine) -> None:
    # A restart may take long on a busy host.
    for seconds in (8, 20, 55):
        start(guest, f"shift: {{ timeout: {seconds}s }}\n")
        watch = Watch(guest)
        guest.play("tap shift")
        (on,) = watch.changes(1)
        guest.run("systemctl restart keymoded")
        lasts = service.state(guest)["shift"] == "on"
        guest.run("keymodectl wait shift=off --timeout 100")
        assert service.state(guest)["shiftSince"] - on["time"] == seconds * 1_000_000
        if lasts:
            return
    raise AssertionError("the host was too slow to prove anything")


def test_daemon_that_reads_late_goes_by_the_kernels_timestamps(guest: VirtualMachine) -> None:
    # Without a watchdog, because the daemon is stopped for longer than the timeout.
    with service.settings(guest, "WatchdogSec=0"):
        # A slow host types late, but the timestamps decide in any case.
        if not any(is_character_in_time(guest, seconds) for seconds in (5, 15, 45)):
            raise AssertionError("the host was too slow to prove anything")


def is_character_in_time(guest: VirtualMachine, seconds: int) -> bool:
    """Types a character before the end of the timeout, which the daemon reads after it.

    Returns whether the host was fast enough to type it in time.
    """
    start(guest, f"shift: {{ timeout: {seconds}s }}\n")
    watch, keys = Watch(guest), KeyRecorder(guest, PS2_KEYBOARD)
    guest.play("tap shift")
    (on,) = watch.changes(1)
    with service.stopped(guest):
        guest.play("tap a")
        guest.run(f"sleep {seconds + 1}")
    (off,) = watch.changes(1)
    pressed = [event.seconds for event in keys.wait_for_events(4) if event.value == 1]
    keys.stop()
    is_in_time = pressed[1] - pressed[0] < seconds
    assert off["event"] == ("characterTyped" if is_in_time else "timedOut")
    distance = off["time"] - on["time"]
    assert distance < seconds * 1_000_000 if is_in_time else distance == seconds * 1_000_000
    return is_in_time
