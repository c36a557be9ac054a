"""Waiting for what no event reports, with a bound."""

import time
from collections.abc import Callable

# The limit of every wait, long enough for a very busy machine; no test measures anything with it.
BOUND_SECONDS = 120.0


class NotInTimeError(AssertionError):
    """An awaited condition did not become true in time."""


def wait_until(condition: Callable[[], object], what: str, seconds: float = BOUND_SECONDS) -> None:
    """Polls until the condition holds; raises NotInTimeError after this many seconds."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise NotInTimeError(f"waited {seconds} s for {what}")
        time.sleep(0.01)
