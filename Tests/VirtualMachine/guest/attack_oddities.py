"""Odd devices: with all keys or without keys, with unexpected values and names."""

import contextlib
import subprocess
import unicodedata
from collections.abc import Callable

from daemon import Daemon, expect_no_stuck_key, log, settle, use
from support.input_events import (
    LEFTALT,
    LEFTCTRL,
    LEFTSHIFT,
    REL_X,
    REL_Y,
    RELEASE,
    REPEAT,
    RIGHTSHIFT,
    A,
)
from support.waiting import wait_until
from uinput import LAST_KEY, LONGEST_NAME, Keyboard

# Design, section 3: characters, modifiers, and the default bindings.
CHARACTERS = {
    *(*range(2, 14), *range(16, 28), *range(30, 42), *range(43, 54), 55, 57, *range(71, 84)),
    *(86, 89, 98, 117, 121, 124, 179, 180),
}
MODIFIERS = {29, 97, 42, 54, 56, 125, 126}
BOUND = {1, 70, 110, 127, 0x24A, 0x249}
# On these keys logind would switch the guest off: power, sleep, suspend, power2, restart.
POWER = {116, 142, 205, 356, 408}
MEANINGFUL = CHARACTERS | MODIFIERS | BOUND


def odd_keys(daemon: Daemon, count: int) -> str:
    """Uses a device with every key, a device without keys, and invalid values."""
    with (
        Keyboard("No keyboard", keys=[], relative=[REL_X, REL_Y]) as keyless,
        Keyboard("Every key", range(1, LAST_KEY)) as all,
    ):
        daemon.wait_until_followed(all)
        assert keyless.node not in daemon.nodes()
        for _ in range(count):
            # An autorepeat without a press is a character to every program, and to keymoded too.
            all.tap(LEFTSHIFT)
            all.send((A, REPEAT))
            daemon.expect("on", "off")
            # An autorepeat of Shift is not a press. The kernel drops the release of a key that is
            # up, and takes the value 7 as a press, which it is not to evdev.
            all.send((LEFTSHIFT, REPEAT), (LEFTSHIFT, RELEASE), (LEFTCTRL, RELEASE))
            all.send((RIGHTSHIFT, 7), (LEFTCTRL, 7), (A, 7), (LEFTALT, -1))
            daemon.expect()
            all.release(RIGHTSHIFT, LEFTCTRL, A, LEFTALT)
            daemon.expect()
            all.tap(LEFTSHIFT, A)
            daemon.expect("on", "off")
        # Keys that are not characters, modifiers or bound have no meaning, like the buttons of
        # mice and joysticks.
        meaningless = [key for key in range(1, LAST_KEY) if key not in MEANINGFUL | POWER]
        all.tap(LEFTSHIFT)
        daemon.expect("on")
        losses = daemon.statistics()["losses"]
        for first in range(0, len(meaningless), 8):
            all.tap(*meaningless[first : first + 8])
            daemon.expect()
        assert daemon.statistics()["losses"] == losses
        all.tap(A)
        daemon.expect("off")
        expect_no_stuck_key(daemon, all)
    wait_until(lambda: "Every key" not in daemon.devices(), "the device to be gone")
    return f"{len(meaningless)} keys mean nothing, and values 2, 7 and -1 act as in evdev"


def odd_names(daemon: Daemon, count: int) -> str:
    """Uses device names that must be escaped in terminals and logs."""
    names = [
        b"\xff\xfe" * (LONGEST_NAME // 2),
        b"\xe2\x82" * (LONGEST_NAME // 2),
        b"line\n<3>forged: line\r\x1b[2J\x1b]0;title\x07\x08\x7f",
        "csi \u009b31m line \u2028 bidi \u202e zero \u200b".encode(),
        b"'; rm -rf / #",
        b" ",
        b'"}\0'.rstrip(b"\0") + b"{" * 60,
    ]
    for _ in range(count):
        before = len(log(daemon))
        with contextlib.ExitStack() as stack:
            keyboards = [stack.enter_context(Keyboard(name)) for name in names]
            daemon.wait_until_followed(*keyboards)
            for keyboard in keyboards:
                use(daemon, keyboard)
            listed = subprocess.run(["keymodectl", "devices"], check=True, capture_output=True)
            as_json = subprocess.run(
                ["keymodectl", "devices", "--json"], check=True, capture_output=True
            )
        settle()
        wait_until(all_logged(daemon, before + 2 * len(names)), "each device to be logged")
        new = log(daemon)[before:]
        assert len(new) == 2 * len(names), new
        assert listed.stdout.count(b"\n") == len(daemon.devices()) + len(names)
        for text in (listed.stdout.decode(), as_json.stdout.decode(), *new):
            bad = [c for c in text if c != "\n" and unicodedata.category(c) in UNPRINTABLE]
            assert not bad, (bad, text)
        assert all(line.startswith("following '") or line.endswith("' is gone") for line in new)
    return f"{len(names)} names, one line of printable characters each"


UNPRINTABLE = {"Cc", "Cf", "Zl", "Zp", "Cs"}


def all_logged(daemon: Daemon, count: int) -> Callable[[], bool]:
    return lambda: len(log(daemon)) >= count
