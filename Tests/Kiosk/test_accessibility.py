"""The page for people who use a screen reader, and for all eyes: audits by axe-core."""

from pathlib import Path

import axe_playwright_python
import pytest
from browser import Tab, is_state
from kiosk import Kiosk

from support.input_events import LEFTSHIFT, SCROLLLOCK, A

AXE = next(Path(axe_playwright_python.__file__).parent.rglob("axe.min.js"))


def audit(page: Tab) -> None:
    """Asserts that axe-core finds nothing in the page as it is."""
    violations, checks = page.run(
        AXE.read_text()
        + """
        const { violations, passes } = await axe.run({ rules: { "target-size": { enabled: true } } });
        return [
          violations.map(({ id, nodes }) => [id, nodes.map((node) => [node.html, node.failureSummary])]),
          passes.map(({ id }) => id),
        ];
        """
    )
    assert violations == []
    # It has looked at what people see, and at what they hear.
    assert {"color-contrast", "button-name", "target-size"} <= set(checks)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_no_violation_from_the_first_message_to_the_last_question(
    kiosk: Kiosk, any_page: Tab, scheme: str
) -> None:
    page = any_page
    page.paint(scheme)
    kiosk.keyboard.press(LEFTSHIFT)
    page.wait_for(is_state("shift", "on"))
    audit(page)
    for state in ("prepareToRecord", "showingPanel", "editingText"):
        kiosk.enter(page, state)
        audit(page)
    page.type("hi\ue007text")
    # What becomes of messages.
    page.run("""
    const { addText } = await import('/conversation.js');
    for (const state of ['waiting', 'sent', 'failed']) addText(state)({ state, answer: 'Thank you' });
    """)
    audit(page)
    for end in ("#send", "#discard"):
        kiosk.speak(page, end)
        page.wait_for(is_state("keyboard", "editingText"))
    page.wait_for("!document.querySelector('#undo').hidden")
    audit(page)
    page.touch("#undo-button")
    page.wait_for("!document.querySelector('#draft').hidden")
    audit(page)
    page.run("(await import('/kiosk.js')).visit.ask(10)")
    page.wait_for("document.querySelector('dialog').open")
    audit(page)
    page.type("x")
    page.wait_for("!document.querySelector('dialog').open")
    kiosk.daemon.kill()
    page.wait_for(is_state("outage", "fingers"))
    audit(page)
    kiosk.bridge.kill()
    kiosk.bridge.entrance.unlink()
    kiosk.bridge.start()
    page.wait_for(is_state("outage", "all"))
    # The buttons that are left are those of the messages.
    audit(page)


def test_each_state_is_read_aloud(kiosk: Kiosk, page: Tab) -> None:
    page.run("""
    window.spoken = [];
    const status = document.querySelector('[role=status]');
    new MutationObserver(() => window.spoken.push(status.textContent))
      .observe(status, { childList: true, characterData: true, subtree: true });
    """)
    for state in ("editingText", "showingPanel", "prepareToEditText"):
        kiosk.enter(page, state)
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
    kiosk.enter(page, "prepareToRecord")
    send = ["Send", None, False, "Enter"]
    assert page.run(names) == [["Discard", None, False, "Escape"], send]
    kiosk.enter(page, "showingPanel")
    more[1] = "true"
    assert page.run(names) == [more, speak, ["Send", None, True, "Enter"]]
