"""Push-to-talk on a machine that sleeps. test_capitals.py has Shift on one."""

from collections.abc import Callable

import pytest
from desk import Desk
from talk import ONCE, hold_again, latch, recorded, wait_for_recorded

STATES: dict[str, Callable[[Desk], None]] = {
    "talking": lambda desk: desk.play("down ctrl_r"),
    "open": latch,
}
# What the recorder had written when systemd was about to have the kernel suspend.
HOOK = "#!/bin/sh\ntest $1 = post || cp /tmp/recorded /tmp/before\n"


@pytest.mark.parametrize("state", STATES)
def test_nothing_is_recorded_while_and_after_it_sleeps(talker: Desk, state: str) -> None:
    (talker.shared / "hook").write_text(HOOK)
    talker.run("install -D /host/hook /usr/lib/systemd/system-sleep/test")
    STATES[state](talker)
    wait_for_recorded(talker, ["begin"])
    # The sleep waits for the end of the recorder. logind agrees once polkit runs, which the first request starts.
    talker.wait_until("systemd-inhibit --list --no-legend | grep 'keymodectl .* delay'")
    talker.sleep()
    assert talker.run("cat /tmp/before").stdout.split() == ONCE
    assert recorded(talker) == ONCE
    talker.play("up ctrl_r")
    if talker.desktop.locks_to_sleep:
        talker.unlock()
        assert recorded(talker) == ONCE
    hold_again(talker, "awake")
