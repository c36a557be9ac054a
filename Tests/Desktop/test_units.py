"""The units of the examples start what their pages install."""

import pytest
from seat import EXAMPLES

# The page, or the comment that is one; the unit; and the programs.
INSTALLED = [
    ("emoji-panel/README.md", "emoji-panel", ["emoji-panel"]),
    ("notification/keymoded-notify", "keymoded-notify", ["keymoded-notify"]),
    (
        "on-screen-keyboard/README.md",
        "on-screen-keyboard",
        ["on-screen-keyboard", "squeekboard-follow"],
    ),
    ("talk-commands/README.md", "talk-mumble", ["talk-command"]),
    ("talk-commands/README.md", "talk-obs", ["talk-command"]),
    ("talk-commands/README.md", "talk-voxtype", ["talk-command"]),
    ("tray/README.md", "keymoded-tray", ["keymoded-tray"]),
]


@pytest.mark.parametrize(("page", "unit", "programs"), INSTALLED)
def test_unit_starts_what_the_page_installs(page: str, unit: str, programs: list[str]) -> None:
    folder = (EXAMPLES / page).parent
    for name in programs:
        assert f"install -D -t ~/.local/bin {name}\n" in (EXAMPLES / page).read_text()
        assert f"ExecStart=%h/.local/bin/{name}" in (folder / f"{unit}.service").read_text()
