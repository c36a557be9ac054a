"""Fixtures: a kiosk, and the browsers that show its page."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import browser
import pytest
from kiosk import Kiosk

# Triggers are slower than a finger, and some tests press Shift at times of their own.
SETTINGS = """
keyboard:
  table:
    events: [startTalking, stopTalking]
    rows:
      prepareToEditText: { startTalking: prepareToRecord }
      prepareToRecord: { stopTalking: editingText }
  bindings:
    startTalking: [F8]
    stopTalking: [F8 release]
"""


@pytest.fixture
def kiosk(tmp_path: Path) -> Iterator[Kiosk]:
    """A kiosk without a page."""
    with Kiosk(tmp_path, SETTINGS) as kiosk:
        yield kiosk


class Browsers:
    """The browsers of the session. Each starts when a test needs it first; a test has only its tabs."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._running: dict[str, browser.Browser] = {}
        self._ends = ExitStack()

    def running(self, name: str) -> browser.Browser:
        """The browser of this name, with no tab of an earlier test and what it has said forgotten."""
        if name not in self._running:
            start: Callable[[Path], browser.Browser] = getattr(browser, name)
            folder = self._folder / name
            folder.mkdir()
            self._running[name] = self._ends.enter_context(start(folder))
        self._running[name].forget()
        return self._running[name]

    def close(self) -> None:
        self._ends.close()


@pytest.fixture(scope="session")
def browsers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browsers]:
    """The browsers that tests share, each as a new user has it."""
    browsers = Browsers(tmp_path_factory.mktemp("browsers"))
    yield browsers
    browsers.close()


@pytest.fixture
def chromium(browsers: Browsers) -> browser.Browser:
    """Chromium, with a microphone that beeps."""
    return browsers.running("chromium")


@pytest.fixture
def page(kiosk: Kiosk, chromium: browser.Browser) -> browser.Tab:
    """The page of a kiosk in Chromium, connected."""
    return kiosk.open(chromium)


@pytest.fixture(params=["chromium", "firefox"])
def any_page(kiosk: Kiosk, browsers: Browsers, request: pytest.FixtureRequest) -> browser.Tab:
    """The page of a kiosk in each browser, connected; Firefox's microphone hums."""
    return kiosk.open(browsers.running(request.param))
