"""How a voice message is sent and discarded: by fingers, by keys, and by holding the microphone."""

import time
from pathlib import Path
from typing import Any

import pytest
from browser import Browser, Tab, is_state
from kiosk import Kiosk
from test_voice import LISTEN, STATUS

from support.input_events import COMPOSE, F8, PRESS, RELEASE, SCROLLLOCK
from support.waiting import wait_until

ENTER, ESCAPE, CONTROL = "\ue007", "\ue00c", "\ue009"
RECORDING = is_state("voice", "recording")
DISCARDED = "!document.querySelector('#undo').hidden"
DRAFT = "!document.querySelector('#draft').hidden"
SENT = "return document.querySelectorAll('.voice').length"


def finger(page: Tab, *actions: dict[str, Any]) -> None:
    """Moves the one finger, which stays where it is between two calls."""
    touch = {"type": "pointer", "id": "finger", "parameters": {"pointerType": "touch"}}
    page.perform({**touch, "actions": list(actions)})


def press_microphone(page: Tab) -> tuple[int, int]:
    """Puts a finger on the microphone, waits until it is open, and returns where the finger is."""
    x, y = page.middle("#switch")
    down = {"type": "pointerDown", "button": 0}
    finger(page, {"type": "pointerMove", "x": x, "y": y}, down)
    page.wait_for(RECORDING)
    return x, y


UP = {"type": "pointerUp", "button": 0}


def is_ended(page: Tab, sent: int) -> bool:
    """Whether the microphone is closed, and so many messages have been sent."""
    page.wait_for(is_state("keyboard", "editingText"))
    page.wait_for(is_state("input", "text"))
    page.run("while (window.isOpen()) await new Promise((done) => setTimeout(done, 5))")
    return bool(page.run(SENT) == sent)


def test_bin_and_arrow_end_a_message_and_its_keys_too(kiosk: Kiosk, any_page: Tab) -> None:
    any_page.run(LISTEN)
    sent = 0
    for end, is_sent in (
        (lambda: any_page.touch("#send"), True),
        (lambda: any_page.touch("#discard"), False),
        (lambda: any_page.type(ENTER), True),
        (lambda: any_page.type(ESCAPE), False),
    ):
        kiosk.keyboard.press(SCROLLLOCK)
        any_page.wait_for(RECORDING)
        assert any_page.run(STATUS) == "Speak now"
        keys = "return [...document.querySelectorAll('#input kbd')].filter((one) => one.getClientRects().length).map((one) => one.innerText)"
        assert any_page.run(keys) == ["Esc", "Enter"]
        end()
        if is_sent:
            sent += 1
            any_page.wait_for(f"document.querySelectorAll('.voice').length === {sent}")
        else:
            any_page.wait_for(DISCARDED)
            assert any_page.run(STATUS) == "Voice message discarded"
        assert is_ended(any_page, sent)
        assert kiosk.keyboard_state == "editingText"
    assert any_page.session.console == []


def test_undo_brings_a_message_back_to_be_sent_or_discarded(kiosk: Kiosk, any_page: Tab) -> None:
    any_page.run(LISTEN)
    kiosk.keyboard.press(SCROLLLOCK)
    any_page.wait_for(RECORDING)
    # A key that leads elsewhere discards it, too, and says so.
    kiosk.keyboard.press(COMPOSE)
    any_page.wait_for(DISCARDED)
    any_page.wait_for(is_state("keyboard", "showingPanel"))
    # A line shows for how long it can be brought back.
    line = "return document.querySelector('#undo').getAnimations({ subtree: true })[0]?.effect.getTiming().duration"
    assert any_page.run(line) == 5000
    any_page.touch("#undo-button")
    any_page.wait_for(DRAFT)
    assert any_page.run(STATUS) == "Not sent yet"
    any_page.type(ESCAPE)
    any_page.wait_for(DISCARDED)
    assert any_page.run(SENT) == 0
    any_page.type("z", held=CONTROL)
    any_page.wait_for(DRAFT)
    any_page.touch("#draft-send")
    any_page.wait_for("document.querySelectorAll('.voice').length === 1")
    assert any_page.run("return document.querySelector('#undo').hidden")


def test_what_undo_brought_back_waits_beside_text_panel_and_another_message(
    kiosk: Kiosk, any_page: Tab
) -> None:
    any_page.run(LISTEN)
    # Undo is there for longer than a busy machine needs.
    any_page.run("const own = setTimeout; window.setTimeout = (call, wait) => own(call, wait === 5000 ? 60_000 : wait)")
    for number in range(2):
        kiosk.speak(any_page, "#discard")
        any_page.wait_for(DISCARDED)
        assert is_ended(any_page, 0)
        any_page.touch("#undo-button")
        any_page.wait_for(DRAFT)
        kiosk.enter(any_page, "showingPanel")
        any_page.touch("#emoji button")
        kiosk.enter(any_page, "editingText")
        any_page.type("hi" + ENTER)
        texts = "return [...document.querySelectorAll('.own p')].map((one) => one.textContent)"
        assert any_page.run(texts) == ["😀hi"] * (number + 1)
    # The second draft was shown, and the first one hidden. Undo shows the first one again.
    any_page.touch("#draft-send")
    any_page.wait_for("document.querySelectorAll('.voice').length === 1")
    any_page.touch("#undo-button")
    any_page.wait_for(DRAFT)
    any_page.type(ENTER)
    any_page.wait_for("document.querySelectorAll('.voice').length === 2")


def test_after_five_seconds_nothing_of_it_is_left(kiosk: Kiosk, page: Tab) -> None:
    page.run(LISTEN)
    # A second takes as long as a hundredth.
    page.run("""
    const own = window.setTimeout;
    window.waits = [];
    window.setTimeout = (call, wait) => { window.waits.push(wait); return own(call, wait / 100); };
    const { voice } = await import('/kiosk.js');
    voice.addEventListener('dropped', ({ detail }) => { window.dropped = new WeakRef(detail.blob); });
    """)
    kiosk.speak(page, "#discard")
    page.wait_for(is_state("input", "text"))
    page.wait_for("document.querySelector('#undo').hidden")
    assert 5000 in page.run("return window.waits")
    page.devtools("HeapProfiler.collectGarbage")
    assert page.run("return window.dropped.deref() === undefined")


@pytest.mark.parametrize("end", ["release", "slide", "Esc"])
def test_the_microphone_is_held_to_talk_and_slid_to_cancel(
    kiosk: Kiosk, any_page: Tab, end: str
) -> None:
    any_page.resize(390, 844)
    any_page.run(LISTEN)
    x, y = press_microphone(any_page)
    text = "return document.querySelector('#voice-text').textContent"
    assert any_page.run(text) == "Slide to cancel"
    # The hold is what is measured, so nothing can be waited for.
    time.sleep(1.1)
    if end == "release":
        finger(any_page, UP)
        any_page.wait_for("document.querySelectorAll('.voice').length === 1")
    elif end == "slide":
        # Not far enough, and then farther.
        finger(any_page, {"type": "pointerMove", "x": x - 40, "y": y})
        assert any_page.run("return document.documentElement.dataset.voice") == "recording"
        finger(any_page, {"type": "pointerMove", "x": x - 90, "y": y})
        any_page.wait_for(DISCARDED)
        finger(any_page, UP)
    else:
        any_page.type(ESCAPE)
        any_page.wait_for(DISCARDED)
        finger(any_page, UP)
    assert is_ended(any_page, 1 if end == "release" else 0)
    assert kiosk.keyboard_state == "editingText"
    assert any_page.run("return 'hold' in document.documentElement.dataset") is False


def test_a_tap_sends_no_empty_message_and_leaves_the_hands_free(kiosk: Kiosk, any_page: Tab) -> None:
    any_page.run(LISTEN)
    press_microphone(any_page)
    time.sleep(0.6)
    finger(any_page, UP)
    any_page.wait_for("!document.querySelector('#discard').hidden")
    assert kiosk.keyboard_state == "prepareToRecord"
    assert any_page.run("return document.querySelector('#switch').hidden")
    assert any_page.run(SENT) == 0
    any_page.touch("#send")
    any_page.wait_for("document.querySelectorAll('.voice').length === 1")
    assert is_ended(any_page, 1)


def test_escape_that_leaves_the_state_by_itself_does_not_enter_it_again(
    tmp_path: Path, chromium: Browser
) -> None:
    row = "keyboard: { table: { rows: { prepareToRecord: { tapBlankArea: prepareToEditText } } } }"
    with Kiosk(tmp_path, row) as kiosk:
        page = kiosk.open(chromium)
        page.run(LISTEN)
        for _ in range(3):
            kiosk.keyboard.press(SCROLLLOCK)
            page.wait_for(RECORDING)
            # The browser and keymoded learn of the same key.
            kiosk.keyboard.press(1)
            page.type(ESCAPE)
            page.wait_for(is_state("keyboard", "prepareToEditText"))
            page.wait_for(DISCARDED)
            page.run("while (window.isOpen()) await new Promise((done) => setTimeout(done, 5))")
            assert page.run(SENT) == 0
            assert kiosk.keyboard_state == "prepareToEditText"


def test_a_held_key_that_is_released_after_escape_sends_nothing(
    kiosk: Kiosk, any_page: Tab
) -> None:
    any_page.run(LISTEN)
    kiosk.keyboard.send(F8, PRESS)
    any_page.wait_for(RECORDING)
    any_page.type(ESCAPE)
    any_page.wait_for(DISCARDED)
    kiosk.keyboard.send(F8, RELEASE)
    assert is_ended(any_page, 0)
    # The release may have come between the two events of the page, which then enter and leave the state again.
    wait_until(lambda: kiosk.keyboard_state == "editingText", "the end of the state")
    assert is_ended(any_page, 0)
