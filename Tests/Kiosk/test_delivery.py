"""Messages on their way to the operator's program, which gets each at least once and in order."""

import json
import os
import stat
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
from browser import Browser, Tab, is_state
from conftest import SETTINGS
from kiosk import EXAMPLE, Kiosk

from support.input_events import SCROLLLOCK
from support.waiting import wait_until

# Notes each message in a file of its own, which is there as a whole or not at all, and answers; while
# there is a file `mood`, it does what that says. One that outlives a killed bridge may take a message
# while that of the next bridge takes another, so they note them one after the other.
PROGRAM = r"""#!/usr/bin/python3
import fcntl, os, pathlib, signal, sys, time
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
lock = open(folder / "lock", "w")
fcntl.flock(lock, fcntl.LOCK_EX)
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
def kiosk(tmp_path: Path, operator: Operator) -> Iterator[Kiosk]:
    """A kiosk that hands its messages to the program."""
    with Kiosk(tmp_path, SETTINGS, "--deliver", str(operator.path)) as kiosk:
        yield kiosk


def queue(kiosk: Kiosk) -> list[Path]:
    """What waits in the folder of the bridge."""
    return sorted(kiosk.bridge.state.iterdir())


def complete(kiosk: Kiosk) -> list[Path]:
    """What waits there and outlives the bridge: no message that it is still writing."""
    return [path for path in queue(kiosk) if path.suffix != ".new"]


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
    kiosk: Kiosk, operator: Operator, any_page: Tab
) -> None:
    kiosk.enter(any_page, "editingText")
    any_page.type("hi 😀\ue007")
    any_page.wait_for(is_shown("sent"))
    kiosk.speak(any_page, "#send")
    any_page.wait_for(is_shown("sent", 2))
    kiosk.enter(any_page, "showingPanel")
    any_page.touch("#pictures button:nth-child(2)")
    any_page.wait_for(is_shown("sent", 3))
    written, spoken, picture = operator.got
    identities = [identity for identity, _, _ in operator.calls]
    assert (json.loads(written)["text"], json.loads(written)["id"]) == ("hi 😀", identities[0])
    assert json.loads(picture)["picture"] == "mountain"
    # WebM or Ogg.
    assert spoken.startswith((b"\x1aE\xdf\xa3", b"OggS"))
    assert operator.calls[1][1] in {"audio/webm", "audio/ogg"}
    answers = "return [...document.querySelectorAll('.foreign p')].slice(2).map((one) => one.textContent)"
    assert any_page.run(answers) == ["Thank you for 0", "Thank you for 1", "Thank you for 2"]
    assert queue(kiosk) == []
    assert any_page.session.console == []


def test_what_the_program_does_not_take_is_tried_again_in_order(
    kiosk: Kiosk, operator: Operator, any_page: Tab
) -> None:
    operator.be("broken")
    kiosk.enter(any_page, "editingText")
    any_page.type("one\ue007two\ue007")
    any_page.wait_for(is_shown("waiting", 2))
    wait_until(lambda: len(operator.calls) > 1, "another try")
    assert len({identity for identity, _, _ in operator.calls}) == 1
    operator.be("killed")
    tries = len(operator.calls)
    wait_until(lambda: len(operator.calls) > tries, "a try that is killed")
    assert len(queue(kiosk)) == 2
    operator.be("well")
    any_page.wait_for(is_shown("sent", 2))
    assert operator.texts == ["one", "two"]
    assert any("delivery: 1; again in 0.25 s" in line for line in kiosk.bridge.log)
    operator.be("never")
    any_page.type("three\ue007")
    any_page.wait_for(is_shown("failed"))
    assert queue(kiosk) == []
    assert "three" not in "".join(kiosk.bridge.log)


def test_a_visit_that_ends_tells_the_next_visitor_nothing(
    kiosk: Kiosk, operator: Operator, any_page: Tab
) -> None:
    operator.be("broken")
    kiosk.enter(any_page, "editingText")
    any_page.type("secret\ue007")
    any_page.wait_for(is_shown("waiting"))
    wait_until(lambda: len(complete(kiosk)) == 1, "the message in the folder")
    any_page.touch("#done")
    any_page.wait_for("document.querySelectorAll('.own').length === 0")
    operator.be("well")
    wait_until(lambda: operator.texts == ["secret"], "the delivery")
    any_page.wait_for(is_state("keyboard", "prepareToEditText"))
    kiosk.enter(any_page, "editingText")
    any_page.type("mine\ue007")
    any_page.wait_for(is_shown("sent"))
    assert any_page.run("return document.querySelectorAll('.foreign').length") == 3


def test_killing_the_bridge_and_the_page_loses_nothing(
    kiosk: Kiosk, operator: Operator, any_page: Tab
) -> None:
    operator.be("hangs")
    kiosk.enter(any_page, "editingText")
    any_page.type("one\ue007")
    wait_until(lambda: len(operator.calls) == 1, "the first try")
    kiosk.bridge.kill()
    # The page keeps what it cannot hand over.
    any_page.type("two\ue007")
    any_page.wait_for(is_shown("waiting", 2))
    kiosk.bridge.start()
    wait_until(lambda: len(complete(kiosk)) == 2, "both messages in the folder")
    any_page.session.call("browsingContext.close", context=any_page.context)
    kiosk.bridge.kill()
    operator.be("well")
    kiosk.bridge.start()
    # The program may have taken one before the bridge knew; a repeat has the same ID.
    wait_until(lambda: list(dict.fromkeys(operator.texts)) == ["one", "two"], "both messages")
    assert len({identity for identity, _, _ in operator.calls}) == 2
    wait_until(lambda: queue(kiosk) == [], "the end of the queue")


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
    kiosk: Kiosk, operator: Operator, page: Tab, end: str
) -> None:
    kiosk.keyboard.press(SCROLLLOCK)
    page.wait_for(is_state("voice", "recording"))
    page.wait_for("document.querySelector('#voice-time').textContent === '0:01'")
    page.run(end)
    wait_until(lambda: len(operator.got) == 1, "the message")
    assert operator.got[0].startswith(b"\x1aE\xdf\xa3")
    assert page.run("return document.querySelectorAll('.voice, [data-state]').length") == 0


def hand_over(kiosk: Kiosk, operator: Operator, page: Tab) -> None:
    """Has a message wait for the program, of which the page has asked once."""
    operator.be("broken")
    kiosk.enter(page, "editingText")
    page.type("one\ue007")
    page.run("""
    const hasAsked = () => performance.getEntriesByType('resource').some(({ name }) => name.includes('/messages?'));
    while (!hasAsked()) await new Promise((done) => setTimeout(done, 20));
    """)
    assert len(queue(kiosk)) == 1


def test_nothing_is_said_of_a_message_that_the_bridge_does_not_know(
    kiosk: Kiosk, operator: Operator, page: Tab
) -> None:
    hand_over(kiosk, operator, page)
    kiosk.bridge.kill()
    # As if the program had refused it, and the bridge had ended before the page asked.
    queue(kiosk)[0].unlink()
    kiosk.bridge.start()
    page.wait_for(is_shown("unknown"))
    assert page.run("return document.querySelector('[data-state] small span').textContent") == ""


def test_without_a_program_any_more_nothing_is_asked(
    kiosk: Kiosk, operator: Operator, page: Tab
) -> None:
    hand_over(kiosk, operator, page)
    kiosk.bridge.kill()
    kiosk.bridge.start(without="--deliver")
    page.wait_for(is_shown("unknown"))


def test_with_an_old_token_nothing_is_tried_again(kiosk: Kiosk, page: Tab) -> None:
    script = """
    const { Keymode } = await import('/keymode.js');
    const { Delivery } = await import('/delivery.js');
    const keymode = new Keymode('old');
    const [hand, statuses, waits] = [keymode.hand, [], []];
    keymode.hand = async (...given) => {
      statuses.push(await hand.apply(keymode, given));
      return statuses[0];
    };
    window.setTimeout = (_, wait) => waits.push(wait);
    new Delivery(keymode).send('application/json', () => '{}', null);
    while (statuses.length === 0) await drawn();
    await drawn();
    return [statuses, waits, await keymode.results(['one'])];
    """
    assert page.run(script) == [[403], [], {"one": {"state": "unknown"}}]
    assert queue(kiosk) == []


def test_only_its_user_reads_the_messages_and_repeats_are_one(
    kiosk: Kiosk, operator: Operator
) -> None:
    operator.be("broken")
    identity = str(uuid.uuid4())
    assert [put(kiosk, text("one"), identity) for _ in range(2)] == [202, 202]
    (path,) = queue(kiosk)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(kiosk.bridge.state.stat().st_mode) == 0o700
    operator.be("well")
    wait_until(lambda: queue(kiosk) == [], "the delivery")
    # Also one that was taken.
    assert put(kiosk, text("one"), identity) == 202
    assert put(kiosk, text("two")) == 202
    wait_until(lambda: operator.texts == ["one", "two"], "the next message")


def test_the_folder_is_bounded(kiosk: Kiosk, operator: Operator) -> None:
    operator.be("broken")
    for number in range(200):
        (kiosk.bridge.state / f"{number}_{uuid.uuid4()}_audio@webm").write_bytes(b"x")
    assert put(kiosk, text("one")) == 507
    assert "PUT refused: no room: too many wait" in kiosk.bridge.log
    for path in queue(kiosk)[1:]:
        path.unlink()
    with open(queue(kiosk)[0], "wb") as large:
        os.truncate(large.fileno(), (64 << 20) - 10)
    assert put(kiosk, text("one")) == 507
    assert put(kiosk, bytes(5 << 20), kind="audio/webm") == 413
    assert put(kiosk, text("one"), kind="text/html") == 415
    assert put(kiosk, text("one"), identity="../../x") == 405
    operator.be("well")
    # A new bridge tries at once.
    kiosk.bridge.kill()
    kiosk.bridge.start()
    wait_until(lambda: queue(kiosk) == [], "room")
    # As long as a voice message of five minutes, and more than fits into a socket.
    assert put(kiosk, os.urandom(2 << 20), kind="audio/webm") == 202

    # The killed bridge's program may have taken the large one, too.
    def sizes() -> list[int]:
        return list(dict.fromkeys(len(message) for message in operator.got))

    wait_until(lambda: sizes() == [(64 << 20) - 10, 2 << 20], "the message")


def test_what_is_unfinished_or_strange_in_the_folder_is_left_out(
    kiosk: Kiosk, operator: Operator
) -> None:
    kiosk.bridge.kill()
    (kiosk.bridge.state / f"{uuid.uuid4()}.new").write_bytes(b"half a mess")
    (kiosk.bridge.state / "x.new").mkdir()
    (kiosk.bridge.state / "notes.txt").write_bytes(b"of the operator")
    kiosk.bridge.start()
    assert put(kiosk, text("one")) == 202
    wait_until(lambda: operator.texts == ["one"], "the message")
    wait_until(lambda: [path.name for path in queue(kiosk)] == ["notes.txt", "x.new"], "the end of the queue")


def test_a_program_that_is_missing_is_named_in_the_log(tmp_path: Path) -> None:
    with Kiosk(tmp_path, "", "--deliver", "/no/such/program now") as kiosk:
        assert put(kiosk, text("one")) == 202
        wait_until(lambda: len(kiosk.bridge.log) > 0, "a line")
        assert kiosk.bridge.log[0].startswith("delivery: /no/such/program: No such file")
        assert len(queue(kiosk)) == 1


def test_without_a_program_nothing_is_kept(tmp_path: Path) -> None:
    with Kiosk(tmp_path) as kiosk:
        # Only files are there, which can be read.
        assert put(kiosk, text("one")) == 405
        assert not kiosk.bridge.state.exists()


# What a program that speaks of it could not say: not JSON, no message, half of a character, too deep.
NEVER = [
    *(b"", b"nope", b"\xff", b"[]", b"{}", b'"text"', b'{"text": null}', b'{"picture": {}, "text": 1}'),
    *(rb'{"text": "\ud83d"}', rb'{"picture": "\ud83d"}', b"[" * 100_000),
]


def test_what_the_echo_can_never_take_is_told_and_holds_up_no_other(
    tmp_path: Path, chromium: Browser
) -> None:
    with Kiosk(tmp_path, SETTINGS, "--deliver", str(EXAMPLE / "echo")) as kiosk:
        page = kiosk.open(chromium)
        for body in NEVER:
            assert put(kiosk, body) == 202
        kiosk.enter(page, "editingText")
        # As where a length that is full cuts an emoji.
        page.run("""
        const field = document.querySelector('#field');
        field.value = '\\ud83d';
        field.dispatchEvent(new Event('input'));
        document.querySelector('#send').click();
        """)
        page.wait_for(is_shown("failed"))
        page.type("hi\ue007")
        page.wait_for(is_shown("sent"))
        assert queue(kiosk) == []
        # Neither a try that failed nor a word of a message.
        assert kiosk.bridge.log == []


def test_a_message_that_is_too_long_for_the_bridge_holds_up_no_other(
    kiosk: Kiosk, operator: Operator, any_page: Tab
) -> None:
    script = """
    const { Keymode } = await import('/keymode.js');
    const { Delivery } = await import('/delivery.js');
    const token = TOKEN, states = [];
    const delivery = new Delivery(new Keymode(token));
    const sent = new Promise((done) => {
      for (const body of ['x'.repeat(5 << 20), 'x'.repeat(50 << 20), '{"text": "short"}']) {
        delivery.send('application/json', () => body, ({ state }) => {
          if (state !== 'waiting') states.push(state);
          if (states.length === 3) done();
        });
      }
    });
    await sent;
    return states;
    """
    result = any_page.run(script.replace("TOKEN", json.dumps(kiosk.bridge.token)))
    assert result == ["failed", "failed", "sent"]
    assert operator.texts == ["short"]


def test_the_echo_of_the_example_answers(tmp_path: Path, chromium: Browser) -> None:
    with Kiosk(tmp_path, SETTINGS, "--deliver", str(EXAMPLE / "echo")) as kiosk:
        page = kiosk.open(chromium)
        kiosk.enter(page, "editingText")
        page.type("hi\ue007")
        page.wait_for(is_shown("sent"))
        kiosk.speak(page, "#send")
        page.wait_for(is_shown("sent", 2))
        first, second = page.run(
            "return [...document.querySelectorAll('.foreign p')].slice(2).map((one) => one.textContent)"
        )
        assert first == "You said: hi" and second.startswith("Thank you for ")
        assert kiosk.bridge.log == []
