"""The daemon unmaps its code after its start and each reload, with pages of each size."""

from harness import service
from harness.architecture import ARCHITECTURE
from harness.vm import VirtualMachine
from harness.watch import Watch

# The size of a page, in bytes, by the kernel.
SIZES = {"amd64": 4096, "arm64": 4096, "arm64-16k": 16384}

RELOADS = 5


def test_keys_act_after_each_time_that_the_code_was_unmapped(guest: VirtualMachine) -> None:
    assert int(guest.run("getconf PAGESIZE").stdout) == SIZES[ARCHITECTURE.kernel]
    pid, watch = service.main_pid(guest), Watch(guest)
    for number in range(RELOADS):
        service.reload(guest, f"shift: {{ threshold: {number + 1}s }}\n")
        guest.play("tap insert; wait 30; tap compose; wait 30; tap esc")
        assert watch.states(3) == ["editingText", "showingPanel", "prepareToEditText"]
    # A daemon that had unmapped what it writes would have ended, or would have lost its states.
    assert service.main_pid(guest) == pid
    assert service.state(guest)["sequence"] == 2 + 3 * RELOADS, "the locks are off"
