"""Suspend and resume of the machine, with the daemon and keyboards.

The suspend is the kernel's own test of it (`pm_test`, level `core`): the kernel does everything for
a suspend to memory, the clocks included, but does not ask the firmware to switch off; QEMU's would
not resume a kernel that QEMU loaded itself. It lasts 5 s.
"""

import os
import time
from pathlib import Path

import pytest
import service
from build_image import Images
from device_attacks import PARTS, Table, tell, unharmed
from service import wait_until_following
from vm import VirtualMachine

pytestmark = pytest.mark.attack

# The shared folder's driver does not support suspend, so the folder is unmounted before.
SCRIPT = """
cd /run/attack
until umount /host; do sleep 0.2; done
modprobe -r 9pnet_virtio
echo core >/sys/power/pm_test
python3 attack.py suspend {count} >/run/outcome 2>&1
modprobe 9pnet_virtio
mount -t 9p -o trans=virtio,version=9p2000.L,msize=262144 host /host
mv /run/outcome /host/outcome.part && mv /host/outcome.part /host/outcome
"""
# Each suspend takes 8 s.
COUNT = int(os.environ.get("KEYMODED_SLEEPS", "1"))


def test_time_asleep_counts_and_keyboards_are_there_afterwards(images: Images, told: Table) -> None:
    with VirtualMachine(images) as guest:
        service.install(guest)
        guest.run("mkdir /etc/keymoded; echo 'shift: {threshold: 3s}' >/etc/keymoded/keymoded.yaml")
        service.restart(guest)
        guest.plug_usb_keyboard("sleeper")
        wait_until_following(guest, 2)
        with unharmed(guest):
            tell(told, sleep(guest))
            # The USB keyboard has been found again, or was never lost.
            wait_until_following(guest, 2)
        guest.unplug("sleeper")
        wait_until_following(guest, 1)
        with unharmed(guest):
            pass


def sleep(guest: VirtualMachine) -> str:
    """Runs the attack that suspends the guest, and returns what it printed."""
    service.copy_programs(guest, *PARTS)
    (guest.shared / "sleep").write_text(SCRIPT.format(count=COUNT))
    guest.run("mkdir /run/attack; cp /host/*.py /host/sleep /run/attack")
    # No command of the harness may run then, because its output goes to the shared folder.
    guest.run("systemd-run --quiet --on-active=1 bash /run/attack/sleep")
    return wait_for(guest.shared / "outcome")


def wait_for(path: Path) -> str:
    end = time.monotonic() + 900
    while not path.exists():
        assert time.monotonic() < end, "the guest does not wake up"
        time.sleep(0.1)
    return path.read_text()
