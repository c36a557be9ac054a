"""A small language for keys that a person types, and its timing.

Commands are separated by newlines or `;`, and K is a QEMU key name (a qcode: shift, a, caps_lock)
or a button of the mouse (btn_left, btn_middle, btn_right, btn_side, btn_extra):

    down K                     press
    up K                       release
    tap K [MS=40]              press and release after MS
    wait MS                    let time pass
    hold K MS                  press for MS, repeating as a PS/2 keyboard does by itself
                               (250 ms before the first repeat, then each 33 ms)
"""

import re
import time
from collections.abc import Callable
from dataclasses import dataclass

# What the names of buttons begin with.
BUTTON = "btn_"

# QEMU's PS/2 queue holds 16 bytes and drops more, so events closer than this get lost.
SMALLEST_GAP_MS = 5.0


@dataclass(frozen=True)
class KeyEvent:
    """A press or a release, `at_ms` milliseconds after the start of the script."""

    at_ms: float
    key: str
    is_down: bool


class _Schedule:
    def __init__(self) -> None:
        self.now_ms = 0.0
        self.events: list[KeyEvent] = []

    def add(self, key: str, is_down: bool) -> None:
        if self.events:
            self.now_ms = max(self.now_ms, self.events[-1].at_ms + SMALLEST_GAP_MS)
        self.events.append(KeyEvent(self.now_ms, key, is_down))

    def hold(self, key: str, length_ms: float, delay_ms: float = 250) -> None:
        self.add(key, True)
        end_ms = self.now_ms + length_ms
        repeat_ms = self.now_ms + delay_ms
        while repeat_ms < end_ms:
            self.now_ms = repeat_ms
            self.add(key, True)
            repeat_ms += 33
        self.now_ms = end_ms
        self.add(key, False)


def parse(script: str) -> list[KeyEvent]:
    """Turns a key script into events in order of time."""
    schedule = _Schedule()
    for command in re.split(r"[;\n]", script):
        match command.split():
            case []:
                pass
            case ["down", key]:
                schedule.add(key, True)
            case ["up", key]:
                schedule.add(key, False)
            case ["tap", key]:
                schedule.hold(key, 40)
            case ["tap", key, length]:
                schedule.hold(key, float(length), float("inf"))
            case ["hold", key, length]:
                schedule.hold(key, float(length))
            case ["wait", length]:
                schedule.now_ms += float(length)
            case _:
                raise ValueError(f"not a key command: {command.strip()!r}")
    return schedule.events


def play(events: list[KeyEvent], send: Callable[[str, bool], None]) -> None:
    """Sends each event at its time, counted from the first call, so that delays do not add up."""
    begin = time.monotonic()
    previous = -1.0
    for event in events:
        due = max(begin + event.at_ms / 1000, previous + SMALLEST_GAP_MS / 1000)
        time.sleep(max(0.0, due - time.monotonic()))
        send(event.key, event.is_down)
        previous = time.monotonic()
