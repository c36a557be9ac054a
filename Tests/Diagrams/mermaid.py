"""Mermaid, in a Chromium without a screen."""

import contextlib
import importlib.metadata
import json
import os
import signal
import subprocess
import tempfile
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from drawing import Drawing
from support.waiting import BOUND_SECONDS, NotInTimeError, wait_until

_PAGE = Path(__file__).parent / "mermaid.html"


def draw(diagrams: dict[str, str]) -> dict[str, Drawing]:
    """Draws diagrams, each under its name."""
    server = _Server(diagrams)
    try:
        with tempfile.TemporaryDirectory() as folder:
            _run_browser(server, Path(folder))
    finally:
        server.close()
    assert server.results is not None and "failure" not in server.results, server.results
    return {
        name: Drawing(**result)
        for name, result in server.results.items()
    }


def _run_browser(server: "_Server", folder: Path) -> None:
    """Runs Chromium until the page has sent its results, or Chromium has ended."""
    options = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-breakpad"]
    options += [f"--user-data-dir={folder}/data", "--remote-debugging-port=0"]
    with open(folder / "log", "w") as log:
        # Debian's program is a shell script that starts another, so they get a group.
        browser = subprocess.Popen(
            ["chromium-headless-shell", *options, f"http://127.0.0.1:{server.port}/"],
            stdout=subprocess.PIPE,
            stderr=log,
            env={"HOME": str(folder), "PATH": "/usr/bin:/bin"},
            start_new_session=True,
        )
    try:
        wait_until(
            lambda: server.results is not None or browser.poll() is not None, "Mermaid's results"
        )
    finally:
        _end(browser)
    assert server.results is not None, (folder / "log").read_text()


def _end(browser: subprocess.Popen[bytes]) -> None:
    """Ends all processes of Chromium.

    All of them have its standard output, which therefore ends with the last of them.
    """
    for number in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(browser.pid, number)
        with contextlib.suppress(subprocess.TimeoutExpired):
            browser.communicate(timeout=BOUND_SECONDS)
            return
    raise NotInTimeError("Chromium did not end")


class _Server:
    """Serves the page, Mermaid and the diagrams on this machine, and receives the results.

    A server, because Chromium does not import modules from files.
    """

    def __init__(self, diagrams: dict[str, str]) -> None:
        self.results: dict[str, Any] | None = None
        package = importlib.metadata.distribution("nicegui")
        scripts = Path(str(package.locate_file("nicegui/elements/mermaid/dist")))
        self._files = {f"/mermaid/{path.name}": path for path in scripts.glob("*.js")}
        self._files["/"] = _PAGE
        self._diagrams = json.dumps(diagrams).encode()
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                file = server._files.get(self.path)
                if self.path == "/diagrams":
                    self.answer(200, "application/json", server._diagrams)
                elif file:
                    kind = "text/html" if file == _PAGE else "text/javascript"
                    self.answer(200, kind, file.read_bytes())
                else:
                    self.answer(404, "text/plain", b"")

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                self.answer(200, "text/plain", b"")
                server.results = json.loads(body)

            def answer(self, status: int, kind: str, body: bytes) -> None:
                self.send_response(status)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *args: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.port = self._server.server_port
        self._thread = threading.Thread(target=self._server.serve_forever)
        self._thread.start()

    def close(self) -> None:
        """Stops serving."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
