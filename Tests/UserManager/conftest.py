"""Fixtures for tests with a real service manager of a user."""

from collections.abc import Iterator

import pytest
from person import Person


@pytest.fixture
def person() -> Iterator[Person]:
    """A person whose keymoded has no keyboard."""
    with Person() as person:
        yield person
