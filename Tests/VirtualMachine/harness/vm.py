"""A Linux guest under QEMU, for tests that need keyboards of a real kernel.

Used like this:

    with VirtualMachine(ensure_images()) as vm:
        recorder = vm.start(f"stdbuf -oL evemu-record {PS2_KEYBOARD}")
        recorder.wait_for("Waiting for events")
        vm.play("tap shift; wait 260; tap shift")
        print(recorder.wait_for("KEY_LEFTSHIFT").string)
        print(vm.run("uname -r").stdout)
"""

import contextlib
import hashlib
import itertools
import shlex
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, Self

from support.waiting import BOUND_SECONDS, wait_until

from harness import keys
from harness.architecture import ARCHITECTURE
from harness.build_image import Images, ensure_images, missing_requirements
from harness.guest_process import Agent, CommandFailed, Completed, GuestProcess
from harness.qmp import Qmp

# The keyboard that the machine begins with, and its name. On arm64 it is no PS/2 keyboard, but virtio's.
PS2_KEYBOARD = ARCHITECTURE.keyboard
KEYBOARD_NAME = ARCHITECTURE.keyboard_name

# The names of the devices that `plug_usb_keyboard` and `plug_usb_mouse` plug in.
USB_KEYBOARD_NAME = "QEMU QEMU USB Keyboard"
USB_MOUSE_NAME = "QEMU QEMU USB Mouse"

BOOT_SECONDS = 300.0

QEMU = ARCHITECTURE.qemu

# Without mitigations, self-tests and audit, for a faster boot.
KERNEL_COMMAND_LINE = (
    f"console={ARCHITECTURE.console} quiet panic=-1 mitigations=off nokaslr random.trust_cpu=on audit=0 "
    "no_timer_check net.ifnames=0 cryptomgr.notests"
)
# On a PC. The clock is the HPET because the TSC's rate is measured at boot, and emulation makes that
# measurement wrong by up to 0.2 %.
RIGHT_CLOCK = "clocksource=hpet tsc=unstable"
# Programs can read the TSC without a system call, as on nearly every real machine.
QUICK_CLOCK = "clocksource=tsc tsc=reliable"


class VirtualMachine:
    """One guest, running from `with` to the end of its block.

    The guest is started in the state that a boot led to, which takes a second. The first guest
    boots and saves that state beside the images. With `boots` this guest boots too.

    A subclass can give the machine more, and `prepare` what is saved.
    """

    acceleration = "tcg,thread=single"
    processors = 1
    memory_mib = 1024

    shared: Path
    """The folder of the host that the guest mounts as /host."""

    def __init__(
        self,
        images: Images,
        clock: str = RIGHT_CLOCK,
        boots: bool = False,
    ) -> None:
        self._images = images
        self._clock = clock
        self._boots = boots
        self._processes: list[GuestProcess] = []
        self._calls = itertools.count(1)

    def __enter__(self) -> Self:
        state = self.saved_state() if ARCHITECTURE.is_saved and not self._boots else None
        with contextlib.ExitStack() as undo:
            self._start(undo, state)
            self._begin()
            self._undo = undo.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._undo.close()

    @property
    def system_state(self) -> str:
        """The output of `systemctl is-system-running` at the end of the boot, if it boots."""
        return self._agent.system_state

    def _begin(self) -> None:
        """Sets the guest's clock, and has it mount /host."""
        self._agent.send(f"begin {time.time()}")
        self._agent.wait_for(lambda: self._agent.has_begun, BOUND_SECONDS, "the guest's start")

    def pause(self) -> None:
        """Has the guest unmount /host, of which nothing may have a file open, so that it can be saved."""
        self._agent.has_begun = False
        self._agent.send("pause")
        self._agent.wait_for(lambda: self._agent.is_paused, BOUND_SECONDS, "the guest to unmount /host")

    def prepare(self) -> None:
        """Does what is saved besides the boot. /host is not mounted, here and afterwards."""

    def prepared_from(self) -> bytes:
        """What `prepare` depends on."""
        return b""

    def _start(self, undo: contextlib.ExitStack, state: Path | None) -> None:
        """Starts QEMU, with a saved state or by a boot, to whose end it waits."""
        folder = Path(undo.enter_context(tempfile.TemporaryDirectory(prefix="keymoded-vm-")))
        self.shared = folder / "shared"
        self.shared.mkdir()
        console = folder / "console.log"
        control, agent = self._start_qemu(console, state, undo)
        self._qmp = Qmp(control)
        self._agent = Agent(agent, console)
        undo.callback(self._agent.close)
        undo.callback(self._kill_qemu)
        self._qmp.negotiate()
        if state:
            self._qmp.go_on()
        else:
            self._agent.wait_for(
                lambda: bool(self._agent.system_state), BOOT_SECONDS, "the guest's boot"
            )

    def saved_state(self) -> Path:
        """The file with the state of such a guest after its boot; makes it if there is none yet."""
        version = subprocess.run([QEMU, "--version"], check=True, stdout=subprocess.PIPE).stdout
        # QEMU loads only what the same version has saved of the same machine.
        machine = "\0".join(self._machine()).encode()
        key = hashlib.sha256(version + machine + self.prepared_from()).hexdigest()[:16]
        with self._images.locked() as folder:
            state = folder / f"state-{key}"
            if not state.exists():
                with contextlib.ExitStack() as undo:
                    self._start(undo, None)
                    self.prepare()
                    unfinished = folder / "unfinished-state"
                    self._qmp.save(unfinished)
                    unfinished.rename(state)
        return state

    def run(self, command: str, timeout: float = BOUND_SECONDS, check: bool = True) -> Completed:
        """Runs a shell command in the guest, as root, to its end."""
        completed = self.start(command).wait(timeout)
        if check and completed.exit_code != 0:
            raise CommandFailed(
                f"exit code {completed.exit_code}", command, completed.stdout, completed.stderr
            )
        return completed

    def start(self, command: str) -> GuestProcess:
        """Starts a shell command in the guest, as root, and returns once it runs."""
        number = len(self._processes) + 1
        process = GuestProcess(self._agent, number, self.shared / f".jobs/{number}", command)
        self._processes.append(process)
        return process

    def ask(self, path: str, call: str) -> str:
        """The reply to a call of Varlink to a socket in the guest; empty if none can be had."""
        number = next(self._calls)
        self._agent.send(f"ask {number} {path} {call}")
        replies = self._agent.replies
        self._agent.wait_for(lambda: number in replies, BOUND_SECONDS, f"the reply to {call}")
        return replies.pop(number).strip()

    def end_leftovers(self) -> None:
        """Kills the commands that still run, and waits until they have ended."""
        leftovers = [process for process in self._processes if process.exit_code is None]
        for process in leftovers:
            process.kill()
        for process in leftovers:
            process.wait()

    def wait_until(self, command: str, timeout: float = BOUND_SECONDS) -> None:
        """Repeats a shell command in the guest until it succeeds."""
        self.run(f"until (\n{command}\n); do sleep 0.05; done", timeout)

    def play(self, script: str) -> None:
        """Types keys on the emulated keyboard, in the language of keys.py."""
        keys.play(keys.parse(script), self._send_key)

    def plug_usb_keyboard(self, identifier: str) -> str:
        """Plugs in a USB keyboard, waits for its node, and returns the node's path in the guest."""
        return self._plug(identifier, "usb-kbd", "Keyboard", "kbd")

    def plug_usb_mouse(self, identifier: str) -> str:
        """Plugs in a USB mouse, waits for its node, and returns the node's path in the guest."""
        return self._plug(identifier, "usb-mouse", "Mouse", "mouse")

    def _plug(self, identifier: str, driver: str, product: str, kind: str) -> str:
        self._qmp.command(
            "device_add", driver=driver, id=identifier, bus="usb.0", serial=identifier
        )
        path = f"/dev/input/by-id/usb-QEMU_QEMU_USB_{product}_{identifier}-event-{kind}"
        # udev has the kernel suspend QEMU's USB devices after two idle seconds. The next event then
        # wakes the device, and comes later than events of other devices that follow it.
        self.wait_until(
            f"test -e {path} && for control in /sys/bus/usb/devices/*-*/power/control; do "
            f"echo on >$control; done"
        )
        return path

    def wait_for_usb_mouse(self) -> None:
        """Waits until the USB mouse gets the buttons and the motion.

        QEMU gives them to it once the kernel asks it for events, so once a program has it open.
        """
        wait_until(
            lambda: any(
                mouse["current"] and mouse["name"] == "QEMU HID Mouse"
                for mouse in self._qmp.command("query-mice")
            ),
            "a program to open the USB mouse",
        )

    def move(self, right: int, down: int) -> None:
        """Moves the emulated mouse by so many steps."""
        steps = {"x": right, "y": down}
        self._send([{"type": "rel", "data": {"axis": a, "value": n}} for a, n in steps.items()])

    def unplug(self, identifier: str) -> None:
        """Unplugs a device; the guest notices a little later."""
        self._qmp.remove_device(identifier)

    def picture(self, path: Path) -> None:
        """Takes a picture of the screen, as a PPM, of a guest with a graphics card."""
        self._qmp.command("screendump", filename=str(path))

    def journal_tail(self, lines: int = 40) -> str:
        """The end of the guest's journal, kernel messages included."""
        return self.run(f"journalctl --no-pager -n {lines}").stdout

    def _send_key(self, key: str, is_down: bool) -> None:
        if key.startswith(keys.BUTTON):
            button = {"down": is_down, "button": key.removeprefix(keys.BUTTON)}
            self._send([{"type": "btn", "data": button}])
        else:
            value = {"down": is_down, "key": {"type": "qcode", "data": key}}
            self._send([{"type": "key", "data": value}])

    def _send(self, events: list[dict[str, Any]]) -> None:
        self._qmp.command("input-send-event", events=events)

    def _start_qemu(
        self, console: Path, state: Path | None, undo: contextlib.ExitStack
    ) -> tuple[socket.socket, socket.socket]:
        """Starts QEMU and returns connections to its control port and to the agent's port.

        QEMU inherits the other ends, so there are no socket files and no wait before connecting.
        """
        control, control_of_qemu = socket.socketpair()
        agent, agent_of_qemu = socket.socketpair()
        undo.callback(control.close)
        with control_of_qemu, agent_of_qemu, console.open("wb") as output:
            descriptors = (control_of_qemu.fileno(), agent_of_qemu.fileno())
            self._qemu = subprocess.Popen(
                self._qemu_command(*descriptors, state),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                pass_fds=descriptors,
            )
        return control, agent

    def _kill_qemu(self) -> None:
        self._qemu.kill()
        self._qemu.wait()

    def _qemu_command(self, control: int, agent: int, state: Path | None) -> list[str]:
        loads = ["-incoming", f"exec:cat {shlex.quote(str(state))}"] if state else []
        return [
            # setpriv: if the thread that starts QEMU ends, even by SIGKILL, QEMU is killed too.
            *("setpriv", "--pdeathsig", "KILL", "--", QEMU),
            *self._machine(),
            *("-kernel", str(self._images.kernel), "-initrd", str(self._images.initramfs)),
            *("-drive", f"if=none,id=root,format=raw,read-only=on,file={self._images.root}"),
            *("-fsdev", f"local,id=host,path={self.shared},security_model=none"),
            *("-chardev", f"socket,id=qmp,fd={control}", "-mon", "chardev=qmp,mode=control"),
            *("-chardev", f"socket,id=agent,fd={agent}"),
            *("-chardev", "stdio,id=console,signal=off"),
            *loads,
        ]

    def _machine(self) -> list[str]:
        """The arguments that a saved state depends on."""
        return [
            *("-accel", self.acceleration, *ARCHITECTURE.machine),
            *("-smp", str(self.processors), "-m", str(self.memory_mib)),
            *("-nodefaults", "-no-user-config", "-display", "none", "-no-reboot"),
            *("-append", f"{KERNEL_COMMAND_LINE} {self._clock}"),
            *("-device", "virtio-blk-pci,drive=root"),
            *("-device", "virtio-9p-pci,fsdev=host,mount_tag=host"),
            *("-device", "virtio-serial-pci", "-device", "virtserialport,chardev=agent,name=agent"),
            *("-device", "qemu-xhci,id=usb", "-serial", "chardev:console"),
        ]


if __name__ == "__main__" and not missing_requirements():
    # Before the tests, so that the time that they take is their own.
    for addition in ("", *sys.argv[1:]):
        images = ensure_images(addition)
        if ARCHITECTURE.is_saved:
            VirtualMachine(images).saved_state()
