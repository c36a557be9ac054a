"""Builds what the test guest boots from: a Debian kernel, an initramfs and a root image.

They land in <checkout>/.vm, in a folder for each Debian, and are built again only when this file
or the files in guest/image have changed. Everything comes from Debian's own mirrors, and nothing is
installed on the host. The tests call `ensure_images()`; with "desktop", the guest has the packages
of packages-desktop.txt too, which would make the start of all other guests slower. The lists of
Tests/Desktops are named in the same way.
"""

import contextlib
import fcntl
import hashlib
import lzma
import os
import platform
import shutil
import struct
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from support.checkout import CHECKOUT

from harness.architecture import ARCHITECTURE

PARTS = CHECKOUT / "Tests/VirtualMachine/guest/image"
IMAGES = CHECKOUT / ".vm"

# The modules that the initramfs needs to reach the root image. Those of the running guest are in
# modules.txt: folders and modules below lib/modules/VERSION/kernel, as Debian's whole tree is 400 MB.
INITRAMFS_MODULES = (*ARCHITECTURE.initramfs_modules, "virtio_blk", "ext4", "overlay")

# In a namespace for its mounts, so that none is left if it is killed.
MMDEBSTRAP = (
    *("unshare", "--mount", "mmdebstrap", "--mode=root", f"--architectures={ARCHITECTURE.debian}"),
    # It looks for an emulator in the machine, which `emulating` does without.
    "--skip=check/qemu",
)

# Of libinput-tools only what tests use is unpacked: its debug-gui would bring GTK 3.
# packages.txt has what these files link with or import.
LIBINPUT_TOOLS = (
    "usr/bin/libinput",
    "usr/libexec/libinput/libinput-record",
    "usr/libexec/libinput/libinput-replay",
)
# Files of packages that the guest has no use for. The rules of libinput and libwacom would start
# programs for each input device, at each boot, to group and correct touchpads and tablets.
UNWANTED = (
    *(f"/usr/share/{name}/*" for name in ("doc", "man", "locale")),
    *(f"*/lib/udev/rules.d/*-{name}*.rules" for name in ("libinput", "libwacom")),
)

# Some of these live in /usr/sbin, which is not on every root's PATH.
ENVIRONMENT = {**os.environ, "PATH": f"{os.environ['PATH']}:/usr/sbin:/sbin", "LC_ALL": "C"}


@dataclass(frozen=True)
class Images:
    """The three files QEMU boots from."""

    kernel: Path
    initramfs: Path
    root: Path

    @contextlib.contextmanager
    def locked(self) -> Iterator[Path]:
        """The folder of the images, while no other run of the tests changes what is in it."""
        with _locked(self.root.parent) as folder:
            yield folder


@contextlib.contextmanager
def _locked(folder: Path) -> Iterator[Path]:
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield folder


def missing_requirements() -> str:
    """The requirements that this host lacks and how to get them; empty if it has all."""
    sets = ("virtual-machine", *ARCHITECTURE.package_sets)
    needed = [name for each in sets for name in _listed(CHECKOUT / "scripts/packages" / each)]
    installed = set()
    if shutil.which("dpkg-query"):
        listing = _output("dpkg-query", "-W", "-f", "${db:Status-Status} ${Package}\n")
        installed = {line.split()[1] for line in listing.splitlines() if line[:10] == "installed "}
    packages = [package for package in needed if package not in installed]
    problems = []
    if os.geteuid() != 0:
        problems.append("the virtual machine tests must run as root")
    if packages:
        problems.append(
            f"missing host packages, get them with: apt-get install {' '.join(packages)}"
        )
    if not all(Path(each).exists() for each in ARCHITECTURE.emulating):
        problems.append("'make deb-arm64' must have made the emulator and the package")
    return "; ".join(problems)


def ensure_images(addition: str = "") -> Images:
    """Returns the images, building them first where they are missing or out of date.

    `addition` names a list of packages that the guest has besides the usual ones.
    """
    folder = IMAGES / "-".join(
        part for part in (_suite(), ARCHITECTURE.name_of_images, addition) if part
    )
    images = _images(folder, ARCHITECTURE.kernel)
    stamp = folder / "stamp"
    wanted = _hash_of_inputs(addition)
    with _locked(folder):
        if not stamp.exists() or stamp.read_text() != wanted:
            if problem := missing_requirements():
                raise RuntimeError(problem)
            stamp.unlink(missing_ok=True)
            for state in folder.glob("state-*"):
                state.unlink()
            with tempfile.TemporaryDirectory(prefix="building-", dir=folder) as work:
                _build(Path(work), folder, addition)
            stamp.write_text(wanted)
    return images


def _images(folder: Path, kernel: str) -> Images:
    """The images in a folder, with one of the kernels of the architecture. They share a root."""
    return Images(folder / f"vmlinux-{kernel}", folder / f"initramfs-{kernel}.cpio", folder / "root.ext4")


def _lists(kind: str, addition: str) -> list[Path]:
    """The lists of the guest's `packages` or `modules`: for all Debians, for this one, and for an addition."""
    own = [PARTS / f"{kind}-{name}.txt" for name in (_suite(), addition, f"{_suite()}-{addition}")]
    return [PARTS / f"{kind}.txt", *(path for path in own if path.exists())]


def _names(kind: str, addition: str) -> list[str]:
    """What is in these lists."""
    return [name for path in _lists(kind, addition) for name in _listed(path)]


def _listed(path: Path) -> list[str]:
    """The words of a file, without its comments."""
    return [word for line in path.read_text().splitlines() for word in line.split("#")[0].split()]


def _hash_of_inputs(addition: str) -> str:
    digest = hashlib.sha256()
    lists = [path for kind in ("packages", "modules") for path in _lists(kind, addition)]
    others = sorted({*PARTS.iterdir()} - {*PARTS.glob("packages*.txt"), *PARTS.glob("modules*.txt")})
    code = Path(__file__)
    for source in [code, code.with_name("architecture.py"), *lists, *others]:
        digest.update(source.name.encode() + b"\0" + source.read_bytes())
    return digest.hexdigest()


def _suite() -> str:
    """The Debian that the guest has: the host's, because the programs under test are built there.

    KEYMODED_VM_SUITE names another one that has what the programs link with. The package for arm64 is built
    on Debian 13.
    """
    host = platform.freedesktop_os_release().get("VERSION_CODENAME", "trixie")
    return os.environ.get("KEYMODED_VM_SUITE") or ARCHITECTURE.suite or host


def _output(*command: str | Path, **options: Any) -> str:
    """Runs a tool of the host and returns its output; raises RuntimeError if it fails."""
    result = subprocess.run(command, capture_output=True, env=ENVIRONMENT, **options)
    if result.returncode != 0:
        said = (result.stdout + result.stderr).decode(errors="replace")
        raise RuntimeError(f"{' '.join(map(str, command))} failed:\n{said[-4000:]}")
    output: bytes = result.stdout
    return output.decode()


def _build(work: Path, folder: Path, addition: str) -> None:
    modules = []
    for name in ARCHITECTURE.kernels:
        images, kernel = _images(folder, name), work / name
        _unpack_kernel(name, kernel)
        (tree,) = {path.resolve() for path in _merged(kernel, "lib/modules/*")}
        _output("depmod", "-b", kernel, tree.name)
        (compressed,) = (kernel / "boot").glob("vmlinuz-*")
        image = compressed.read_bytes()
        images.kernel.write_bytes(_extract_vmlinux(image) if ARCHITECTURE.is_bzimage else image)
        _build_initramfs(work / f"initramfs-{name}", kernel, tree.name, images.initramfs)
        modules.append(tree)
    _build_root(work / "root", modules, folder / "root.ext4", addition)


def _unpack_kernel(name: str, kernel: Path) -> None:
    """Unpacks Debian's kernel package. The cloud flavour would not do: it has no uinput.

    busybox is for the initramfs, and base-files has the links from / into /usr.
    """
    included = f"base-files,busybox-static,linux-image-{name}"
    options = ("--variant=extract", f"--include={included}")
    _output(*MMDEBSTRAP, *options, ARCHITECTURE.kernel_suite, kernel)


def _merged(tree: Path, pattern: str) -> list[Path]:
    """The files that match in / or /usr: Debian 13 has moved them."""
    return [*tree.glob(pattern), *(tree / "usr").glob(pattern)]


def _extract_vmlinux(bzimage: bytes) -> bytes:
    """Takes the plain kernel out of a bzImage: unpacking it in the guest costs 3 s at each boot.

    The offsets are those of the kernel's boot protocol: setup_sects, payload_offset and
    payload_length in the header at 0x1f1.
    """
    setup_sectors = bzimage[0x1F1] or 4
    offset, length = struct.unpack_from("<II", bzimage, 0x248)
    start = (setup_sectors + 1) * 512 + offset
    kernel = lzma.LZMADecompressor().decompress(bzimage[start : start + length])
    if not kernel.startswith(b"\x7fELF"):
        raise RuntimeError("the kernel package holds no kernel compressed with xz")
    return kernel


def _build_initramfs(tree: Path, kernel: Path, version: str, image: Path) -> None:
    for folder in ("bin", "dev", "modules", "proc", "root", "sys"):
        (tree / folder).mkdir(parents=True)
    shutil.copy(_merged(kernel, "bin/busybox")[0], tree / "bin/busybox")
    for applet in ("sh", "mount", "mkdir", "insmod", "sleep", "poweroff", "switch_root"):
        (tree / "bin" / applet).symlink_to("busybox")
    (tree / "sbin").symlink_to("bin")
    shutil.copy(PARTS / "init", tree / "init")
    order: list[str] = []
    for path in _with_dependencies(kernel, version):
        # busybox loads no compressed module, as those of Debian 13 are.
        name, content = path.name.removesuffix(".xz"), path.read_bytes()
        content = content if name == path.name else lzma.decompress(content)
        (tree / "modules" / name).write_bytes(content)
        order.append(name)
    (tree / "modules/order").write_text("\n".join(order) + "\n")
    names = "\n".join(str(path.relative_to(tree)) for path in sorted(tree.rglob("*")))
    _output("cpio", "-o", "-H", "newc", "-F", image, cwd=tree, input=names.encode())


def _with_dependencies(kernel: Path, version: str) -> list[Path]:
    """The modules the initramfs loads, each after those it needs."""
    listing = _output(
        *("modprobe", "-d", kernel, "-S", version),
        *("--show-depends", "-a", *INITRAMFS_MODULES),
    )
    paths = [Path(line.split()[1]) for line in listing.splitlines() if line.startswith("insmod")]
    return list(dict.fromkeys(paths))


def _build_root(root: Path, modules: Sequence[Path], image: Path, addition: str) -> None:
    _output(
        *ARCHITECTURE.emulating,
        *MMDEBSTRAP,
        "--variant=minbase",
        f"--include={','.join(_names('packages', addition))}",
        '--aptopt=Apt::Install-Recommends "false"',
        *(f"--dpkgopt=path-exclude={pattern}" for pattern in UNWANTED),
        f"--customize-hook={_unpacking('libinput-tools', LIBINPUT_TOOLS)}",
        _suite(),
        root,
    )
    for tree in modules:
        _copy_modules(tree, root, _names("modules", addition))
    _configure(root)
    content = sum(path.lstat().st_blocks * 512 for path in root.rglob("*") if not path.is_symlink())
    size_kib = content * 13 // 10 // 1024 + 65536
    image.unlink(missing_ok=True)
    _output(
        *("mke2fs", "-q", "-t", "ext4", "-O", "^has_journal,^metadata_csum", "-m", "0"),
        *("-E", "lazy_itable_init=1,root_owner=0:0", "-d", root, image, f"{size_kib}k"),
    )


def _unpacking(package: str, paths: Sequence[str]) -> str:
    """A hook of mmdebstrap that takes only these files of a package, without its dependencies."""
    files = " ".join(f"./{path}" for path in paths)
    inside = (
        f"cd /run && apt-get download --quiet {package} && "
        f"dpkg-deb --fsys-tarfile {package}_*.deb | tar -x -C / {files} && rm {package}_*.deb"
    )
    return f'chroot "$1" sh -c "{inside}"'


def _copy_modules(modules: Path, root: Path, names: Sequence[str]) -> None:
    target = root / "lib/modules" / modules.name
    for name in names:
        source, copy = modules / "kernel" / name, target / "kernel" / name
        # Some are in the kernel itself, for one architecture or another.
        if source.is_dir():
            shutil.copytree(source, copy)
        for file in source.parent.glob(f"{source.name}.ko*"):
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(file, copy.parent)
    for name in ("modules.order", "modules.builtin", "modules.builtin.modinfo"):
        shutil.copy(modules / name, target)
    _output("depmod", "-b", root, modules.name)


def _configure(root: Path) -> None:
    """Makes every boot fast, quiet and equal, without first-boot work; the agent starts last."""
    units = root / "etc/systemd/system"
    for name in _listed(PARTS / "masked-units.txt"):
        link = units / name
        link.unlink(missing_ok=True)
        link.symlink_to("/dev/null")
    # Each reload of a manager would run them all, which takes seconds, and they find nothing.
    for generators in (root / "usr/lib/systemd").glob("*-generators"):
        shutil.rmtree(generators)
    default_target = units / "default.target"
    default_target.unlink(missing_ok=True)
    default_target.symlink_to("/lib/systemd/system/multi-user.target")

    shutil.copy(PARTS / "agent", root / "usr/local/bin")
    shutil.copy(PARTS / "agent.service", units)
    wants = units / "multi-user.target.wants"
    wants.mkdir(exist_ok=True)
    (wants / "agent.service").symlink_to("../agent.service")

    journal = root / "etc/systemd/journald.conf.d"
    journal.mkdir()
    (journal / "guest.conf").write_text("[Journal]\nStorage=volatile\nRateLimitBurst=0\n")
    logins = root / "etc/systemd/logind.conf.d"
    logins.mkdir()
    # A user's manager ends with the last session, and not ten seconds later in the next test; and
    # a console that comes to the front gets no getty.
    options = "NAutoVTs=0\nReserveVT=0\nUserStopDelaySec=0\n"
    (logins / "guest.conf").write_text(f"[Login]\n{options}")
    (root / "etc/hostname").write_text("guest\n")
    (root / "etc/machine-id").write_text("0123456789abcdef0123456789abcdef\n")
    (root / "etc/fstab").write_text("")
    for folder in (root / "var/cache/apt/archives", root / "var/lib/apt/lists"):
        shutil.rmtree(folder)
    for folder in (root / "etc", root / "var"):
        (folder / ".updated").touch()
