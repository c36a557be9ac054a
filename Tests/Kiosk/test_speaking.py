"""How a voice message is sent and discarded: by fingers, by keys, and by holding the microphone."""

import time
from typing import Any

import pytest
from browser import Tab, is_state
from kiosk import Kiosk
from test_voice import LISTEN, SPEAK_NOW, STATUS

from support.input_events import COMPOSE, F8, PRESS, RELEASE, SCROLLLOCK
from support.waiting import wait_until

ENTER, ESCAPE, CONTROL = "\ue007", "\ue00c", "\ue009"
DISCARDED = "!document.querySelector('#undo').hidden"
SENT = "return document.querySelectorAll('.voice').length"


def at(page: Tab, selector: str) -> tuple[int, int]:
    """The middle of an element."""
    x, y = page.run(
        "const box = document.querySelector(given[0]).getBoundingClientRect();"
        "return [Math.round(box.x + box.width / 2), Math.round(box.y + box.height / 2)]",
        selector,
    )
    return x, y


def finger(page: Tab, *actions: dict[str, Any]) -> None:
    """Moves the one finger, which stays where it is between two calls."""
    touch = {"type": "pointer", "id": "finger", "parameters": {"pointerType": "touch"}}
    page.perform({**touch, "actions": list(actions)})


def press_microphone(page: Tab) -> tuple[int, int]:
    """Puts a finger on the microphone, waits until it is open, and returns where the finger is."""
    x, y = at(page, "#switch")
    down = {"type": "pointerDown", "button": 0}
    finger(page, {"type": "pointerMove", "x": x, "y": y}, down)
    page.wait_for("document.documentElement.dataset.voice === 'recording'")
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
        any_page.wait_for("document.documentElement.dataset.voice === 'recording'")
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
        assert kiosk.states()["keyboard"] == "editingText"
    assert any_page.session.console == []


def test_undo_brings_a_message_back_to_be_sent_or_discarded(kiosk: Kiosk, any_page: Tab) -> None:
    any_page.run(LISTEN)
    kiosk.keyboard.press(SCROLLLOCK)
    any_page.wait_for("document.documentElement.dataset.voice === 'recording'")
    # A key that leads elsewhere discards it, too, and says so.
    kiosk.keyboard.press(COMPOSE)
    any_page.wait_for(DISCARDED)
    any_page.wait_for(is_state("keyboard", "showingPanel"))
    any_page.touch("#undo-button")
    any_page.wait_for(is_state("voice", "draft"))
    assert any_page.run(STATUS) == "Not sent yet"
    any_page.type(ESCAPE)
    any_page.wait_for(DISCARDED)
    assert any_page.run(SENT) == 0
    keys = [("keyDown", CONTROL), ("keyDown", "z"), ("keyUp", "z"), ("keyUp", CONTROL)]
    actions = [{"type": kind, "value": key} for kind, key in keys]
    any_page.perform({"type": "key", "id": "keys", "actions": actions})
    any_page.wait_for(is_state("voice", "draft"))
    any_page.touch("#send")
    any_page.wait_for("document.querySelectorAll('.voice').length === 1")
    assert any_page.run("return document.querySelector('#undo').hidden")


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
    assert kiosk.states()["keyboard"] == "editingText"
    assert any_page.run("return 'hold' in document.documentElement.dataset") is False


def test_a_slow_tap_sends_no_empty_message(kiosk: Kiosk, any_page: Tab) -> None:
    any_page.run(LISTEN)
    press_microphone(any_page)
    time.sleep(0.6)
    finger(any_page, UP)
    any_page.wait_for("!document.querySelector('#discard').hidden")
    assert kiosk.states()["keyboard"] == "prepareToRecord"
    assert any_page.run("return document.querySelectorAll('.voice').length") == 0
    any_page.touch("#discard")
    any_page.wait_for(DISCARDED)


def test_a_tap_on_the_microphone_leaves_the_hands_free(kiosk: Kiosk, any_page: Tab) -> None:
    any_page.run(LISTEN)
    any_page.touch("#switch")
    any_page.wait_for("!document.querySelector('#discard').hidden")
    any_page.wait_for(SPEAK_NOW)
    assert any_page.run("return document.querySelector('#switch').hidden")
    any_page.touch("#send")
    any_page.wait_for("document.querySelectorAll('.voice').length === 1")
    assert is_ended(any_page, 1)


def test_escape_that_leaves_the_state_by_itself_does_not_enter_it_again(
    tmp_path, browsers
) -> None:
    row = "keyboard: { table: { rows: { prepareToRecord: { tapBlankArea: prepareToEditText } } } }"
    with Kiosk(tmp_path, row) as kiosk:
        page = kiosk.open(browsers.running("chromium"))
        page.run(LISTEN)
        for _ in range(3):
            kiosk.keyboard.press(SCROLLLOCK)
            page.wait_for("document.documentElement.dataset.voice === 'recording'")
            # The browser and keymoded learn of the same key.
            kiosk.keyboard.press(1)
            page.type(ESCAPE)
            page.wait_for(is_state("keyboard", "prepareToEditText"))
            page.wait_for(DISCARDED)
            page.run("while (window.isOpen()) await new Promise((done) => setTimeout(done, 5))")
            assert page.run(SENT) == 0
            assert kiosk.states()["keyboard"] == "prepareToEditText"


def test_a_held_key_that_is_released_after_escape_sends_nothing(
    kiosk: Kiosk, any_page: Tab
) -> None:
    any_page.run(LISTEN)
    kiosk.keyboard.send(F8, PRESS)
    any_page.wait_for("document.documentElement.dataset.voice === 'recording'")
    any_page.type(ESCAPE)
    any_page.wait_for(DISCARDED)
    kiosk.keyboard.send(F8, RELEASE)
    assert is_ended(any_page, 0)
    # The release may have come between the two events of the page, which then enter and leave the state again.
    wait_until(lambda: kiosk.states()["keyboard"] == "editingText", "the end of the state")
    assert is_ended(any_page, 0)
