"""Fixtures for tests on whole desktops in the guest, and what to show when they fail."""

import os
import re
import sys
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest
from support.checkout import CHECKOUT

# These are about Debian 13, whatever this machine has, unless another is asked for.
os.environ.setdefault("KEYMODED_VM_SUITE", "trixie")
# The harness of the guest, whose modules are imported from its folder.
sys.path.insert(0, str(CHECKOUT / "Tests/VirtualMachine"))

import talk
from desk import Desk
from desktops import DESKTOPS
from harness.build_image import missing_requirements

PICTURES = CHECKOUT / ".build/desktops"
"""Where the pictures of the last run are, a folder for each desktop."""

MACHINE = pytest.StashKey[Desk]()

Wrapper = Generator[None, pytest.TestReport, pytest.TestReport]


def pytest_runtest_setup() -> None:
    if problem := missing_requirements():
        if os.environ.get("KEYMODED_REQUIRE_VM") == "1":
            pytest.fail(f"KEYMODED_REQUIRE_VM=1, but {problem}")
        pytest.skip(problem)


@pytest.fixture(params=DESKTOPS)
def desk(request: pytest.FixtureRequest) -> Iterator[Desk]:
    """A desktop just after the login of a person without a group, with a terminal that has the focus."""
    folder = PICTURES / request.param
    folder.mkdir(parents=True, exist_ok=True)
    # The name of the test, without that of the desktop.
    name = re.sub(r"^test_|\[.*", "", request.node.name)
    with Desk(DESKTOPS[request.param], folder / name) as machine:
        # For the report, even if another fixture fails.
        request.node.stash[MACHINE] = machine
        yield machine


@pytest.fixture
def talker(desk: Desk) -> Desk:
    """The desktop, with push-to-talk in the terminal."""
    talk.start(desk)
    return desk


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Function, call: pytest.CallInfo[None]) -> Wrapper:
    report = yield
    machine = item.stash.get(MACHINE, None)
    if report.when != "teardown" and report.failed and machine:
        try:
            report.sections.append(("a picture of the failure", str(machine.look("failure"))))
            report.sections.append(("in the terminal", machine.screen()))
            report.sections.append(("end of the guest's journal", machine.journal_tail(80)))
        except Exception as error:
            report.sections.append(("the guest does not answer", str(error)))
    return report
