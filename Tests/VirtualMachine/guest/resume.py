"""Makes changes, loses its connection in an upgrade, and gets the last changes again.

Runs in the guest: `resume.py COUNT KEPT`.
"""

import sys

from daemon import CONTROL, STATE
from support.connection import Connection, Message


def changes_after(sequence: int, instance: str) -> list[Message]:
    """The changes after `sequence`, as the daemon sends them now."""
    with Connection(STATE) as client:
        reply = client.call("Monitor", more=True, after=sequence, instance=instance)
    assert reply["missed"] == 0, f"{reply['missed']} changes are lost"
    changes: list[Message] = reply["changes"]
    return changes


def wait_for_end(client: Connection) -> None:
    """Waits until the daemon ends the connection, as it does in an upgrade."""
    while True:
        try:
            raise AssertionError(f"an unexpected change: {client.reply()}")
        except TimeoutError:
            pass  # an upgrade takes its time
        except ConnectionError:
            return


def main(count: int, kept: int) -> None:
    control = Connection(CONTROL)
    for _ in range(count):
        reply = control.call("Trigger", event="shiftPressed")
    state = reply["state"]
    after = state["sequence"] - kept
    before = changes_after(after, state["instance"])
    assert len(before) == kept
    subscriber = Connection(STATE)
    subscriber.call("Monitor", more=True)
    print("changed", flush=True)
    wait_for_end(subscriber)
    assert changes_after(after, state["instance"]) == before
    print(f"the last {kept} changes are the same")


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
