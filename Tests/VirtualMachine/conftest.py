"""Fixtures for tests that need the guest, and what to show when they fail or cannot run."""

import contextlib
import os
from collections.abc import Generator, Iterator

import pytest
from harness import service
from harness.build_image import Images, ensure_images, missing_requirements
from harness.vm import USB_MOUSE_NAME, VirtualMachine

# Failed assertions in this module then show the values, as those in tests do.
pytest.register_assert_rewrite("harness.recordings")

Wrapper = Generator[None, pytest.TestReport, pytest.TestReport]


@pytest.fixture(scope="session")
def images() -> Images:
    """The images that a guest boots from, for tests with a guest of their own."""
    return available_images()


@pytest.fixture(scope="module")
def desktop() -> Iterator[VirtualMachine]:
    """A running guest with desktops and the programs under test, for the tests of one file.

    What they start there runs on after each test.
    """
    with VirtualMachine(available_images("desktop")) as machine:
        service.install(machine)
        yield machine


def available_images(addition: str = "") -> Images:
    """The images with this addition; skips the test where they cannot be had."""
    if problem := missing_requirements():
        if os.environ.get("KEYMODED_REQUIRE_VM") == "1":
            pytest.fail(f"KEYMODED_REQUIRE_VM=1, but {problem}")
        pytest.skip(problem)
    images = ensure_images(addition)
    # QEMU's keyboard drops events that a slow guest does not read, and keys are typed at fixed
    # times. So QEMU and this process get a higher priority than others.
    with contextlib.suppress(PermissionError):
        os.nice(-10)
    return images


@pytest.fixture(scope="session")
def vm(images: Images) -> Iterator[VirtualMachine]:
    """One running guest, shared by all tests of the session."""
    with VirtualMachine(images) as machine:
        yield machine


@pytest.fixture(scope="session")
def installed(vm: VirtualMachine) -> VirtualMachine:
    """The guest, with the programs under test."""
    service.install(vm)
    return vm


@pytest.fixture
def guest(installed: VirtualMachine) -> Iterator[VirtualMachine]:
    """The guest, with a service just started without a configuration; removes both at the end."""
    with service.cleared_away(installed):
        service.restart(installed)
        yield installed


@pytest.fixture
def gate(guest: VirtualMachine) -> Iterator[None]:
    """Lets a test hold the next daemon's start back, with the file /run/gate."""
    (guest.shared / "gate").write_text("while test -e /run/gate; do sleep 0.05; done\n")
    with service.settings(guest, "ExecStartPre=+/bin/sh /host/gate"):
        yield
        guest.run("rm -f /run/gate")


@pytest.fixture
def mouse(installed: VirtualMachine) -> Iterator[str]:
    """The path of a USB mouse, which gets the buttons and the motion.

    The service must run; it follows the mouse, unless its configuration says otherwise.
    """
    path = installed.plug_usb_mouse("mouse")
    try:
        service.wait_until_followed(installed, USB_MOUSE_NAME)
        installed.wait_for_usb_mouse()
        yield path
    finally:
        installed.unplug("mouse")
        installed.wait_until(f"! test -e {path}")


@pytest.fixture(autouse=True)
def _end_leftovers(request: pytest.FixtureRequest) -> Iterator[None]:
    """Ends the processes that a test left in the guest, even if the test failed."""
    yield
    machine = request.node.funcargs.get("vm")
    if isinstance(machine, VirtualMachine):
        machine.end_leftovers()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Function, call: pytest.CallInfo[None]) -> Wrapper:
    report = yield
    machine = item.funcargs.get("vm", item.funcargs.get("desktop"))
    if report.when == "call" and report.failed and isinstance(machine, VirtualMachine):
        try:
            report.sections.append(("end of the guest's journal", machine.journal_tail()))
        except Exception as error:
            report.sections.append(("no journal, the guest does not answer", str(error)))
    return report


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    # With pytest-xdist this process is not the one that skipped them.
    if terminalreporter.stats.get("skipped") and (problem := missing_requirements()):
        terminalreporter.section("VIRTUAL MACHINE TESTS DID NOT RUN", sep="!", red=True, bold=True)
        terminalreporter.line(problem, red=True)
        terminalreporter.line("KEYMODED_REQUIRE_VM=1 makes this a failure.", red=True)
