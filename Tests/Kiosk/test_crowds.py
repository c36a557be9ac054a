"""Crowds of connections without the token do not shut the page out, nor fill the bridge's memory."""

import os
import resource
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from typing import TypeVar

import pytest
from events import EventStream
from kiosk import Kiosk

from support.attack_table import AttackTable
from support.checkout import CHECKOUT
from support.crowd import SHAPES
from support.input_events import COMPOSE
from support.process import Process

pytestmark = pytest.mark.attack

NOBODY = 65534

Answer = TypeVar("Answer")

# What a user's service manager allows each of its services by default.
DESCRIPTORS = 1024
# More than that.
COUNT = 1100

# Three quarters of the unit's MemoryMax.
MOST_KIB = 96 << 10

# On a busy machine the kernel may drop each attempt of a connection; it makes the sixth after 31 s.
PATIENCE_SECONDS = 60

# How long the crowd is there; the kernel makes some of its connections only after seconds.
CROWD_SECONDS = 5


class Crowd:
    """A process that attacks a bridge."""

    def __init__(self, port: int, shape: str, user: int | None) -> None:
        # Another user may not be allowed to read the checkout.
        program = (CHECKOUT / "Tests/support/crowd.py").read_text()
        self._process = subprocess.Popen(
            ["/usr/bin/python3", "-c", program, str(port), str(COUNT), shape],
            stdout=subprocess.PIPE,
            text=True,
            cwd="/",
            user=user,
            group=user,
            extra_groups=None if user is None else [],
        )
        assert self._process.stdout
        assert self._process.stdout.readline() == "there\n"

    def end(self) -> int:
        """Ends the attack, and returns how many connections there were."""
        self._process.terminate()
        opened, _ = self._process.communicate(timeout=60)
        assert self._process.returncode == 0
        return int(opened)

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()


def insist(request: Callable[[], Answer]) -> Answer:
    """Makes a request until it is answered, as a person loads a page again.

    On a busy machine, newer connections may have pushed this one out before its request arrives.
    """
    end = time.monotonic() + PATIENCE_SECONDS
    while True:
        try:
            return request()
        except ConnectionError:
            if time.monotonic() > end:
                raise


@pytest.fixture
def limited(kiosk: Kiosk) -> Iterator[Kiosk]:
    """A kiosk whose bridge has no more descriptors than as a service."""
    assert kiosk.bridge.process
    resource.prlimit(
        kiosk.bridge.process.pid, resource.RLIMIT_NOFILE, (DESCRIPTORS, DESCRIPTORS)
    )
    yield kiosk


# The same user stands for another one of whom the kernel does not tell.
@pytest.mark.parametrize(
    ("user", "shape"),
    [*((None, shape) for shape in SHAPES), (NOBODY, "idle"), (NOBODY, "headers without end")],
)
def test_a_crowd_without_the_token_does_not_shut_the_page_out(
    limited: Kiosk, told: AttackTable, user: int | None, shape: str
) -> None:
    if user is not None and os.getuid() != 0:
        pytest.skip("only root can start programs of another user")
    bridge = limited.bridge
    assert bridge.process
    process = Process(bridge.process.pid)
    with EventStream(bridge) as stream:
        stream.next()
        crowd = Crowd(bridge.port, shape, user)
        try:
            worst = 0.0
            end = time.monotonic() + CROWD_SECONDS
            while (begin := time.monotonic()) < end:
                status, _ = insist(lambda: bridge.ask("GET", "/kiosk.js", seconds=PATIENCE_SECONDS))
                assert status == 200
                assert insist(lambda: limited.state(seconds=PATIENCE_SECONDS))["sequence"] == 0
                worst = max(worst, time.monotonic() - begin)
            # A page that came before the crowd is still there, and a later one comes in.
            limited.keyboard.press(COMPOSE)
            with insist(lambda: EventStream(bridge)) as late:
                for event in (stream.next(), late.next()):
                    assert event.data["state"]["states"]["keyboard"] == "showingPanel"
            opened = crowd.end()
        finally:
            crowd.kill()
    peak = int(process.status("VmHWM").split()[0])
    whose = "the same user" if user is None else "another user"
    told(f"{shape}, of {whose}", opened, f"{peak} KiB at most", delay=f"{worst * 1000:.0f} ms")
    assert peak <= MOST_KIB


@pytest.mark.parametrize("beginning", [b"", b"GET /index.html HTTP/1.1\r\nHost: "])
def test_a_request_that_is_not_completed_is_ended(kiosk: Kiosk, beginning: bytes) -> None:
    with socket.create_connection(("127.0.0.1", kiosk.bridge.port), 60) as client:
        client.sendall(beginning)
        begin = time.monotonic()
        assert client.recv(1) == b""
        assert 9 < time.monotonic() - begin
