"""Shows at the end what was attacked, how, and what came of it."""

from collections.abc import Callable

import pytest

Row = tuple[str, str, str, str, str]

HEADER: Row = ("attack", "count", "outcome", "lost", "worst delay")

_ROWS = pytest.StashKey[list[Row]]()


@pytest.fixture
def told(request: pytest.FixtureRequest) -> Callable[[Row], None]:
    """Adds a row to the table: attack, count, outcome, lost, worst delay to an innocent client."""
    return request.config.stash.setdefault(_ROWS, []).append


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    rows = config.stash.get(_ROWS, [])
    if not rows:
        return
    widths = [max(len(row[column]) for row in [HEADER, *rows]) for column in range(len(HEADER))]
    terminalreporter.section("attacks")
    for row in [HEADER, *rows]:
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=True)]
        terminalreporter.line("  ".join(cells).rstrip())
