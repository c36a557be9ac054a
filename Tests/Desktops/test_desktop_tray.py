"""The tray of a whole desktop, with the example as its page installs it."""

from desk import Desk
from support.waiting import wait_until

# As examples/tray/README.md has it.
INSTALL = """
cd /usr/share/doc/keymoded/examples/tray &&
install -D -t ~/.local/bin keymoded-tray &&
install -D -m 644 -t ~/.local/share/keymoded-tray icons/* &&
install -D -m 644 -t ~/.config/systemd/user keymoded-tray.service &&
systemctl --user enable --now keymoded-tray.service
"""
# What a person does first, by desktop.
TRAYS = {
    "gnome": "gnome-extensions enable ubuntu-appindicators@ubuntu.com",
    "plasma": "true",
    "xfce": "true",
    "labwc": "true",
}
# The colours of the icons.
COLORS = {"rest": (0x5D, 0x6B, 0x82), "editing": (0x2F, 0x81, 0x32), "recording": (0xD0, 0x21, 0x2F)}
ITEMS = (
    "busctl --user get-property org.kde.StatusNotifierWatcher /StatusNotifierWatcher "
    "org.kde.StatusNotifierWatcher RegisteredStatusNotifierItems"
)


def test_tray_shows_the_state(desk: Desk) -> None:
    # The daemon has the talk key by the time that the icon is there.
    desk.run("keymodectl recipe push-to-talk")
    desk.ask_desktop(TRAYS[desk.desktop.name])
    desk.ask_desktop(INSTALL)
    wait_until(lambda: "eymoded" in desk.ask_desktop(ITEMS, check=False).stdout, "the icon")
    desk.wait_for_color(COLORS["rest"])
    desk.look("rest")
    desk.play("tap insert")
    desk.wait_for_color(COLORS["editing"])
    desk.look("editing")
    desk.play("tap esc")
    desk.wait_for_color(COLORS["rest"])
    desk.play("down ctrl_r")
    desk.wait_for_color(COLORS["recording"])
    desk.look("talking")
    desk.play("up ctrl_r")
    desk.wait_for_color(COLORS["rest"])
