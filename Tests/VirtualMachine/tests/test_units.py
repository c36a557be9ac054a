"""The shipped units and rules, as the guest's systemd reads them."""

import re

import pytest
from harness.service import main_pid, systemd_version
from harness.vm import VirtualMachine

UNIT_FILES = "/usr/lib/systemd/system/keymoded"


def test_units_are_well_formed(installed: VirtualMachine) -> None:
    verified = installed.run(f"systemd-analyze verify --man=no {UNIT_FILES}*", check=False)
    # systemd 252 warns about settings that it does not know, and ignores them.
    complaints = [line for line in verified.stderr.splitlines() if "StorePreserve'" not in line]
    assert (verified.exit_code, complaints) == (0, [])


def test_udev_rules_are_well_formed(installed: VirtualMachine) -> None:
    if systemd_version(installed) < 254:
        pytest.skip("udevadm verify came with systemd 254")
    installed.run("udevadm verify /usr/lib/udev/rules.d/70-keymoded.rules")


def test_security_exposure_of_the_service_is_low(installed: VirtualMachine) -> None:
    # systemd's exposure, from 0 to 100.
    threshold = 9 if systemd_version(installed) >= 257 else 10
    judged = installed.run(
        f"systemd-analyze security --offline=true --threshold={threshold} --no-pager "
        f"{UNIT_FILES}.service",
        check=False,
    )
    overall = re.search("Overall exposure level for keymoded.service: .*", judged.stdout)
    assert overall
    print(overall[0])
    assert judged.exit_code == 0, judged.stdout


def test_process_has_no_privileges(guest: VirtualMachine) -> None:
    pid = main_pid(guest)
    status = dict(
        line.split(":\t", 1) for line in guest.run(f"cat /proc/{pid}/status").stdout.splitlines()
    )
    assert status["CapBnd"] == status["CapEff"] == "0" * 16
    assert (status["NoNewPrivs"], status["Seccomp"]) == ("1", "2")
    dynamic = status["Uid"].split()[0]
    assert int(dynamic) >= 61184, "the first of the dynamic UIDs"
    input_group = guest.run("getent group input | cut -d: -f3").stdout.strip()
    assert set(status["Groups"].split()) <= {dynamic, input_group}
    # Without core dumps, none can have typed keys.
    limits = guest.run(f"cat /proc/{pid}/limits").stdout
    assert re.search("^Max core file size +0 +0 ", limits, re.MULTILINE)
