"""What differs between guests of different processors.

KEYMODED_VM_ARCHITECTURE chooses: amd64, which is the default, arm64, or arm64-16k with pages of 16 KiB.
"""

import os
from dataclasses import dataclass

from support.checkout import CHECKOUT


@dataclass(frozen=True)
class Architecture:
    """A guest's processor, its kernel, and what of its machine has other names."""

    debian: str
    """Debian's name of the architecture."""
    kernel: str
    """The kernel's package, without linux-image-."""
    kernels: tuple[str, ...]
    """All kernels that boot the root image."""
    kernel_suite: str
    """The Debian that the kernel comes from, on every host: one that is known to boot like this."""
    is_bzimage: bool
    initramfs_modules: tuple[str, ...]
    qemu: str
    machine: tuple[str, ...]
    """QEMU's arguments for the machine, the processor, and its keyboard."""
    console: str
    keyboard: str
    """The node of the keyboard that the machine begins with."""
    keyboard_name: str
    is_saved: bool
    """Whether guests start in the state that a boot led to. For arm64, one did not answer within two minutes
    on a busy machine, with QEMU 7.2; why is not known."""
    name_of_images: str = ""
    suite: str = ""
    """The Debian that the guest has, unless it is that of the host."""
    emulating: tuple[str, ...] = ()
    """What runs a command so that programs of the architecture run in it."""
    package_sets: tuple[str, ...] = ()
    """Those of scripts/packages that the host needs besides."""


def _arm64(kernel: str, processor: str) -> Architecture:
    return Architecture(
        debian="arm64",
        kernel=kernel,
        kernels=("arm64", "arm64-16k"),
        kernel_suite="trixie",
        is_bzimage=False,
        initramfs_modules=("virtio_pci",),
        qemu="qemu-system-aarch64",
        machine=(
            *("-machine", "virt", "-cpu", processor),
            *("-device", "virtio-keyboard-pci,addr=1e.0"),
        ),
        console="ttyAMA0",
        keyboard="/dev/input/by-path/platform-4010000000.pcie-pci-0000:00:1e.0-event-kbd",
        keyboard_name="QEMU Virtio Keyboard",
        is_saved=False,
        name_of_images="arm64",
        suite="trixie",
        emulating=(
            str(CHECKOUT / "scripts/with-arm64"),
            str(CHECKOUT / ".arm64/root/usr/bin/qemu-aarch64"),
        ),
        package_sets=("arm64",),
    )


# The processors of a Raspberry Pi 4 and 5. The first has no pages of 16 KiB.
_ALL = {
    "amd64": Architecture(
        debian="amd64",
        kernel="amd64",
        kernels=("amd64",),
        kernel_suite="bookworm",
        is_bzimage=True,
        initramfs_modules=("virtio_pci", "crc32c_generic"),
        qemu="qemu-system-x86_64",
        machine=("-machine", "pc", "-cpu", "qemu64"),
        console="ttyS0",
        keyboard="/dev/input/by-path/platform-i8042-serio-0-event-kbd",
        keyboard_name="AT Translated Set 2 keyboard",
        is_saved=True,
    ),
    "arm64": _arm64("arm64", "cortex-a72"),
    "arm64-16k": _arm64("arm64-16k", "cortex-a76"),
}

ARCHITECTURE = _ALL[os.environ.get("KEYMODED_VM_ARCHITECTURE") or "amd64"]
