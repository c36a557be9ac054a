"""The end of a visit: the next visitor finds nothing of the last one."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from browser import Tab, is_state
from conftest import SETTINGS
from kiosk import Kiosk
from test_voice import CLOSED, LISTEN, NOW

from support.input_events import COMPOSE, LEFTSHIFT, SCROLLLOCK
from support.waiting import wait_until

CONTROL = "\ue009"

ASKED = "document.querySelector('dialog').open"
NOT_ASKED = "!document.querySelector('dialog').open"

# Notes how often it asked and ended, and the addresses of sounds.
NOTE = """
window.asked = [];
window.sounds = [];
new MutationObserver(() => window.asked.push(document.querySelector('#asking-left').textContent))
  .observe(document.querySelector('#asking-left'), { childList: true });
const make = URL.createObjectURL;
URL.createObjectURL = (blob) => { window.sounds.push(make(blob)); return window.sounds.at(-1); };
"""
LEFT = """
const field = document.getElementById('field');
const main = document.querySelector('main');
// The policy of the page allows only this use of them.
const heard = await Promise.all(window.sounds.map((each) => new Promise((known) => {
  const sound = new Audio(each);
  sound.onloadedmetadata = () => known(true);
  sound.onerror = () => known(false);
})));
return {
  messages: document.querySelectorAll('.own').length, field: field.value, scrolled: main.scrollTop,
  sounds: heard.filter(Boolean).length,
  undo: document.querySelector('#undo').hidden, voice: document.documentElement.dataset.voice,
};
"""
NOTHING = {"messages": 0, "field": "", "scrolled": 0, "sounds": 0, "undo": True, "voice": "idle"}


@pytest.fixture
def kiosk(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Kiosk]:
    """A kiosk that asks after so many seconds, or after the usual time."""
    options = [f"--idle={request.param}"] if hasattr(request, "param") else []
    with Kiosk(tmp_path, SETTINGS, *options) as kiosk:
        yield kiosk


# Seconds, which are long enough to do something in them.
soon = pytest.mark.parametrize("kiosk", [2], indirect=True)


def visit(kiosk: Kiosk, page: Tab) -> None:
    """Leaves a voice message, a text, a draft, a discarded message, and Shift."""
    page.run(NOTE)
    page.run(LISTEN)
    for end in ("#send", "#discard"):
        kiosk.speak(page, end)
        page.wait_for(is_state("keyboard", "editingText"))
    page.wait_for("document.querySelectorAll('.voice').length === 1")
    # Messages that fill the screen, of which it shows the first.
    for _ in range(30):
        page.type("hi\ue007")
    page.run("document.querySelector('main').scrollTop = -1000")
    page.type("secret")
    # Letters and Shift take different routes to the page: Shift could overtake the last letters.
    page.wait_for("document.getElementById('field').value === 'secret'")
    first = kiosk.keyboard.press(LEFTSHIFT)
    kiosk.keyboard.press(LEFTSHIFT, first + 100_000)
    page.wait_for(is_state("shift", "capsLock"))


def assert_nothing_is_left(kiosk: Kiosk, page: Tab) -> None:
    page.wait_for("document.querySelectorAll('.own').length === 0")
    page.wait_for(is_state("keyboard", "prepareToEditText"))
    page.wait_for(is_state("shift", "off"))
    assert page.run(LEFT) == NOTHING
    # The browser's own memory of the field.
    kiosk.enter(page, "editingText")
    page.type("zzz", held=CONTROL)
    page.type("x")
    assert page.run("return document.getElementById('field').value") == "x"


def test_done_forgets_everything_at_once(kiosk: Kiosk, any_page: Tab) -> None:
    visit(kiosk, any_page)
    left = any_page.run(LEFT)
    assert left["scrolled"] < 0
    assert {**left, "scrolled": 0, "undo": False} == {
        **NOTHING, "messages": 31, "field": "secret", "sounds": 1, "undo": False
    }
    assert any_page.session.console == []
    any_page.touch("#done")
    assert_nothing_is_left(kiosk, any_page)
    assert any_page.run("return window.asked") == []


@soon
def test_an_idle_page_asks_and_then_forgets(kiosk: Kiosk, any_page: Tab) -> None:
    page = any_page
    visit(kiosk, page)
    page.wait_for(ASKED)
    assert page.run("return document.querySelectorAll('.own').length") == 31
    assert_nothing_is_left(kiosk, page)
    assert page.run("return window.asked") == ["2 s", "1 s"]


def test_a_key_or_touch_lets_the_visit_go_on(kiosk: Kiosk, any_page: Tab) -> None:
    page = any_page
    left = "return [document.getElementById('field').value, document.querySelectorAll('.own').length]"
    kiosk.enter(page, "editingText")
    page.type("hi")
    for sign in (
        lambda: page.touch_at(5, 5),
        lambda: page.type("\ue007"),
        lambda: page.touch("#asking-go-on"),
        # A screen reader sends neither a key nor a touch.
        lambda: page.run("document.querySelector('#asking-go-on').click()"),
        # A key that only keymoded sees.
        lambda: kiosk.keyboard.press(COMPOSE),
    ):
        page.run("(await import('/kiosk.js')).visit.ask(10)")
        page.wait_for(ASKED)
        sign()
        page.wait_for(NOT_ASKED)
        # The key or touch ended the question, and typed and sent nothing.
        assert page.run(left) == ["hi", 0]
    page.run("(await import('/kiosk.js')).visit.ask(10)")
    # By Tab and Enter, too.
    page.type("\ue004\ue007")
    page.wait_for(NOT_ASKED)
    assert page.run(left) == ["", 0]
    wait_until(lambda: kiosk.keyboard_state == "prepareToEditText", "rest")


@soon
def test_nothing_is_asked_while_a_message_is_spoken_or_of_nobody(kiosk: Kiosk, any_page: Tab) -> None:
    page = any_page
    page.run(NOTE)
    kiosk.keyboard.press(SCROLLLOCK)
    # Longer than the idle time.
    page.wait_for("document.querySelector('#voice-time').textContent === '0:04'")
    assert page.run("return window.asked") == []


def test_nothing_is_copied(kiosk: Kiosk, any_page: Tab) -> None:
    kiosk.enter(any_page, "editingText")
    any_page.type("secret")
    for keys in ("ac", "av", "ax", "v"):
        any_page.type(keys, held=CONTROL)
    assert any_page.run("return document.getElementById('field').value") == "secret"


@pytest.mark.parametrize("kiosk", [0], indirect=True)
def test_zero_asks_never(page: Tab) -> None:
    page.run("const own = setTimeout; window.waits = []; window.setTimeout = (call, wait) => { window.waits.push(wait); return own(call, wait); };")
    page.touch("#conversation")
    assert page.run("return window.waits") == []


@soon
def test_a_microphone_that_never_opens_does_not_hold_up_the_end(kiosk: Kiosk, page: Tab) -> None:
    page.run("navigator.mediaDevices.getUserMedia = () => new Promise(() => {})")
    kiosk.keyboard.press(SCROLLLOCK)
    page.wait_for(is_state("voice", "opening"))
    page.wait_for(ASKED)
    page.wait_for(is_state("voice", "idle"))
    page.wait_for(is_state("keyboard", "prepareToEditText"))


@soon
def test_a_message_that_stalls_does_not_hold_up_the_end(kiosk: Kiosk, page: Tab) -> None:
    kiosk.keyboard.press(SCROLLLOCK)
    page.wait_for(is_state("voice", "recording"))
    page.touch("#send")
    page.wait_for("document.querySelectorAll('.voice').length === 1")
    page.run("const { sound } = document.querySelector('.player'); sound.playbackRate = 0; await sound.play()")
    page.wait_for(ASKED)
    page.wait_for("document.querySelectorAll('.voice').length === 0")


def test_what_was_discarded_just_before_the_end_cannot_be_brought_back(kiosk: Kiosk, page: Tab) -> None:
    page.run(LISTEN)
    kiosk.keyboard.press(SCROLLLOCK)
    page.wait_for(is_state("voice", "recording"))
    ended = page.run(NOW)
    page.run("const { visit, voice } = await import('/kiosk.js'); voice.drop(); visit.end();")
    assert page.run(CLOSED, ended) != "still open"
    assert page.run("return document.querySelector('#undo').hidden")
