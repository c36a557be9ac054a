"""Messages on their way to the operator's program, which gets each at least once and in order."""

import json
import os
import stat
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
from browser import Tab, is_state
from conftest import SETTINGS, Browsers
from kiosk import EXAMPLE, Kiosk

from support.input_events import COMPOSE, INSERT, SCROLLLOCK
from support.waiting import wait_until

# Notes each message in a file of its own, which is there as a whole or not at all, and answers; while
# there is a file `mood`, it does what that says.
PROGRAM = r"""#!/usr/bin/python3
import os, pathlib, signal, sys, time
folder = pathlib.Path(__file__).parent
mood = (folder / "mood").read_text() if (folder / "mood").exists() else ""
content = sys.stdin.buffer.read()
with open(folder / "calls", "a") as calls:
    print(os.environ["KIOSK_MESSAGE"], os.environ["KIOSK_TYPE"], len(content), file=calls)
if mood == "killed":
    os.kill(os.getpid(), signal.SIGKILL)
if mood == "hangs":
    while (folder / "mood").read_text() == "hangs":
        time.sleep(0.05)
    sys.exit(1)
if mood == "broken":
    print("not yet")
    sys.exit(1)
if mood == "never":
    sys.exit(65)
number = len(list(folder.glob("got-*")))
new = folder / "new"
new.write_bytes(content)
new.rename(folder / f"got-{number}")
print(f"Thank you for {number}")
"""


class Operator:
    """The program of the operator, and what it got."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.path = folder / "program"
        folder.mkdir()
        self.path.write_text(PROGRAM)
        self.path.chmod(0o700)

    def be(self, mood: str) -> None:
        """Has the program do this from now on."""
        (self.folder / "new-mood").write_text(mood)
        (self.folder / "new-mood").rename(self.folder / "mood")

    @property
    def calls(self) -> list[list[str]]:
        """The ID, type and length of the message of each call."""
        calls = self.folder / "calls"
        return [line.split() for line in calls.read_text().splitlines()] if calls.exists() else []

    @property
    def got(self) -> list[bytes]:
        """The messages that the program took."""
        count = len(list(self.folder.glob("got-*")))
        return [(self.folder / f"got-{number}").read_bytes() for number in range(count)]

    @property
    def texts(self) -> list[str]:
        """Their texts."""
        return [json.loads(message)["text"] for message in self.got]


@pytest.fixture
def operator(tmp_path: Path) -> Iterator[Operator]:
    """A program that takes messages."""
    operator = Operator(tmp_path / "operator")
    yield operator
    # One that outlives a killed bridge ends now.
    operator.be("well")


@pytest.fixture
def delivering(tmp_path: Path, operator: Operator) -> Iterator[Kiosk]:
    """A kiosk that hands its messages to the program."""
    with Kiosk(tmp_path, SETTINGS, "--deliver", str(operator.path)) as kiosk:
        yield kiosk


@pytest.fixture(params=["chromium", "firefox"])
def page(delivering: Kiosk, browsers: Browsers, request: pytest.FixtureRequest) -> Tab:
    """Its page in each browser."""
    return delivering.open(browsers.running(request.param))


def queue(kiosk: Kiosk) -> list[Path]:
    """What waits in the folder of the bridge."""
    return sorted(kiosk.bridge.state.iterdir())


def put(kiosk: Kiosk, body: bytes, identity: str | None = None, kind: str = "application/json") -> int:
    """Hands a message over, and returns the status of the answer."""
    headers = {
        "Authorization": f"Bearer {kiosk.bridge.token}",
        "Origin": kiosk.bridge.origin,
        "Content-Type": kind,
    }
    return kiosk.bridge.ask("PUT", f"/messages/{identity or uuid.uuid4()}", body, headers)[0]


def text(words: str) -> bytes:
    return json.dumps({"text": words}).encode()


def is_shown(state: str, count: int = 1) -> str:
    """A condition: so many messages have this state."""
    return f"document.querySelectorAll('[data-state={state}]').length === {count}"


def test_texts_pictures_and_voice_messages_arrive_and_are_answered(
    delivering: Kiosk, operator: Operator, page: Tab
) -> None:
    delivering.keyboard.press(INSERT)
    page.wait_for(is_state("keyboard", "editingText"))
    page.type("hi 😀\ue007")
    page.wait_for(is_shown("sent"))
    delivering.speak(page, "#send")
    page.wait_for(is_shown("sent", 2))
    delivering.keyboard.press(COMPOSE)
    page.wait_for(is_state("keyboard", "showingPanel"))
    page.touch("#pictures button:nth-child(2)")
    page.wait_for(is_shown("sent", 3))
    written, spoken, picture = operator.got
    identities = [identity for identity, _, _ in operator.calls]
    assert (json.loads(written)["text"], json.loads(written)["id"]) == ("hi 😀", identities[0])
    assert json.loads(picture)["picture"] == "mountain"
    # WebM or Ogg.
    assert spoken.startswith((b"\x1aE\xdf\xa3", b"OggS"))
    assert operator.calls[1][1] in {"audio/webm", "audio/ogg"}
    answers = "return [...document.querySelectorAll('.foreign p')].slice(2).map((one) => one.textContent)"
    assert page.run(answers) == ["Thank you for 0", "Thank you for 1", "Thank you for 2"]
    assert queue(delivering) == []
    assert page.session.console == []


def test_what_the_program_does_not_take_is_tried_again_in_order(
    delivering: Kiosk, operator: Operator, page: Tab
) -> None:
    operator.be("broken")
    delivering.keyboard.press(INSERT)
    page.wait_for(is_state("keyboard", "editingText"))
    page.type("one\ue007two\ue007")
    page.wait_for(is_shown("waiting", 2))
    wait_until(lambda: len(operator.calls) > 1, "another try")
    assert len({identity for identity, _, _ in operator.calls}) == 1
    operator.be("killed")
    tries = len(operator.calls)
    wait_until(lambda: len(operator.calls) > tries, "a try that is killed")
    assert len(queue(delivering)) == 2
    operator.be("well")
    page.wait_for(is_shown("sent", 2))
    assert operator.texts == ["one", "two"]
    assert any("delivery: 1; again in 0.25 s" in line for line in delivering.bridge.log)
    operator.be("never")
    page.type("three\ue007")
    page.wait_for(is_shown("failed"))
    assert queue(delivering) == []
    assert "three" not in "".join(delivering.bridge.log)


def test_a_visit_that_ends_tells_the_next_visitor_nothing(
    delivering: Kiosk, operator: Operator, page: Tab
) -> None:
    operator.be("broken")
    delivering.keyboard.press(INSERT)
    page.wait_for(is_state("keyboard", "editingText"))
    page.type("secret\ue007")
    page.wait_for(is_shown("waiting"))
    wait_until(lambda: len(queue(delivering)) == 1, "the message in the folder")
    page.touch("#done")
    page.wait_for("document.querySelectorAll('.own').length === 0")
    operator.be("well")
    wait_until(lambda: operator.texts == ["secret"], "the delivery")
    page.wait_for(is_state("keyboard", "prepareToEditText"))
    delivering.keyboard.press(INSERT)
    page.wait_for(is_state("keyboard", "editingText"))
    page.type("mine\ue007")
    page.wait_for(is_shown("sent"))
    assert page.run("return document.querySelectorAll('.foreign').length") == 3


def test_killing_the_bridge_and_the_page_loses_nothing(
    delivering: Kiosk, operator: Operator, page: Tab
) -> None:
    operator.be("hangs")
    delivering.keyboard.press(INSERT)
    page.wait_for(is_state("keyboard", "editingText"))
    page.type("one\ue007")
    wait_until(lambda: len(operator.calls) == 1, "the first try")
    delivering.bridge.kill()
    # The page keeps what it cannot hand over.
    page.type("two\ue007")
    page.wait_for(is_shown("waiting", 2))
    delivering.bridge.start()
    wait_until(lambda: len(queue(delivering)) == 2, "both messages in the folder")
    page.session.call("browsingContext.close", context=page.context)
    delivering.bridge.kill()
    operator.be("well")
    delivering.bridge.start()
    # The program may have taken one before the bridge knew; a repeat has the same ID.
    wait_until(lambda: list(dict.fromkeys(operator.texts)) == ["one", "two"], "both messages")
    assert len({identity for identity, _, _ in operator.calls}) == 2
    wait_until(lambda: queue(delivering) == [], "the end of the queue")


@pytest.fixture
def chromium_page(delivering: Kiosk, browsers: Browsers) -> Tab:
    """Its page in Chromium."""
    return delivering.open(browsers.running("chromium"))


SENT = {
    "that waits for keymoded": """
    const { keymode, visit } = await import('/kiosk.js');
    keymode.trigger = () => new Promise(() => {});
    document.querySelector('#send').click();
    visit.end();
    """,
    "whose recorder has not stopped": """
    const { visit, voice } = await import('/kiosk.js');
    voice.finish();
    visit.end();
    """,
}


@pytest.mark.parametrize("end", SENT.values(), ids=SENT.keys())
def test_a_voice_message_sent_just_before_the_end_arrives_unseen(
    delivering: Kiosk, operator: Operator, chromium_page: Tab, end: str
) -> None:
    delivering.keyboard.press(SCROLLLOCK)
    chromium_page.wait_for(is_state("voice", "recording"))
    chromium_page.wait_for("document.querySelector('#voice-time').textContent === '0:01'")
    chromium_page.run(end)
    wait_until(lambda: len(operator.got) == 1, "the message")
    assert operator.got[0].startswith(b"\x1aE\xdf\xa3")
    assert chromium_page.run("return document.querySelectorAll('.voice, [data-state]').length") == 0


def hand_over(kiosk: Kiosk, operator: Operator, page: Tab) -> None:
    """Has a message wait for the program, of which the page has asked once."""
    operator.be("broken")
    kiosk.keyboard.press(INSERT)
    page.wait_for(is_state("keyboard", "editingText"))
    page.type("one\ue007")
    page.run("""
    const hasAsked = () => performance.getEntriesByType('resource').some(({ name }) => name.includes('/messages?'));
    while (!hasAsked()) await new Promise((done) => setTimeout(done, 20));
    """)
    assert len(queue(kiosk)) == 1


def test_nothing_is_said_of_a_message_that_the_bridge_does_not_know(
    delivering: Kiosk, operator: Operator, chromium_page: Tab
) -> None:
    hand_over(delivering, operator, chromium_page)
    delivering.bridge.kill()
    # As if the program had refused it, and the bridge had ended before the page asked.
    queue(delivering)[0].unlink()
    delivering.bridge.start()
    chromium_page.wait_for(is_shown("unknown"))
    assert chromium_page.run("return document.querySelector('[data-state] small span').textContent") == ""


def test_without_a_program_any_more_nothing_is_asked(
    delivering: Kiosk, operator: Operator, chromium_page: Tab
) -> None:
    hand_over(delivering, operator, chromium_page)
    delivering.bridge.kill()
    delivering.bridge.start(without="--deliver")
    chromium_page.wait_for(is_shown("unknown"))


def test_with_an_old_token_nothing_is_tried_again(
    delivering: Kiosk, operator: Operator, chromium_page: Tab
) -> None:
    hand_over(delivering, operator, chromium_page)
    # Notes how long the page waits after an answer that refused it.
    chromium_page.run("""
    const ask = window.fetch;
    window.waits = [];
    window.fetch = async (path, options) => {
      const response = await ask(path, options);
      if (path.startsWith('/messages') && response.status === 403) {
        const own = window.setTimeout;
        window.setTimeout = (call, wait) => { window.waits.push(wait); return own(call, wait); };
        own(() => {
          window.setTimeout = own;
          document.documentElement.dataset[options.method ?? 'GET'] = 'refused';
        });
      }
      return response;
    };
    """)
    delivering.bridge.kill()
    chromium_page.type("two\ue007")
    chromium_page.wait_for(is_shown("waiting", 2))
    delivering.bridge.entrance.unlink()
    delivering.bridge.start()
    chromium_page.wait_for(is_state("GET", "refused"))
    chromium_page.wait_for(is_state("PUT", "refused"))
    assert not {300, 1000} & set(chromium_page.run("return window.waits"))


def test_only_its_user_reads_the_messages_and_repeats_are_one(
    delivering: Kiosk, operator: Operator
) -> None:
    operator.be("broken")
    identity = str(uuid.uuid4())
    assert [put(delivering, text("one"), identity) for _ in range(2)] == [202, 202]
    (path,) = queue(delivering)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(delivering.bridge.state.stat().st_mode) == 0o700
    operator.be("well")
    wait_until(lambda: queue(delivering) == [], "the delivery")
    # Also one that was taken.
    assert put(delivering, text("one"), identity) == 202
    assert put(delivering, text("two")) == 202
    wait_until(lambda: operator.texts == ["one", "two"], "the next message")


def test_the_folder_is_bounded(delivering: Kiosk, operator: Operator) -> None:
    operator.be("broken")
    for number in range(200):
        (delivering.bridge.state / f"{number}_{uuid.uuid4()}_audio@webm").write_bytes(b"x")
    assert put(delivering, text("one")) == 507
    assert "PUT refused: no room: too many wait" in delivering.bridge.log
    for path in queue(delivering)[1:]:
        path.unlink()
    with open(queue(delivering)[0], "wb") as large:
        os.truncate(large.fileno(), (64 << 20) - 10)
    assert put(delivering, text("one")) == 507
    assert put(delivering, bytes(5 << 20), kind="audio/webm") == 413
    assert put(delivering, text("one"), kind="text/html") == 415
    assert put(delivering, text("one"), identity="../../x") == 405
    operator.be("well")
    # A new bridge tries at once.
    delivering.bridge.kill()
    delivering.bridge.start()
    wait_until(lambda: queue(delivering) == [], "room")
    # As long as a voice message of five minutes, and more than fits into a socket.
    assert put(delivering, os.urandom(2 << 20), kind="audio/webm") == 202
    wait_until(lambda: len(operator.got) == 2, "the message")
    assert len(operator.got[1]) == 2 << 20


def test_what_is_unfinished_or_strange_in_the_folder_is_left_out(
    delivering: Kiosk, operator: Operator
) -> None:
    delivering.bridge.kill()
    (delivering.bridge.state / f"{uuid.uuid4()}.new").write_bytes(b"half a mess")
    (delivering.bridge.state / "notes.txt").write_bytes(b"of the operator")
    delivering.bridge.start()
    assert put(delivering, text("one")) == 202
    wait_until(lambda: operator.texts == ["one"], "the message")
    wait_until(lambda: [path.name for path in queue(delivering)] == ["notes.txt"], "the end of the queue")


def test_a_program_that_is_missing_is_named_in_the_log(tmp_path: Path) -> None:
    with Kiosk(tmp_path, "", "--deliver", "/no/such/program now") as kiosk:
        assert put(kiosk, text("one")) == 202
        wait_until(lambda: len(kiosk.bridge.log) > 0, "a line")
        assert kiosk.bridge.log[0].startswith("delivery: /no/such/program: No such file")
        assert len(queue(kiosk)) == 1


def test_without_a_program_nothing_is_kept(kiosk: Kiosk) -> None:
    # Only files are there, which can be read.
    assert put(kiosk, text("one")) == 405
    assert not kiosk.bridge.state.exists()


def test_the_echo_of_the_example_answers(tmp_path: Path, browsers: Browsers) -> None:
    assert len((EXAMPLE / "echo").read_text().splitlines()) <= 10
    with Kiosk(tmp_path, SETTINGS, "--deliver", str(EXAMPLE / "echo")) as kiosk:
        page = kiosk.open(browsers.running("chromium"))
        kiosk.keyboard.press(INSERT)
        page.wait_for(is_state("keyboard", "editingText"))
        page.type("hi\ue007")
        page.wait_for(is_shown("sent"))
        kiosk.speak(page, "#send")
        page.wait_for(is_shown("sent", 2))
        first, second = page.run(
            "return [...document.querySelectorAll('.foreign p')].slice(2).map((one) => one.textContent)"
        )
        assert first == "You said: hi" and second.startswith("Thank you for ")
        assert kiosk.bridge.log == []


def test_the_queue_is_short() -> None:
    assert len((EXAMPLE / "outbox.py").read_text().splitlines()) <= 120
