"""The page of examples/kiosk in real browsers: what keys and fingers make of it."""

from pathlib import Path

import pytest
from browser import Browser, Tab, chromium, firefox, is_state
from kiosk import FIRST_KEY, NOTE_KEYS, Kiosk

from support.input_events import COMPOSE, ESC, F8, INSERT, LEFTSHIFT, SCROLLLOCK, B

# Which part of the input area each state shows.
STATES = {
    "prepareToEditText": {"field": True, "voice": False, "panel": False, "editable": False},
    "prepareToRecord": {"field": False, "voice": True, "panel": False, "editable": False},
    "editingText": {"field": True, "voice": False, "panel": False, "editable": True},
    "showingPanel": {"field": True, "voice": False, "panel": True, "editable": False},
}

PARTS = """
const shown = (id) => document.getElementById(id).getClientRects().length > 0;
const field = document.getElementById('field');
return {
  field: shown('field'), voice: shown('voice'), panel: shown('panel'), editable: !field.readOnly,
  focus: document.activeElement === field,
};
"""

# Keys and touches that lead from a state to a state, which every row of the table allows.
JOURNEY = [
    (INSERT, "editingText"),
    (SCROLLLOCK, "prepareToRecord"),
    (COMPOSE, "showingPanel"),
    (ESC, "prepareToEditText"),
]
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


def parts(page: Tab) -> dict[str, bool]:
    """What the input area shows, and whether the field has the focus."""
    shown: dict[str, bool] = page.run(PARTS)
    return shown


def test_keys_lead_to_states_and_states_are_drawn(kiosk: Kiosk, any_page: Tab) -> None:
    for key, state in JOURNEY:
        kiosk.keyboard.press(key)
        any_page.wait_for(is_state("keyboard", state))
        assert parts(any_page) == {**STATES[state], "focus": state == "editingText"}
    assert any_page.session.console == []


# States of a user's, whose names mean something else in JavaScript.
ODD_NAMES = """
keyboard:
  table:
    states: [constructor, toString]
    events: [goOn]
    rows:
      prepareToEditText: { goOn: constructor }
      constructor: { goOn: toString }
  bindings:
    goOn: [F8]
"""


def test_a_state_with_a_name_of_javascript_is_like_any_other(
    tmp_path: Path, chromium: Browser
) -> None:
    with Kiosk(tmp_path, ODD_NAMES) as kiosk:
        page = kiosk.open(chromium)
        for state in ("constructor", "toString"):
            kiosk.keyboard.press(F8)
            page.wait_for(is_state("keyboard", state))
            assert page.run("return document.querySelector('#status').textContent") == ""


def test_touches_lead_to_states(kiosk: Kiosk, any_page: Tab) -> None:
    for place, state in TOUCHES:
        if place == "#conversation":
            # Its middle may be under the panel.
            any_page.touch_at(
                *any_page.run(
                    "const box = document.querySelector('main').getBoundingClientRect(); return [Math.round(box.x + 3), Math.round(box.y + 3)]"
                )
            )
        else:
            any_page.touch(place)
        any_page.wait_for(is_state("keyboard", state))
        assert parts(any_page) == {**STATES[state], "focus": state == "editingText"}
        assert kiosk.states()["keyboard"] == state


def test_a_touch_and_keys_that_mean_nothing_change_nothing(kiosk: Kiosk, any_page: Tab) -> None:
    any_page.touch("#conversation")
    # The browser's own Insert, Escape and Shift: the page follows keys only through the daemon.
    any_page.type("\ue016\ue00c\ue008")
    # The answer to another event proves that the others had none.
    any_page.touch("#more")
    any_page.wait_for(is_state("keyboard", "showingPanel"))
    assert kiosk.states()["sequence"] == 1


def test_the_tab_key_means_the_same_as_a_touch(kiosk: Kiosk, any_page: Tab) -> None:
    any_page.run("document.querySelector('#more').focus()")
    any_page.type("\ue004")
    any_page.wait_for(is_state("keyboard", "editingText"))
    assert parts(any_page)["focus"]


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
    kiosk.keyboard.press(INSERT)
    any_page.wait_for(is_state("keyboard", "editingText"))
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
    assert kiosk.states()["sequence"] == 2


def test_a_message_is_sent_by_enter_and_by_a_finger(kiosk: Kiosk, any_page: Tab) -> None:
    kiosk.keyboard.press(INSERT)
    any_page.wait_for(is_state("keyboard", "editingText"))
    any_page.type("hi\ue007")
    any_page.type("日本語")
    any_page.touch("#send")
    any_page.touch("#send")
    messages = any_page.run(
        "return [...document.querySelectorAll('.own p')].map((one) => one.innerText)"
    )
    assert messages == ["hi", "日本語"]
    assert kiosk.states()["keyboard"] == "editingText"


def test_the_panel_is_chosen_from_by_arrow_keys_and_fingers(kiosk: Kiosk, any_page: Tab) -> None:
    any_page.resize(480, 800)
    kiosk.keyboard.press(COMPOSE)
    any_page.wait_for(is_state("keyboard", "showingPanel"))
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
    assert kiosk.states()["keyboard"] == "showingPanel"


# The words that are cut where they are shown: beside the bin, beside a finger, and in the header.
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
const phrases = [text.tooShort, text.discarded, ...Object.values(text.voice), ...Object.values(text.keyboard)];
for (const phrase of phrases) show(status, status, phrase);
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


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_each_state_fits_and_nothing_moves(kiosk: Kiosk, page: Tab, size: tuple[int, int]) -> None:
    page.resize(*size)
    page.run("""
    window.shifts = [];
    // The messages make room for the panel, and for the words of Undo.
    const named = (node) => node?.id || node?.nodeName;
    const isMessage = ({ node }) => document.querySelector('#conversation').contains(node);
    new PerformanceObserver((list) => window.shifts.push(
      ...list.getEntries().flatMap(({ sources }) => sources.filter((one) => !isMessage(one)).map(({ node }) => named(node))),
    )).observe({ type: 'layout-shift' });
    """)
    # With Shift on, the line of words is longest.
    for key, state in [*JOURNEY, (LEFTSHIFT, None), *JOURNEY]:
        kiosk.keyboard.press(key)
        page.wait_for(is_state("keyboard", state) if state else is_state("shift", "on"))
        outside = page.run("""
        await drawn();
        const shown = [...document.querySelectorAll('button, textarea, meter, time, header, footer')]
          .filter((one) => one.getClientRects().length);
        return [
          document.documentElement.scrollWidth > innerWidth, document.documentElement.scrollHeight > innerHeight,
          ...shown.filter((one) => !one.closest('#panel')).filter((one) => {
            const box = one.getBoundingClientRect();
            return box.left < 0 || box.top < 0 || box.right > innerWidth || box.bottom > innerHeight;
          }).map((one) => one.id),
        ];
        """)
        assert outside == [False, False], state
    assert page.run("return window.shifts") == []


def test_fingers_have_room(page: Tab) -> None:
    page.resize(320, 568)
    sizes = page.run(
        "for (const one of document.querySelectorAll('[hidden]')) one.hidden = false;"
        "document.querySelector('dialog').showModal();"
        "return [...document.querySelectorAll('button')].map((one) => [one.offsetWidth, one.offsetHeight])"
    )
    assert all(width >= 44 and height >= 44 for width, height in sizes)
