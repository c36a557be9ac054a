"""The machine sleeps and wakes up, with the daemon and keyboards on it.

The sleep is the kernel's own test of it (`pm_test`, level `core`): everything is done that is done
for suspend to memory, the clocks included, only that the firmware is not asked to switch off;
QEMU's would not come back to a kernel that it was started with. It lasts 5 s.
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

# The shared folder does not survive a sleep: its driver knows of none. So it is taken away before.
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
# Each takes 8 s.
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
            # It lost its power and came back, or is still the one from before.
            wait_until_following(guest, 2)
        guest.unplug("sleeper")
        wait_until_following(guest, 1)
        with unharmed(guest):
            pass


def sleep(guest: VirtualMachine) -> str:
    """Lets the guest sleep, and returns what the attack during it printed."""
    service.copy_programs(guest, *PARTS)
    (guest.shared / "sleep").write_text(SCRIPT.format(count=COUNT))
    guest.run("mkdir /run/attack; cp /host/*.py /host/sleep /run/attack")
    # None of the guest's commands may be running then: what they print goes to the shared folder.
    guest.run("systemd-run --quiet --on-active=1 bash /run/attack/sleep")
    return wait_for(guest.shared / "outcome")


def wait_for(path: Path) -> str:
    end = time.monotonic() + 900
    while not path.exists():
        assert time.monotonic() < end, "the guest does not wake up"
        time.sleep(0.1)
    return path.read_text()
