"""Voice messages: what is kept, what is dropped, and that the microphone is closed within a second.

Chromium's microphone beeps here, and Firefox's hums.
"""

import signal
import subprocess
import time
from collections.abc import Callable

import pytest
from browser import Tab, is_state
from kiosk import Kiosk

from support.input_events import COMPOSE, F8, LEFTSHIFT, PRESS, RELEASE, SCROLLLOCK

# Keeps what the page records and all tracks that it opens, and notes when the last of them was open;
# counts the recorders that run.
LISTEN = """
const { keymode, voice } = await import('/kiosk.js');
window.messages = [];
window.tracks = [];
window.recorders = 0;
window.failures = 0;
window.begun = window.left = 0;
voice.addEventListener('recorded', ({ detail }) => window.messages.push(detail));
voice.addEventListener('phase', () => {
  if (voice.phase === 'failed') window.failures += 1;
  if (voice.phase === 'recording') window.begun = performance.now();
});
keymode.addEventListener('states', () => { window.left = performance.now(); });
const open = navigator.mediaDevices.getUserMedia.bind(navigator.mediaDevices);
navigator.mediaDevices.getUserMedia = async (wanted) => {
  const stream = await open(wanted);
  window.tracks.push(...stream.getTracks());
  document.documentElement.dataset.tracks = window.tracks.length;
  return stream;
};
const Recorder = window.MediaRecorder;
window.MediaRecorder = class extends Recorder {
  constructor(...given) {
    super(...given);
    this.addEventListener('start', () => { window.recorders += 1; });
    this.addEventListener('stop', () => { window.recorders -= 1; });
  }
};
window.isOpen = () => window.tracks.some((track) => track.readyState !== 'ended');
// A track that the page stops sends no event.
window.lastOpen = 0;
setInterval(() => { if (window.isOpen()) window.lastOpen = performance.now(); }, 5);
"""

# Waits until all tracks have ended and all recorders have stopped, and returns for how many
# milliseconds a microphone was open after this time of the page.
CLOSED = """
const begin = performance.now();
while (window.isOpen() || window.recorders > 0) {
  if (performance.now() - begin > 10_000) return 'still open';
  await new Promise((done) => setTimeout(done, 5));
}
return Math.max(0, window.lastOpen - given[0]);
"""
NOW = "return performance.now()"

# The decoded lengths of the messages, in seconds.
LENGTHS = """
await until(() => document.querySelectorAll('.voice').length >= given[0]);
const context = new OfflineAudioContext(1, 1, 48000);
return Promise.all(window.messages.map(async ({ blob }) =>
  (await context.decodeAudioData(await blob.arrayBuffer())).duration));
"""

BAR = "return document.querySelector('#voice-text').textContent"
STATUS = "return document.querySelector('#status').textContent"
MICROPHONE_FAILED = "document.querySelector('#status').textContent.startsWith('The microphone')"
SPEAK_NOW = "document.querySelector('#voice-text').textContent === 'Speak now'"


@pytest.fixture
def speaking(kiosk: Kiosk, page: Tab) -> Tab:
    """A page that records, and whose microphone is open."""
    page.run(LISTEN)
    kiosk.keyboard.press(SCROLLLOCK)
    page.wait_for(SPEAK_NOW)
    return page


def assert_dropped(page: Tab, lost: float) -> None:
    """Asserts that the microphone is closed within a second of this time, and that there is no message."""
    assert_closed(page, lost)
    assert page.run(
        "return [window.messages.length, document.querySelectorAll('.voice').length]"
    ) == [0, 0]


def assert_closed(page: Tab, lost: float) -> None:
    """Asserts that the microphone is closed within a second of this time of the page."""
    milliseconds = page.run(CLOSED, lost)
    assert milliseconds != "still open" and milliseconds < 1000


def test_a_message_is_as_long_as_the_key_is_held(kiosk: Kiosk, page: Tab) -> None:
    page.run(LISTEN)
    kiosk.keyboard.send(F8, PRESS)
    page.wait_for(SPEAK_NOW)
    # This is the length itself, so nothing can be waited for.
    time.sleep(1)
    kiosk.keyboard.send(F8, RELEASE)
    [length] = page.run(LENGTHS, 1)
    begun, left = page.run("return [window.begun, window.left]")
    assert left - begun > 900
    assert length == pytest.approx((left - begun) / 1000, abs=0.15)
    assert_closed(page, left)
    assert page.run("return document.querySelector('.voice time').innerText") in (
        "0:00",
        "0:01",
        "0:02",
    )


def test_time_and_level_are_shown_and_shift_does_not_disturb_a_message(
    kiosk: Kiosk, speaking: Tab
) -> None:
    speaking.wait_for("document.querySelector('#level').value > 0.1")
    speaking.wait_for("document.querySelector('#voice-time').textContent === '0:01'")
    kiosk.keyboard.press(LEFTSHIFT)
    speaking.wait_for(is_state("shift", "on"))
    assert speaking.run("return window.tracks.map((track) => track.readyState)") == ["live"]
    kiosk.keyboard.press(SCROLLLOCK)
    speaking.wait_for("document.querySelectorAll('.voice').length === 1")


def test_a_state_left_before_the_microphone_is_open_records_nothing(
    kiosk: Kiosk, page: Tab
) -> None:
    page.run(LISTEN)
    # Opening takes until the test allows it.
    page.run("""
    const open = navigator.mediaDevices.getUserMedia;
    navigator.mediaDevices.getUserMedia = async (wanted) => {
      await until(() => document.documentElement.dataset.allowed);
      return open(wanted);
    };
    """)
    kiosk.enter(page, "prepareToRecord")
    kiosk.keyboard.press(SCROLLLOCK)
    page.wait_for(is_state("keyboard", "editingText"))
    allowed = page.run("document.documentElement.dataset.allowed = true; return performance.now()")
    page.wait_for("document.documentElement.dataset.tracks === '1'")
    assert_dropped(page, allowed)


def stop(process: subprocess.Popen[bytes] | None) -> None:
    """Stops a process, until a test continues or ends it."""
    assert process
    process.send_signal(signal.SIGSTOP)


def daemon_stops(kiosk: Kiosk, _: Tab) -> None:
    stop(kiosk.daemon.process)


def bridge_stops(kiosk: Kiosk, _: Tab) -> None:
    stop(kiosk.bridge.process)


def another_tab_comes_to_the_front(_: Kiosk, page: Tab) -> None:
    created = page.session.call("browsingContext.create", type="tab")
    Tab(page.session, created["context"]).activate()


def changes_are_missed(_: Kiosk, page: Tab, missed: int = 3, restarted: bool = False) -> None:
    states = {"shift": "off", "keyboard": "prepareToRecord"}
    state = {"instance": "x", "sequence": 9, "states": states, "since": {}}
    report = {"state": state, "changes": [], "missed": missed, "restarted": restarted, "now": 0}
    page.run(
        "const { keymode } = await import('/kiosk.js');"
        "keymode.dispatchEvent(new CustomEvent('states', { detail: given[0] }))",
        report,
    )


LOSSES: dict[str, Callable[[Kiosk, Tab], object]] = {
    "the daemon is killed": lambda kiosk, _: kiosk.daemon.kill(),
    "the daemon stops": daemon_stops,
    "the bridge is killed": lambda kiosk, _: kiosk.bridge.kill(),
    "the bridge stops": bridge_stops,
    "another tab comes to the front": another_tab_comes_to_the_front,
    "the window loses the focus": lambda _, page: page.run(
        "window.dispatchEvent(new Event('blur'))"
    ),
    "changes are missed": changes_are_missed,
    "a new sequence has begun": lambda kiosk, page: changes_are_missed(kiosk, page, 0, True),
    "a key leads elsewhere": lambda kiosk, _: kiosk.keyboard.press(COMPOSE),
}


@pytest.mark.parametrize("lose", LOSSES.values(), ids=LOSSES.keys())
def test_whatever_else_ends_a_message_drops_it(
    kiosk: Kiosk, speaking: Tab, lose: Callable[[Kiosk, Tab], object]
) -> None:
    lost = speaking.run(NOW)
    lose(kiosk, speaking)
    assert_dropped(speaking, lost)


@pytest.mark.parametrize("stop", [daemon_stops, bridge_stops])
def test_after_a_stop_the_page_goes_on(
    kiosk: Kiosk, speaking: Tab, stop: Callable[[Kiosk, Tab], None]
) -> None:
    stop(kiosk, speaking)
    speaking.wait_for("document.documentElement.dataset.connection === 'bridge'")
    stopped = kiosk.daemon.process if stop is daemon_stops else kiosk.bridge.process
    assert stopped
    stopped.send_signal(signal.SIGCONT)
    speaking.wait_for(is_state("keyboard", "prepareToRecord"))
    # The page found the state, so it does not record; the next key does.
    assert speaking.run(BAR) == "Not recording. Press again"
    assert_dropped(speaking, speaking.run(NOW))
    for state in ("editingText", "prepareToRecord"):
        kiosk.keyboard.press(SCROLLLOCK)
        speaking.wait_for(is_state("keyboard", state))
    speaking.wait_for(SPEAK_NOW)


FAULTS = {
    "no recorder": "window.MediaRecorder = class { constructor() { throw new Error('none'); } };",
    "a recorder that does not start": "window.MediaRecorder.prototype.start = () => { throw new Error('no'); };",
    "a recorder that ends before it has begun": """
    Object.defineProperty(window.MediaRecorder.prototype, 'onstart', { set() {} });
    const { start } = window.MediaRecorder.prototype;
    window.MediaRecorder.prototype.start = function () {
      start.call(this);
      for (const track of this.stream.getTracks()) track.stop();
    };
    """,
    "no loudness": "window.AudioContext = class { constructor() { throw new Error('none'); } };",
}


@pytest.mark.parametrize("fault", FAULTS)
def test_whatever_fails_after_the_microphone_is_open_closes_it(
    kiosk: Kiosk, page: Tab, fault: str
) -> None:
    page.run(LISTEN)
    page.run(FAULTS[fault])
    kiosk.keyboard.press(SCROLLLOCK)
    page.wait_for("document.documentElement.dataset.tracks === '1'")
    page.wait_for(MICROPHONE_FAILED)
    assert page.run("return window.isOpen()") is False
    assert page.run("return window.failures") == 1


def test_a_refused_microphone_is_said_and_not_asked_for_again(kiosk: Kiosk, any_page: Tab) -> None:
    any_page.run(LISTEN)
    any_page.run(
        "navigator.mediaDevices.getUserMedia = async () => { throw new DOMException('', 'NotAllowedError'); }"
    )
    kiosk.keyboard.press(SCROLLLOCK)
    any_page.wait_for(MICROPHONE_FAILED)
    kiosk.keyboard.press(LEFTSHIFT)
    any_page.wait_for(is_state("shift", "on"))
    assert any_page.run("return window.failures") == 1
    # Shift does not hide what is wrong.
    assert any_page.run(STATUS).startswith("The microphone")


def test_a_microphone_that_is_unplugged_is_said(kiosk: Kiosk, speaking: Tab) -> None:
    # The recorder ends with its tracks, as when the device has gone.
    lost = speaking.run("for (const track of window.tracks) track.stop(); return performance.now()")
    speaking.wait_for(MICROPHONE_FAILED)
    assert_dropped(speaking, lost)
    # What was said until then can still be sent.
    assert speaking.run(STATUS).endswith(" · Voice message discarded")
    speaking.touch("#undo-button")
    speaking.wait_for("!document.querySelector('#draft').hidden")
    speaking.touch("#draft-send")
    speaking.wait_for("document.querySelectorAll('.voice').length === 1")


def test_a_message_without_end_ends_by_itself(kiosk: Kiosk, page: Tab) -> None:
    page.run(LISTEN)
    # Ten minutes pass as soon as the recorder runs.
    page.run("""
    const own = performance.now.bind(performance);
    const { voice } = await import('/kiosk.js');
    voice.addEventListener('progress', () => { performance.now = () => own() + 600_000; }, { once: true });
    """)
    kiosk.keyboard.press(SCROLLLOCK)
    page.wait_for("document.querySelectorAll('.voice').length === 1")
    assert page.run(STATUS) == "Not recording. Press again"
    assert page.run("return window.isOpen()") is False
