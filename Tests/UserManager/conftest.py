"""Fixtures for tests with a real service manager of a user."""

from collections.abc import Iterator

import pytest
from person import Person
from support.user_manager import require_root


def pytest_runtest_setup() -> None:
    require_root()


@pytest.fixture
def person() -> Iterator[Person]:
    """A person whose keymoded has no keyboard."""
    with Person() as person:
        yield person
