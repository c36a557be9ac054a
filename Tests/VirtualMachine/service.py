"""keymoded, installed in the guest with its own units as an administrator would."""

import json
import subprocess
from pathlib import Path
from typing import Any

from guest_process import GuestProcess
from vm import VirtualMachine

CHECKOUT = Path(__file__).resolve().parents[2]

Change = dict[str, Any]

UNITS = "keymoded-state.socket keymoded-control.socket keymoded.service"

FOLLOWS_PS2 = "journalctl --unit keymoded --boot --output cat | grep -q 'following .AT Transl'"


def install(vm: VirtualMachine) -> None:
    """Installs what `make build` has built, and people with and without the groups to use it."""
    target = vm.shared / "install"
    subprocess.run(
        ["make", "--no-print-directory", "install", f"DESTDIR={target}", "PREFIX=/usr"],
        cwd=CHECKOUT,
        check=True,
        stdout=subprocess.DEVNULL,
    )
    vm.run(
        """
        set -e
        cp -r --no-preserve=ownership /host/install/usr/. /usr/
        systemd-sysusers
        useradd ordinary
        useradd --groups keymoded-state reader
        useradd --groups keymoded-control controller
        systemctl daemon-reload
        udevadm control --reload
        """
    )


def restart(vm: VirtualMachine) -> None:
    """Brings the service up, following the PS/2 keyboard, with both machines in their first state.

    Only a start that knows nothing of any before does that: no event leads every state back to the
    first one. What is kept of the states is let go with the stop, or since systemd 254 on demand.
    """
    vm.run(
        f"systemctl stop {UNITS}; systemctl clean --what=fdstore keymoded 2>/dev/null; "
        f"systemctl start {UNITS}"
    )
    vm.wait_until(FOLLOWS_PS2)
    vm.run("systemctl is-active --quiet keymoded")


def as_user(user: str, command: str) -> str:
    """The command, run by an ordinary user with the groups that the user has."""
    return f"exec setpriv --reuid {user} --regid {user} --init-groups {command}"


class Watch:
    """`keymodectl watch --json`, run by an ordinary user in the group keymoded-state."""

    def __init__(self, vm: VirtualMachine, options: str = "") -> None:
        self._process: GuestProcess = vm.start(
            as_user("reader", f"keymodectl watch --json {options}")
        )
        self._process.wait_for("^{.*}$")
        self._taken = 1

    def changes(self, count: int, timeout: float = 10.0) -> list[Change]:
        """Waits for the next `count` changes."""
        wanted = self._taken + count
        self._process.wait_for(lambda text: text.count("\n") >= wanted, timeout)
        lines = self._process.lines()[self._taken : wanted]
        self._taken = wanted
        return [json.loads(line) for line in lines]

    def states(self, count: int) -> list[str]:
        """Waits for the next `count` changes, and returns the states that they lead to."""
        return [change["to"] for change in self.changes(count)]

    def rest(self, vm: VirtualMachine) -> list[Change]:
        """The changes that are left, up to and with one that this makes itself."""
        vm.run("keymodectl trigger clickMoreButton")
        self._process.wait_for(r'"clickMoreButton"}\n\Z')
        lines = self._process.lines()[self._taken :]
        self._taken += len(lines)
        return [json.loads(line) for line in lines]


def settled_state(vm: VirtualMachine) -> dict[str, Any]:
    """The state once all that was typed has acted, by an event that changes nothing itself."""
    answer = vm.run("keymodectl trigger tapBlankArea --json", check=False)
    assert (answer.exit_code, answer.stderr) == (1, ""), "only for a keyboard that shows nothing"
    settled: dict[str, Any] = json.loads(answer.stdout)["state"]
    return settled


def state(vm: VirtualMachine) -> dict[str, Any]:
    """What `keymodectl state` tells now."""
    answer: dict[str, Any] = json.loads(vm.run("keymodectl state --json").stdout)
    return answer


class VirtualKeyboard:
    """A keyboard that a program in the guest makes through uinput, and types on."""

    def __init__(self, vm: VirtualMachine, name: str) -> None:
        self._vm = vm
        self.name = name
        # Without EV_REP, which is type 20: the kernel would repeat what is held.
        vm.run(
            "evemu-describe /dev/input/by-path/platform-i8042-serio-0-event-kbd "
            f"| sed 's/^N: .*/N: {name}/; /^B: 14/d' >/run/keyboard"
        )
        self._process = vm.start("exec stdbuf -oL evemu-device /run/keyboard")
        self.path = self._process.wait_for(rf"^{name}: (/dev/input/event\d+)$")[1]

    def send(self, *events: str) -> None:
        """Sends each event: `A+` for a press of KEY_A, `A-` for its release, `A*` for a repeat."""
        commands = [
            f"evemu-event {self.path} --type EV_KEY --code KEY_{event[:-1]} "
            f"--value {'-+*'.index(event[-1])} --sync"
            for event in events
        ]
        self._vm.run(" && ".join(commands))

    def remove(self) -> None:
        """Takes the keyboard away, with whatever is held on it."""
        self._process.terminate()
        self._process.wait()


def wait_until_followed(vm: VirtualMachine, name: str) -> None:
    """Waits until the daemon says that it follows the device, once more than it was let go."""
    vm.wait_until(
        f"""
        journal() {{ journalctl --unit keymoded --boot --output cat _PID=$(pgrep -x keymoded); }}
        [ $(journal | grep -c "following '{name}'") -gt $(journal | grep -c "'{name}' is gone") ]
        """
    )
