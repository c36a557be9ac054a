"""The page for people who use a screen reader, and for all eyes: audits by axe-core."""

from pathlib import Path

import axe_playwright_python
import pytest
from browser import Tab, is_state
from kiosk import Kiosk

from support.input_events import COMPOSE, ESC, INSERT, LEFTSHIFT, SCROLLLOCK, A

AXE = next(Path(axe_playwright_python.__file__).parent.rglob("axe.min.js"))

KEYS = {
    "prepareToEditText": [],
    "editingText": [INSERT],
    "prepareToRecord": [SCROLLLOCK],
    "showingPanel": [COMPOSE],
}


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("state", KEYS)
def test_axe_finds_no_violation(kiosk: Kiosk, page: Tab, state: str, scheme: str) -> None:
    page.devtools(
        "Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}]
    )
    for key in [LEFTSHIFT, *KEYS[state]]:
        kiosk.keyboard.press(key)
    page.wait_for(is_state("keyboard", state))
    page.wait_for(is_state("shift", "on"))
    violations, checks = page.run(
        AXE.read_text()
        + """
        const { violations, passes } = await axe.run({ rules: { "target-size": { enabled: true } } });
        return [
          violations.map(({ id, nodes }) => [id, nodes.map((node) => node.failureSummary)]),
          passes.map(({ id }) => id),
        ];
        """
    )
    assert violations == []
    # It has looked at what people see, and at what they hear.
    assert {"color-contrast", "button-name", "target-size"} <= set(checks)


def test_each_state_is_read_aloud(kiosk: Kiosk, page: Tab) -> None:
    page.run("""
    window.spoken = [];
    const status = document.querySelector('[role=status]');
    new MutationObserver(() => window.spoken.push(status.textContent))
      .observe(status, { childList: true, characterData: true, subtree: true });
    """)
    for key, state in (
        (INSERT, "editingText"),
        (COMPOSE, "showingPanel"),
        (ESC, "prepareToEditText"),
    ):
        kiosk.keyboard.press(key)
        page.wait_for(is_state("keyboard", state))
    kiosk.keyboard.press(LEFTSHIFT)
    page.wait_for(is_state("shift", "on"))
    kiosk.keyboard.press(A)
    page.wait_for(is_state("shift", "off"))
    kiosk.keyboard.press(SCROLLLOCK)
    page.wait_for("document.querySelector('#status').textContent === 'Speak now'")
    kiosk.keyboard.press(SCROLLLOCK)
    page.wait_for(is_state("keyboard", "editingText"))
    assert page.run("return window.spoken") == [
        "Type a message",
        "Choose an emoji or a picture",
        "Ready",
        "Ready · Shift for one letter",
        "Ready",
        "One moment…",
        "Speak now",
        "Type a message",
    ]


def test_buttons_say_what_they_lead_to(kiosk: Kiosk, page: Tab) -> None:
    names = """
    return [...document.querySelectorAll('#input button')].filter((one) => one.getClientRects().length)
      .map((one) => [one.ariaLabel, one.ariaExpanded, one.disabled, one.ariaKeyShortcuts]);
    """
    more, speak = ["Emoji and pictures", "false", False, None], ["Speak", None, False, None]
    assert page.run(names) == [more, speak, ["Send", None, True, "Enter"]]
    kiosk.keyboard.press(SCROLLLOCK)
    page.wait_for(is_state("keyboard", "prepareToRecord"))
    send = ["Send", None, False, "Enter"]
    assert page.run(names) == [["Discard", None, False, "Escape"], send]
    kiosk.keyboard.press(COMPOSE)
    page.wait_for(is_state("keyboard", "showingPanel"))
    more[1] = "true"
    assert page.run(names) == [more, speak, ["Send", None, True, "Enter"]]
