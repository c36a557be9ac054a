"""A person who types in the guest, and the screens that show what arrives.

    with screen(vm, "sway") as shown, Person(vm) as person:
        person.type("hello")
        assert shown.read(5) == "hello"

Nothing here grabs a keyboard, and the screens take it as they take any: the console by the kernel,
sway and Xorg by libinput, in a login session of alice each.
"""

import contextlib
import json
import random
import shlex
import shutil
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Self

from harness import keys
from harness.service import program, wait_until_followed
from harness.sessions import SESSION_TERMINAL, USER, Session, switch_to_console
from harness.vm import VirtualMachine
from support.input_events import EV_KEY, EV_LED
from support.waiting import wait_until

SCREENS = ("console", "sway", "xorg")

# Bounds for what an emulated desktop takes to start, and a key to arrive there.
START_SECONDS = 60.0
ARRIVAL_SECONDS = 20.0

NUM, CAPS, SCROLL = 0, 1, 2
"""The numbers of the LEDs."""

# The codes of the keys by the names that QEMU has for them, as in keys.py.
_ROWS = {2: "1234567890", 16: "qwertyuiop", 30: "asdfghjkl", 44: "zxcvbnm"}
CODES = {name: first + i for first, row in _ROWS.items() for i, name in enumerate(row)} | {
    "esc": 1, "backspace": 14, "tab": 15, "ret": 28, "ctrl": 29, "shift": 42, "shift_r": 54, "spc": 57, "caps_lock": 58, "dot": 52,
    "f9": 67, "ctrl_r": 97, "scroll_lock": 70, "insert": 110, "delete": 111, "meta_r": 126, "compose": 127,
}  # fmt: skip

_NAMES = {" ": "spc", "\n": "ret", "\t": "tab", ".": "dot"}


def taps(text: str, gap_ms: float = 40) -> str:
    """The script, in the language of keys.py, that types small letters, digits and spaces."""
    return "; ".join(f"tap {_NAMES.get(c, c)} 30; wait {gap_ms - 30}" for c in text)


def random_words(seed: int, count: int) -> Iterator[tuple[list[keys.KeyEvent], str]]:
    """Words with a space behind each: what a person does for them, and what is to arrive.

    Key follows key after 20 to 200 ms, and often before the one before is released. Shift is tapped
    before some words, and held for the first letter of others.
    """
    choose = random.Random(seed)

    def gap() -> float:
        return float(20 * 10 ** choose.random())

    for _ in range(count):
        events: list[keys.KeyEvent] = []
        now = 0.0
        released: dict[str, float] = {}
        letters = choose.choices("abcdefghijklmnopqrstuvwxyz", k=choose.randint(1, 7))
        way = choose.choice(["small", "small", "tapped", "held"])
        if way == "tapped":
            events.append(keys.KeyEvent(now, "shift", True))
            now += choose.uniform(20, 120)
            events.append(keys.KeyEvent(now, "shift", False))
            now += gap()
        for index, key in enumerate([*letters, "spc"]):
            if index == 0 and way == "held":
                events.append(keys.KeyEvent(now, "shift", True))
                now += gap()
            # A key must be up before it goes down again.
            now = max(now, released.get(key, 0.0) + 5)
            behind = gap()
            events.append(keys.KeyEvent(now, key, True))
            if index == 0 and way == "held":
                events.append(keys.KeyEvent(now + behind / 2, "shift", False))
            released[key] = now + choose.uniform(30, 150)
            events.append(keys.KeyEvent(released[key], key, False))
            now += behind
        # The next word begins when all keys are up.
        word = "".join(letters)
        yield (
            sorted(events, key=lambda event: event.at_ms),
            (word if way == "small" else word[0].upper() + word[1:]) + " ",
        )


class Person:
    """A keyboard of uinput, with three LEDs, and who types on it.

    `codes` are further parameters of uinput.Keyboard in ../guest: keys, leds, absolute, properties.
    """

    def __init__(
        self,
        vm: VirtualMachine,
        name: str = "A person",
        **codes: Sequence[int],
    ) -> None:
        self._vm = vm
        self.name = name
        self.stamps: list[int] = []
        self._socket = f"/run/{name.replace(' ', '-')}.sock"
        parameters = shlex.quote(json.dumps({"leds": [NUM, CAPS, SCROLL], **codes}))
        vm.run(f"rm -f {self._socket}")
        self._process = vm.start(f"exec {program(vm, 'person')} {self._socket} '{name}' {parameters}")
        self.node = self._process.wait_for(rf"^{name}: (/dev/input/event\d+)$")[1]
        vm.run("udevadm settle")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.unplug()

    def play(self, script: str) -> float:
        """Types a script in the language of keys.py; returns by how many ms it was late."""
        return self.send(keys.parse(script))

    def type(self, text: str) -> float:
        """Types small letters, digits and spaces, one after the other."""
        return self.play(taps(text))

    def send(self, events: Iterable[keys.KeyEvent]) -> float:
        """Types these events; returns by how many ms the latest was late.

        Sets `stamps` to the kernel's times of these events, in microseconds.
        """
        sent = self._ask(
            [(event.at_ms, EV_KEY, CODES[event.key], event.is_down) for event in events]
        )
        self.stamps = [stamp for stamp, _, _ in sent["stamps"]]
        late: float = sent["late"]
        return late

    def tap_code(self, code: int) -> None:
        """Presses and releases the key with this number of the kernel."""
        self._ask([(0, EV_KEY, code, True), (20, EV_KEY, code, False)])

    def switch(self, led: int, is_on: bool) -> None:
        """Switches an LED of this keyboard alone, as a program does that has it open."""
        self._ask([(0, EV_LED, led, is_on)])

    def leds(self) -> list[int]:
        """The LEDs of this keyboard that are lit."""
        lit: list[int] = self._ask([])["leds"]
        return lit

    def wait_for_leds(self, *leds: int) -> None:
        """Waits until these LEDs are on, and all others are off."""
        wait_until(lambda: self.leds() == [*leds], f"the LEDs {leds}", 20)

    def wait_for_caps(self, is_on: bool) -> None:
        """Waits until the Caps Lock LED shows this."""
        wait_until(lambda: (CAPS in self.leds()) == is_on, f"Caps Lock's LED to be {is_on}", 20)

    def unplug(self) -> None:
        """Removes the keyboard, with the keys that are held on it."""
        self._process.terminate()
        self._process.wait()

    def sees(self, name: str) -> tuple[list[str], list[int]]:
        """The nodes of keyboards with this name, and the codes of the keys that are down on them."""
        found = self._ask(name)
        return found["nodes"], found["keys"]

    def _ask(self, wanted: Sequence[tuple[float, int, int, bool]] | str) -> dict[str, Any]:
        reply = self._vm.ask(self._socket, json.dumps(wanted))
        assert reply, f"{self.name} has no keyboard"
        found: dict[str, Any] = json.loads(reply)
        return found


@contextlib.contextmanager
def followed(vm: VirtualMachine, name: str, **codes: Sequence[int]) -> Iterator[Person]:
    """A keyboard that the daemon follows."""
    with Person(vm, name, **codes) as person:
        wait_until_followed(vm, name)
        yield person


SHIFT, CTRL = 1, 4
"""The modifiers, as terminals number them."""


def with_modifiers(modifiers: int, character: str) -> str:
    """What a terminal that tells modifiers is sent for a key with some."""
    return f"\033[27;{1 + modifiers};{ord(character)}~"


# What a terminal runs: it shows nothing, and all that it is sent arrives in a file.
_READER = "stty raw -echo; tty >/host/typed/tty; exec cat >/host/typed/text"

_SWAY = """\
xwayland disable
exec foot --override key-bindings.clipboard-paste=none sh -c {reader}
"""

_PROGRAMS = {"sway": "sway", "xorg": "Xorg"}

_SWAY_SOCKET = "$XDG_RUNTIME_DIR/sway.sock"
_SWAYMSG = f"swaymsg --socket {_SWAY_SOCKET}"
_FOCUSED = f"{_SWAYMSG} --type get_tree | jq --raw-output '.. | select(.focused?) | .app_id'"

_XORG = """\
Section "Device"
  Identifier "no card"
  Driver "dummy"
EndSection
Section "Module"
  Disable "glx"
EndSection
"""

# Without a window manager, the window below the pointer gets the keys, which begins in the middle.
_XTERM = """\
until test -S /tmp/.X11-unix/X7; do sleep 0.05; done
DISPLAY=:7 exec xterm -geometry 150x50+0+0 -e sh -c {reader}
"""


class Screen:
    """What shows what is typed, in a login session of alice in front; see `SCREENS`."""

    def __init__(self, vm: VirtualMachine, desk: Session, kind: str) -> None:
        self._vm = vm
        self.kind = kind
        self.session = desk
        self._read = 0
        folder = vm.shared / "typed"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        folder.chmod(0o777)
        self._text = folder / "text"
        reader = shlex.quote(_READER)
        match kind:
            case "console":
                vm.start(f"sh -c {reader} <>/dev/tty{desk.terminal}")
            case "sway":
                (vm.shared / "sway").write_text(_SWAY.format(reader=reader))
                desk.start(
                    "WLR_BACKENDS=headless,libinput WLR_RENDERER=pixman LIBSEAT_BACKEND=logind "
                    f"WLR_LIBINPUT_NO_DEVICES=1 SWAYSOCK={_SWAY_SOCKET} exec sway -c /host/sway"
                )
            case "xorg":
                (vm.shared / "xorg.conf").write_text(_XORG)
                vm.run(
                    "rm -f /tmp/.X11-unix/X7; "
                    "install -D /host/xorg.conf /etc/X11/xorg.conf.d/typing.conf"
                )
                desk.start(
                    f"exec Xorg :7 vt{desk.terminal} -keeptty -noreset -logfile /tmp/xorg.log "
                    f"<>/dev/tty{desk.terminal}"
                )
                desk.start(_XTERM.format(reader=reader))
        wait_until(self._text.exists, f"{kind} to start", START_SECONDS)
        if kind == "sway":
            desk.run(f"until {_FOCUSED} | grep -qx foot; do sleep 0.05; done")

    @contextlib.contextmanager
    def telling_modifiers(self) -> Iterator[None]:
        """Meanwhile a key with a modifier arrives with all of them, as `with_modifiers` has it.

        A console does not know of this.
        """
        terminal = (self._text.parent / "tty").read_text().strip()
        self._vm.run(f"printf '\\033[>4;2m' >{terminal}")
        try:
            yield
        finally:
            self._vm.run(f"printf '\\033[>4;0m' >{terminal}")

    def read(self, count: int) -> str:
        """Waits for so many characters, and returns all that arrived since the last `read`."""
        wait_until(
            lambda: len(self._all()) >= self._read + count,
            f"{count} characters on {self.kind}",
            ARRIVAL_SECONDS,
        )
        text = self._all()[self._read :]
        self._read += len(text)
        return text

    def read_to(self, mark: str) -> str:
        """Waits for these characters, and returns all that arrived since the last `read`."""
        wait_until(
            lambda: self._all()[self._read :].endswith(mark),
            f"{mark!r} on {self.kind}",
            ARRIVAL_SECONDS,
        )
        return self.read(0)

    @contextlib.contextmanager
    def layout(self, option: str) -> Iterator[None]:
        """Meanwhile the keyboard has the usual layout with this option of XKB, for Caps Lock."""
        self._change_layout(option)
        try:
            yield
        finally:
            self._change_layout("")

    def _change_layout(self, option: str) -> None:
        match self.kind:
            case "console":
                key = {"caps:escape": "Escape", "ctrl:nocaps": "Control"}.get(option, "Caps_Lock")
                # In all the maps that there are: the release of Ctrl is looked up in that of Ctrl.
                maps = "keymaps 0-2,4-5,8,12"
                self._vm.run(f"printf '{maps}\\nkeycode 58 = {key}\\n' | loadkeys")
            case "sway":
                self.session.run(f"""{_SWAYMSG} input '*' xkb_options '"{option}"'""")
            case "xorg":
                # The first option removes those of before.
                self.session.run(f"DISPLAY=:7 setxkbmap -option '' -option '{option}'")

    def wait_for_keyboard(self, name: str, node: str) -> None:
        """Waits until the desktop follows a keyboard."""
        if self.kind == "console":
            return
        opened = f"ls -l /proc/$(pgrep -x '{_PROGRAMS[self.kind]}')/fd"
        self._vm.wait_until(f"{opened} | grep -q '{node}$'")
        if self.kind == "sway":
            names = f"{_SWAYMSG} --type get_inputs | jq --raw-output '.[].name'"
            self.session.run(f"until {names} | grep -qx '{name}'; do sleep 0.05; done")

    def _all(self) -> str:
        return self._text.read_bytes().decode()


@contextlib.contextmanager
def screen(vm: VirtualMachine, kind: str) -> Iterator[Screen]:
    """A screen in front; at the end its session is gone.

    The manager of alice runs on, because it takes seconds to start.
    """
    vm.run(f"loginctl enable-linger {USER}")
    desk = Session(vm, SESSION_TERMINAL, USER)
    desk.bring_to_front()
    try:
        yield Screen(vm, desk, kind)
    finally:
        desk.close()
        switch_to_console(vm, 1)
