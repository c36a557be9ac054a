"""The daemon does not reveal what was typed, nor that keys were typed."""

import itertools
import json
import re
import struct

from daemon import CONTROL, STATE, Daemon, expect_no_stuck_key, log, settle
from support.connection import INTERFACE, Connection
from support.input_events import (
    ABS_X,
    ABS_Y,
    BTN_LEFT,
    BTN_RIGHT,
    BTN_TOOL_FINGER,
    BTN_TOUCH,
    EV_ABS,
    EV_KEY,
    EV_LED,
    EV_REL,
    LEFTCTRL,
    LEFTSHIFT,
    REL_WHEEL,
    REL_X,
    REL_Y,
    B,
)
from support.waiting import wait_until
from uinput import Keyboard

# Letters in an order that does not occur in other text.
MARKED = {"Q": 16, "J": 36, "X": 45, "V": 47, "Z": 44, "K": 37, "W": 17, "Y": 21}
CODES = [*MARKED.values()]

LED_SCROLLL = 2

READING = ("GetState", "ListMachines", "org.varlink.service.GetInfo")
ALL_METHODS = (*READING, "ListDevices", "GetStatistics")


def replies_of(sockets: list[Connection]) -> str:
    """The replies to all calls, without their times."""
    state, control = sockets
    replies = [state.call(method) for method in READING]
    replies += [control.call(method) for method in ALL_METHODS]
    replies.append(state.call("org.varlink.service.GetInterfaceDescription", interface=INTERFACE))
    return re.sub(r'"time": \d+', '"time": 0', json.dumps(replies))


def stored(daemon: Daemon) -> bytes:
    """The memory with the states, which outlives the daemon."""
    (memory,) = (
        path
        for path in (daemon.process.folder / "map_files").iterdir()
        if str(path.readlink()).startswith("/memfd:keymoded-states")
    )
    return memory.read_bytes()


def visible(daemon: Daemon, sockets: list[Connection]) -> dict[str, object]:
    """Everything about the daemon that other processes can see."""
    return {
        "replies": replies_of(sockets),
        "memory": stored(daemon),
        "log": log(daemon),
        "stream": daemon.bytes_streamed(),
    }


def privacy(daemon: Daemon, count: int) -> str:
    """Types a marked text that changes no state, and checks that nothing visible changes."""
    sockets = [Connection(STATE), Connection(CONTROL)]
    with daemon.following("Marked keyboard") as (keyboard,):
        for presses, shift in ((0, "off"), (2, "capsLock")):
            keyboard.tap(*[LEFTSHIFT] * presses)
            daemon.changes()
            assert daemon.state()["states"]["shift"] == shift
            before = visible(daemon, sockets)
            for _ in range(count):
                keyboard.tap(*CODES)
                # The call keeps the daemon reading: a lost event would show in the statistics.
                daemon.state()
                keyboard.press(LEFTCTRL)
                keyboard.tap(*CODES)
                keyboard.release(LEFTCTRL)
                daemon.state()
            daemon.expect()
            after = visible(daemon, sockets)
            for what in before:
                assert after[what] == before[what], f"{what} changed"
        keyboard.tap(LEFTSHIFT, LEFTSHIFT, *CODES, B)
        daemon.expect("off", "on", "off")
        expect_no_stuck_key(daemon, keyboard)
        # This time the text causes changes, but they must not name a key.
        everything = [
            replies_of(sockets).encode(),
            stored(daemon),
            "\n".join(log(daemon)).encode(),
            json.dumps(daemon.seen).encode(),
        ]
    for data in everything:
        found = [name for name, pattern in patterns().items() if pattern in data.lower()]
        assert not found, found
    return (
        f"{count * 4 * len(CODES)} keys typed, not a byte changed; "
        f"{sum(map(len, everything))} bytes searched for {len(patterns())} forms of the text"
    )


def patterns() -> dict[str, bytes]:
    """The forms in which the text could appear."""
    forms = {f"KEY_{name}": f"key_{name}".lower().encode() for name in MARKED}
    forms["letters"] = "".join(MARKED).lower().encode()
    for separator in ("", " ", ",", ", ", "\n"):
        forms[f"decimal, {separator!r}"] = separator.join(map(str, CODES[:3])).encode()
        forms[f"hexadecimal, {separator!r}"] = separator.join(f"{c:x}" for c in CODES[:3]).encode()
    for size in "BHIQ":
        forms[f"numbers, {size}"] = struct.pack(f"<3{size}", *CODES[:3]).lower()
    return forms


def moving(daemon: Daemon, count: int) -> str:
    """Checks that only the watchdog and buttons wake the daemon, not motion, touches or LEDs."""
    buttons = (BTN_LEFT, BTN_RIGHT)
    touches = (BTN_LEFT, BTN_TOOL_FINGER, BTN_TOUCH)
    with (
        Keyboard("Moving mouse", buttons, relative=(REL_X, REL_Y, REL_WHEEL)) as mouse,
        Keyboard("Touched touchpad", touches, absolute=(ABS_X, ABS_Y)) as touchpad,
        Keyboard("Blinking keyboard", leds=(LED_SCROLLL,)) as keyboard,
    ):
        daemon.wait_until_followed(mouse, touchpad, keyboard)
        daemon.expect()
        # udev may still have messages about the new devices.
        settle()
        touchpad.observe()
        # The kernel drops an event whose value is the same as before.
        steps = itertools.count(1)
        touched: set[int] = set()

        def move() -> None:
            step = next(steps)
            touched.update(code for _, code, _ in touchpad.stamps())
            mouse.send_frame((EV_REL, REL_X, 3), (EV_REL, REL_Y, -2), (EV_REL, REL_WHEEL, 1))
            touchpad.send_frame(
                (EV_KEY, BTN_TOUCH, step % 2),
                (EV_KEY, BTN_TOOL_FINGER, step % 2),
                (EV_ABS, ABS_X, step % 1000),
                (EV_ABS, ABS_Y, step % 999),
            )
            keyboard.send_frame((EV_LED, LED_SCROLLL, step % 2))

        outcome = daemon.expect_asleep(count, move)
        assert BTN_TOUCH in touched, "other programs get the touches"
        for pointer in (mouse, touchpad):
            before = daemon.process.switches()
            pointer.tap(BTN_LEFT)
            wait_until(lambda: daemon.process.switches() != before, "a button to be read")  # noqa: B023
        daemon.expect()
        touchpad.release(BTN_TOUCH, BTN_TOOL_FINGER)
    names = {"Moving mouse", "Touched touchpad", "Blinking keyboard"}
    wait_until(lambda: not names & {*daemon.devices()}, "the devices to be gone")
    return f"seconds, {next(steps)} motions, {outcome}"
