"""The tray of a whole desktop, with the example as its page installs it."""

import pytest
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
}
ITEMS = (
    "busctl --user get-property org.kde.StatusNotifierWatcher /StatusNotifierWatcher "
    "org.kde.StatusNotifierWatcher RegisteredStatusNotifierItems"
)


def test_tray_shows_the_state(desk: Desk) -> None:
    if desk.desktop.name not in TRAYS:
        pytest.skip("it has no tray")
    desk.ask_desktop(TRAYS[desk.desktop.name])
    desk.ask_desktop(INSTALL)
    wait_until(lambda: "eymoded" in desk.ask_desktop(ITEMS, check=False).stdout, "the icon")
    desk.wait_for_stillness()
    desk.look("rest")
    for key, state in (("insert", "editingText"), ("esc", "prepareToEditText")):
        before = desk.pixels()
        desk.play(f"tap {key}")
        desk.run(f"keymodectl wait keyboard={state} --timeout 100")
        wait_until(lambda before=before: desk.pixels() != before, f"another icon in {state}")
        desk.wait_for_stillness()
        desk.look(state)
