"""Keyboards and other devices that programs in the guest make through uinput."""

import contextlib
import json
import shlex
from collections.abc import Iterator, Sequence
from typing import TypeVar

from support.input_events import PRESS, RELEASE, B, evemu_key_frame

from harness.service import program, wait_until_followed
from harness.vm import PS2_KEYBOARD, VirtualMachine


class VirtualKeyboard:
    """A keyboard that a program in the guest makes through uinput, and types on.

    It has the keys of the PS/2 keyboard, or those of a recording in evemu's format.
    """

    def __init__(self, vm: VirtualMachine, name: str, like: str | None = None) -> None:
        description = f"cat {like}" if like else f"evemu-describe {PS2_KEYBOARD}"
        # Without EV_REP (type 20), with which the kernel would repeat held keys, in addition to the
        # autorepeats that a test or a recording sends.
        vm.run(f"{description} | sed 's/^N: .*/N: {name}/; /^B: 14/d' >/run/keyboard")
        self._start(vm, name, "exec stdbuf -oL evemu-device /run/keyboard")

    def _start(self, vm: VirtualMachine, name: str, command: str) -> None:
        self._vm = vm
        self.name = name
        self._process = vm.start(command)
        self.path = self._process.wait_for(rf"^{name}: (/dev/input/event\d+)$")[1]

    def send(self, *events: str) -> None:
        """Sends each event: `A+` for a press of KEY_A, `A-` for its release, `A*` for a repeat."""
        commands = [
            f"evemu-event {self.path} --type EV_KEY --code KEY_{event[:-1]} "
            f"--value {'-+*'.index(event[-1])} --sync"
            for event in events
        ]
        self._vm.run(" && ".join(commands))

    def overflow(self, *events: tuple[int, int]) -> None:
        """Sends these keys and values, and then more than the kernel buffers for a stopped program.

        Such a program loses all of it.
        """
        letters = [(B, value) for _ in range(200) for value in (PRESS, RELEASE)]
        (self._vm.shared / "storm").write_text(
            "".join(evemu_key_frame(0, code, value) for code, value in (*events, *letters))
        )
        self.play("/host/storm")

    def play(self, recording: str) -> None:
        """Plays a recording in evemu's format, which is a file of the guest."""
        self._vm.run(f"evemu-play {self.path} <{recording}")

    def remove(self) -> None:
        """Removes the keyboard, with the keys that are held on it."""
        self._process.terminate()
        self._process.wait()


class MadeDevice(VirtualKeyboard):
    """A device with other codes than the PS/2 keyboard; it reports every LED that is switched.

    `codes` are the parameters of uinput.Keyboard in ../guest: keys, leds, absolute, properties.
    """

    def __init__(self, vm: VirtualMachine, name: str, **codes: Sequence[int]) -> None:
        given = shlex.quote(json.dumps(codes))
        self._start(vm, name, f"exec {program(vm, 'device')} '{name}' {given}")
        # The first line has the node.
        self._process.read_lines(1)

    def switched(self, count: int) -> list[str]:
        """Waits for the next `count` LEDs to be switched: `CAPSL on`."""
        return self._process.read_lines(count)

    def switch(self, led: str, value: int) -> None:
        """Switches an LED, as other programs do."""
        self._vm.run(
            f"evemu-event {self.path} --type EV_LED --code LED_{led} --value {value} --sync"
        )


def switch_console_locks_off(vm: VirtualMachine) -> None:
    """Switches the lock keys of the console off, which an earlier test may have typed.

    The kernel gives each new keyboard the LEDs of the console's locks.
    """
    # KDSKBLED of <linux/kd.h>.
    vm.run("python3 -c 'import fcntl; fcntl.ioctl(open(\"/dev/tty0\"), 0x4B65, 0)'")


Made = TypeVar("Made", bound=VirtualKeyboard)


@contextlib.contextmanager
def followed(vm: VirtualMachine, keyboard: Made) -> Iterator[Made]:
    """Waits until the daemon follows the keyboard, and removes it at the end."""
    try:
        wait_until_followed(vm, keyboard.name)
        yield keyboard
    finally:
        keyboard.remove()


def followed_keyboard(
    vm: VirtualMachine, name: str, like: str | None = None
) -> contextlib.AbstractContextManager[VirtualKeyboard]:
    """A keyboard of uinput that the daemon follows, and that is removed at the end."""
    return followed(vm, VirtualKeyboard(vm, name, like))
