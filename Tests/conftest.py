"""Prints a table of the attacks and their outcomes at the end of the run.

Beside this file is what all Python tests import: pytest adds its folder to their path.
"""

import pytest
from support.attack_table import AttackTable

HEADER = ("attack", "count", "outcome", "lost", "worst delay to an innocent client")

_ROWS = pytest.StashKey[list[tuple[str, ...]]]()


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "attack: what `make adversary` runs, for longer")


@pytest.fixture
def told(request: pytest.FixtureRequest) -> AttackTable:
    """Adds the outcome of one attack to the table."""
    rows = request.config.stash.setdefault(_ROWS, [])

    def add(attack: str, count: int, outcome: str, lost: int = 0, delay: str = "-") -> None:
        rows.append((attack, str(count), outcome, str(lost), delay))

    return add


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
