"""Attacks by keyboards and their users, each repeated many times."""

import contextlib
import fcntl
import itertools
import os
import subprocess
import time
import unicodedata
from collections.abc import Iterator
from pathlib import Path

from daemon import Daemon, expect_no_stuck_key, log, settle, use
from support.clock import boot_time
from support.input_events import (
    COMPOSE,
    EVIOCGRAB,
    INSERT,
    LEFTALT,
    LEFTCTRL,
    LEFTMETA,
    LEFTSHIFT,
    PRESS,
    RELEASE,
    RIGHTALT,
    SCROLLLOCK,
    A,
    B,
    C,
)
from support.waiting import wait_until
from uinput import LONGEST_NAME, Keyboard

# More events than the kernel keeps for a keyboard.
LETTERS = [(B, value) for _ in range(100) for value in (PRESS, RELEASE)]

# Lost events


def overflow(daemon: Daemon, count: int) -> str:
    """Overflows the kernel's buffer of a daemon that does not read, with modifiers held."""
    double_press = [(LEFTSHIFT, value) for _ in range(2) for value in (RELEASE, PRESS)]
    losses = daemon.statistics()["losses"]
    with daemon.following("Stormy keyboard", "Calm keyboard") as (stormy, calm):
        for _ in range(count):
            # Shift and Ctrl are held before and after; the double press in between is lost.
            stormy.press(LEFTSHIFT, LEFTCTRL)
            daemon.expect("on")
            with daemon.stopped():
                stormy.send(*LETTERS, *double_press, *LETTERS)
            calm.tap(A, INSERT)
            daemon.expect()
            assert daemon.state()["states"]["shift"] == "on", "a letter with Ctrl held is no character"
            stormy.release(LEFTSHIFT, LEFTCTRL)
            calm.tap(A)
            daemon.expect("off")

            # A double press is lost, and the sync finds Shift, Ctrl and a letter down: one batch,
            # modifiers first. That Shift has an unknown time, so it cannot start a double press.
            with daemon.stopped():
                stormy.send(*LETTERS)
                stormy.tap(LEFTSHIFT)
                stormy.press(LEFTSHIFT, LEFTCTRL, C)
                stormy.send(*LETTERS)
            daemon.expect("on")
            stormy.release(C, LEFTSHIFT)
            stormy.press(LEFTSHIFT)
            daemon.expect("off")
            # Both are released again, and these events are lost too.
            with daemon.stopped():
                stormy.send(*LETTERS)
                stormy.release(LEFTSHIFT, LEFTCTRL)
                stormy.send(*LETTERS)
            calm.tap(LEFTSHIFT, LEFTSHIFT)
            daemon.expect("on", "capsLock")
            calm.tap(LEFTSHIFT)
            daemon.expect("off")
        expect_no_stuck_key(daemon, stormy)
    found = daemon.statistics()["losses"] - losses
    assert found == 3 * count, f"{found} losses, not {3 * count}"
    return f"{found} overflows, states as the kernel has them after each"


# Plugging and unplugging


def unplug_behind(daemon: Daemon, count: int) -> str:
    """Unplugs a keyboard while the daemon is behind with the keys of another.

    Shift must time out two seconds after its press. The kernel's time stamps say whether the letter
    was typed in time, however long anything took.
    """
    for _ in range(count):
        # The kernel keeps more events of a device with many axes: more than the daemon reads at once.
        with (
            Keyboard("Busy keyboard", absolute=range(16)) as busy,
            Keyboard("Leaving keyboard") as leaving,
        ):
            daemon.wait_until_followed(busy, leaving)
            busy.observe()
            with daemon.stopped():
                # In one call, so that no pause between two calls comes between Shift and A. AltGr
                # changes nothing; Shift would belong to a key that types nothing and comes so soon.
                busy.tap(LEFTSHIFT, *[RIGHTALT] * 40, A)
                times = {code: stamp for stamp, code, value in busy.stamps() if value == PRESS}
                pressed, typed = times[LEFTSHIFT], times[A]
                leaving.remove()
                due = pressed + 2_000_000
                wait_until(lambda: boot_time() > due, "the timeout")
            on, off = daemon.changes()
            assert (on["to"], on["time"]) == ("on", pressed)
            ending = ("characterTyped", typed) if typed < due else ("timedOut", due)
            assert (off["to"], off["event"], off["time"]) == ("off", *ending)
        wait_until(lambda: "Busy keyboard" not in daemon.devices(), "the keyboards to be gone")
    return "no time came before a key that was typed earlier"


def plug(daemon: Daemon, count: int) -> str:
    """Plugs keyboards that are unplugged before udev or the daemon has handled them."""
    before = daemon.nodes()
    with daemon.following("Warming keyboard"):
        pass
    settle()
    descriptors, anonymous = daemon.process.descriptors(), daemon.process.anonymous_kib()
    begin = time.monotonic()
    for number in range(count):
        stays = number % 25 == 0
        name = f"Fleeting keyboard {number if stays else number % 7}"
        keyboard = Keyboard(name)
        keyboard.press(LEFTSHIFT, LEFTCTRL)
        # Some stay until the daemon follows them, by name: the kernel reuses nodes at once.
        if stays:
            wait_until(lambda name=name: name in daemon.devices(), f"{name} to be followed")
        keyboard.remove()
    plugged = time.monotonic() - begin
    settle()
    wait_until(lambda: daemon.nodes() == before, "unplugged keyboards to be released")
    wait_until(lambda: daemon.process.descriptors() <= descriptors, "the descriptors to be closed")
    assert daemon.process.descriptors() == descriptors
    grown = daemon.process.anonymous_kib() - anonymous
    assert grown <= 512, f"{grown} KiB more than before"
    with daemon.following("Last keyboard") as (last,):
        # The daemon may have seen a press of Shift: that depends on udev's speed.
        daemon.changes()
        expect_no_stuck_key(daemon, last)
    released = time.monotonic() - begin
    return f"in {plugged:.0f} s ({released:.0f} s until all were released), {grown} KiB"


def many_while_stopped(daemon: Daemon, count: int) -> str:
    """Plugs many keyboards, which all type, while the daemon cannot read udev's messages."""
    before, descriptors, lost = daemon.nodes(), daemon.process.descriptors(), lost_messages(daemon)
    with contextlib.ExitStack() as stack:
        with daemon.stopped():
            keyboards = [
                stack.enter_context(Keyboard(f"Keyboard {number}")) for number in range(count)
            ]
            settle()
        daemon.wait_until_followed(*keyboards)
        assert len(daemon.nodes()) == len(before) + count
        # Each press of Scroll Lock changes the state.
        for keyboard in keyboards:
            keyboard.tap(SCROLLLOCK)
            if keyboard is keyboards[0]:
                daemon.expect("prepareToRecord")
        daemon.trigger("clickMoreButton")
        daemon.trigger("clickMoreButton")
        daemon.expect(
            *itertools.islice(itertools.cycle(["editingText", "prepareToRecord"]), count - 1),
            *("showingPanel", "prepareToEditText"),
        )
    settle()
    wait_until(lambda: daemon.nodes() == before, "the keyboards to be gone")
    assert daemon.process.descriptors() == descriptors
    lost = lost_messages(daemon) - lost
    assert lost > 0, "udev's messages all had room: more keyboards are needed to prove anything"
    return f"all followed, each typed, all gone again, although {lost} messages of udev were lost"


def lost_messages(daemon: Daemon) -> int:
    """The number of udev messages that the kernel dropped for lack of room."""
    sockets = {path.readlink().name for path in (daemon.process.folder / "fd").iterdir()}
    rows = [line.split() for line in Path("/proc/net/netlink").read_text().splitlines()[1:]]
    return sum(int(row[8]) for row in rows if f"socket:[{row[9]}]" in sockets)


UNPRINTABLE = {"Cc", "Cf", "Zl", "Zp", "Cs"}


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
        wait_until(lambda: len(log(daemon)) >= before + 2 * len(names), "each device to be logged")
        new = log(daemon)[before:]
        assert len(new) == 2 * len(names), new
        assert listed.stdout.count(b"\n") == len(daemon.devices()) + len(names)
        for text in (listed.stdout.decode(), as_json.stdout.decode(), *new):
            bad = [c for c in text if c != "\n" and unicodedata.category(c) in UNPRINTABLE]
            assert not bad, (bad, text)
        assert all(line.startswith("following '") or line.endswith("' is gone") for line in new)
    return f"{len(names)} names, one line of printable characters each"


# Grabs


@contextlib.contextmanager
def grabbed(keyboard: Keyboard) -> Iterator[None]:
    """Grabs the keyboard as `evtest --grab` does, so that the daemon does not get its events."""
    grabber = os.open(keyboard.node, os.O_RDONLY | os.O_CLOEXEC)
    try:
        fcntl.ioctl(grabber, EVIOCGRAB, 1)
        yield
    finally:
        os.close(grabber)


def grab(daemon: Daemon, count: int) -> str:
    """Grabs a keyboard while a modifier is down, and ends the grab."""
    with daemon.following("Grabbed keyboard", "Free keyboard") as (taken, free):
        for _ in range(count):
            for modifier in (LEFTCTRL, LEFTALT, LEFTMETA):
                # Only the grabber gets the release. The other keyboard must not be affected ...
                taken.press(modifier)
                with grabbed(taken):
                    taken.release(modifier)
                    use(daemon, free)
                # ... nor this one, when the grab has ended.
                taken.press(modifier)
                with grabbed(taken):
                    taken.release(modifier)
                use(daemon, taken)
                # The modifier is still held when the grab has ended: a chord, on both keyboards.
                taken.press(modifier)
                with grabbed(taken):
                    pass
                taken.tap(COMPOSE)
                free.tap(COMPOSE)
                daemon.expect()
                taken.release(modifier)
                use(daemon, free)
            # Pressed and released during the grab, or pressed during it and released after it.
            with grabbed(taken):
                taken.tap(LEFTSHIFT)
                taken.press(LEFTCTRL)
            daemon.expect()
            taken.release(LEFTCTRL)
            use(daemon, taken)
        expect_no_stuck_key(daemon, taken)
        expect_no_stuck_key(daemon, free)
    return "Ctrl, Alt and Meta, released unseen, are held on neither keyboard"
