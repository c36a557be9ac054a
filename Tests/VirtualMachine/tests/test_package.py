"""The Debian package, from its installation to its removal, in a guest without other installations.

These tests build on each other: the first finds the package just installed, the last removes it.
"""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from harness import service
from harness.build_image import Images
from harness.service import CONFIGURATION, main_pid, wait_until_following
from harness.talking import expect_one_stop, settled, talk
from harness.vm import KEYBOARD_NAME, VirtualMachine
from harness.watch import Watch, press_twice
from support.checkout import CHECKOUT
from support.push_to_talk import PUSH_TO_TALK

# Without a terminal, dpkg fails if it asks a question about the configuration. The guest's dpkg
# leaves out manual pages and documents; this package is installed with them.
UPGRADE = "dpkg --path-include='*' --install "
UPGRADE += "/host/release/keymoded_*_$(dpkg --print-architecture).deb </dev/null"
# As docs/service.md says, but that apt looks for nothing elsewhere: the guest has no network.
INSTALL = """
set -e
cd /host/release
sha256sum --quiet --check SHA256SUMS
apt-get install --quiet --yes --no-install-recommends -o Dpkg::Options::='--path-include=*' \
  ./keymoded_*_$(dpkg --print-architecture).deb </dev/null
apt-get clean
"""

# Half a minute is usual.
INSTALL_SECONDS = 900


@pytest.fixture(scope="module")
def vm(images: Images) -> Iterator[VirtualMachine]:
    """A guest of its own, because the other tests' guest has the files of `make install`."""
    with VirtualMachine(images) as machine:
        yield machine


@pytest.fixture(scope="module")
def files_before(vm: VirtualMachine) -> set[str]:
    """The files of the guest before the installation."""
    return service.files(vm)


@pytest.fixture(scope="module")
def installed(vm: VirtualMachine, files_before: set[str]) -> VirtualMachine:
    """The guest, with keymoded as apt installs it from the folder of `make release`.

    Its keyboard was plugged in before.
    """
    shutil.copytree(CHECKOUT / ".release", vm.shared / "release")
    vm.run(INSTALL, timeout=INSTALL_SECONDS)
    service.add_people(vm)
    return vm


def test_build_dependencies_are_the_packages_that_make_build_installs() -> None:
    control = (CHECKOUT / "debian/control").read_text()
    declared = re.findall(r"^ ([a-z-]+)(?: \(.*\))?,$", control, re.MULTILINE)
    needed = (CHECKOUT / "scripts/packages/build").read_text()
    provided = {"debhelper-compat", "dh-sequence-installsysusers", "swiftlang"}
    assert provided < set(declared)
    assert set(declared) - provided == set(re.findall("^[a-z-]+", needed, re.MULTILINE))


def test_installation_follows_the_keyboard_that_is_plugged_in(installed: VirtualMachine) -> None:
    wait_until_following(installed, 1)
    enabled = installed.run(f"systemctl is-enabled {service.UNITS}").stdout
    assert enabled.split() == ["enabled"] * 3
    seat = installed.run("systemctl is-enabled keymoded-seat; systemctl is-active keymoded-seat")
    assert seat.stdout.split() == ["enabled", "active"]
    # Each user enables the user units.
    user_unit = installed.run("systemctl --global is-enabled keymode-targets.service", check=False)
    assert user_unit.stdout == "disabled\n"
    form = "'${source:Upstream-Version}'"
    version = installed.run(f"dpkg-query --show --showformat {form} keymoded").stdout
    assert installed.run("keymoded --version").stdout == f"keymoded {version}\n"


def test_keys_act_and_the_journal_names_none_of_them(guest: VirtualMachine) -> None:
    watch = Watch(guest)
    cursor = guest.run("journalctl --lines 0 --show-cursor").stdout.split("cursor: ")[1].strip()
    _, second = press_twice(guest, watch, 300)
    assert second["to"] == "capsLock"
    guest.play("tap q; tap compose")
    assert watch.states(1) == ["showingPanel"]
    guest.plug_usb_keyboard("second")
    wait_until_following(guest, 2)
    guest.play("tap insert; wait 50; tap f5; tap x; wait 50; tap shift")
    assert watch.states(2) == ["editingText", "off"]
    guest.unplug("second")
    wait_until_following(guest, 1)

    assert sorted(service.log(guest)) == sorted(
        [
            "'QEMU QEMU USB Keyboard' is gone",
            f"following '{KEYBOARD_NAME}'",
            "following 'QEMU QEMU USB Keyboard'",
            # The machine itself may have a mouse, and a button that turns it off.
            *(
                f"following '{device['name']}'"
                for device in service.devices(guest)
                if not device["keyboard"]
            ),
        ]
    )
    # No other program logs keys either, by name or code. Kernel messages have other numbers.
    others = "_TRANSPORT=journal + _TRANSPORT=stdout + _TRANSPORT=syslog"
    journal = "\n".join(service.journal(guest, f"--after-cursor '{cursor}' {others}"))
    assert "following 'QEMU" in journal
    typed = {"SHIFT": 42, "Q": 16, "COMPOSE": 127, "INSERT": 110, "F5": 63, "X": 45}
    for name, code in typed.items():
        assert not re.search(rf"\b(KEY_)?(LEFT)?{name}\b|\b{code}\b", journal, re.IGNORECASE)


def test_upgrade_refuses_no_client_and_loses_nothing(guest: VirtualMachine) -> None:
    """The package is upgraded to itself, whose service runs while a person talks.

    Tests/UserManager has the changes that a client gets which was connected.
    """
    service.reload(guest, PUSH_TO_TALK)
    talking, pid = talk(guest), main_pid(guest)
    connects = "socat -u OPEN:/dev/null UNIX-CONNECT:/run/keymoded/state.sock"
    asking = guest.start(f"while {connects}; do sleep 0.05; done")

    guest.run(UPGRADE, timeout=INSTALL_SECONDS)
    assert asking.exit_code is None, asking.stderr
    asking.kill()
    assert main_pid(guest) not in (0, pid)
    assert "NRestarts=0" in guest.run("systemctl show --property NRestarts keymoded").stdout
    assert {**settled(guest), "time": 0} == {**talking, "time": 0}
    assert "the stored states are invalid" not in "\n".join(service.log(guest))

    assert guest.run(f"cat {CONFIGURATION}").stdout == PUSH_TO_TALK
    assert guest.run("ls /etc/keymoded").stdout == "keymoded.yaml\nkeymoded.yaml.d\n"
    wait_until_following(guest, 1)
    guest.play("up f9")
    expect_one_stop(guest, talking)


def test_upgrade_leaves_a_stopped_service_stopped(guest: VirtualMachine) -> None:
    guest.run(f"systemctl stop {service.UNITS}; systemctl disable --quiet keymoded.service")
    # The command that dpkg runs at the end of an upgrade.
    configure = "/var/lib/dpkg/info/keymoded.postinst configure 1.0.0-1"
    guest.run(f"DPKG_MAINTSCRIPT_PACKAGE=keymoded {configure}", timeout=INSTALL_SECONDS)
    guest.run("udevadm settle")
    service_is = "systemctl is-active keymoded.service; systemctl is-enabled keymoded.service"
    assert guest.run(service_is, check=False).stdout.split() == ["inactive", "disabled"]
    guest.run("systemctl enable --quiet keymoded.service")


def test_kiosk_can_be_copied(installed: VirtualMachine) -> None:
    folder = "/usr/share/doc/keymoded/examples/kiosk"
    installed.run(f"test -x {folder}/keymode-kiosk")
    assert installed.run(f"find {folder} -name '*.gz'").stdout == ""


def test_links_of_the_pages_lead_to_files(installed: VirtualMachine) -> None:
    folder = "cd /usr/share/doc/keymoded"
    pages = installed.run(f"{folder} && find . -name '*.md'").stdout.split()
    files = [
        Path(page).parent / link
        for page in pages
        for link in re.findall(
            r'(?:\]\(|src=")([^)":#]+)[^)":]*[)"]', installed.run(f"{folder} && cat {page}").stdout
        )
    ]
    assert len(pages) > 15 and {file.suffix for file in files} >= {".md", ".png", ".svg", ".swift"}
    there = "\n".join(f"test -e {file} || echo {file}" for file in files)
    assert installed.run(f"{folder}\n{there}").stdout == ""


def test_configuration_outlives_removal_and_installation_and_purging_leaves_nothing(
    installed: VirtualMachine, files_before: set[str]
) -> None:
    service.restart(installed)
    before = "shift: { threshold: 400ms }\n"
    installed.run(f"printf '{before}' >{CONFIGURATION}")
    installed.run("dpkg --remove keymoded", timeout=INSTALL_SECONDS)
    assert service.remains(installed) == []
    assert installed.run(f"cat {CONFIGURATION}").stdout == before

    # An administrator who does not wait until dpkg has configured the package.
    meanwhile = "shift: { threshold: 600ms }\n"
    unpack = UPGRADE.replace("--install", "--unpack")
    installed.run(f"{unpack}; printf '{meanwhile}' >{CONFIGURATION}", timeout=INSTALL_SECONDS)
    installed.run("dpkg --configure keymoded </dev/null", timeout=INSTALL_SECONDS)
    assert installed.run(f"cat {CONFIGURATION}; ls /etc/keymoded").stdout == (
        f"{meanwhile}keymoded.yaml\nkeymoded.yaml.d\n"
    )
    wait_until_following(installed, 1)

    installed.run(f"rm {CONFIGURATION}; cp /usr/share/keymoded/recipes/*.yaml {CONFIGURATION}.d")
    installed.run("dpkg --purge keymoded", timeout=INSTALL_SECONDS)
    assert service.files(installed) == files_before
