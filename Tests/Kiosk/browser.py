"""Real browsers without a screen, by WebDriver BiDi: https://w3c.github.io/webdriver-bidi.

One client serves both: Chromium speaks it by its driver, Firefox by itself.
"""

import base64
import json
import os
import re
import signal
import subprocess
import urllib.request
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

from websocket import WebSocket, create_connection

from support.waiting import BOUND_SECONDS

CHROMIUM_OPTIONS = [
    "--headless=new",
    # Root needs this one.
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-breakpad",
    "--no-first-run",
    "--force-color-profile=srgb",
]
# A microphone that beeps, and that may be used.
MICROPHONE = ["--use-fake-device-for-media-stream", "--use-fake-ui-for-media-stream"]

# Waits in the page: until a condition holds after a change of the page, and until what has changed so
# far is drawn.
WAITING = """
const until = (condition) => new Promise((resolve) => {
  const look = () => { if (condition()) { observer.disconnect(); resolve(); } };
  const observer = new MutationObserver(look);
  observer.observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
  look();
});
const drawn = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
"""


class PageError(AssertionError):
    """The page raised an error, or the browser refused a command."""


class Session:
    """A connection to a browser."""

    def __init__(self, address: str) -> None:
        self._socket: WebSocket = create_connection(
            address, timeout=BOUND_SECONDS, suppress_origin=True
        )
        self._count = 0
        # What the pages wrote to their consoles, and the errors that they did not catch.
        self.console: list[str] = []
        self._loaded: list[tuple[str, str]] = []

    def close(self) -> None:
        """Ends the connection."""
        self._socket.close()

    def call(self, method: str, /, **parameters: Any) -> dict[str, Any]:
        """Sends a command, and returns its result."""
        self._count += 1
        self._socket.send(json.dumps({"id": self._count, "method": method, "params": parameters}))
        while True:
            message = self._receive()
            if message.get("id") == self._count:
                if message["type"] == "error":
                    raise PageError(f"{method}: {message['error']}: {message['message']}")
                result: dict[str, Any] = message["result"]
                return result

    def forget(self) -> None:
        """Forgets what pages wrote, and which were loaded."""
        self.console.clear()
        self._loaded.clear()

    def wait_for_page(self, context: str, address: str) -> None:
        """Waits until a page whose address begins like this is loaded in a tab."""
        while (context, True) not in [
            (where, page.startswith(address)) for where, page in self._loaded
        ]:
            self._receive()
        self._loaded.clear()

    def _receive(self) -> dict[str, Any]:
        message: dict[str, Any] = json.loads(self._socket.recv())
        about = message.get("params", {})
        if message.get("method") == "log.entryAdded":
            self.console.append(f"{about['level']}: {about['text']}")
        elif message.get("method") == "browsingContext.load":
            self._loaded.append((about["context"], about["url"]))
        return message


class Tab:
    """One page of a browser."""

    def __init__(self, session: Session, context: str) -> None:
        self.session = session
        self.context = context

    def open(self, address: str, leads_to: str) -> None:
        """Opens a page, and waits until the page to which it leads is loaded."""
        self.session.call("browsingContext.navigate", context=self.context, url=address)
        self.session.wait_for_page(self.context, leads_to)

    def run(self, script: str, *arguments: Any) -> Any:
        """Runs the body of an async function with these `arguments`, and returns its result."""
        function = f"(async (...given) => {{ {WAITING} {script} }})"
        call = f"{function}(...{json.dumps(arguments)})"
        result = self.session.call(
            "script.evaluate",
            expression=f"{call}.then((result) => JSON.stringify(result ?? null))",
            target={"context": self.context},
            awaitPromise=True,
        )
        if result["type"] == "exception":
            raise PageError(result["exceptionDetails"]["text"])
        return json.loads(result["result"]["value"])

    def wait_for(self, condition: str) -> None:
        """Waits until an expression is true, which must depend on the page's elements alone."""
        self.run(f"await until(() => {condition})")

    def perform(self, *sources: dict[str, Any]) -> None:
        """Performs actions of fingers and keys."""
        self.session.call("input.performActions", context=self.context, actions=list(sources))

    def middle(self, selector: str) -> tuple[int, int]:
        """The middle of an element."""
        x, y = self.run(
            "const box = document.querySelector(given[0]).getBoundingClientRect();"
            "return [Math.round(box.x + box.width / 2), Math.round(box.y + box.height / 2)]",
            selector,
        )
        return x, y

    def touch(self, selector: str) -> None:
        """Touches the middle of an element with a finger."""
        self.touch_at(*self.middle(selector))

    def touch_at(self, x: int, y: int) -> None:
        """Touches a point of the page with a finger."""
        actions = [
            {"type": "pointerMove", "x": x, "y": y},
            {"type": "pointerDown", "button": 0},
            {"type": "pointerUp", "button": 0},
        ]
        finger = {"type": "pointer", "id": "finger", "parameters": {"pointerType": "touch"}}
        self.perform({**finger, "actions": actions})

    def type(self, keys: str, held: str = "") -> None:
        """Presses and releases keys, while another may be held."""
        typed = [(kind, key) for key in keys for kind in ("keyDown", "keyUp")]
        steps = [("keyDown", held), *typed, ("keyUp", held)] if held else typed
        actions = [{"type": kind, "value": key} for kind, key in steps]
        self.perform({"type": "key", "id": "keys", "actions": actions})

    def paint(self, scheme: str) -> None:
        """Draws the page as for people who like it `light` or `dark`: Firefox learns that only at its start."""
        self.run(
            """
            const rules = [...document.styleSheets].flatMap(({ cssRules }) => [...cssRules]);
            const { media } = rules.find(({ media }) => media?.mediaText === '(prefers-color-scheme: dark)');
            media.mediaText = given[0] === 'dark' ? 'all' : 'not all';
            document.documentElement.style.colorScheme = given[0];
            """,
            scheme,
        )

    def resize(self, width: int, height: int) -> None:
        """Gives the page a size in CSS pixels, and waits until it is drawn in this size.

        The browser may answer before the page learns of its size.
        """
        self.session.call(
            "browsingContext.setViewport",
            context=self.context,
            viewport={"width": width, "height": height},
        )
        self.run(
            "const [width, height] = given;"
            "while (innerWidth !== width || innerHeight !== height)"
            " await new Promise((resized) => addEventListener('resize', resized, { once: true }));"
            "await drawn();",
            width,
            height,
        )

    def picture(self, path: Path, width: int | None = None, height: int | None = None) -> None:
        """Writes a picture of the page, or of its upper left corner, as PNG."""
        corner = {"type": "box", "x": 0, "y": 0, "width": width, "height": height}
        clip = {} if width is None else {"clip": corner}
        result = self.session.call(
            "browsingContext.captureScreenshot", context=self.context, **clip
        )
        path.write_bytes(base64.b64decode(result["data"]))

    def devtools(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Sends a command of Chromium's DevTools protocol, for what BiDi lacks."""
        session = self.session.call("goog:cdp.getSession", context=self.context)["session"]
        return self.session.call(
            "goog:cdp.sendCommand", method=method, params=parameters, session=session
        )

    def activate(self) -> None:
        """Brings the page to the front."""
        self.session.call("browsingContext.activate", context=self.context)


def is_state(machine: str, state: str) -> str:
    """A condition for `Tab.wait_for`: the page shows this state."""
    return f"document.documentElement.dataset.{machine} === '{state}'"


class Browser:
    """A running browser, in a process group of its own."""

    def __init__(self, process: subprocess.Popen[str], session: Session) -> None:
        self._process = process
        self.session = session
        session.call("session.subscribe", events=["log.entryAdded", "browsingContext.load"])

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.session.close()
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        if self._process.stdout:
            self._process.stdout.close()

    def forget(self) -> None:
        """Closes all tabs but the first, which the browser has from its start."""
        for tab in self.session.call("browsingContext.getTree")["contexts"][1:]:
            self.session.call("browsingContext.close", context=tab["context"])
        self.session.forget()

    def tab(self) -> Tab:
        """Opens a tab, which comes to the front."""
        created = self.session.call("browsingContext.create", type="tab")
        return Tab(self.session, created["context"])


def chromium(folder: Path, language: str = "en", options: Sequence[str] = MICROPHONE) -> Browser:
    """Starts Chromium."""
    process, found = _start(
        ["chromedriver", "--port=0"], folder, language, r"started successfully on port (\d+)"
    )
    arguments = [
        *CHROMIUM_OPTIONS,
        *options,
        f"--accept-lang={language}",
        f"--user-data-dir={folder}/chromium",
    ]
    wanted = {
        "webSocketUrl": True,
        "goog:chromeOptions": {"binary": "/usr/bin/chromium", "args": arguments},
    }
    request = urllib.request.Request(
        f"http://127.0.0.1:{found}/session",
        json.dumps({"capabilities": {"alwaysMatch": wanted}}).encode(),
        {"Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=BOUND_SECONDS) as response:
        created = json.load(response)["value"]
    return Browser(process, Session(created["capabilities"]["webSocketUrl"]))


def firefox(folder: Path, language: str = "en", options: Sequence[str] = MICROPHONE) -> Browser:
    """Starts Firefox, of whose options only MICROPHONE is known."""
    profile = folder / "firefox"
    profile.mkdir()
    preferences = {
        "intl.accept_languages": language,
        "datareporting.policy.dataSubmissionEnabled": False,
        "app.update.auto": False,
        "browser.shell.checkDefaultBrowser": False,
        "remote.active-protocols": 1,
        "media.navigator.streams.fake": options is MICROPHONE,
        "media.navigator.permission.disabled": options is MICROPHONE,
    }
    lines = (
        f"user_pref({json.dumps(name)}, {json.dumps(value)});"
        for name, value in preferences.items()
    )
    (profile / "user.js").write_text("\n".join(lines) + "\n")
    command = ["firefox-esr", "--headless", "--no-remote", "--profile", str(profile)]
    command += ["--remote-debugging-port", "0"]
    process, found = _start(
        command, folder, language, r"WebDriver BiDi listening on ws://127.0.0.1:(\d+)"
    )
    session = Session(f"ws://127.0.0.1:{found}/session")
    session.call("session.new", capabilities={})
    return Browser(process, session)


def _start(
    command: list[str], folder: Path, language: str, pattern: str
) -> tuple[subprocess.Popen[str], str]:
    """Starts a program, and waits until it prints this; returns the pattern's group."""
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, "HOME": str(folder), "LANGUAGE": language, "LC_ALL": "C.UTF-8"},
        process_group=0,
    )
    assert process.stdout
    lines = []
    for line in process.stdout:
        lines.append(line)
        if found := re.search(pattern, line):
            return process, found[1]
    raise AssertionError(f"{command[0]} has ended: {''.join(lines)}")
