"""A whole desktop in the guest, as its tests use it.

    with Desk(DESKTOPS["gnome"], folder / "name") as desk:
        desk.type("keymodectl state\n")
        desk.wait_for("shift +off")
        desk.look("states")
"""

import re
import shlex
from pathlib import Path
from typing import Self

from desktops import OTHER, PASSWORD, START_SECONDS, TRANSCRIPT, USER, Desktop, PreparedDesktop
from harness.sessions import as_user
from harness.typing import taps
from support.checkout import CHECKOUT
from support.picture import Color, Picture
from support.waiting import wait_until

# What a key takes at most to arrive on an emulated desktop.
ARRIVAL_SECONDS = 60.0

# The least points of an icon's own colour in a panel.
ICON_POINTS = 40
# The most colours of a screen that is dark.
DARK_COLORS = 8

AWAKE = "awake again"
# The shared folder's driver does not support a suspend.
_SLEEP = f"""
while mountpoint -q /host; do sleep 0.1; done
modprobe -r 9pnet_virtio
echo s2idle >/sys/power/mem_sleep
echo enabled >/sys/bus/serio/devices/serio0/power/wakeup
systemctl suspend
until test $(cat /sys/power/suspend_stats/success) = 1; do sleep 0.1; done
echo '{AWAKE}' >/dev/ttyS0
"""


class Desk(PreparedDesktop):
    """A guest with a desktop in front, and what a test does there."""

    def __init__(self, desktop: Desktop, pictures: Path) -> None:
        """The names of all pictures begin with `pictures`."""
        super().__init__(desktop)
        self._pictures = pictures
        self._seen = 0

    def __enter__(self) -> Self:
        super().__enter__()
        self.find_session()
        self.wait_for_keys()
        return self

    def come_back(self) -> None:
        """Switches from another console to the desktop, which loses what is typed at once."""
        self.session.bring_to_front()
        self.wait_for_keys()

    def wait_for_keys(self) -> None:
        """Waits until keys arrive in the terminal."""
        self.wait_for_the_terminal()
        self._seen = len(self.screen())

    def type(self, text: str) -> None:
        """Types small letters, digits, spaces and ends of lines on the machine's keyboard."""
        self.play(taps(text, 60))

    def screen(self) -> str:
        """All that the terminal has shown, without what only a terminal understands."""
        shown = self.run(f"cat {TRANSCRIPT}").stdout
        return re.sub(r"\x1b(\[[0-9;?]*[A-Za-z]|[()].|[=>])|\r", "", shown)

    def wait_for(self, pattern: str) -> re.Match[str]:
        """Waits until the terminal shows this, after what was waited for before."""
        found: list[re.Match[str]] = []

        def is_shown() -> bool:
            match = re.compile(pattern, re.MULTILINE).search(self.screen(), self._seen)
            found.extend([match] if match else [])
            return bool(found)

        wait_until(is_shown, f"{pattern!r} in the terminal", ARRIVAL_SECONDS)
        self._seen = found[0].end()
        return found[0]

    def skip(self) -> None:
        """Waits until the terminal shows no more, and passes over what it shows."""
        self.wait_for_rest()
        self._seen = len(self.screen())

    def look(self, name: str) -> Path:
        """Takes a picture of the screen, and keeps it."""
        kept = self._pictures.with_name(f"{self._pictures.name}-{name}.png")
        self._shown().write_png(kept)
        return kept

    def wait_for_color(self, color: Color) -> None:
        """Waits until the screen shows this colour, in as many points as an icon has."""
        wait_until(
            lambda: self._shown().colors()[color] > ICON_POINTS,
            f"the colour {color}",
            ARRIVAL_SECONDS,
        )

    def write_home(self, name: str, text: str) -> None:
        """Writes a file into the person's home."""
        (self.shared / name).write_text(text)
        self.run(f"install --owner {USER} --group {USER} /host/{name} ~{USER}")

    def wait_for_keyboard(self, name: str) -> None:
        """Waits until the desktop follows the keyboard of this name."""
        opened = f"ls -l /proc/$(pgrep -x {self.desktop.compositor})/fd"
        self.wait_until(
            f'node=$({self.event_of(name)}) && test "$node" && {opened} | grep -q "/dev/input/$node$"',
            ARRIVAL_SECONDS,
        )

    def event_of(self, name: str) -> str:
        """The command that prints the name of the node of a keyboard, such as event3."""
        found = f"grep --files-with-matches --line-regexp '{name}' /sys/class/input/event*/device/name"
        return f"{found} | cut -d/ -f5"

    def open_launcher(self) -> None:
        """Opens by a key what shows the programs, and waits until the screen shows it."""
        before = self._pixels()
        self.play(self.desktop.menu)
        wait_until(lambda: self._differs_from(before), "the overview or the menu", ARRIVAL_SECONDS)

    def _pixels(self) -> bytes:
        return b"".join(self._shown().rows)

    def _shown(self) -> Picture:
        taken = self.shared / "picture.ppm"
        self.picture(taken)
        return Picture.read(taken)

    def _differs_from(self, before: bytes) -> bool:
        """Whether at least a hundredth of the screen has changed, as by a small menu."""
        now = self._pixels()
        if len(now) != len(before):
            return True
        changed = sum(a != b for a, b in zip(before[::30], now[::30], strict=True))
        return changed * 100 > len(now) // 30

    def wait_for_still_screen(self) -> None:
        """Waits until the screen shows the same for five seconds, but for a clock or a cursor.

        Plasma's launcher keeps the processors busy for as long as it is open.
        """

        def is_still() -> bool:
            before = self._pixels()
            self.run("sleep 5")
            is_dark = len(self._shown().colors()) <= DARK_COLORS
            return not is_dark and not self._differs_from(before)

        wait_until(is_still, "a screen that stays the same", START_SECONDS)

    def lock(self, command: str = "") -> None:
        """Locks the screen, as the desktop's menu does, or by a command of the person.

        Waits until logind says so, or what locks it.
        """
        before = self._pixels()
        if command:
            self.ask_desktop(command)
        elif self.desktop.locker:
            self.write_home("lock", _locking_script())
            self.session.run(self.desktop.locker)
        else:
            self.run(f"loginctl lock-session {self.session.id}")
        self.wait_until(self._is_locked())
        wait_until(lambda: self._differs_from(before), "the lock screen", ARRIVAL_SECONDS)

    def unlock(self) -> None:
        """Types the password, and waits until the screen is unlocked."""
        self.enter_password(f"! {self._is_locked()}", "the screen to be unlocked")

    def enter_password(self, is_accepted: str, awaited: str) -> None:
        """Types the password on a lock screen or login screen, until a command succeeds."""

        def opens() -> bool:
            # What was typed before may be there still.
            self.play("tap backspace; wait 1000; down ctrl; tap a; up ctrl; tap backspace")
            self.look("password")
            self.type(f"{PASSWORD}\n")
            accepted = shlex.quote(f"until {is_accepted}; do sleep 0.1; done")
            return self.run(f"timeout 40 sh -c {accepted}", check=False).exit_code == 0

        # A key lights the screen. That of Plasma needs a minute to show the field.
        self.play("tap backspace")
        wait_until(
            lambda: len(self._shown().colors()) > DARK_COLORS, "the screen to light up", START_SECONDS
        )
        wait_until(opens, awaited, START_SECONDS)

    def switch_users(self, to_other: bool) -> None:
        """Has the login screen in front, as the menu does, and has it ask for OTHER's password if wanted."""
        if command := self.desktop.to_login_screen:
            return self.lock(f"{command} {f'switch-to-user {OTHER}' if to_other else 'switch-to-greeter'}")
        self.open_launcher()
        self.type("switch user")
        away = self._is_away()

        def is_away() -> bool:
            # What is found changes with each letter, for seconds. Plasma then asks whether it is meant.
            self.wait_for_still_screen()
            if self.run(away, check=False).exit_code != 0:
                self.play("tap ret")
            return self.run(f"timeout 20 sh -c 'until {away}; do sleep 0.1; done'", check=False).exit_code == 0

        wait_until(is_away, "the login screen", START_SECONDS)
        # Until it is drawn, the screen stays as it was.
        self.wait_for_rest()
        if to_other:
            self.play(f"{self.desktop.chooses_other}; wait 2000")

    def sleep(self) -> None:
        """Has logind suspend the machine to idle, and wakes it by a key.

        Then the screen is locked if the desktop does that.
        """
        self.run(f"systemd-run --quiet --collect bash -c {shlex.quote(_SLEEP)}")
        self.pause()

        def is_awake() -> bool:
            # Before the machine sleeps, this does nothing.
            self.play("tap ctrl 500")
            return AWAKE in self._agent.console_tail()

        wait_until(is_awake, "the guest to wake up", START_SECONDS)
        self._begin()
        if self.desktop.locks_to_sleep:
            self.wait_until(self._is_locked())
            self.look("awake")

    def _is_away(self) -> str:
        """The command that succeeds while another session is in front."""
        return f"loginctl show-session {self.session.id} | grep -qx Active=no"

    def _is_locked(self) -> str:
        """The command that succeeds while the screen is locked."""
        if self.desktop.tells_of_lock:
            return f"loginctl show-session {self.session.id} | grep -qx LockedHint=yes"
        # light-locker sets no hint, but the login screen is in front then. xfce4-screensaver answers.
        saver = "org.xfce.ScreenSaver /org/xfce/ScreenSaver org.xfce.ScreenSaver"
        active = as_user(USER, f"busctl --user --auto-start=no call {saver} GetActive 2>/dev/null")
        return f"{{ {self._is_away()} || ({active}) | grep -q true; }}"


def _locking_script() -> str:
    """The script of docs/actions.md for swaylock."""
    blocks = re.findall(r"```sh\n(#!.*?)```", (CHECKOUT / "docs/actions.md").read_text(), re.DOTALL)
    (script,) = (block for block in blocks if "swaylock" in block)
    return str(script)
