"""keymoded, installed in the guest with its own units as an administrator would."""

import contextlib
import json
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

from guest_process import BOUND_SECONDS, GuestProcess
from vm import PS2_KEYBOARD, VirtualMachine

CHECKOUT = Path(__file__).resolve().parents[2]

Change = dict[str, Any]

CONFIGURATION = "/etc/keymoded/keymoded.yaml"

# Where the second press of Shift is of no matter: a host that is late types one late.
PATIENT = "shift: { threshold: 60s }\n"

THRESHOLD_US = 500_000

# By how much the distance of two presses may be wrong.
ALLOWED_US = 100_000

# How often something is done again whose time was not that which was asked for. A host does so now
# and then; a fault shows every time.
MOST_TRIES = 10

UNITS = "keymoded-state.socket keymoded-control.socket keymoded.service"

STATUS = "systemctl show --value --property StatusText keymoded"


def install(vm: VirtualMachine) -> None:
    """Installs what `make build` has built, and adds people who use it."""
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
        """
    )


def restart(vm: VirtualMachine) -> None:
    """Brings the service up, following the PS/2 keyboard, with both machines in their first state.

    Only a start that knows nothing of any before does that: no event leads every state back to the
    first one. What is kept of the states is let go with the stop, or since systemd 254 on demand.
    """
    # One command, as each costs time and nearly every test begins with this. The status is that of
    # the new start: systemd forgets the one before.
    follows = f"{STATUS} | grep -q '^devices followed: [1-9]'"
    vm.run(
        f"systemctl stop {UNITS}; systemctl clean --what=fdstore keymoded 2>/dev/null; "
        f"systemctl start {UNITS} && until {follows}; do sleep 0.05; done"
    )


@contextlib.contextmanager
def cleared_away(vm: VirtualMachine) -> Iterator[None]:
    """At the end the service is stopped, and has no configuration."""
    try:
        yield
    finally:
        vm.run(f"rm -rf {CONFIGURATION}; systemctl stop {UNITS}")


def configure(vm: VirtualMachine, text: str) -> None:
    """Writes the configuration that the service reads when it is started or told to."""
    (vm.shared / "keymoded.yaml").write_text(text)
    vm.run(f"install -D -m 644 /host/keymoded.yaml {CONFIGURATION}")


def reload(vm: VirtualMachine, text: str) -> None:
    """Has the service go on with another configuration, and waits until it does."""
    configure(vm, text)
    # The reload has ended for systemd when the daemon was told, which may take a moment to act.
    vm.run(
        """
        reloads() { keymodectl stats | awk '$1 == "reloads" { print $2 }'; }
        before=$(reloads)
        systemctl reload keymoded && until [ "$(reloads)" -gt "$before" ]; do sleep 0.05; done
        """
    )


@contextlib.contextmanager
def settings(vm: VirtualMachine, text: str) -> Iterator[None]:
    """The service, started anew with other settings of its unit, and at the end as it was."""
    folder = "/run/systemd/system/keymoded.service.d"
    vm.run(f"mkdir -p {folder}; printf '[Service]\n{text}\n' >{folder}/test.conf")
    vm.run("systemctl daemon-reload")
    try:
        restart(vm)
        yield
    finally:
        vm.run(f"rm -r {folder}; systemctl daemon-reload")


def as_user(user: str, command: str, *groups: str) -> str:
    """The command, run by an ordinary user with these groups, or with those that the user has."""
    member = f"--groups {','.join(groups)}" if groups else "--init-groups"
    return f"exec setpriv --reuid {user} --regid {user} {member} {command}"


class Watch:
    """`keymodectl watch --json`, run by an ordinary user in the group keymoded-state."""

    def __init__(self, vm: VirtualMachine, options: str = "") -> None:
        self._process: GuestProcess = vm.start(
            as_user("reader", f"keymodectl watch --json {options}")
        )
        self._process.wait_for("^{.*}$")
        self._taken = 1

    def changes(self, count: int, timeout: float = BOUND_SECONDS) -> list[Change]:
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
        answer = json.loads(vm.run("keymodectl trigger clickMoreButton --json").stdout)
        self._process.wait_for(rf'^{{"sequence":{answer["state"]["sequence"]},.*\n')
        lines = self._process.lines()[self._taken :]
        self._taken += len(lines)
        return [json.loads(line) for line in lines]


def press_twice(
    vm: VirtualMachine,
    watch: Watch,
    distance_ms: int,
    second: str = "shift",
    meanwhile: Callable[[], contextlib.AbstractContextManager[None]] = contextlib.nullcontext,
) -> tuple[Change, Change]:
    """Has Shift pressed twice at this distance, from off; returns the changes of both presses.

    They must be what the kernel's stamps make of them. Where the host was late, it is done again.
    """
    for _ in range(MOST_TRIES):
        with meanwhile():
            vm.play(f"tap shift 40; wait {distance_ms - 40}; tap {second} 40")
        first, then = watch.changes(2)
        distance = then["time"] - first["time"]
        expected = "capsLock" if distance < THRESHOLD_US else "off"
        assert [first["to"], then["to"]] == ["on", expected], (first, then)
        if abs(distance - distance_ms * 1000) <= ALLOWED_US:
            return first, then
        if expected == "capsLock":
            vm.play("tap shift")
            assert watch.states(1) == ["off"]
    raise AssertionError(f"presses were never {distance_ms} ms apart")


@contextlib.contextmanager
def stopped(vm: VirtualMachine) -> Iterator[None]:
    """The daemon gets no time, until it goes on with what has come meanwhile."""
    vm.run(
        """
        systemctl kill --signal STOP keymoded
        until grep -q '^State:.T' /proc/$(pgrep -x keymoded)/status; do sleep 0.05; done
        """
    )
    try:
        yield
    finally:
        vm.run("systemctl kill --signal CONT keymoded")


def expect_asleep(vm: VirtualMachine, meanwhile: Callable[[], object]) -> None:
    """Does something through which the daemon sleeps, but for what the watchdog wants."""

    def uptime_and_waits() -> tuple[float, int]:
        uptime, waits = vm.run(
            """
            cut -d' ' -f1 /proc/uptime
            cat /proc/$(pgrep -x keymoded)/task/*/status |
              awk '/^voluntary/ { n += $2 } END { print n }'
            """
        ).stdout.split()
        return float(uptime), int(waits)

    # At first it may still do what came before; what wakes it does so every time.
    for _ in range(3):
        begin, before = uptime_and_waits()
        meanwhile()
        end, after = uptime_and_waits()
        # Half of WatchdogSec=30s; to tell of it may take a second sleep.
        allowed = 2 * (int((end - begin) / 15) + 1)
        if after - before <= allowed:
            return
    raise AssertionError(f"{after - before} waits in {end - begin:.0f} s, not {allowed}")


def settled_state(vm: VirtualMachine) -> dict[str, Any]:
    """The state once all that was typed has acted, by an event that changes nothing itself."""
    answer = vm.run("keymodectl trigger tapBlankArea --json", check=False)
    assert (answer.exit_code, answer.stderr) == (1, ""), "only for a keyboard that shows nothing"
    settled: dict[str, Any] = json.loads(answer.stdout)["state"]
    return settled


def log(vm: VirtualMachine) -> list[str]:
    """What the service that runs now has logged."""
    return journal(vm, "_PID=$(systemctl show --value --property MainPID keymoded)")


def journal(vm: VirtualMachine, selection: str) -> list[str]:
    """What of the journal these options select, with all that was written until now."""
    command = f"journalctl --sync; journalctl --boot --output cat {selection}"
    return vm.run(command).stdout.splitlines()


def systemd_version(vm: VirtualMachine) -> int:
    """The number of systemd's version in the guest."""
    return int(vm.run("systemctl --version | head -n 1 | cut -d' ' -f2").stdout)


def copy_programs(vm: VirtualMachine, *names: str) -> None:
    """Puts programs of this folder that run in the guest into /host, with all that they import."""
    for name in (*names, "daemon", "uinput"):
        shutil.copy(Path(__file__).with_name(f"{name}.py"), vm.shared)


def state(vm: VirtualMachine) -> dict[str, Any]:
    """What `keymodectl state` tells now."""
    answer: dict[str, Any] = json.loads(vm.run("keymodectl state --json").stdout)
    return answer


class VirtualKeyboard:
    """A keyboard that a program in the guest makes through uinput, and types on.

    It is like the PS/2 keyboard, or like one of which the guest has a recording of evemu's format.
    """

    def __init__(self, vm: VirtualMachine, name: str, like: str | None = None) -> None:
        self._vm = vm
        self.name = name
        description = f"cat {like}" if like else f"evemu-describe {PS2_KEYBOARD}"
        # Without EV_REP, which is type 20: the kernel would repeat what is held, beside the repeats
        # that a test sends or a recording has.
        vm.run(f"{description} | sed 's/^N: .*/N: {name}/; /^B: 14/d' >/run/keyboard")
        self._start("exec stdbuf -oL evemu-device /run/keyboard")

    def _start(self, command: str) -> None:
        self._process = self._vm.start(command)
        self.path = self._process.wait_for(rf"^{self.name}: (/dev/input/event\d+)$")[1]

    def send(self, *events: str) -> None:
        """Sends each event: `A+` for a press of KEY_A, `A-` for its release, `A*` for a repeat."""
        commands = [
            f"evemu-event {self.path} --type EV_KEY --code KEY_{event[:-1]} "
            f"--value {'-+*'.index(event[-1])} --sync"
            for event in events
        ]
        self._vm.run(" && ".join(commands))

    def overflow(self) -> None:
        """Sends, Ctrl being held, more than the kernel keeps for a program that does not read.

        To such a program the release of Ctrl and Insert are lost; at the end Menu is held.
        """
        insert = [(110, 1), (110, 0)]
        letters = [(48, value) for _ in range(200) for value in (1, 0)]
        events = [(29, 0), *insert, *letters, (127, 1)]
        (self._vm.shared / "storm").write_text(
            "".join(
                f"E: 0.000000 0001 {code:04x} {value}\nE: 0.000000 0000 0000 0\n"
                for code, value in events
            )
        )
        self.play("/host/storm")

    def play(self, recording: str) -> None:
        """Types what is in a file of the guest, of evemu's format, as it was typed then."""
        self._vm.run(f"evemu-play {self.path} <{recording}")

    def remove(self) -> None:
        """Takes the keyboard away, with whatever is held on it."""
        self._process.terminate()
        self._process.wait()


class LitKeyboard(VirtualKeyboard):
    """A keyboard with LEDs, which knows of each that is switched."""

    def __init__(self, vm: VirtualMachine, name: str) -> None:
        self._vm = vm
        self.name = name
        self._taken = 1
        copy_programs(vm, "lit_keyboard")
        self._start(f"exec python3 /host/lit_keyboard.py '{name}'")

    def switched(self, count: int) -> list[str]:
        """Waits for the next `count` LEDs to be switched: `CAPSL on`."""
        wanted = self._taken + count
        self._process.wait_for(lambda text: text.count("\n") >= wanted)
        lines = self._process.lines()[self._taken : wanted]
        self._taken = wanted
        return lines

    def switch(self, led: str, value: int) -> None:
        """Switches an LED, as other programs do."""
        self._vm.run(
            f"evemu-event {self.path} --type EV_LED --code LED_{led} --value {value} --sync"
        )


Made = TypeVar("Made", bound=VirtualKeyboard)


@contextlib.contextmanager
def followed(vm: VirtualMachine, keyboard: Made) -> Iterator[Made]:
    """The keyboard, once the daemon follows it; it is taken away at the end."""
    try:
        wait_until_followed(vm, keyboard.name)
        yield keyboard
    finally:
        keyboard.remove()


def followed_keyboard(
    vm: VirtualMachine, name: str, like: str | None = None
) -> contextlib.AbstractContextManager[VirtualKeyboard]:
    """A keyboard made through uinput that the daemon follows; it is taken away at the end."""
    return followed(vm, VirtualKeyboard(vm, name, like))


def wait_until_followed(vm: VirtualMachine, name: str) -> None:
    """Waits until the daemon says that it follows the device, once more than it was let go."""
    vm.wait_until(
        f"""
        journalctl --unit keymoded --boot --output cat _PID=$(pgrep -x keymoded) |
          awk "/following '{name}'/ {{n++}} /'{name}' is gone/ {{n--}} END {{exit n < 1}}"
        """
    )


def wait_until_following(vm: VirtualMachine, count: int) -> None:
    """Waits until the daemon says that it follows so many devices."""
    vm.wait_until(f'[ "$({STATUS})" = "devices followed: {count}" ]')
