"""What every attack of a client needs: its target, and a check of replies."""

import math
import socket
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from support.connection import Connection, Message

# How many changes the daemon keeps.
RING = 1024


@dataclass(frozen=True)
class Target:
    """The folder of the daemon's sockets, and when the attack ends."""

    folder: Path
    deadline: float

    @property
    def state(self) -> Path:
        """The path of state.sock."""
        return self.folder / "state.sock"

    @property
    def control(self) -> Path:
        """The path of control.sock."""
        return self.folder / "control.sock"

    def rounds(self, seconds: float = math.inf) -> Iterator[None]:
        """Yields until the deadline, or for so many seconds; at least once, even after them."""
        end = min(self.deadline, time.monotonic() + seconds)
        yield
        while time.monotonic() < end:
            yield

    def wait(self) -> None:
        """Waits until the deadline."""
        time.sleep(max(0.0, self.deadline - time.monotonic()))


def silent_socket(path: Path) -> socket.socket:
    """A nonblocking connection, for attacks that read little or nothing."""
    client = Connection(path).socket
    client.setblocking(False)
    return client


def fault(reply: Message, after: int) -> str:
    """What is wrong with a reply of Monitor to a client that has the changes up to `after`, or "".

    The reply has all changes since. If the daemon no longer keeps all of them, the reply has none
    and says how many are missing. If the daemon drops some of them while the client reads, the
    reply ends with how many are missing: the client was too slow, so that is not a fault.
    """
    sequence = reply["state"]["sequence"]
    numbers = [change["sequence"] for change in reply["changes"]]
    missed = reply["missed"]
    right = numbers == [*range(after + 1, after + 1 + len(numbers))]
    right = right and missed == sequence - after - len(numbers)
    right = right and (missed == 0 or (numbers == []) == (sequence - after > RING))
    return "" if right else f"{numbers} and {missed} missed, from {after} to {sequence}"
