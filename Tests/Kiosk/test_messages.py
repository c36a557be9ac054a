"""The messages in the conversation: emoji in colour, times and days, and voice messages that play."""

import pytest
from browser import Tab, is_state
from kiosk import Kiosk

ONE_AT_A_TIME = """
const [one, other] = [...document.querySelectorAll('.player')].map(({ sound }) => sound);
await one.play();
const paused = new Promise((done) => one.addEventListener('pause', done));
await other.play();
await paused;
return [one.paused, other.paused];
"""
# By a key, as on every slider.
SEEK = """
const { sound } = document.querySelector('.player');
const seek = document.querySelector('.player input');
const moved = new Promise((done) => sound.addEventListener('seeked', done, { once: true }));
seek.value = 1;
seek.dispatchEvent(new Event('input'));
await moved;
const played = document.querySelector('.wave').style.getPropertyValue('--played');
return [sound.currentTime, parseFloat(played) * seek.max / 100, seek.getAttribute('aria-valuetext')];
"""


def test_a_voice_message_shows_its_waveform(page: Tab) -> None:
    shown = """
    const { addVoice } = await import('/conversation.js');
    const levels = Array.from({ length: 50 }, (_, at) => (at < 25 ? 0.2 : 0.9));
    addVoice({ blob: new Blob(), seconds: 3, levels });
    const bars = document.querySelector('.wave path').getAttribute('d');
    const heights = [...bars.matchAll(/v([\\d.]+)/g)].map((found) => Number(found[1]));
    return [heights.slice(0, 3), heights.slice(-3), heights.length, document.querySelector('.player time').textContent];
    """
    assert page.run(shown) == [[20, 20, 20], [90, 90, 90], 32, "0:03"]


def test_what_was_recorded_is_heard_and_sought_and_one_at_a_time(any_page: Tab) -> None:
    # Twice, and muted: so Firefox plays without a loudspeaker.
    any_page.run("""
    const { voice } = await import('/kiosk.js');
    const { addVoice } = await import('/conversation.js');
    voice.addEventListener('recorded', ({ detail }) => {
      addVoice(detail);
      for (const { sound } of document.querySelectorAll('.player')) sound.muted = true;
    });
    """)
    any_page.touch("#switch")
    any_page.wait_for("document.querySelector('#voice-time').textContent === '0:02'")
    any_page.touch("#send")
    any_page.wait_for("document.querySelectorAll('.voice').length === 2")
    any_page.touch(".player button")
    any_page.wait_for("document.querySelector('.player button').ariaLabel.startsWith('Pause')")
    any_page.wait_for("document.querySelector('.player time').textContent === '0:01'")
    any_page.touch(".player button")
    any_page.wait_for("document.querySelector('.player button').ariaLabel.startsWith('Play')")
    near = pytest.approx(1, abs=0.1)
    assert any_page.run(SEEK) == [near, near, "0:01"]
    assert any_page.run(ONE_AT_A_TIME) == [True, False]


def test_text_is_sent_by_enter_and_by_a_finger_which_leaves_the_focus_in_the_field(any_page: Tab) -> None:
    any_page.touch("#field")
    any_page.wait_for(is_state("keyboard", "editingText"))
    any_page.type("one\ue007日本語")
    any_page.touch("#send")
    # Nothing is left to send.
    any_page.touch("#send")
    any_page.type("three")
    any_page.touch("#send")
    sent = "return [...document.querySelectorAll('.own p')].map((one) => one.textContent)"
    assert any_page.run(sent) == ["one", "日本語", "three"]
    any_page.touch("header h1")
    any_page.type("four")
    any_page.wait_for("document.querySelector('#field').value === 'four'")
    # The keys of who uses no finger lead elsewhere as always.
    any_page.type("\ue004")
    assert any_page.run("return document.activeElement.id") != "field"


def test_messages_have_times_and_days(any_page: Tab) -> None:
    found = any_page.run("""
    const { addText, clear } = await import('/conversation.js');
    const Own = Date;
    const at = (time) => { window.Date = class extends Own { constructor() { super(time); } }; };
    at('2026-03-01T23:59:00'); addText('one'); addText('two');
    at('2026-03-02T00:01:00'); addText('three');
    window.Date = Own;
    const found = [...document.querySelectorAll('#messages > :not(.foreign)')].map((one) => one.innerText.replaceAll('\u202f', ' ').split('\\n').filter(Boolean));
    clear();
    return [found, document.querySelectorAll('#messages > :not(.foreign)').length];
    """)
    night, morning = "11:59 PM", "12:01 AM"
    assert found == [
        [["Sunday, March 1"], ["one", night], ["two", night], ["Monday, March 2"], ["three", morning]],
        0,
    ]


# Draws an emoji as the page does, and returns how many of its pixels have a colour.
COLOURED = """
const style = getComputedStyle(document.querySelector(given[0]));
const canvas = new OffscreenCanvas(64, 64).getContext('2d');
await document.fonts.load(`40px ${style.fontFamily}`, '😀');
canvas.font = `40px ${style.fontFamily}`;
canvas.fillText(given[1], 5, 50);
const { data } = canvas.getImageData(0, 0, 64, 64);
let coloured = 0;
for (let at = 0; at < data.length; at += 4) {
  if (Math.abs(data[at] - data[at + 2]) > 40) coloured += 1;
}
return [coloured > 100, Math.round(canvas.measureText('1').width) < 30];
"""


def test_emoji_have_colours_where_they_are_typed_sent_and_chosen(
    kiosk: Kiosk, any_page: Tab
) -> None:
    kiosk.enter(any_page, "editingText")
    any_page.type("😀\ue007")
    for place in ("#field", "#messages .own p", "#emoji button"):
        for emoji in ("😀", "❤️", "☕"):
            # A digit is no emoji.
            assert any_page.run(COLOURED, place, emoji) == [True, True]


def test_the_field_grows_to_five_lines_and_shrinks(kiosk: Kiosk, any_page: Tab) -> None:
    height = "return document.getElementById('field').offsetHeight"
    any_page.resize(480, 800)
    kiosk.enter(any_page, "editingText")
    heights = [any_page.run(height)]
    for _ in range(6):
        any_page.type("\ue007", held="\ue008")
        any_page.type("x")
        heights.append(any_page.run(height))
    assert heights[:5] == sorted(set(heights[:5]))
    assert heights[5] == heights[6]
    assert heights[4] <= heights[5] < heights[4] + 12
    any_page.resize(1920, 1080)
    wide = any_page.run(height)
    any_page.type("\ue007")
    assert any_page.run(height) < wide / 2
    # Its line has another height in another size.
    any_page.resize(480, 800)
    assert any_page.run(height) == heights[0]
    assert any_page.run("return document.querySelector('.own p').textContent.split('\\n').length") == 6
