"""The example for an emoji panel, with fuzzel and a text field."""

import subprocess

import pytest
from seat import Desktop, Seat
from support.checkout import CHECKOUT
from support.user_manager import require_root
from text_fields import AccessibleDesktop, focused_window

# As fuzzel.ini sets them, so that the picture of the list does not depend on Debian's settings.
LOOK = """
[main]
font=DejaVu Sans:size=11
lines=8
[colors]
background=2e3440ff
text=d8dee9ff
match=ebcb8bff
selection=4c566aff
selection-text=eceff4ff
border=88c0d0ff
"""

# As most desktops show them.
COLOURED_EMOJI = """<include>/etc/fonts/conf.d/10-scale-bitmap-fonts.conf</include>
  <dir>/usr/share/fonts/truetype/noto</dir>
  <alias binding="strong"><family>emoji</family><prefer><family>Noto Color Emoji</family></prefer></alias>
</fontconfig>"""

LIST = (0x2E, 0x34, 0x40)


class Panel:
    """A desktop with a text field, and the example running."""

    def __init__(self, seat: Seat) -> None:
        self.seat = seat
        require_root()
        seat.install("emoji-panel")
        seat.write(".config/fuzzel/fuzzel.ini", LOOK)
        fonts = (seat.folder / "fonts.conf").read_text()
        seat.write("fonts.conf", fonts.replace("</fontconfig>", COLOURED_EMOJI))
        self.fields = AccessibleDesktop(seat)
        self.fields.turn_on()
        self.desktop = Desktop(seat, width=1200, height=800)
        self.keyboard = self.plug_in()
        self.fields.open_field("Chat")
        self.example = self.start()

    def start(self) -> subprocess.Popen[bytes]:
        """Starts the example."""
        return self.seat.start_managed(".local/bin/emoji-panel")

    def plug_in(self) -> subprocess.Popen[bytes]:
        """Gives the desktop a keyboard: without one, no window has the focus."""
        return self.seat.start("wtype", "-s", "100000000")

    def open(self) -> None:
        """Opens the panel by an event, and waits until the list is there."""
        # wtype's own keyboard was the last in use, and is gone, at which fuzzel 1.8 crashes. For a
        # person it is not the last one: a key opens the panel.
        self.keyboard.kill()
        self.keyboard = self.plug_in()
        self.seat.trigger("clickMoreButton")
        self.wait_for_list(True)

    def wait_for_list(self, is_shown: bool) -> None:
        """Waits until the list of emoji is shown or gone."""
        self.desktop.wait_for(
            lambda seen: (seen.colors()[LIST] > 10_000) == is_shown, f"a list: {is_shown}"
        )

    def wait_for(self, state: str, text: str) -> None:
        """Waits until the list is gone, the keyboard has this state, and the field this text."""
        self.wait_for_list(False)
        self.seat.wait_for(lambda: not self.seat.processes("fuzzel"), "the picker to end")
        self.seat.wait_for(lambda: self.seat.keyboard == state, state)
        self.seat.wait_for(lambda: self.fields.texts() == [text], f"the text {text!r}")
        assert focused_window(self.seat) == "Chat"


@pytest.fixture
def panel(seat: Seat) -> Panel:
    """A desktop with a text field, and the example running."""
    return Panel(seat)


def test_chosen_emoji_is_typed(panel: Panel, pictures_are_remade: bool) -> None:
    seat = panel.seat
    seat.run("wtype", "Hello ")
    for search, text in [("glasses", "Hello 😎"), ("shaped", "Hello 😎😍"), ("", "Hello 😎😍😀")]:
        panel.open()
        if pictures_are_remade and not search:
            panel.desktop.picture().write_png(CHECKOUT / "docs/pictures/emoji-panel.png")
        seat.run("wtype", *((search,) if search else ()), "-k", "Return")
        panel.wait_for("editingText", text)


def test_cancelled_picker_types_nothing(panel: Panel) -> None:
    panel.open()
    panel.seat.run("wtype", "-k", "Escape")
    panel.wait_for("prepareToEditText", "")
    panel.open()
    panel.seat.run("wtype", "-k", "Return")
    panel.wait_for("editingText", "😀")


def test_list_closes_when_a_key_leaves_the_state_or_the_daemon_goes(panel: Panel) -> None:
    panel.open()
    panel.seat.trigger("clickSwitchButton")
    panel.wait_for("prepareToRecord", "")
    panel.open()
    panel.seat.kill_keymoded()
    panel.wait_for_list(False)
    panel.seat.start_keymoded()
    panel.open()
