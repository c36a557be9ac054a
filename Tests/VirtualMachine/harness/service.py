"""keymoded, installed in the guest with its own units as an administrator would."""

import contextlib
import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from typing import Any

from support.checkout import CHECKOUT
from support.waiting import wait_until

from harness.architecture import ARCHITECTURE
from harness.guest_process import GuestProcess
from harness.vm import VirtualMachine

CONFIGURATION = "/etc/keymoded/keymoded.yaml"

# For tests that are not about the threshold: a slow host may type the second press late.
PATIENT = "shift: { threshold: 60s }\n"

# How often a step is tried whose timing the host may spoil now and then. A real fault fails every
# time.
MOST_TRIES = 10

UNITS = "keymoded-state.socket keymoded-control.socket keymoded.service"

# Stops the service, and drops what systemd 254 and later store for the next daemon.
STOP = "systemctl stop keymoded; systemctl clean --what=fdstore keymoded 2>/dev/null || true"
# KDSKBLED, of linux/kd.h, turns off all locks of the console in front.
LOCKS_OFF = """perl -e 'open(TTY, "+<", "/dev/tty0") && ioctl(TTY, 0x4b65, 0) or die $!'"""

MAIN_PID = "systemctl show --value --property MainPID keymoded"
STATUS = "systemctl show --value --property StatusText keymoded"
# What the status begins with.
FOLLOWED = "keyboards followed"

# The sockets of a daemon that `start_by_hand` starts.
BY_HAND = "--socket-dir /run/own"


def install(vm: VirtualMachine) -> None:
    """Installs what `make build` has built, or what is in the package for arm64, and adds users for it."""
    target = vm.shared / "install"
    if ARCHITECTURE.debian == "arm64":
        (package,) = (CHECKOUT / ".deb-arm64").glob("keymoded_*.deb")
        command = ["dpkg-deb", "--extract", str(package), str(target)]
    else:
        command = ["make", "--no-print-directory", "install", f"DESTDIR={target}", "PREFIX=/usr"]
    subprocess.run(command, cwd=CHECKOUT, check=True, stdout=subprocess.DEVNULL)
    vm.run(
        """
        set -e
        cp -r --no-preserve=ownership /host/install/usr/. /usr/
        systemd-sysusers
        systemctl daemon-reload
        udevadm control --reload
        """
    )
    add_people(vm)


def add_people(vm: VirtualMachine) -> None:
    """Adds users with and without the groups of the sockets."""
    vm.run(
        """
        set -e
        useradd ordinary
        useradd --groups keymoded-state reader
        useradd --groups keymoded-control controller
        useradd --create-home --groups keymoded-state,keymoded-control alice
        """
    )


def files(vm: VirtualMachine) -> set[str]:
    """All files of the root and /run/keymoded, except logs, those of apt, and backups of account files."""
    # Not the home of a user whom the tests add.
    others = " ".join(
        f"-not -path '{path}/*'" for path in ("/var/log", "/var/cache", "/var/lib/apt", "/home")
    )
    listing = vm.run(f"find / /run/keymoded -xdev {others}", check=False).stdout
    return {line for line in listing.splitlines() if not re.fullmatch("/etc/.*-", line)}


def remains(vm: VirtualMachine) -> list[str]:
    """The processes, units, sockets and stored states of the service, each as a line."""
    return vm.run(
        """
        pgrep --list-full keymode
        systemctl list-units --plain --no-legend 'keymoded*'
        find /run/keymoded
        ls -l /proc/1/fd | grep memfd:keymoded
        """,
        check=False,
    ).stdout.splitlines()


def call(vm: VirtualMachine, method: str, **parameters: Any) -> dict[str, Any] | None:
    """The reply's parameters to a call on the service's socket for control; None if there is none."""
    request = {"method": f"org.keymoded.Controller.{method}", "parameters": parameters}
    reply = vm.ask("/run/keymoded/control.sock", json.dumps(request))
    if not reply:
        return None
    answer: dict[str, Any] = json.loads(reply)
    assert "error" not in answer, answer
    return dict(answer["parameters"])


def answer(vm: VirtualMachine, method: str, **parameters: Any) -> dict[str, Any]:
    """The same, from a service that must reply."""
    found = call(vm, method, **parameters)
    assert found is not None, f"no reply to {method}"
    return found


def restart(vm: VirtualMachine) -> None:
    """Restarts the service with the PS/2 keyboard and both machines in their initial states.

    Only a start without stored states does that, because no event leads every state back to the
    initial one. systemd drops the stored states at the stop, or since version 254 on `clean`.
    """
    # The sockets stay, because stopping and starting them takes a second more.
    vm.run(f"{STOP}; systemctl start {UNITS}")
    wait_until(lambda: keyboards(vm) > 0, "a keyboard to be followed")


@contextlib.contextmanager
def cleared_away(vm: VirtualMachine) -> Iterator[None]:
    """Stops the service at the end, but not its sockets, and removes its configuration.

    The locks of the console, which tests toggle by typing all keys, are off then.
    """
    try:
        yield
    finally:
        vm.run(f"rm -rf {CONFIGURATION} {CONFIGURATION}.d/*; {STOP}; {LOCKS_OFF}")


@contextlib.contextmanager
def configured(vm: VirtualMachine, text: str) -> Iterator[None]:
    """Restarts the service with this configuration; stops it at the end, and removes the file."""
    with cleared_away(vm):
        configure(vm, text)
        restart(vm)
        yield


def configure(vm: VirtualMachine, text: str) -> None:
    """Writes the configuration that the service reads at its next start or reload."""
    (vm.shared / "keymoded.yaml").write_text(text)
    vm.run(f"install -D -m 644 /host/keymoded.yaml {CONFIGURATION}")


def reload(vm: VirtualMachine, text: str) -> None:
    """Reloads the service with another configuration, and waits until it is in force."""
    configure(vm, text)
    before = answer(vm, "GetStatistics")["reloads"]
    vm.run("systemctl reload keymoded")
    # systemctl returns when the daemon has received SIGHUP, which may be before it acts.
    wait_until(lambda: answer(vm, "GetStatistics")["reloads"] > before, "the reload")


@contextlib.contextmanager
def settings(vm: VirtualMachine, text: str) -> Iterator[None]:
    """Restarts the service with other settings in its unit, and removes them at the end."""
    folder = "/run/systemd/system/keymoded.service.d"
    vm.run(f"mkdir -p {folder}; printf '[Service]\n{text}\n' >{folder}/test.conf")
    vm.run("systemctl daemon-reload")
    try:
        restart(vm)
        yield
    finally:
        vm.run(f"rm -r {folder}; systemctl daemon-reload")


def start_by_hand(vm: VirtualMachine, options: str = "", under: str = "") -> GuestProcess:
    """Starts a daemon with its own sockets, and waits until it serves."""
    daemon = vm.start(f"exec {under} keymoded {BY_HAND} {options}")
    vm.wait_until(f"keymodectl state {BY_HAND}")
    return daemon


@contextlib.contextmanager
def without_udev(vm: VirtualMachine) -> Iterator[None]:
    """Stops the service, and hides udev's control socket from daemons that are started by hand."""
    control = "/run/udev/control"
    vm.run(f"systemctl stop {UNITS}; rm -rf /run/own; mv {control} {control}.hidden")
    try:
        yield
    finally:
        vm.run(f"mv {control}.hidden {control}; pkill -x keymoded; rm -rf /run/own")


def as_user(user: str, command: str, *groups: str) -> str:
    """The command line that runs `command` as a user, with these groups or the user's own."""
    member = f"--groups {','.join(groups)}" if groups else "--init-groups"
    return f"exec setpriv --reuid {user} --regid {user} {member} {command}"


def main_pid(vm: VirtualMachine) -> int:
    """The PID of the service's process; 0 if there is none."""
    return int(vm.run(MAIN_PID).stdout)


def kill(vm: VirtualMachine, signal: str = "KILL", unit: str = "keymoded") -> None:
    """Ends the process of a unit by a signal, and waits until the next one is ready."""
    pid = MAIN_PID.replace("keymoded", unit)
    vm.run(
        f"""
        before=$({pid})
        kill -{signal} "$before"
        until [ "$({pid})" != "$before" ] && systemctl --quiet is-active {unit}; do
          sleep 0.05
        done
        """
    )


def settled_state(vm: VirtualMachine, event: str = "tapBlankArea") -> dict[str, Any]:
    """The states after all typed keys have acted: the reply to an event that is ignored now."""
    ignored = answer(vm, "Trigger", event=event)
    assert not ignored["changed"], f"{event} is not ignored in this state"
    settled: dict[str, Any] = ignored["state"]
    return settled


def log(vm: VirtualMachine) -> list[str]:
    """The lines that the present process of the service has logged."""
    return journal(vm, f"_PID={main_pid(vm)}")


def journal(vm: VirtualMachine, selection: str) -> list[str]:
    """The lines of the journal that these options select, up to now."""
    command = f"journalctl --sync; journalctl --boot --output cat {selection}"
    return vm.run(command).stdout.splitlines()


def systemd_version(vm: VirtualMachine) -> int:
    """The number of systemd's version in the guest."""
    return int(vm.run("systemctl --version | head -n 1 | cut -d' ' -f2").stdout)


def program(vm: VirtualMachine, name: str) -> str:
    """The command line that runs a program of ../guest.

    The first call copies all of them into /host, with the modules that they import.
    """
    programs = vm.shared / "programs"
    if not programs.exists():
        tests, ignored = CHECKOUT / "Tests", shutil.ignore_patterns("image", "__pycache__")
        shutil.copytree(tests / "VirtualMachine/guest", programs, ignore=ignored)
        shutil.copytree(tests / "support", programs / "support", ignore=ignored)
    return f"python3 /host/{programs.name}/{name}.py"


def state(vm: VirtualMachine) -> dict[str, Any]:
    """The present states, as in the output of `keymodectl state --json`."""
    present: dict[str, Any] = answer(vm, "GetState")["state"]
    return present


def wait_until_followed(vm: VirtualMachine, name: str) -> None:
    """Waits until the daemon follows a device of this name."""
    wait_until(
        lambda: name in {device["name"] for device in devices(vm)}, f"{name!r} to be followed"
    )


def devices(vm: VirtualMachine) -> list[dict[str, Any]]:
    """The devices that the daemon follows; none if there is no daemon at the moment."""
    found = call(vm, "ListDevices")
    return found["devices"] if found else []


def keyboards(vm: VirtualMachine) -> int:
    """The number of keyboards that the daemon follows."""
    return sum(device["keyboard"] for device in devices(vm))


def pointers(vm: VirtualMachine) -> list[str]:
    """The names of the pointers that the daemon follows. The machine itself may have some."""
    return [device["name"] for device in devices(vm) if device["pointer"]]


def wait_until_following(vm: VirtualMachine, count: int) -> None:
    """Waits until the daemon follows `count` keyboards."""
    wait_until(lambda: keyboards(vm) == count, f"{count} keyboards to be followed")
