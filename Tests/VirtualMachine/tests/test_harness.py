"""Tests of what all other tests begin with."""

import subprocess

import pytest
from harness.build_image import Images
from harness.guest_process import GuestDied
from harness.vm import VirtualMachine


def test_guest_boots_without_failed_units_and_its_crash_is_reported_and_leaves_nothing_behind(
    images: Images,
) -> None:
    # All other tests start from the state at the end of such a boot.
    with VirtualMachine(images, boots=True) as machine:
        assert machine.system_state == "running"
        shared = machine.shared
        machine.start("echo c >/proc/sysrq-trigger")
        with pytest.raises(GuestDied, match="sysrq triggered crash"):
            machine.run("sleep 600")
    assert not shared.parent.exists()
    processes = subprocess.run(["ps", "axww"], check=True, capture_output=True, text=True).stdout
    assert str(shared) not in processes
