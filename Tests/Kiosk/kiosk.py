"""A kiosk: a keyboard, a keymoded, and the bridge of examples/kiosk."""

import json
import re
import socket
import subprocess
from contextlib import ExitStack, suppress
from http.client import HTTPConnection
from pathlib import Path
from typing import Any, Self

from browser import Browser, Tab, is_state

from support.checkout import CHECKOUT
from support.fifo_keyboard import FifoKeyboard
from support.input_events import COMPOSE, ESC, INSERT, SCROLLLOCK
from support.local_daemon import LocalDaemon
from support.passed_sockets import start_with_sockets
from support.readiness import ReadinessSocket

EXAMPLE = CHECKOUT / "examples/kiosk"

# Notes when keys were pressed in the field, and returns the boot time of the first of them.
NOTE_KEYS = """
window.keys = [];
document.getElementById('field').addEventListener('keydown', ({ timeStamp }) => window.keys.push(timeStamp));
"""
FIRST_KEY = """
const { clock } = await import('/kiosk.js');
return Math.round((window.keys[0] - clock.pageTime(0)) * 1000);
"""


# The key that leads to each state, from each other.
KEYS = {
    "editingText": INSERT,
    "prepareToRecord": SCROLLLOCK,
    "showingPanel": COMPOSE,
    "prepareToEditText": ESC,
}


class Bridge:
    """The bridge as systemd runs it: its port stays open when it ends."""

    def __init__(self, folder: Path, sockets: Path, *options: str | Path) -> None:
        self._folder = folder
        self._options = options
        self._sockets = sockets
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=128)
        self.port: int = self._listener.getsockname()[1]
        self.origin = f"http://127.0.0.1:{self.port}"
        self.process: subprocess.Popen[bytes] | None = None
        try:
            self.start()
        except BaseException:
            self.close()
            raise

    def start(self, without: str | None = None) -> None:
        """Starts the bridge, and waits until it is ready; `without` an option, and what follows it."""
        end = self._options.index(without) if without else len(self._options)
        (self._folder / "notify").unlink(missing_ok=True)
        with ReadinessSocket(self._folder) as ready, open(self._folder / "bridge.log", "ab") as log:
            self.process = start_with_sockets(
                [EXAMPLE / "keymode-kiosk", *self._options[:end]],
                {"http": self._listener.fileno()},
                {
                    # Debian's Python, which has Debian's aiohttp.
                    "PATH": "/usr/bin:/bin",
                    # A test may put a module there.
                    "PYTHONPATH": str(self._folder),
                    "XDG_RUNTIME_DIR": str(self._folder),
                    "KEYMODED_SOCKET_DIR": str(self._sockets),
                    "STATE_DIRECTORY": str(self.state),
                    **ready.environment,
                },
                stdout=log,
                stderr=log,
            )
            ready.wait()

    def kill(self) -> None:
        """Ends the bridge by SIGKILL."""
        if self.process:
            self.process.kill()
            self.process.wait(60)

    def close(self) -> None:
        """Ends the bridge, and closes its port."""
        self.kill()
        self._listener.close()

    @property
    def state(self) -> Path:
        """The folder of the messages that wait."""
        return self._folder / "state"

    @property
    def entrance(self) -> Path:
        """The file that the kiosk's browser opens."""
        return self._folder / "keymode-kiosk.html"

    @property
    def token(self) -> str:
        """What the file contains."""
        found = re.search(r"#([\w-]+)", self.entrance.read_text())
        assert found
        return found[1]

    @property
    def log(self) -> list[str]:
        """The lines that the bridge has logged."""
        return (self._folder / "bridge.log").read_text().splitlines()

    def connection(self, seconds: float = 60) -> HTTPConnection:
        """A connection to the port, which waits for so long."""
        return HTTPConnection("127.0.0.1", self.port, timeout=seconds)

    def ask(
        self,
        method: str,
        path: str,
        body: bytes | None = None,
        headers: dict[str, str] | None = None,
        seconds: float = 60,
    ) -> tuple[int, bytes]:
        """Sends a request with these headers, and returns the status and the body."""
        connection = self.connection(seconds)
        given = {"Host": f"127.0.0.1:{self.port}", **(headers or {})}
        # The bridge need not read a body that is too long.
        with suppress(BrokenPipeError, ConnectionResetError):
            connection.request(method, path, body, given)
        response = connection.getresponse()
        answer = response.status, response.read()
        connection.close()
        return answer


class Kiosk:
    """All of it, in a folder."""

    def __init__(self, folder: Path, settings: str = "", *options: str | Path) -> None:
        """Starts it with this configuration of keymoded, and these options of the bridge."""
        for name in ("daemon", "bridge"):
            (folder / name).mkdir(mode=0o700)
        with ExitStack() as opened:
            self.keyboard = opened.enter_context(FifoKeyboard(folder))
            self.daemon = LocalDaemon(
                folder / "daemon",
                *("--device", self.keyboard.path),
                settings=settings,
                environment=self.keyboard.environment,
            )
            opened.callback(self.daemon.close)
            self.bridge = Bridge(folder / "bridge", folder / "daemon", *options)
            opened.callback(self.bridge.close)
            self.control_socket = self.daemon.control_socket
            self._opened = opened.pop_all()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._opened.close()

    def open(self, browser: Browser) -> Tab:
        """Opens the page as the kiosk does, and waits until it shows the states."""
        tab = browser.tab()
        tab.open(self.bridge.entrance.as_uri(), leads_to=self.bridge.origin)
        tab.wait_for("document.documentElement.dataset.connection === 'connected'")
        return tab

    def enter(self, page: Tab, state: str) -> None:
        """Presses the key that leads to a state, and waits until the page shows it."""
        self.keyboard.press(KEYS[state])
        page.wait_for(is_state("keyboard", state))

    def speak(self, page: Tab, end: str) -> None:
        """Records a voice message by a key, and ends it by a touch on the arrow or the bin."""
        self.keyboard.press(SCROLLLOCK)
        page.wait_for(is_state("voice", "recording"))
        page.touch(end)

    @property
    def keyboard_state(self) -> str:
        """The keyboard's state, as the bridge says."""
        return str(self.state()["states"]["keyboard"])

    def state(self, seconds: float = 60) -> dict[str, Any]:
        """What the bridge says of the states."""
        headers = {"Authorization": f"Bearer {self.bridge.token}"}
        status, body = self.bridge.ask("GET", "/state", headers=headers, seconds=seconds)
        assert status == 200, body
        state: dict[str, Any] = json.loads(body)["state"]
        return state
