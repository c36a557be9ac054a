"""Fixtures: a kiosk, and the browsers that show its page."""

from collections.abc import Iterator
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


@pytest.fixture
def page(kiosk: Kiosk, tmp_path: Path) -> Iterator[browser.Tab]:
    """The page of a kiosk in Chromium, connected."""
    with browser.chromium(tmp_path) as chromium:
        yield kiosk.open(chromium)


@pytest.fixture(params=["chromium", "firefox"])
def any_page(kiosk: Kiosk, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[browser.Tab]:
    """The page of a kiosk in each browser, connected."""
    start: browser.Start = getattr(browser, request.param)
    with start(tmp_path) as started:
        yield kiosk.open(started)
