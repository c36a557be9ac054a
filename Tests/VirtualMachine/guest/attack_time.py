"""Two keyboards, a stopped daemon, a clock that jumps: the kernel's timestamps decide."""

import contextlib
import functools
import os
import random
import signal
import threading
import time
from collections.abc import Callable, Iterable
from pathlib import Path

from daemon import Daemon, expect_no_stuck_key, settle, turn_shift_off, use
from support.input_events import LEFTCTRL, LEFTSHIFT, RIGHTSHIFT, A, B
from support.waiting import wait_until
from uinput import Keyboard

THRESHOLD = 500_000
SLEEP_THRESHOLD = 3.0
MOST_TRIES = 20


def shift_changes(events: Iterable[tuple[int, int, int]]) -> list[tuple[int, str]]:
    """The changes of the Shift machine from off on these key events: times and states."""
    changes: list[tuple[int, str]] = []
    state, since = "off", 0
    for stamp, code, value in sorted(events, key=lambda event: event[0]):
        before = state
        match state, code in (LEFTSHIFT, RIGHTSHIFT), value:
            case "off", True, 1:
                state, since = "on", stamp
            case "on", True, 1:
                state = "capsLock" if stamp - since < THRESHOLD else "off"
            case ("capsLock", True, 1) | ("on", False, 1 | 2):
                state = "off"
        if state != before:
            changes.append((stamp, state))
    return changes


def expect_by_stamps(daemon: Daemon, *keyboards: Keyboard) -> list[str]:
    """Checks that the changes are those that follow from the kernel's timestamps."""
    events = [event for keyboard in keyboards for event in keyboard.stamps()]
    expected = shift_changes(events)
    changes = daemon.changes()
    assert [(change["time"], change["to"]) for change in changes] == expected, (events, changes)
    assert daemon.state()["shift"] == (expected[-1][1] if expected else "off")
    return [state for _, state in expected]


def double_presses(
    daemon: Daemon,
    pairs: Iterable[tuple[Keyboard, Keyboard]],
    press: Callable[[Keyboard, Keyboard, float], None],
) -> list[str]:
    """Presses Shift on one keyboard of each pair and then on the other, in time and too late.

    The changes are checked by the kernel's timestamps. A busy guest may press too late for
    capsLock; then the presses are repeated.
    """
    states = []
    for seconds, wanted in ((0.3, "capsLock"), (0.7, "off")):
        for first, second in pairs:
            for _ in range(MOST_TRIES):
                press(first, second, seconds)
                both = {first, second}
                _, state = expect_by_stamps(daemon, *both)
                turn_shift_off(daemon, first)
                first.stamps()
                if state == wanted:
                    break
            assert state == wanted, f"{MOST_TRIES} times"
            states.append(state)
    return states


# Time


class Interrupter(threading.Thread):
    """Stops the daemon for short, random times, as a busy machine would."""

    def __init__(self, daemon: Daemon) -> None:
        super().__init__(daemon=True)
        self._pid = daemon.process.pid
        self._source = random.Random(1)
        self._ending = threading.Event()

    def __enter__(self) -> None:
        self.start()

    def __exit__(self, *_: object) -> None:
        self._ending.set()
        self.join()

    def run(self) -> None:
        while not self._ending.wait(self._source.uniform(0, 0.002)):
            os.kill(self._pid, signal.SIGSTOP)
            self._ending.wait(self._source.uniform(0, 0.004))
            os.kill(self._pid, signal.SIGCONT)


def interleave(daemon: Daemon, count: int) -> str:
    """Types Shift and letters on two keyboards, with and without stopping the daemon."""
    source = random.Random(count)
    total = 0
    with daemon.following("Left keyboard", "Right keyboard") as (left, right):
        left.observe()
        right.observe()
        for number in range(count):
            with Interrupter(daemon) if number % 2 else contextlib.nullcontext():
                for _ in range(8):
                    keyboard = source.choice((left, right))
                    keyboard.tap(source.choice((LEFTSHIFT, LEFTSHIFT, RIGHTSHIFT, A, B)))
                    time.sleep(source.choice((0, 0, 0.0005, 0.003)))
                total += len(expect_by_stamps(daemon, left, right))
            turn_shift_off(daemon, left)
            left.stamps()
        double_presses(daemon, ((left, right), (right, left)), tap_twice)
        expect_no_stuck_key(daemon, left)
    return f"{total} changes, each at the time and of the kind that the kernel's stamps say"


def tap_twice(first: Keyboard, second: Keyboard, seconds: float) -> None:
    first.tap(LEFTSHIFT)
    time.sleep(seconds)
    second.tap(RIGHTSHIFT)


def stopped(daemon: Daemon, count: int) -> str:
    """Presses Shift twice while the daemon is stopped for 2 s."""

    def tap(first: Keyboard, second: Keyboard, seconds: float) -> None:
        end = time.monotonic() + 2
        with daemon.stopped():
            tap_twice(first, second, seconds)
            time.sleep(max(0.0, end - time.monotonic()))

    outcomes = []
    with daemon.following("Left keyboard", "Right keyboard") as (left, right):
        left.observe()
        right.observe()
        for _ in range(count):
            outcomes += double_presses(daemon, ((left, left), (left, right)), tap)
        expect_no_stuck_key(daemon, left)
    return f"{outcomes.count('capsLock')} capsLock and {outcomes.count('off')} off, by the kernel"


def clock(daemon: Daemon, count: int) -> str:
    """Sets the wall clock by hours between two presses of Shift, and back before the next two."""
    jumps = 0
    real, steady = time.time(), time.monotonic()

    def set_ahead(hours: int) -> None:
        nonlocal jumps
        now = real + time.monotonic() - steady
        time.clock_settime(time.CLOCK_REALTIME, now + hours * 3600)
        jumps += 1

    def tap(hours: int, first: Keyboard, second: Keyboard, seconds: float) -> None:
        set_ahead(0)
        first.tap(LEFTSHIFT)
        set_ahead(hours)
        time.sleep(seconds)
        second.tap(LEFTSHIFT)

    with daemon.following("Left keyboard", "Right keyboard") as (left, right):
        left.observe()
        right.observe()
        try:
            for hours in (5, -5, 24 * 365) * count:
                double_presses(daemon, ((left, right),), functools.partial(tap, hours))
        finally:
            set_ahead(0)
        expect_no_stuck_key(daemon, left)
    return f"{jumps} jumps, forward and back, without effect on any press"


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
        wait_until(lambda: daemon.state()["shift"] == "off", "Shift to be off")
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
