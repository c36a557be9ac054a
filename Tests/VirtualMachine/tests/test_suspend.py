"""Suspend and resume of the machine, with the daemon and keyboards.

The suspend is the kernel's own test of it (`pm_test`, level `core`): the kernel does everything for
a suspend to memory, the clocks included, but does not ask the firmware to switch off; QEMU's would
not resume a kernel that QEMU loaded itself. It lasts 5 s.
"""

import os

import pytest
from harness import service
from harness.build_image import Images
from harness.device_attacks import tell, unharmed
from harness.service import wait_until_following
from harness.vm import VirtualMachine
from support.attack_table import AttackTable
from support.waiting import wait_until

pytestmark = pytest.mark.attack

# The shared folder's driver does not support suspend, so the folder is unmounted before.
SCRIPT = """
cd /run/attack
until umount /host; do sleep 0.2; done
modprobe -r 9pnet_virtio
echo core >/sys/power/pm_test
python3 programs/attack.py suspend {count} >/run/outcome 2>&1
modprobe 9pnet_virtio
mount -t 9p -o trans=virtio,version=9p2000.L,msize=262144 host /host
mv /run/outcome /host/outcome.part && mv /host/outcome.part /host/outcome
"""
# Each suspend takes 8 s.
COUNT = int(os.environ.get("KEYMODED_SLEEPS", "1"))


def test_suspend_counts_as_time_and_keyboards_are_followed_afterwards(
    images: Images, told: AttackTable
) -> None:
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
    service.program(guest, "attack")
    (guest.shared / "sleep").write_text(SCRIPT.format(count=COUNT))
    guest.run("mkdir /run/attack; cp -r /host/programs /host/sleep /run/attack")
    # No command of the harness may run then, because its output goes to the shared folder.
    guest.run("systemd-run --quiet --on-active=1 bash /run/attack/sleep")
    outcome = guest.shared / "outcome"
    wait_until(outcome.exists, "the guest to wake up", seconds=900)
    return outcome.read_text()
