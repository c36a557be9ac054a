"""The table of attacks and their outcomes, which the end of a test run shows."""

from typing import Protocol


class AttackTable(Protocol):
    """Adds the outcome of one attack to the table: the type of the fixture `told`."""

    def __call__(self, attack: str, count: int, outcome: str, delay: str = "-") -> None: ...
