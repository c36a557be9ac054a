"""What keyboards and those who use them can do to the daemon, done to it again and again.

Runs in the guest, as root, with nothing but Python's own library: `attack_devices.py NAME COUNT`.
Each attack checks the states and every change that comes of it. The last line that is printed says
how often it was done, and what came of it.
"""

import contextlib
import fcntl
import itertools
import os
import random
import select
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from daemon import Daemon, expect_no_stuck_key, forget, wait_until
from uinput import (
    COMPOSE,
    EVIOCGRAB,
    INSERT,
    LAST_KEY,
    LEFTALT,
    LEFTCTRL,
    LEFTMETA,
    LEFTSHIFT,
    LONGEST_NAME,
    PRESS,
    RELEASE,
    REPEAT,
    RIGHTSHIFT,
    SCROLLLOCK,
    A,
    B,
    C,
    Keyboard,
)

THRESHOLD = 500_000

Attack = Callable[[Daemon, int], str]


def shift_changes(events: Iterable[tuple[int, int, int]]) -> list[tuple[int, str]]:
    """What the Shift machine makes of presses, from off: the time of each change and its state."""
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
    """Checks the changes against what the kernel's stamps say that they must be."""
    events = [event for keyboard in keyboards for event in keyboard.stamps()]
    expected = shift_changes(events)
    changes = daemon.changes()
    assert [(change["time"], change["to"]) for change in changes] == expected, (events, changes)
    assert daemon.state()["shift"] == (expected[-1][1] if expected else "off")
    return [state for _, state in expected]


# Losses


def overflow(daemon: Daemon, count: int) -> str:
    """More events than the kernel keeps for a daemon that does not read, with modifiers held."""
    letters = [(B, value) for _ in range(100) for value in (PRESS, RELEASE)]
    double_press = [(LEFTSHIFT, value) for _ in range(2) for value in (RELEASE, PRESS)]
    losses = daemon.statistics()["losses"]
    with daemon.following("Stormy keyboard", "Calm keyboard") as (stormy, calm):
        for _ in range(count):
            # Shift and Ctrl are held before and after; a double press between is lost for good.
            stormy.press(LEFTSHIFT, LEFTCTRL)
            daemon.expect("on")
            with daemon.stopped():
                stormy.send(*letters, *double_press, *letters)
            calm.tap(A, INSERT)
            daemon.expect()
            assert daemon.state()["shift"] == "on", "a letter with Ctrl held is no character"
            stormy.release(LEFTSHIFT, LEFTCTRL)
            calm.tap(A)
            daemon.expect("off")

            # A double press is lost, and Shift, Ctrl and a letter turn out to be down: one batch,
            # modifiers first. The time of that Shift is not known, so it is half of no double press.
            with daemon.stopped():
                stormy.send(*letters)
                stormy.tap(LEFTSHIFT)
                stormy.press(LEFTSHIFT, LEFTCTRL, C)
                stormy.send(*letters)
            daemon.expect("on")
            stormy.release(C, LEFTSHIFT)
            stormy.press(LEFTSHIFT)
            daemon.expect("off")
            # Both are up again, which is lost too.
            with daemon.stopped():
                stormy.send(*letters)
                stormy.release(LEFTSHIFT, LEFTCTRL)
                stormy.send(*letters)
            calm.tap(LEFTSHIFT, LEFTSHIFT)
            daemon.expect("on", "capsLock")
            calm.tap(LEFTSHIFT)
            daemon.expect("off")

            # Without Ctrl, the letter that turns out to be down is a character, after Shift.
            with daemon.stopped():
                stormy.press(A)
                stormy.send(*letters)
                stormy.press(LEFTSHIFT)
                stormy.send(*letters)
            daemon.expect("on", "off")
            stormy.release(LEFTSHIFT, A)
        expect_no_stuck_key(daemon, stormy)
    found = daemon.statistics()["losses"] - losses
    assert found == 4 * count, f"{found} losses, not {4 * count}"
    return f"{found} overflows, states as the kernel has them after each"


def flood(daemon: Daemon, count: int) -> str:
    """As many events as the kernel takes, from two keyboards, to a daemon that reads them."""
    losses = daemon.statistics()["losses"]
    with daemon.following("Flooding keyboard", "Other flooding keyboard") as keyboards:
        first, second = keyboards
        first.press(LEFTSHIFT, LEFTCTRL)
        sent = 0
        while sent < count:
            first.tap(*[B] * 200)
            second.tap(*[C] * 200)
            sent += 800
        # Shift and Ctrl are held as before, so nothing typed was a character.
        daemon.expect("on")
        second.tap(A, INSERT)
        daemon.expect()
        first.release(LEFTSHIFT, LEFTCTRL)
        second.tap(A)
        daemon.expect("off")
        expect_no_stuck_key(daemon, second)
    return f"{sent} events at once, {daemon.statistics()['losses'] - losses} overflows, none stuck"


# Coming and going


def unplug_held(daemon: Daemon, count: int) -> str:
    """Keyboards that go with modifiers held."""
    with daemon.following("Staying keyboard") as (staying,):
        for _ in range(count):
            with daemon.following("Leaving keyboard") as (leaving,):
                leaving.press(LEFTSHIFT, LEFTCTRL)
                daemon.expect("on")
                staying.tap(A, INSERT)
                daemon.expect()
            staying.tap(A)
            daemon.expect("off")
            staying.tap(SCROLLLOCK)
            daemon.expect("prepareToRecord")
            daemon.trigger("clickMoreButton")
            daemon.trigger("clickMoreButton")
            daemon.expect("showingPanel", "prepareToEditText")
        expect_no_stuck_key(daemon, staying)
    return "Shift and Ctrl of each went with it"


def plug(daemon: Daemon, count: int) -> str:
    """Keyboards that are gone again before anybody can look at them."""
    before = daemon.nodes()
    with daemon.following("Warming keyboard"):
        pass
    settle()
    descriptors, resident = daemon.descriptors(), daemon.resident_kib()
    begin = time.monotonic()
    for number in range(count):
        keyboard = Keyboard(f"Fleeting keyboard {number % 7}")
        keyboard.press(LEFTSHIFT, LEFTCTRL)
        # Some stay long enough to be found.
        if number % 10 == 0:
            time.sleep(0.02)
        keyboard.remove()
    plugged = time.monotonic() - begin
    settle()
    wait_until(lambda: daemon.nodes() == before, "everything that is gone to be let go")
    wait_until(lambda: daemon.descriptors() <= descriptors, "the descriptors to be closed")
    assert daemon.descriptors() == descriptors
    grown = daemon.resident_kib() - resident
    assert grown <= 512, f"{grown} KiB more than before"
    with daemon.following("Last keyboard") as (last,):
        # Whether Shift was seen depends on how quick udev was.
        daemon.changes()
        expect_no_stuck_key(daemon, last)
    return f"in {plugged:.0f} s ({time.monotonic() - begin:.0f} s until all was told), {grown} KiB"


def settle() -> None:
    """Waits until udev has told of everything."""
    subprocess.run(["udevadm", "settle", "--timeout=120"], check=True)


def many(daemon: Daemon, count: int) -> str:
    """Many keyboards at once, all of them typing."""
    return _many(daemon, count, contextlib.nullcontext())


def many_while_stopped(daemon: Daemon, count: int) -> str:
    """Many keyboards that come while the daemon gets no time to listen to udev."""
    return _many(daemon, count, daemon.stopped())


def _many(daemon: Daemon, count: int, meanwhile: contextlib.AbstractContextManager[None]) -> str:
    before, descriptors = daemon.nodes(), daemon.descriptors()
    begin = time.monotonic()
    with contextlib.ExitStack() as stack:
        with meanwhile:
            keyboards = [
                stack.enter_context(Keyboard(f"Keyboard {number}")) for number in range(count)
            ]
            settle()
        daemon.wait_until_followed(*keyboards)
        followed = time.monotonic() - begin
        assert len(daemon.nodes()) == len(before) + count
        # Each press of it leads to another state.
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
    wait_until(lambda: daemon.nodes() == before, "all of them to be gone")
    assert daemon.descriptors() == descriptors
    return f"all followed within {followed:.0f} s"


def late_permission(daemon: Daemon, count: int) -> str:
    """Nodes that the daemon may not open when they come, but later."""
    rules = Path("/run/udev/rules.d/99-late.rules")
    rules.parent.mkdir(parents=True, exist_ok=True)
    rules.write_text('ACTION=="add", ATTRS{name}=="Late keyboard", MODE="0000"\n')
    subprocess.run(["udevadm", "control", "--reload"], check=True)
    try:
        for number in range(1, count + 1):
            with Keyboard("Late keyboard") as late:
                denied = f"cannot open '{late.node}': Permission denied"
                wait_until(lambda: log(daemon).count(denied) == number, "it to be told of, once")
                assert late.node not in daemon.nodes()
                os.chmod(late.node, 0o660)
                subprocess.run(["udevadm", "trigger", "--action=change", late.node], check=True)
                daemon.wait_until_followed(late)
                use(daemon, late)
            wait_until(lambda: "Late keyboard" not in daemon.devices(), "it to be gone")
    finally:
        rules.unlink()
        subprocess.run(["udevadm", "control", "--reload"], check=True)
    return "each refused once, and followed from when it was allowed"


def use(daemon: Daemon, keyboard: Keyboard) -> None:
    """A key that is bound, and means nothing with any modifier held; then all is as before."""
    keyboard.tap(SCROLLLOCK)
    daemon.expect("prepareToRecord")
    daemon.trigger("clickMoreButton")
    daemon.trigger("clickMoreButton")
    daemon.expect("showingPanel", "prepareToEditText")


def log(daemon: Daemon) -> list[str]:
    """All that the daemon has logged."""
    journal = ["journalctl", "--boot", "--output=cat", f"_PID={daemon.pid}"]
    return subprocess.run(journal, check=True, capture_output=True, text=True).stdout.splitlines()


# Grabs


@contextlib.contextmanager
def grabbed(keyboard: Keyboard) -> Iterator[None]:
    """Nobody else sees what the keyboard sends, as with `evtest --grab`."""
    grabber = os.open(keyboard.node, os.O_RDONLY | os.O_CLOEXEC)
    try:
        fcntl.ioctl(grabber, EVIOCGRAB, 1)
        yield
    finally:
        os.close(grabber)


def grab(daemon: Daemon, count: int) -> str:
    """Another program takes a keyboard for itself while a modifier is down, and gives it back."""
    with daemon.following("Grabbed keyboard", "Free keyboard") as (taken, free):
        for _ in range(count):
            for modifier in (LEFTCTRL, LEFTALT, LEFTMETA):
                # The release is seen by the grabber alone. The other keyboard must not suffer ...
                taken.press(modifier)
                with grabbed(taken):
                    taken.release(modifier)
                    use(daemon, free)
                # ... nor this one, when it is given back.
                taken.press(modifier)
                with grabbed(taken):
                    taken.release(modifier)
                use(daemon, taken)
                # It is still held when it is given back: a chord, for both.
                taken.press(modifier)
                with grabbed(taken):
                    pass
                taken.tap(SCROLLLOCK)
                free.tap(SCROLLLOCK)
                daemon.expect()
                taken.release(modifier)
                use(daemon, free)
            # Pressed and released unseen, or pressed unseen and released for all to see.
            with grabbed(taken):
                taken.tap(LEFTSHIFT)
                taken.press(LEFTCTRL)
            daemon.expect()
            taken.release(LEFTCTRL)
            use(daemon, taken)
        expect_no_stuck_key(daemon, taken)
        expect_no_stuck_key(daemon, free)
    return "Ctrl, Alt and Meta, let go of unseen, held on neither keyboard"


# Time


def interleave(daemon: Daemon, count: int) -> str:
    """Two keyboards at once: Shift and letters on both, whichever comes first."""
    source = random.Random(count)
    total = 0
    with daemon.following("Left keyboard", "Right keyboard") as (left, right):
        left.observe()
        right.observe()
        for _ in range(count):
            for _ in range(8):
                keyboard = source.choice((left, right))
                keyboard.tap(source.choice((LEFTSHIFT, LEFTSHIFT, RIGHTSHIFT, A, B)))
                time.sleep(source.choice((0, 0, 0.0005, 0.003)))
            total += len(expect_by_stamps(daemon, left, right))
            forget(daemon, left)
            left.stamps()
        for distance, expected in ((0.3, "capsLock"), (0.7, "off")):
            for first, second in ((left, right), (right, left)):
                first.tap(LEFTSHIFT)
                time.sleep(distance)
                second.tap(RIGHTSHIFT)
                assert expect_by_stamps(daemon, left, right) == ["on", expected]
                forget(daemon, left)
                left.stamps()
        expect_no_stuck_key(daemon, left)
    return f"{total} changes, each at the time and of the kind that the kernel's stamps say"


def stopped(daemon: Daemon, count: int) -> str:
    """The daemon gets no time for 2 s, and Shift is pressed twice meanwhile."""
    outcomes = []
    with daemon.following("Left keyboard", "Right keyboard") as (left, right):
        left.observe()
        right.observe()
        for _ in range(count):
            for distance, expected in ((0.3, "capsLock"), (0.7, "off")):
                for second in (left, right):
                    begin = time.monotonic()
                    with daemon.stopped():
                        left.tap(LEFTSHIFT)
                        time.sleep(distance)
                        second.tap(LEFTSHIFT)
                        time.sleep(begin + 2 - time.monotonic())
                    states = expect_by_stamps(daemon, left, right)
                    assert states == ["on", expected], (distance, states)
                    outcomes.append(states[-1])
                    forget(daemon, left)
                    left.stamps()
        expect_no_stuck_key(daemon, left)
    return f"{outcomes.count('capsLock')} capsLock and {outcomes.count('off')} off, by the kernel"


ATTACKS: dict[str, Attack] = {
    attack.__name__: attack
    for attack in (
        overflow,
        flood,
        unplug_held,
        plug,
        many,
        many_while_stopped,
        late_permission,
        grab,
        interleave,
        stopped,
    )
}


def main(name: str, count: int, *sockets: str) -> None:
    daemon = Daemon(*sockets)
    outcome = ATTACKS[name](daemon, count)
    print(f"attack: {name} count {count} outcome {outcome}")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), *sys.argv[3:])
