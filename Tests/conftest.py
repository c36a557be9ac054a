"""Prints a table of the attacks and their outcomes at the end of the run.

Beside this file is what all Python tests import: pytest adds its folder to their path.
"""

import pytest
from support.attack_table import AttackTable

HEADER = ("attack", "count", "outcome", "worst delay to an innocent client")

# The property of a report that is a row of the table. With pytest-xdist, other processes run the
# tests; their reports reach the one that prints the table.
_ROW = "attack"


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "attack: what `make adversary` runs, for longer")


@pytest.fixture
def told(request: pytest.FixtureRequest) -> AttackTable:
    """Adds the outcome of one attack to the table."""
    properties = request.node.user_properties

    def add(attack: str, count: int, outcome: str, delay: str = "-") -> None:
        properties.append((_ROW, [attack, str(count), outcome, delay]))

    return add


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    rows = [
        value
        for reports in terminalreporter.stats.values()
        for report in reports
        # The report of the teardown has all properties of the test.
        if isinstance(report, pytest.TestReport) and report.when == "teardown"
        for name, value in report.user_properties
        if name == _ROW
    ]
    if not rows:
        return
    widths = [max(len(row[column]) for row in [HEADER, *rows]) for column in range(len(HEADER))]
    terminalreporter.section("attacks")
    for row in [HEADER, *rows]:
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=True)]
        terminalreporter.line("  ".join(cells).rstrip())
