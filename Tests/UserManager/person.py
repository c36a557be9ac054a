"""A person with a user manager, in which keymoded is a service: her keys are events or a FIFO."""

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from support.connection import Connection, Message
from support.fifo_keyboard import FifoKeyboard
from support.user_manager import NOBODY, UserManager
from support.waiting import wait_until

DAEMON = "keymoded.service"

# As in the unit of the system's service: the manager keeps the states for the next daemon.
DAEMON_UNIT = """
[Unit]
StartLimitIntervalSec=0
[Service]
Type=notify
ExecStart=/run/programs/keymoded --config %h/keymoded.yaml {options}
{environment}
Restart=always
RestartSec=0
FileDescriptorStoreMax=2
[Install]
WantedBy=default.target
"""

NO_DEVICES = 'devices: { ignore: ["*"] }\nshift: { threshold: 60s }\n'


class Person(UserManager):
    """The manager, with a running keymoded, which may have a keyboard."""

    _keyboard: FifoKeyboard | None = None

    def __init__(
        self,
        configuration: str = NO_DEVICES,
        has_keyboard: bool = False,
        leds: int | None = None,
    ) -> None:
        super().__init__()
        try:
            self.write("keymoded.yaml", configuration)
            options = environment = ""
            if has_keyboard:
                self._keyboard = FifoKeyboard(self.folder, leds)
                os.chown(self._keyboard.path, NOBODY, NOBODY)
                options = f"--device {self._keyboard.path}"
                ((name, value),) = self._keyboard.environment.items()
                environment = f"Environment={name}={value}"
            unit = DAEMON_UNIT.format(options=options, environment=environment)
            self.write_unit(DAEMON, unit)
            self.systemctl("daemon-reload")
            self.systemctl("start", DAEMON)
        except BaseException:
            self.close()
            raise

    @property
    def keyboard(self) -> FifoKeyboard:
        """The keyboard."""
        assert self._keyboard
        return self._keyboard

    def close(self) -> None:
        """Ends everything, and removes the keyboard too."""
        if self._keyboard:
            self._keyboard.__exit__()
            self._keyboard = None
        super().close()

    @property
    def sockets(self) -> Path:
        """The folder of the daemon's sockets."""
        return self.runtime / "keymoded"

    def trigger(self, *events: str) -> Message:
        """Sends events, each of which must change a state; returns the last answer."""
        answer: dict[str, Any] = {}
        with Connection(self.sockets / "control.sock") as control:
            for event in events:
                answer = control.call("Trigger", event=event)
                assert answer["changed"], (event, answer)
        return answer

    def state(self) -> Message:
        """The states, as the daemon tells them."""
        with Connection(self.sockets / "state.sock") as asking:
            state: Message = asking.call("GetState")["state"]
        return state

    def target(self) -> str | None:
        """The state of the keyboard whose target is active; None without one."""
        active = self.active("keymode@keyboard:*.target")
        assert len(active) <= 1, active
        return active[0].partition(":")[2].removesuffix(".target") if active else None

    def wait_for_target(self, state: str | None) -> None:
        """Waits until exactly the target of this state is active; None: no target."""
        wait_until(lambda: self.target() == state, f"the target of {state}")

    def stop(self, pid: int) -> None:
        """Stops a process with SIGSTOP, and waits until all its threads have stopped."""
        self.kill("STOP", pid)
        threads = self.proc / str(pid) / "task"

        def are_stopped() -> bool:
            return all("State:\tT" in (each / "status").read_text() for each in threads.iterdir())

        wait_until(are_stopped, "the process to stop")


def sleeps(*processes: Path) -> int:
    """How often the threads of processes, by their folders in /proc, have slept."""
    return sum(
        int(line.split()[1])
        for process in processes
        for status in process.glob("task/*/status")
        for line in status.read_text().splitlines()
        if line.startswith("voluntary_ctxt_switches")
    )


def expect_sleep(*processes: Path, meanwhile: Callable[[], object] = lambda: None) -> None:
    """Checks that processes, by their folders in /proc, come to rest whatever `meanwhile` does."""

    # The runtime's threads go a few seconds after their last work.
    before = sleeps(*processes)
    for _ in range(10):
        meanwhile()
        time.sleep(2)
        now = sleeps(*processes)
        if now == before:
            return
        before = now
    raise AssertionError("they wake up")
