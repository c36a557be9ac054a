"""The tray example as installed, in the tray of Waybar: on a light bar and on a dark one."""

import re
import signal
import subprocess
from contextlib import suppress

import pytest
from seat import EXAMPLES, Desktop, Seat, kill
from support.checkout import CHECKOUT
from support.fifo_keyboard import FifoKeyboard
from support.input_events import ESC, INSERT
from support.picture import Color, Picture
from support.waiting import BOUND_SECONDS, NotInTimeError, wait_until

# A bar has icons of 16 pixels, as most desktops, and one of 22 pixels, as KDE.
BARS = """[
  {"name": "light", "position": "top", "height": 28, "modules-right": ["tray"],
    "tray": {"icon-size": 16}},
  {"name": "dark", "position": "bottom", "height": 28, "modules-right": ["tray"],
    "tray": {"icon-size": 22}}
]"""

STYLE = """
* { border: none; min-height: 0; }
#tray { padding: 0 8px; }
window.light { background-color: #ffffff; }
window.dark { background-color: #000000; }
"""

BAR_HEIGHT = 28

# The smaller icon has more pixels of its colour than this around the white sign.
PLENTY = 80

# The events that lead to each look from the one before, its icon, and its title.
WALK = [
    ((), "rest", "at rest"),
    (("shiftPressed",), "shift", "at rest, Shift"),
    (("shiftPressed",), "shift-locked", "at rest, Shift locked"),
    (("tapTextField",), "editing", "editing, Shift locked"),
    (("shiftPressed",), "editing", "editing"),
    (("clickMoreButton",), "panel", "panel"),
    (("clickSwitchButton",), "recording", "recording"),
    (("clickMoreButton", "tapBlankArea"), "rest", "at rest"),
    (("clickStickerButton",), "other", "showingStickers"),
    (("clickStickerButton",), "rest", "at rest"),
    (("talk.press",), "recording", "at rest, talking"),
    (("talk.tap",), "recording", "at rest, open"),
    (("shiftPressed",), "recording", "at rest, Shift, open"),
    (("talk.press",), "shift", "at rest, Shift"),
    (("characterTyped",), "rest", "at rest"),
]

# How long Waybar gets to show an item that was there before it, many times what it takes. In one of
# a hundred starts, Waybar 0.9 never does.
SHOWING_SECONDS = 10

ITEM = "/org/ayatana/NotificationItem/keymoded"


def icon_color(name: str) -> Color:
    """The colour of an icon, around its white sign."""
    text = (EXAMPLES / f"tray/icons/keymoded-{name}.svg").read_text()
    (color,) = re.findall(r'<rect width="16" height="16" rx="3" fill="#(\w{6})"/>', text)
    return int(color[:2], 16), int(color[2:4], 16), int(color[4:], 16)


COLORS = {
    path.stem.removeprefix("keymoded-"): icon_color(path.stem.removeprefix("keymoded-"))
    for path in (EXAMPLES / "tray/icons").iterdir()
}


class Tray:
    """A desktop with the installed example, and with a bar that shows it if `has_host`."""

    def __init__(self, seat: Seat, has_host: bool = True) -> None:
        self.seat = seat
        seat.start_bus()
        seat.install("tray")
        seat.write("bars.json", BARS)
        seat.write("style.css", STYLE)
        self.desktop = Desktop(seat, "output HEADLESS-1 scale 1", width=320, height=80)
        if has_host:
            self.start_host()
        self.example = self.start()

    def start_host(self) -> subprocess.Popen[bytes]:
        """Starts the bars."""
        folder = self.seat.folder
        return self.seat.start("waybar", "-c", f"{folder}/bars.json", "-s", f"{folder}/style.css")

    def start(self) -> subprocess.Popen[bytes]:
        """Starts the example."""
        return self.seat.start(".local/bin/keymoded-tray")

    def show(self, icon: str) -> subprocess.Popen[bytes]:
        """Starts the bars, and waits until they show this icon, of an item that is there before them."""
        for _ in range(5):
            host = self.start_host()
            with suppress(NotInTimeError):
                wait_until(lambda: self._shows(self.desktop.picture(), icon), icon, SHOWING_SECONDS)
                return host
            host.kill()
            host.wait()
        raise AssertionError(f"the bars never show {icon}\n{self.seat.log}")

    def wait_for(self, icon: str) -> Picture:
        """Waits until both bars show this icon and no other; returns their ends."""
        shown = self.desktop.wait_for(lambda picture: self._shows(picture, icon), icon)
        return Picture.stack(self._ends(shown), 0, (0, 0, 0))

    @staticmethod
    def _ends(picture: Picture) -> list[Picture]:
        left = picture.width - 40
        tops = (0, picture.height - BAR_HEIGHT)
        return [picture.cut(left, top, 40, BAR_HEIGHT) for top in tops]

    def _shows(self, picture: Picture, icon: str) -> bool:
        return all(
            seen[color] > PLENTY if name == icon else seen[color] == 0
            for seen in (end.colors() for end in self._ends(picture))
            for name, color in COLORS.items()
        )

    def call(self, path: str, method: str, *values: str) -> str:
        """Calls a method of the item, whose name the host knows; returns what gdbus prints."""
        name = re.search(rf"(:[\d.]+){ITEM}", self._registered())
        assert name, "no item"
        to = ("--dest", name[1], "--object-path", path, "--method", method, "--")
        return self.seat.run("gdbus", "call", "--session", *to, *values)

    def _registered(self) -> str:
        watcher = "org.kde.StatusNotifierWatcher"
        to = ("--dest", watcher, "--object-path", "/StatusNotifierWatcher")
        get = ("--method", "org.freedesktop.DBus.Properties.Get", watcher)
        return self.seat.run("gdbus", "call", "--session", *to, *get, "RegisteredStatusNotifierItems")

    @property
    def title(self) -> str:
        """The title of the item."""
        get = "org.freedesktop.DBus.Properties.Get"
        told = self.call(ITEM, get, "org.kde.StatusNotifierItem", "Title")
        return told.removeprefix("(<'").removesuffix("'>,)\n")

    @property
    def menu(self) -> dict[str, int]:
        """The lines of the menu, and their numbers."""
        told = self.call(f"{ITEM}/Menu", "com.canonical.dbusmenu.GetLayout", "0", "-1", "[]")
        return {
            label: int(number)
            for number, label in re.findall(r"<\((\d+), \{[^}]*'label': <'(.*?)'>", told)
        }

    def wait_for_menu(self, *lines: str) -> None:
        """Waits until the menu has exactly these lines."""
        self.seat.wait_for(lambda: [*self.menu] == [*lines], f"{lines}")

    def choose(self, line: str) -> None:
        """Chooses a line of the menu, as hosts do."""
        event = ("com.canonical.dbusmenu.Event", str(self.menu[line]), "clicked", "<''>", "0")
        self.call(f"{ITEM}/Menu", *event)


def test_each_state_has_a_look_and_a_title(seat: Seat, pictures_are_remade: bool) -> None:
    assert len({*COLORS.values()}) == 8
    tray = Tray(seat)
    looks: dict[str, Picture] = {}
    for events, icon, title in WALK:
        seat.trigger(*events)
        look = tray.wait_for(icon)
        assert looks.setdefault(icon, look) == look, "the same icon has the same look"
        seat.wait_for(lambda title=title: tray.title == title, title)
        assert [*tray.menu][0] == title

    seat.kill_keymoded()
    looks["none"] = tray.wait_for("none")
    tray.wait_for_menu("no keymoded")
    seat.start_keymoded()
    assert tray.wait_for("rest") == looks["rest"]
    seat.trigger("clickMoreButton")
    assert tray.wait_for("panel") == looks["panel"]
    assert looks.keys() == COLORS.keys()
    if pictures_are_remade:
        names = ("rest", "editing", "recording", "panel", "shift", "shift-locked", "other", "none")
        rows = zip(*(looks[name].rows for name in names), strict=True)
        picture = Picture(40 * len(names), tuple(b"".join(row) for row in rows))
        picture.write_png(CHECKOUT / "docs/pictures/tray.png")


def test_menu_has_the_events_of_the_state_and_the_locks(seat: Seat) -> None:
    seat.kill_keymoded()
    keyboard = seat.start_keymoded_with_keyboard(FifoKeyboard.NUM_LOCK)
    tray = Tray(seat)
    resting = (
        "clickSwitchButton → recording",
        "clickMoreButton → panel",
        "tapTextField → editing",
        "clickStickerButton → showingStickers",
    )
    tray.wait_for("rest")
    tray.wait_for_menu("at rest", *resting, "Caps Lock off", "Num Lock on")
    keyboard.show(FifoKeyboard.CAPS_LOCK)
    tray.wait_for_menu("at rest", *resting, "Caps Lock on", "Num Lock off")

    tray.choose("clickStickerButton → showingStickers")
    tray.wait_for("other")
    assert seat.keyboard == "showingStickers"
    sticker = "clickStickerButton → at rest"
    tray.wait_for_menu("showingStickers", sticker, "Caps Lock on", "Num Lock off")

    # Who is not in the group keymoded-control sees the states, and can send nothing.
    tray.choose(sticker)
    tray.wait_for("rest")
    socket = seat.folder / "run/keymoded/control.sock"
    mode = socket.stat().st_mode
    socket.chmod(0)
    keyboard.press(INSERT)
    tray.wait_for_menu("editing", "Caps Lock on", "Num Lock off")
    socket.chmod(mode)
    keyboard.press(ESC)
    tray.wait_for_menu("at rest", *resting, "Caps Lock on", "Num Lock off")


def test_hosts_may_come_and_go(seat: Seat) -> None:
    tray = Tray(seat, has_host=False)
    seat.wait_for(lambda: bool(seat.processes("keymodectl")), "keymodectl watch")
    seat.trigger("clickSwitchButton")
    host = tray.show("recording")
    host.kill()
    host.wait()
    seat.trigger("clickMoreButton")
    tray.show("panel")
    assert tray.example.poll() is None


def test_no_part_of_the_example_outlives_the_other(seat: Seat) -> None:
    tray = Tray(seat)
    tray.wait_for("rest")
    tray.example.send_signal(signal.SIGKILL)
    seat.wait_for(lambda: not seat.processes("keymodectl"), "keymodectl to end")

    example = tray.start()
    tray.wait_for("rest")
    for number in seat.processes("keymodectl"):
        kill(number)
    assert example.wait(BOUND_SECONDS) != 0, "only after a failure does the unit start it again"


def test_user_who_may_not_read_the_states_is_told(seat: Seat) -> None:
    sockets = [seat.folder / f"run/keymoded/{name}.sock" for name in ("state", "control")]
    modes = [socket.stat().st_mode for socket in sockets]
    for socket in sockets:
        socket.chmod(0)
    tray = Tray(seat)
    tray.wait_for("none")
    # The icon is there before the menu.
    seat.wait_for(lambda: "ermission" in seat.log, "the reason")
    tray.wait_for_menu("no right to read the states")
    assert tray.title == "no right to read the states"
    for socket, mode in zip(sockets, modes, strict=True):
        socket.chmod(mode)
    tray.wait_for("rest")
    seat.wait_for(lambda: tray.title == "at rest", "the states")
    assert tray.example.poll() is None


def luminance(color: Color) -> float:
    """The relative luminance of WCAG 2."""
    parts = [part / 255 for part in color]
    # Every part is above the darkest ones, for which the definition has another formula.
    red, green, blue = (((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize("name", COLORS)
def test_icon_stands_out_on_white_and_on_black(name: str) -> None:
    light = luminance(COLORS[name])
    # WCAG 2 asks for 3 of what is no text. The sign in the icon is white too.
    assert 1.05 / (light + 0.05) >= 3
    assert (light + 0.05) / 0.05 >= 3
