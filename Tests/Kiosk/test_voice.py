"""Voice messages: what is kept, what is dropped, and that the microphone is closed within a second.

Chromium's microphone beeps here; Firefox has none, so its page says so.
"""

import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from browser import Tab, chromium, firefox, is_state
from kiosk import Kiosk
from support.connection import Connection
from support.input_events import COMPOSE, F8, INSERT, LEFTSHIFT, PRESS, RELEASE, SCROLLLOCK

# Keeps what the page records, and all tracks that it opens.
LISTEN = """
const { voice } = await import('/kiosk.js');
window.messages = [];
window.tracks = [];
window.failures = 0;
voice.addEventListener('recorded', ({ detail }) => window.messages.push(detail));
voice.addEventListener('failed', () => { window.failures += 1; });
const open = navigator.mediaDevices.getUserMedia.bind(navigator.mediaDevices);
navigator.mediaDevices.getUserMedia = async (wanted) => {
  const stream = await open(wanted);
  window.tracks.push(...stream.getTracks());
  document.documentElement.dataset.tracks = window.tracks.length;
  return stream;
};
"""

# Waits until all tracks have ended, which sends no event, and returns after how many milliseconds.
ENDED = """
const begin = performance.now();
while (!window.tracks.every((track) => track.readyState === 'ended')) {
  if (performance.now() - begin > 5000) return 'open';
  await new Promise((done) => setTimeout(done, 5));
}
return performance.now() - begin;
"""

# The decoded lengths of the messages, in seconds.
LENGTHS = """
await until(() => document.querySelectorAll('.voice').length >= given[0]);
const context = new OfflineAudioContext(1, 1, 48000);
return Promise.all(window.messages.map(async ({ blob }) =>
  (await context.decodeAudioData(await blob.arrayBuffer())).duration));
"""

SPEAK_NOW = "document.querySelector('#voice-text').textContent === 'Speak now'"


@pytest.fixture
def speaking(kiosk: Kiosk, page: Tab) -> Tab:
    """A page that records, and whose microphone is open."""
    page.run(LISTEN)
    kiosk.keyboard.press(SCROLLLOCK)
    page.wait_for(SPEAK_NOW)
    return page


def is_dropped(page: Tab) -> None:
    """Asserts that the microphone is closed within a second, and that there is no message."""
    milliseconds = page.run(ENDED)
    assert milliseconds != "open" and milliseconds < 1000
    assert page.run("return [window.messages.length, document.querySelectorAll('.voice').length]") == [0, 0]


@pytest.mark.parametrize("way", ["switched twice", "held"])
def test_a_message_is_as_long_as_it_was_spoken(kiosk: Kiosk, page: Tab, way: str) -> None:
    page.run(LISTEN)
    if way == "held":
        kiosk.keyboard.send(F8, PRESS)
    else:
        kiosk.keyboard.press(SCROLLLOCK)
    page.wait_for(SPEAK_NOW)
    # This is the length itself, so nothing can be waited for.
    time.sleep(1)
    if way == "held":
        kiosk.keyboard.send(F8, RELEASE)
    else:
        kiosk.keyboard.press(SCROLLLOCK)
    [length] = page.run(LENGTHS, 1)
    assert length == pytest.approx(1, abs=0.15)
    assert page.run(ENDED) < 1000
    assert page.run("return document.querySelector('.voice').innerText") in ("▶ 0:00", "▶ 0:01")


def test_time_and_level_are_shown(kiosk: Kiosk, speaking: Tab) -> None:
    speaking.wait_for("document.querySelector('#level').value > 0.1")
    speaking.wait_for("document.querySelector('#voice-time').textContent === '0:01'")


def test_several_messages_follow_each_other(kiosk: Kiosk, page: Tab) -> None:
    page.run(LISTEN)
    for count in range(1, 6):
        kiosk.keyboard.press(SCROLLLOCK)
        page.wait_for(f"document.documentElement.dataset.tracks === '{count}'")
        page.wait_for(is_state("keyboard", "prepareToRecord"))
        kiosk.keyboard.press(SCROLLLOCK)
        page.wait_for(f"document.querySelectorAll('.voice').length === {count}")
        assert page.run(ENDED) < 1000


def test_a_state_left_before_the_microphone_is_open_records_nothing(kiosk: Kiosk, page: Tab) -> None:
    page.run(LISTEN)
    # Opening takes until the test allows it.
    page.run("""
    const open = navigator.mediaDevices.getUserMedia;
    navigator.mediaDevices.getUserMedia = async (wanted) => {
      await until(() => document.documentElement.dataset.allowed);
      return open(wanted);
    };
    """)
    kiosk.keyboard.press(SCROLLLOCK)
    page.wait_for(is_state("keyboard", "prepareToRecord"))
    kiosk.keyboard.press(SCROLLLOCK)
    page.wait_for(is_state("keyboard", "editingText"))
    page.run("document.documentElement.dataset.allowed = true")
    page.wait_for("document.documentElement.dataset.tracks === '1'")
    is_dropped(page)


def test_shift_does_not_disturb_a_message(kiosk: Kiosk, speaking: Tab) -> None:
    kiosk.keyboard.press(LEFTSHIFT)
    speaking.wait_for(is_state("shift", "on"))
    assert speaking.run("return window.tracks.map((track) => track.readyState)") == ["live"]
    kiosk.keyboard.press(SCROLLLOCK)
    speaking.wait_for("document.querySelectorAll('.voice').length === 1")


def test_another_exit_drops_the_message(kiosk: Kiosk, speaking: Tab) -> None:
    kiosk.keyboard.press(COMPOSE)
    speaking.wait_for(is_state("keyboard", "showingPanel"))
    is_dropped(speaking)


def daemon_is_killed(kiosk: Kiosk, _: Tab) -> None:
    kiosk.daemon.kill()


def daemon_stops(kiosk: Kiosk, _: Tab) -> None:
    assert kiosk.daemon.process
    kiosk.daemon.process.send_signal(signal.SIGSTOP)


def bridge_is_killed(kiosk: Kiosk, _: Tab) -> None:
    kiosk.bridge.kill()


def bridge_stops(kiosk: Kiosk, _: Tab) -> None:
    assert kiosk.bridge.process
    kiosk.bridge.process.send_signal(signal.SIGSTOP)


def window_loses_the_focus(_: Kiosk, page: Tab) -> None:
    page.run("window.dispatchEvent(new Event('blur'))")


def changes_are_missed(kiosk: Kiosk, page: Tab) -> None:
    """The daemon cannot keep as many changes as happen while the bridge stops."""
    page.run("(await import('/kiosk.js')).keymode.dispatchEvent(new CustomEvent('states', { detail: given[0] }))",
             {"state": {"instance": "x", "sequence": 9, "shift": "off", "keyboard": "editingText"},
              "changes": [], "missed": 3, "now": 0})


LOSSES: list[Callable[[Kiosk, Tab], None]] = [
    daemon_is_killed, daemon_stops, bridge_is_killed, bridge_stops, window_loses_the_focus, changes_are_missed,
]


@pytest.mark.parametrize("lose", LOSSES)
def test_where_the_state_is_unknown_the_message_is_dropped(
    kiosk: Kiosk, speaking: Tab, lose: Callable[[Kiosk, Tab], None]
) -> None:
    lose(kiosk, speaking)
    is_dropped(speaking)


@pytest.mark.parametrize("stop", [daemon_stops, bridge_stops])
def test_after_a_stop_the_page_goes_on(
    kiosk: Kiosk, speaking: Tab, stop: Callable[[Kiosk, Tab], None]
) -> None:
    stop(kiosk, speaking)
    speaking.wait_for("document.documentElement.dataset.connection === 'bridge'")
    stopped = kiosk.daemon.process if stop is daemon_stops else kiosk.bridge.process
    assert stopped
    stopped.send_signal(signal.SIGCONT)
    # The state is still prepareToRecord, so a new message begins.
    speaking.wait_for(is_state("keyboard", "prepareToRecord"))
    speaking.wait_for("document.documentElement.dataset.tracks === '2'")
    kiosk.keyboard.press(COMPOSE)
    speaking.wait_for(is_state("keyboard", "showingPanel"))
    is_dropped(speaking)


def test_nothing_is_recorded_for_a_page_that_nobody_sees(kiosk: Kiosk, page: Tab) -> None:
    page.run(LISTEN)
    page.run("document.hasFocus = () => false")
    kiosk.keyboard.press(SCROLLLOCK)
    page.wait_for(is_state("keyboard", "prepareToRecord"))
    # Neither a change of Shift nor the return of the focus begins a message in between.
    page.run("document.hasFocus = () => true; window.dispatchEvent(new Event('focus'))")
    kiosk.keyboard.press(LEFTSHIFT)
    page.wait_for(is_state("shift", "on"))
    assert page.run("return (await import('/kiosk.js')).voice.isRecording") is False
    assert page.run("return window.tracks") == []


def test_a_refused_microphone_is_said_and_not_asked_for_again(kiosk: Kiosk, tmp_path: Path) -> None:
    with chromium(tmp_path, options=["--use-fake-device-for-media-stream", "--deny-permission-prompts"]) as browser:
        page = kiosk.open(browser)
        page.run(LISTEN)
        kiosk.keyboard.press(SCROLLLOCK)
        page.wait_for("document.querySelector('#status').textContent.startsWith('The microphone')")
        kiosk.keyboard.press(LEFTSHIFT)
        page.wait_for(is_state("shift", "on"))
        assert page.run("return window.failures") == 1


def test_a_microphone_that_is_unplugged_is_said(kiosk: Kiosk, speaking: Tab) -> None:
    # What the browser does when the device has gone: the track ends, and with it the recorder.
    speaking.run("for (const track of window.tracks) { track.stop(); track.dispatchEvent(new Event('ended')); }")
    speaking.wait_for("document.querySelector('#status').textContent.startsWith('The microphone')")
    is_dropped(speaking)


def test_firefox_without_a_microphone_says_so(kiosk: Kiosk, tmp_path: Path) -> None:
    with firefox(tmp_path) as browser:
        page = kiosk.open(browser)
        kiosk.keyboard.press(SCROLLLOCK)
        page.wait_for("document.querySelector('#status').textContent.startsWith('The microphone')")
