"""Keyboards that programs in the guest make through uinput."""

import contextlib
from collections.abc import Iterator
from typing import TypeVar

from support.input_events import (
    COMPOSE,
    INSERT,
    LEFTCTRL,
    PRESS,
    RELEASE,
    B,
    evemu_key_frame,
)

from harness.service import program, wait_until_followed
from harness.vm import PS2_KEYBOARD, VirtualMachine


class VirtualKeyboard:
    """A keyboard that a program in the guest makes through uinput, and types on.

    It has the keys of the PS/2 keyboard, or those of a recording in evemu's format.
    """

    def __init__(self, vm: VirtualMachine, name: str, like: str | None = None) -> None:
        self._vm = vm
        self.name = name
        description = f"cat {like}" if like else f"evemu-describe {PS2_KEYBOARD}"
        # Without EV_REP (type 20), with which the kernel would repeat held keys, in addition to the
        # autorepeats that a test or a recording sends.
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
        """With Ctrl held, sends more events than the kernel buffers for a stopped program.

        Such a program loses the release of Ctrl and the taps of Insert; at the end Menu is held.
        """
        insert = [(INSERT, PRESS), (INSERT, RELEASE)]
        letters = [(B, value) for _ in range(200) for value in (PRESS, RELEASE)]
        events = [(LEFTCTRL, RELEASE), *insert, *letters, (COMPOSE, PRESS)]
        (self._vm.shared / "storm").write_text(
            "".join(evemu_key_frame(0, code, value) for code, value in events)
        )
        self.play("/host/storm")

    def play(self, recording: str) -> None:
        """Plays a recording in evemu's format, which is a file of the guest."""
        self._vm.run(f"evemu-play {self.path} <{recording}")

    def remove(self) -> None:
        """Removes the keyboard, with the keys that are held on it."""
        self._process.terminate()
        self._process.wait()


class LitKeyboard(VirtualKeyboard):
    """A keyboard with LEDs, which reports every LED that is switched."""

    def __init__(self, vm: VirtualMachine, name: str) -> None:
        self._vm = vm
        self.name = name
        self._start(f"exec {program(vm, 'lit_keyboard')} '{name}'")
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
