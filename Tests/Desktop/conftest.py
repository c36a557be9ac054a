"""Fixtures for tests of what users see of keymoded on a desktop."""

import os
from collections.abc import Iterator

import pytest
from seat import Seat


@pytest.fixture
def seat() -> Iterator[Seat]:
    """A person's home, with a keymoded running."""
    seat = Seat()
    try:
        seat.start_keymoded()
        yield seat
    finally:
        seat.close()


@pytest.fixture
def pictures_are_remade() -> bool:
    """Whether to take the pictures of the documentation again."""
    return os.environ.get("REMAKE_PICTURES") == "1"
