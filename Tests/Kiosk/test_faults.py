"""The kiosk when parts of it end or stop."""

import re
import subprocess
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from browser import Browser, PageError, Tab, is_state
from conftest import Browsers
from kiosk import KEYS, Kiosk

from support.checkout import PROGRAMS
from support.connection import Connection
from support.input_events import ESC, LEFTSHIFT
from support.waiting import wait_until

# What a visitor is told, what the operator is told, and how many buttons look alive.
OUTAGE = """
const text = (id) => document.getElementById(id).textContent;
const buttons = [...document.querySelectorAll('button')].filter((one) => one.getClientRects().length);
return [text('outage-text'), text('outage-reason'), buttons.length];
"""


def test_a_page_outlives_the_bridge(kiosk: Kiosk, page: Tab) -> None:
    page.run("window.isTheSame = true")
    for state in ("showingPanel", "prepareToEditText") * 2:
        kiosk.bridge.kill()
        page.wait_for(is_state("connection", "bridge"))
        kiosk.keyboard.press(KEYS[state])
        kiosk.bridge.start()
        page.wait_for(is_state("connection", "connected"))
        page.wait_for(is_state("keyboard", state))
    # It was not loaded anew.
    assert page.run("return window.isTheSame")


def test_no_daemon_is_shown_and_mended_without_a_reload(
    kiosk: Kiosk, tmp_path: Path, any_page: Tab
) -> None:
    any_page.run("window.isTheSame = true")
    kiosk.daemon.kill()
    any_page.wait_for("document.documentElement.dataset.connection === 'daemon'")
    assert any_page.run(OUTAGE)[0] == "Please use the touch screen"
    # Its reason is for the operator, here and in the journal.
    any_page.wait_for("document.querySelector('#outage-reason').textContent.includes('ended the connection')")
    line = f"{tmp_path}/daemon/state.sock: it has ended the connection"
    wait_until(lambda: line in kiosk.bridge.log, "the journal")
    # Fingers go on: they type, choose, and speak.
    any_page.touch("#field")
    any_page.wait_for(is_state("keyboard", "editingText"))
    any_page.type("hi\ue007")
    any_page.touch("#more")
    any_page.touch("#pictures button")
    any_page.touch("#switch")
    any_page.wait_for("document.documentElement.dataset.voice === 'recording'")
    any_page.touch("#send")
    any_page.wait_for("document.querySelectorAll('.voice').length === 1")
    any_page.touch("#switch")
    any_page.wait_for("document.documentElement.dataset.voice === 'recording'")
    any_page.touch("#discard")
    any_page.wait_for("!document.querySelector('#undo').hidden")
    any_page.touch("#done")
    any_page.wait_for(is_state("keyboard", "prepareToEditText"))
    assert any_page.run("return document.querySelectorAll('.own').length") == 0
    kiosk.daemon.start()
    any_page.wait_for("document.documentElement.dataset.connection === 'connected'")
    assert any_page.run("return document.querySelector('#outage').hidden")
    wait_until(lambda: kiosk.bridge.log[-1] == "keymoded is there again", "the journal")
    assert kiosk.bridge.log.count(line) == 1
    kiosk.enter(any_page, "showingPanel")
    assert any_page.run("return window.isTheSame")


# Python runs this module at its start: the bridge refuses the file of the page that is named beside it.
REFUSE = """
from pathlib import Path
from aiohttp import web
from aiohttp.web_urldispatcher import StaticResource
own, refused = StaticResource._handle, Path(__file__).with_name("refused")
async def handle(self, request):
    if refused.exists() and request.path == refused.read_text():
        raise web.HTTPServiceUnavailable
    return await own(self, request)
StaticResource._handle = handle
"""
WAITING = """
const said = document.querySelector('#incomplete');
return [said.getClientRects().length > 0 && said.innerText, sessionStorage.wait];
"""


@pytest.mark.parametrize("name", ["chromium", "firefox"])
@pytest.mark.parametrize("file", ["/voice.js", "/kiosk.css"])
def test_a_page_without_one_of_its_files_says_so_and_loads_itself_again(
    kiosk: Kiosk, browsers: Browsers, tmp_path: Path, file: str, name: str
) -> None:
    page = browsers.running(name).tab()

    def found(script: str) -> Any:
        with suppress(PageError):  # The page is being loaded.
            return page.run(script)
        return None

    kiosk.bridge.kill()
    (tmp_path / "bridge/sitecustomize.py").write_text(REFUSE)
    refused = tmp_path / "bridge/refused"
    refused.write_text(file)
    kiosk.bridge.start()
    page.open(kiosk.bridge.entrance.as_uri(), leads_to=kiosk.bridge.origin)
    # It has loaded itself again, once, and waits twice as long.
    said = ["Please wait · Bitte warten", "2"]
    wait_until(lambda: found(WAITING) == said, "what the visitor reads")
    refused.unlink()
    connected = "return document.documentElement.dataset.connection"
    wait_until(lambda: found(connected) == "connected", "the page")
    wait_until(lambda: found("return sessionStorage.length") == 0, "an end of the tries")


def test_capitals_that_began_without_the_page_count(
    kiosk: Kiosk, tmp_path: Path, chromium: Browser
) -> None:
    # Without its socket, as where keymoded is not installed; otherwise systemd would start it.
    there, elsewhere = tmp_path / "daemon/state.sock", tmp_path / "daemon/elsewhere.sock"
    there.rename(elsewhere)
    page = chromium.tab()
    page.open(kiosk.bridge.entrance.as_uri(), leads_to=kiosk.bridge.origin)
    page.wait_for("document.documentElement.dataset.connection === 'daemon'")
    with Connection(kiosk.control_socket) as trigger:
        for event in ("shiftPressed", "shiftPressed", "tapTextField"):
            trigger.call("Trigger", event=event)
    elsewhere.rename(there)
    page.wait_for(is_state("shift", "capsLock"))
    page.wait_for(is_state("keyboard", "editingText"))
    page.type("ab")
    assert page.run("return document.getElementById('field').value") == "AB"


def test_a_page_with_an_old_token_is_out_of_order_and_says_how_to_mend_it(
    kiosk: Kiosk, page: Tab
) -> None:
    kiosk.bridge.kill()
    kiosk.bridge.entrance.unlink()
    kiosk.bridge.start()
    page.wait_for("document.documentElement.dataset.connection === 'refused'")
    what, reason, buttons = page.run(OUTAGE)
    assert (what, buttons) == ("Out of order", 0)
    assert "keymode-kiosk.html" in reason
    assert not page.run("return document.querySelector('#status').checkVisibility({ visibilityProperty: true })")


def test_without_a_bridge_fingers_go_on_for_a_while(kiosk: Kiosk, any_page: Tab) -> None:
    # Ten seconds take as long as two.
    any_page.run("const own = setTimeout; window.setTimeout = (call, wait) => own(call, wait === 10_000 ? 2000 : wait)")
    kiosk.bridge.kill()
    any_page.wait_for("document.documentElement.dataset.connection === 'bridge'")
    assert any_page.run(OUTAGE)[0] == "Please use the touch screen"
    any_page.touch("#field")
    any_page.wait_for(is_state("keyboard", "editingText"))
    any_page.wait_for("document.documentElement.dataset.outage === 'all'")
    assert any_page.run(OUTAGE) == ["Out of order", "keymode-kiosk.service does not answer", 0]
    kiosk.bridge.start()
    any_page.wait_for("document.documentElement.dataset.connection === 'connected'")
    assert any_page.run("return document.querySelector('#outage').hidden")


def test_a_trigger_that_fails_is_said(kiosk: Kiosk, tmp_path: Path, page: Tab) -> None:
    (tmp_path / "daemon/control.sock").unlink()
    page.touch("#more")
    page.wait_for("!document.querySelector('#outage').hidden")
    what, reason, _ = page.run(OUTAGE)
    assert what == "Please use the keyboard"
    assert reason == f"{tmp_path}/daemon/control.sock: No such file or directory"
    kiosk.keyboard.press(ESC)
    assert kiosk.state()["sequence"] == 0


def test_only_the_tab_in_front_records(kiosk: Kiosk, chromium: Browser) -> None:
    """A page behind the lock screen does not record either."""
    behind, front = (kiosk.open(chromium) for _ in range(2))
    front.activate()
    with Connection(kiosk.control_socket) as trigger:
        trigger.call("Trigger", event="startTalking")
    front.wait_for("document.querySelector('#voice-text').textContent === 'Speak now'")
    phase = "return (await import('/kiosk.js')).voice.phase"
    assert [behind.run(phase), front.run(phase)] == ["idle", "recording"]
    # Neither its return to the front nor Shift begins a message in between.
    behind.activate()
    kiosk.keyboard.press(LEFTSHIFT)
    behind.wait_for(is_state("shift", "on"))
    assert behind.run(phase) == "idle"


def test_fingers_alone_do_what_the_default_table_says(page: Tab) -> None:
    command = [PROGRAMS / "keymodectl", "graph", "keyboard", "--format", "mermaid"]
    diagram = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    rows = {
        (state, event): to
        for state, to, events in re.findall(r"(\w+) --> (\w+): (\S+)", diagram)
        for event in events.split("<br/>")
    }
    states, events = (sorted(set(names)) for names in zip(*rows, strict=True))
    assert (len(states), len(events)) == (4, 4)
    found = page.run(
        """
        const { next } = await import('/fallback.js');
        const [states, events] = given;
        return states.map((state) => events.map((event) => next(state, event)));
        """,
        states,
        events,
    )
    assert found == [[rows.get((state, event), state) for event in events] for state in states]
