"""The page of examples/kiosk in real browsers: what keys and fingers make of it."""

from pathlib import Path

import pytest
from browser import Tab, chromium, firefox, is_state
from kiosk import FIRST_KEY, KEYS, NOTE_KEYS, Kiosk

from support.input_events import LEFTSHIFT, SCROLLLOCK, B

PARTS = """
const shown = (id) => document.getElementById(id).getClientRects().length > 0;
const field = document.getElementById('field');
return {
  field: shown('field'), voice: shown('voice'), panel: shown('panel'), editable: !field.readOnly,
  focus: document.activeElement === field,
};
"""

# Touches that lead from a state to a state.
TOUCHES = [
    ("#field", "editingText"),
    ("#conversation", "prepareToEditText"),
    ("#more", "showingPanel"),
    ("#field", "editingText"),
    ("#switch", "prepareToRecord"),
    ("#send", "editingText"),
    ("#more", "showingPanel"),
    ("#more", "prepareToEditText"),
    ("#more", "showingPanel"),
    ("#conversation", "prepareToEditText"),
]


def assert_drawn(page: Tab, state: str) -> None:
    """Asserts that the input area shows what belongs to a state, and that only text has the focus."""
    is_text = state == "editingText"
    assert page.run(PARTS) == {
        "field": state != "prepareToRecord",
        "voice": state == "prepareToRecord",
        "panel": state == "showingPanel",
        "editable": is_text,
        "focus": is_text,
    }


def test_keys_lead_to_states_and_states_are_drawn(kiosk: Kiosk, any_page: Tab) -> None:
    for state in KEYS:
        kiosk.enter(any_page, state)
        assert_drawn(any_page, state)
    assert any_page.session.console == []


def test_touches_lead_to_states(kiosk: Kiosk, any_page: Tab) -> None:
    for place, state in TOUCHES:
        any_page.touch(place)
        any_page.wait_for(is_state("keyboard", state))
        assert_drawn(any_page, state)
        assert kiosk.keyboard_state == state


def test_a_touch_and_keys_that_mean_nothing_change_nothing(kiosk: Kiosk, any_page: Tab) -> None:
    any_page.touch("#conversation")
    # The browser's own Insert, Escape and Shift: the page follows keys only through the daemon.
    any_page.type("\ue016\ue00c\ue008")
    # The answer to another event proves that the others had none.
    any_page.touch("#more")
    any_page.wait_for(is_state("keyboard", "showingPanel"))
    assert kiosk.state()["sequence"] == 1


def test_the_tab_key_means_the_same_as_a_touch(kiosk: Kiosk, any_page: Tab) -> None:
    any_page.run("document.querySelector('#more').focus()")
    any_page.type("\ue004")
    any_page.wait_for(is_state("keyboard", "editingText"))
    assert_drawn(any_page, "editingText")


def test_shift_has_three_looks_and_names(kiosk: Kiosk, any_page: Tab) -> None:
    look = """
    const shift = document.getElementById('shift');
    const style = (part) => getComputedStyle(shift.querySelector(part));
    return [style('.arrow').fill !== 'none', style('.bar').visibility, shift.ariaLabel];
    """
    assert any_page.run(look) == [False, "hidden", "Shift is off"]
    first = kiosk.keyboard.press(LEFTSHIFT)
    any_page.wait_for(is_state("shift", "on"))
    assert any_page.run(look) == [True, "hidden", "Shift for one letter"]
    kiosk.keyboard.press(LEFTSHIFT, first + 400_000)
    any_page.wait_for(is_state("shift", "capsLock"))
    assert any_page.run(look) == [True, "visible", "Capitals"]


def test_one_shift_makes_one_capital_and_two_make_all(kiosk: Kiosk, any_page: Tab) -> None:
    value = "return document.getElementById('field').value"
    kiosk.enter(any_page, "editingText")
    any_page.type("a")
    kiosk.keyboard.press(LEFTSHIFT)
    any_page.wait_for(is_state("shift", "on"))
    # The browser tells of the key first: the letter is a capital before Shift is off.
    any_page.run(NOTE_KEYS)
    any_page.type("b")
    assert any_page.run(value) == "aB"
    any_page.type("c")
    assert any_page.run(value) == "aBc"
    kiosk.keyboard.press(B, any_page.run(FIRST_KEY))
    any_page.wait_for(is_state("shift", "off"))
    assert any_page.run(value) == "aBc"
    first = kiosk.keyboard.press(LEFTSHIFT)
    kiosk.keyboard.press(LEFTSHIFT, first + 100_000)
    any_page.wait_for(is_state("shift", "capsLock"))
    # The capital of ß is two letters.
    any_page.type("äß1é")
    assert any_page.run(value) == "aBcÄß1É"


def test_a_held_enter_presses_a_button_once(kiosk: Kiosk, any_page: Tab) -> None:
    any_page.run("document.querySelector('#more').focus()")
    enter = {"type": "keyDown", "value": "\ue007"}
    any_page.perform({"type": "key", "id": "keys", "actions": [enter] * 5})
    any_page.wait_for(is_state("keyboard", "showingPanel"))
    any_page.perform({"type": "key", "id": "keys", "actions": [{**enter, "type": "keyUp"}]})
    # The answer to another event proves that no more came.
    any_page.touch("#switch")
    any_page.wait_for(is_state("keyboard", "prepareToRecord"))
    assert kiosk.state()["sequence"] == 2


def test_the_panel_is_chosen_from_by_arrow_keys_and_fingers(kiosk: Kiosk, any_page: Tab) -> None:
    any_page.resize(480, 800)
    kiosk.enter(any_page, "showingPanel")
    headings = "return [...document.querySelectorAll('#panel h2')].map((one) => one.innerText)"
    assert any_page.run(headings) == ["Pictures, sent at once", "Emoji, for your message"]
    # To the right, and Enter.
    any_page.type("\ue014\ue007")
    assert any_page.run("return document.getElementById('field').value") == "😂"
    columns = any_page.run(
        "const all = [...document.querySelectorAll('#emoji button')];"
        "return all.filter((one) => one.offsetTop === all[0].offsetTop).length"
    )
    # Down and to the left, past the beginning of the row.
    any_page.type("\ue015\ue012\ue012\ue012")
    chosen = any_page.run(
        "return [...document.querySelectorAll('#emoji button')].indexOf(document.activeElement)"
    )
    assert chosen == columns
    any_page.touch("#pictures button:nth-child(2)")
    sent = "return [...document.querySelectorAll('.picture img')].map((image) => image.alt)"
    assert any_page.run(sent) == ["Mountain"]
    assert kiosk.keyboard_state == "showingPanel"


# The words that are cut where they are shown: beside the bin or a finger, in the header, in notes, and in the question.
CUT = """
const { text } = await import('/words.js');
const root = document.documentElement;
const [bar, words, status] = ['voice', 'voice-text', 'status'].map((id) => document.getElementById(id));
const cut = [];
const show = (place, box, phrase) => {
  place.textContent = phrase;
  if (box.scrollWidth > box.clientWidth || box.scrollHeight > box.clientHeight) cut.push(phrase);
};
for (const [phase, phrase] of Object.entries(text.voice)) {
  root.dataset.voice = phase;
  show(words, bar, phrase);
}
root.dataset.voice = 'recording';
root.dataset.hold = '';
document.getElementById('discard').hidden = true;
document.getElementById('switch').hidden = false;
show(words, bar, text.slide);
const phrases = [text.tooShort, text.discarded, text.draft, ...Object.values(text.voice), ...Object.values(text.keyboard)];
for (const phrase of phrases) show(status, status, phrase);
for (const note of document.querySelectorAll('.note')) {
  note.hidden = false;
  if (note.scrollWidth > note.clientWidth) cut.push(note.id);
}
document.querySelector('dialog').showModal();
const left = document.getElementById('asking-left');
left.textContent = '10 s';
if (left.getClientRects().length > 1) cut.push(left.textContent);
return cut;
"""

# No microphone can be used: Chromium denies it without asking, and Firefox finds none.
DENIED = ["--use-fake-device-for-media-stream", "--deny-permission-prompts"]


@pytest.mark.parametrize("start", [chromium, firefox])
def test_it_speaks_german(kiosk: Kiosk, tmp_path: Path, start) -> None:
    with start(tmp_path, language="de", options=DENIED) as browser:
        page = kiosk.open(browser)
        assert page.run(
            "return [document.documentElement.lang, document.querySelector('#status').textContent]"
        ) == ["de", "Bereit"]
        placeholder = "return document.getElementById('field').placeholder"
        assert page.run(placeholder) == "Nachricht"
        kiosk.keyboard.press(SCROLLLOCK)
        page.wait_for("document.querySelector('#status').textContent.startsWith('Das Mikrofon')")
        page.resize(320, 568)
        assert page.run(CUT) == []


def test_every_word_is_in_both_languages(page: Tab) -> None:
    shape = """
    const { words } = await import('/words.js');
    const shape = (value) => typeof value === 'object'
      ? Object.fromEntries(Object.entries(value).map(([key, each]) => [key, shape(each)])) : typeof value;
    return [shape(words.en), shape(words.de)];
    """
    english, german = page.run(shape)
    assert english == german
    assert (
        page.run(
            "const { words } = await import('/words.js');"
            "return [...document.querySelectorAll('[data-word], [data-word-label], [data-word-placeholder]')]"
            ".flatMap((one) => Object.values(one.dataset)).filter((name) => !(name in words.en))"
        )
        == []
    )


SIZES = [(320, 568), (568, 320), (1024, 768), (1920, 1080), (3840, 2160)]


# Notes what moves from one frame to the next while it is shown: only messages may, and what stands among them.
WATCH = """
window.moved = [];
const places = new Map();
const look = () => {
  for (const one of document.querySelectorAll('header, header > *, footer, #input > *, #field, #panel button')) {
    const { x, y, width } = one.getBoundingClientRect();
    const before = places.get(one);
    const place = width > 0 ? [x, y] : null;
    // Firefox draws in fractions of a pixel.
    const isMoved = before && place?.some((each, axis) => Math.abs(each - before[axis]) > 1);
    if (isMoved) window.moved.push([one.id || one.innerText, before, place]);
    places.set(one, place);
  }
  requestAnimationFrame(look);
};
look();
"""
OUTSIDE = """
await drawn();
const shown = [...document.querySelectorAll('button, textarea, meter, time, header, footer')]
  .filter((one) => one.getClientRects().length);
return [
  document.documentElement.scrollWidth > innerWidth, document.documentElement.scrollHeight > innerHeight,
  ...shown.filter((one) => !one.closest('#panel')).filter((one) => {
    const box = one.getBoundingClientRect();
    return box.left < -1 || box.top < -1 || box.right > innerWidth + 1 || box.bottom > innerHeight + 1;
  }).map((one) => one.id),
];
"""


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_each_state_fits_and_nothing_moves(
    kiosk: Kiosk, any_page: Tab, size: tuple[int, int]
) -> None:
    any_page.resize(*size)
    any_page.run(WATCH)
    # Undo comes and goes above the panel. With Shift on, the line of words is longest.
    for state in [*KEYS, "prepareToRecord", "showingPanel", "undone", "shift", *KEYS]:
        if state == "undone":
            any_page.touch("#undo-button")
            any_page.wait_for("!document.querySelector('#draft').hidden")
        elif state == "shift":
            kiosk.keyboard.press(LEFTSHIFT)
            any_page.wait_for(is_state("shift", "on"))
        else:
            kiosk.enter(any_page, state)
        if state == "prepareToRecord":
            any_page.wait_for(is_state("voice", "recording"))
        if state == "showingPanel":
            any_page.wait_for("!document.querySelector('#undo').hidden")
        assert any_page.run(OUTSIDE) == [False, False], state
    assert any_page.run("return window.moved") == []


def test_fingers_have_room(page: Tab) -> None:
    page.resize(320, 568)
    sizes = page.run(
        "for (const one of document.querySelectorAll('[hidden]')) one.hidden = false;"
        "document.querySelector('dialog').showModal();"
        "return [...document.querySelectorAll('button')].map((one) => [one.offsetWidth, one.offsetHeight])"
    )
    assert all(width >= 44 and height >= 44 for width, height in sizes)
