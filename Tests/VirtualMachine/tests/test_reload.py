"""`systemctl reload` that fails, and udev's rules."""

import pytest
from harness import service
from harness.service import CONFIGURATION, configure
from harness.typing import Person, followed
from harness.vm import VirtualMachine
from harness.watch import Watch


def test_bad_configuration_fails_the_reload_and_changes_nothing(guest: VirtualMachine) -> None:
    watch = Watch(guest)
    guest.play("tap shift")
    assert watch.states(1) == ["on"]
    configure(guest, "shift: { treshold: 1s }\n")
    reloaded = guest.run("systemctl reload keymoded", check=False)
    assert reloaded.exit_code != 0
    log = "\n".join(service.journal(guest, "--unit keymoded"))
    assert f"{CONFIGURATION}:1:10: unknown setting 'treshold'; did you mean 'threshold'?" in log
    guest.play("tap a")
    assert watch.states(1) == ["off"], "the daemon keeps its configuration"


@pytest.mark.parametrize("rule", ['KEYMODED_IGNORE}="1"', 'ID_SEAT}="seat1"'])
def test_device_that_a_udev_rule_excludes_is_not_followed(guest: VirtualMachine, rule: str) -> None:
    guest.run(
        f"""
        mkdir -p /run/udev/rules.d
        echo 'ATTRS{{name}}=="Private keyboard", ENV{{{rule}' \
          >/run/udev/rules.d/99-private.rules
        udevadm control --reload
        """
    )
    # Once the later keyboard is followed, the daemon has decided about the first.
    with (
        Person(guest, "Private keyboard") as private,
        followed(guest, "Other keyboard") as other,
    ):
        watch = Watch(guest)
        private.play("tap scroll_lock")
        other.play("tap insert")
        assert watch.states(1) == ["editingText"]
    guest.run("rm /run/udev/rules.d/99-private.rules; udevadm control --reload")
