"""A stopped daemon, a clock that jumps, a suspend: the kernel's timestamps decide."""

import os
import signal
import time
from pathlib import Path

from daemon import Daemon, expect_no_stuck_key, settle, turn_shift_off, use
from support.input_events import LEFTCTRL, LEFTSHIFT, PRESS
from support.waiting import wait_until
from uinput import Keyboard

THRESHOLD = 500_000
SLEEP_THRESHOLD = 3.0
MOST_TRIES = 20


def stopped(daemon: Daemon, count: int) -> str:
    """Presses Shift on two keyboards, in time for capsLock and too late.

    Meanwhile the daemon is stopped and the wall clock jumps. A busy guest may press too late for
    capsLock; then the presses are repeated.
    """
    jumps = 0
    real, steady = time.time(), time.monotonic()

    def set_ahead(hours: int) -> None:
        nonlocal jumps
        now = real + time.monotonic() - steady
        time.clock_settime(time.CLOCK_REALTIME, now + hours * 3600)
        jumps += 1

    def press(first: Keyboard, second: Keyboard, seconds: float, hours: int) -> str:
        with daemon.stopped():
            first.tap(LEFTSHIFT)
            set_ahead(hours)
            time.sleep(seconds)
            second.tap(LEFTSHIFT)
            set_ahead(0)
        times = [
            stamp
            for keyboard in (first, second)
            for stamp, _, value in keyboard.stamps()
            if value == PRESS
        ]
        state = "capsLock" if times[1] - times[0] < THRESHOLD else "off"
        changes = [(change["time"], change["to"]) for change in daemon.changes()]
        assert changes == [(times[0], "on"), (times[1], state)], (times, changes)
        turn_shift_off(daemon, first)
        first.stamps()
        return state

    with daemon.following("Left keyboard", "Right keyboard") as (left, right):
        left.observe()
        right.observe()
        try:
            for hours in (5, -5, 24 * 365) * count:
                for seconds, wanted in ((0.3, "capsLock"), (0.7, "off")):
                    pair = (left, right) if hours > 0 else (right, left)
                    tries = (press(*pair, seconds, hours) == wanted for _ in range(MOST_TRIES))
                    assert any(tries), f"{MOST_TRIES} times"
        finally:
            set_ahead(0)
        expect_no_stuck_key(daemon, left)
    return f"{jumps} jumps of the clock, without effect on any press"


def suspend(daemon: Daemon, count: int) -> str:
    """Suspends the machine between two presses of Shift, with Ctrl held and a threshold of 3 s."""
    slept = 0.0
    with daemon.following("Sleeping keyboard") as (keyboard,):
        for _ in range(count):
            for _ in range(MOST_TRIES):
                keyboard.tap(LEFTSHIFT)
                keyboard.press(LEFTCTRL)
                begin = clocks()
                Path("/sys/power/state").write_text("mem")
                keyboard.tap(LEFTSHIFT)
                awake, total = (end - start for start, end in zip(begin, clocks(), strict=True))
                slept += total - awake
                daemon.expect("on", "off")
                # The kernel releases all keys before it suspends.
                use(daemon, keyboard)
                # If the host takes that long without the suspend, the presses prove nothing.
                if awake < SLEEP_THRESHOLD:
                    break
            assert awake < SLEEP_THRESHOLD < total, "otherwise the presses prove nothing"
            keyboard.tap(LEFTSHIFT, LEFTSHIFT)
            daemon.expect("on", "capsLock")
            turn_shift_off(daemon, keyboard)
        slept += sleep_longer_than_shift_lasts(daemon, keyboard)
        settle()
        daemon.changes()
        quiet = daemon.expect_asleep(3)
        expect_no_stuck_key(daemon, keyboard)
    return f"{slept:.1f} s slept, which counted; in 3 s afterwards {quiet}"


def sleep_longer_than_shift_lasts(daemon: Daemon, keyboard: Keyboard) -> float:
    """Suspends the machine while Shift is on, with a timeout of 4 s, which includes the suspend."""
    reloads = daemon.statistics()["reloads"]
    Path("/etc/keymoded/keymoded.yaml").write_text("shift: {timeout: 4s}\n")
    os.kill(daemon.process.pid, signal.SIGHUP)
    wait_until(lambda: daemon.statistics()["reloads"] > reloads, "the configuration")
    slept = 0.0
    for _ in range(MOST_TRIES):
        keyboard.tap(LEFTSHIFT)
        begin = clocks()
        Path("/sys/power/state").write_text("mem")
        awake, total = (end - start for start, end in zip(begin, clocks(), strict=True))
        slept += total - awake
        # GetState does not advance the machine; only the daemon's timer does.
        wait_until(lambda: daemon.state()["states"]["shift"] == "off", "Shift to be off")
        on, off = daemon.changes()
        assert (on["to"], off["event"]) == ("on", "timedOut"), (on, off)
        assert off["time"] - on["time"] == 4_000_000
        use(daemon, keyboard)
        if awake < 4:
            break
    assert awake < 4 < total, "otherwise the presses prove nothing"
    return slept


def clocks() -> tuple[float, float]:
    """The monotonic time, without suspends, and the boot time, with them."""
    return time.clock_gettime(time.CLOCK_MONOTONIC), time.clock_gettime(time.CLOCK_BOOTTIME)
