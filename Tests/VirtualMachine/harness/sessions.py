"""Login sessions of a user in the guest, on terminals of its only seat, and services of hers."""

import contextlib
import itertools
import shlex
from collections.abc import Iterator

from harness.guest_process import Completed, GuestProcess
from harness.vm import VirtualMachine

USER = "alice"
"""She is in the groups of both sockets. Her manager runs only while she has a session."""

SESSION_TERMINAL = 7
EMPTY_TERMINAL = 9
"""A console without a session."""

UPTIME = "cut -d' ' -f1 /proc/uptime"

_LOGIND = "org.freedesktop.login1"
_UNITS = itertools.count(1)


class Session:
    """A login session as `login` begins one, on a virtual terminal of seat0."""

    def __init__(
        self,
        vm: VirtualMachine,
        terminal: int,
        user: str,
        kind: str = "user",
        identifier: str = "",
    ) -> None:
        """Begins a session, or takes the one that is there, by its identifier."""
        self._vm = vm
        self.terminal = terminal
        self.user = user
        self.id = identifier or self._begin(kind)
        self.uid = vm.run(f"loginctl show-session --value --property User {self.id}").stdout.strip()

    def _begin(self, kind: str) -> str:
        terminal, user = self.terminal, self.user
        # PAM takes seat and terminal of the session from TTYPath=.
        self._vm.run(
            f"""
            set -e
            systemd-run --quiet --collect --unit session-on-tty{terminal} \
              -p PAMName=login -p User={user} \
              -p TTYPath=/dev/tty{terminal} -p StandardInput=tty -p StandardOutput=journal \
              -p Environment=XDG_SESSION_CLASS={kind} -p TTYReset=yes -p TTYVHangup=yes sleep infinity
            until loginctl list-sessions --no-legend | grep -q ' tty{terminal}\\b' &&
              systemctl is-active --quiet user@$(id -u {user}); do sleep 0.05; done
            """
        )
        begun = f"loginctl list-sessions --no-legend | awk '/ tty{terminal}( |$)/ {{ print $1 }}'"
        return self._vm.run(begun).stdout.strip()

    def properties(self) -> dict[str, str]:
        """What logind tells of the session, such as `Active`, `LockedHint`, `Seat` and `State`."""
        lines = self._vm.run(f"loginctl show-session {self.id}").stdout.splitlines()
        return dict(line.split("=", 1) for line in lines)

    def bring_to_front(self) -> None:
        """Switches to the session's terminal, and waits until logind says that it is active."""
        is_active = f"loginctl show-session {self.id} | grep -qx Active=yes"
        self._vm.run(f"loginctl activate {self.id}; until {is_active}; do sleep 0.05; done")

    def lock(self) -> int:
        """Says that the session is locked, as the lock screen of a desktop does.

        Returns the time just before, as `microseconds` does.
        """
        return self._hint_lock(True)

    def unlock(self) -> None:
        """Says that it is no longer locked."""
        self._hint_lock(False)

    def _hint_lock(self, is_locked: bool) -> int:
        # Only the session's own user may.
        path = f"/org/freedesktop/login1/session/{escaped(self.id)}"
        value = "true" if is_locked else "false"
        hint = f"busctl call {_LOGIND} {path} {_LOGIND}.Session SetLockedHint b {value}"
        return microseconds(self.run(f"{UPTIME}; exec {hint}"))

    def run(self, command: str, check: bool = True) -> Completed:
        """Runs a shell command inside the session, as its user, to its end."""
        return self._vm.run(self.command_line(command), check=check)

    def start(self, command: str) -> GuestProcess:
        """Starts a shell command inside the session, as its user."""
        return self._vm.start(self.command_line(command))

    def command_line(self, command: str) -> str:
        """What root runs to become the session's user, inside the session."""
        scope = f"/sys/fs/cgroup/user.slice/user-{self.uid}.slice/session-{self.id}.scope"
        own = f"XDG_SESSION_ID={self.id} XDG_SEAT=seat0 XDG_VTNR={self.terminal}"
        return f"echo $$ >{scope}/cgroup.procs && {as_user(self.user, command, own)}"

    def close(self) -> None:
        """Logs out: kills all processes of the session, and waits until it is gone.

        Without another session of the user her manager ends too.
        """
        self._vm.run(
            f"loginctl kill-session --signal KILL {self.id}; "
            f"while loginctl show-session {self.id} >/dev/null 2>&1; do sleep 0.05; done"
        )


def escaped(identifier: str) -> str:
    """The identifier as the last part of a D-Bus path, as sd-bus escapes it."""
    return "".join(
        c if c.isalpha() or (c.isdigit() and i > 0) else f"_{ord(c):02x}"
        for i, c in enumerate(identifier)
    )


@contextlib.contextmanager
def session(
    vm: VirtualMachine, terminal: int = SESSION_TERMINAL, user: str = USER
) -> Iterator[Session]:
    """A login session, in front; at the end it is gone, with all its processes."""
    opened = Session(vm, terminal, user)
    try:
        opened.bring_to_front()
        yield opened
    finally:
        opened.close()
        switch_to_console(vm, 1)
        wait_until_manager_ended(vm, user)


def wait_until_manager_ended(vm: VirtualMachine, user: str = USER) -> None:
    """Waits until logind has ended what is left of a user who has no session."""
    vm.wait_until(f"! loginctl show-user {user} 2>/dev/null")


def switch_to_console(vm: VirtualMachine, terminal: int = EMPTY_TERMINAL) -> int:
    """Switches to a virtual terminal, as Ctrl+Alt+F9 does, and waits until it is in front.

    Returns the time just before, as `microseconds` does.
    """
    switching = vm.run(
        f"{UPTIME}; busctl call {_LOGIND} /org/freedesktop/login1/seat/seat0 {_LOGIND}.Seat "
        f"SwitchTo u {terminal} && "
        f"until grep -qx tty{terminal} /sys/class/tty/tty0/active; do sleep 0.05; done"
    )
    return microseconds(switching)


def microseconds(asked: Completed) -> int:
    """CLOCK_BOOTTIME when a command began that began with UPTIME."""
    return round(float(asked.stdout.split()[0]) * 1e6)


def as_user(user: str, command: str, variables: str = "") -> str:
    """The command line with which root runs a shell command as a user whose manager runs.

    Unlike `runuser` it begins no session: the command stays in root's, which is none.
    """
    runtime = f"/run/user/$(id -u {user})"
    return (
        f"exec setpriv --reuid {user} --regid {user} --init-groups env -C ~{user} "
        f"HOME=~{user} USER={user} LOGNAME={user} XDG_RUNTIME_DIR={runtime} "
        f"DBUS_SESSION_BUS_ADDRESS=unix:path={runtime}/bus {variables} "
        f"bash -c {shlex.quote(command)}"
    )


def systemctl(vm: VirtualMachine, arguments: str) -> Completed:
    """Runs `systemctl --user` for the user's manager."""
    return vm.run(as_user(USER, f"exec systemctl --user {arguments}"))


class UserUnit:
    """A command that runs as a service of the user's manager, outside of any session."""

    def __init__(self, vm: VirtualMachine, command: str) -> None:
        self._vm = vm
        self.name = f"test-{next(_UNITS)}.service"
        # --pipe: the command prints where systemd-run does, so that its output can be followed.
        # systemd makes $ of $$.
        quoted = shlex.quote(command.replace("$", "$$"))
        self.process = vm.start(
            as_user(
                USER,
                f"exec systemd-run --user --quiet --collect --pipe --wait --unit {self.name} "
                f"bash -c {quoted}",
            )
        )

    def stop(self) -> None:
        """Stops the service, and waits for its end."""
        systemctl(self._vm, f"stop {self.name}")
        self.process.wait()
