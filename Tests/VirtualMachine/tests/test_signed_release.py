"""The folder of `make release KEY=…`: what apt takes from it by the lines of docs/service.md."""

import functools
import os
import re
import subprocess
import threading
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from support.checkout import CHECKOUT

KEY = "Maintainer <maintainer@keymoded.invalid>"
OTHER = "Other <other@keymoded.invalid>"


class Web(SimpleHTTPRequestHandler):
    """Serves files as they are now: two changes may come within the second that their times tell."""

    def do_GET(self) -> None:
        del self.headers["If-Modified-Since"]
        super().do_GET()

    def log_message(self, *_: object) -> None:
        """Logs nothing."""


class Machine:
    """A user's machine, as far as apt sees it, which has bash 1.0 and fetches from a maintainer's folder."""

    def __init__(self, folder: Path) -> None:
        self.root, self.release, self.gpg = (folder / name for name in ("root", "release", "gpg"))
        self.gpg.mkdir(mode=0o700)
        self.release.mkdir()
        for name in ("keymoded", "bash"):
            self.publish(name, "99.0")
        for name in (
            *("etc/apt/sources.list.d", "etc/apt/preferences.d"),
            *("etc/apt/apt.conf.d", "etc/apt/keyrings"),
            *("var/lib/apt/lists/partial", "var/cache/apt/archives/partial", "var/lib/dpkg"),
        ):
            (self.root / name).mkdir(parents=True)
        status = "Package: bash\nStatus: install ok installed\nArchitecture: all\nVersion: 1.0\n"
        status += "Maintainer: nobody\nDescription: a shell\n"
        (self.root / "var/lib/dpkg/status").write_text(status)
        # A program of root would go on as another user, who may not read the folder.
        settings = f'Dir "{self.root}";\nAPT::Sandbox::User "root";\nAcquire::Languages "none";\n'
        (folder / "apt.conf").write_text(settings)
        self.environment = {
            **os.environ,
            "APT_CONFIG": str(folder / "apt.conf"),
            "GNUPGHOME": str(self.gpg),
            "LC_ALL": "C.UTF-8",
            "no_proxy": "*",
        }

    def run(self, *command: str | Path, is_well: bool = True) -> str:
        """Runs a program, and returns all that it printed."""
        ended = subprocess.run(
            command,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=120,
        )
        assert (ended.returncode == 0) == is_well, ended.stdout
        return ended.stdout

    def make_key(self, name: str = KEY) -> None:
        """Makes a key without a passphrase."""
        self.run("gpg", "--batch", "--passphrase", "", "--quick-generate-key", name, "ed25519", "sign")

    def publish(self, name: str, version: str) -> None:
        """Puts a package into the folder, and lists all that are there."""
        tree = self.release.parent / f"tree-{name}-{version}"
        (tree / "DEBIAN").mkdir(parents=True)
        control = f"Package: {name}\nVersion: {version}\nArchitecture: all\nMaintainer: nobody\n"
        (tree / "DEBIAN/control").write_text(f"{control}Description: for a test\n")
        subprocess.run(
            ["dpkg-deb", "--build", tree, self.release / f"{name}_{version}_all.deb"],
            check=True,
            capture_output=True,
        )
        self.list()

    def list(self) -> None:
        """Lists the packages, as `make release` does."""
        listed = subprocess.run(
            ["dpkg-scanpackages", "--multiversion", "."], cwd=self.release, check=True, capture_output=True
        )
        (self.release / "Packages").write_bytes(listed.stdout)

    def sign(self, key: str = KEY) -> None:
        """Signs the folder, as `make release KEY=…` does."""
        self.run(CHECKOUT / "scripts/sign-release", self.release, key)

    def follow_the_page(self, address: str) -> None:
        """Writes the two files that docs/service.md shows, for the folder at this address."""
        page = (CHECKOUT / "docs/service.md").read_text()
        shown = re.findall(r"^# (/etc/apt/\S+)\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
        assert [path.split("/")[3] for path, _ in shown] == ["sources.list.d", "preferences.d"]
        for path, text in shown:
            text = text.replace("https://keymoded.example/debian", address)
            text = text.replace("keymoded.example", "127.0.0.1").replace("/etc/apt", f"{self.root}/etc/apt")
            (self.root / path[1:]).write_text(text)
        (self.root / "etc/apt/keyrings/keymoded.asc").write_bytes((self.release / "keymoded.asc").read_bytes())

    def update(self, is_well: bool = True) -> str:
        """Fetches the lists; apt ends with 0 also where it refuses one, unless it is asked not to."""
        return self.run("apt-get", "update", "--error-on=any", is_well=is_well)

    def refused(self) -> None:
        """Asserts that apt takes no list from the folder."""
        self.update(is_well=False)
        assert self.candidate("keymoded") == "none"

    def candidate(self, name: str) -> str:
        """The version that apt would install."""
        found = re.search(r"Candidate: (.*)", self.run("apt-cache", "policy", name))
        return found[1] if found else "none"


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[Machine]:
    """A machine that follows the page, and a web server with a signed folder."""
    machine = Machine(tmp_path)
    handler = functools.partial(Web, directory=str(machine.release))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever).start()
        try:
            machine.make_key()
            machine.sign()
            machine.follow_the_page(f"http://127.0.0.1:{server.server_address[1]}")
            yield machine
        finally:
            server.shutdown()
            machine.run("gpgconf", "--kill", "all")


def test_apt_takes_keymoded_and_no_other_package_from_the_signed_folder(machine: Machine) -> None:
    machine.update()
    assert machine.candidate("keymoded") == "99.0"
    assert machine.candidate("bash") == "1.0"
    planned = machine.run("apt-get", "--simulate", "dist-upgrade")
    assert "0 upgraded, 0 newly installed" in planned
    planned = machine.run("apt-get", "--simulate", "install", "keymoded")
    assert re.findall("^Inst (\\S+)", planned, re.MULTILINE) == ["keymoded"]
    # Its bytes are those of the signed list.
    machine.run("apt-get", "--yes", "--download-only", "install", "keymoded")
    (machine.release / "keymoded_99.0_all.deb").write_bytes(b"another")
    machine.run("apt-get", "clean")
    machine.run("apt-get", "--yes", "--download-only", "install", "keymoded", is_well=False)


def test_without_the_pin_the_folder_would_offer_every_package(machine: Machine) -> None:
    (machine.root / "etc/apt/preferences.d/keymoded").unlink()
    machine.update()
    assert machine.candidate("bash") == "99.0"


def test_apt_refuses_a_changed_folder_and_one_of_another_key(machine: Machine) -> None:
    machine.publish("keymoded", "100.0")
    machine.refused()
    # Also where the list of lists was changed with it.
    machine.sign()
    signed = (machine.release / "InRelease").read_text()
    (machine.release / "InRelease").write_text(signed.replace("Origin: keymoded", "Origin: Debian"))
    machine.refused()
    # Nor does it help to put another key beside the folder.
    machine.make_key(OTHER)
    machine.sign(OTHER)
    machine.refused()
    machine.sign()
    machine.update()
    assert machine.candidate("keymoded") == "100.0"


def test_a_key_that_gpg_does_not_have_signs_nothing(machine: Machine) -> None:
    printed = machine.run(CHECKOUT / "scripts/sign-release", machine.release, "nobody@else", is_well=False)
    assert "gpg has no key 'nobody@else'" in printed
    assert not (machine.release / "InRelease").exists()
