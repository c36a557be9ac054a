"""Fixtures for tests with a real service manager of a user."""

import os
from collections.abc import Iterator

import pytest
from person import Person


def pytest_runtest_setup() -> None:
    """Skips the tests where they cannot run, like those in a virtual machine."""
    if os.geteuid() != 0:
        reason = "only root can make the namespaces of these tests"
        if os.environ.get("KEYMODED_REQUIRE_VM") == "1":
            pytest.fail(f"KEYMODED_REQUIRE_VM=1, but {reason}")
        pytest.skip(reason)


@pytest.fixture
def person() -> Iterator[Person]:
    """A person whose keymoded has no keyboard."""
    with Person() as person:
        yield person
