"""The commands of README as a new user runs them, from the installation on, with sudo.

These tests build on each other. `scripts/fresh-test` runs `make run`, the package's tests `make deb`,
and Tests/Desktop what needs a desktop: a bar and a microphone.
"""

import re
import shutil
from collections.abc import Iterator

import pytest
from harness import service
from harness.build_image import Images
from harness.sessions import SESSION_TERMINAL, Session, session
from harness.vm import VirtualMachine
from support import readme
from support.checkout import CHECKOUT

USER = "newcomer"

# A checkout after `make deb`.
FOLDER = f"/home/{USER}/keymoded"

# The guest's dpkg leaves out documents, which README needs.
PREPARATION = f"""
set -e
echo 'path-include=*' >/etc/dpkg/dpkg.cfg.d/zz-all
useradd --create-home --shell /bin/bash {USER}
echo '{USER} ALL=(ALL) NOPASSWD: ALL' >/etc/sudoers.d/{USER}
mkdir -p {FOLDER}/.deb
cp /host/keymoded_*.deb {FOLDER}/.deb
chown -R {USER}: ~{USER}
"""

# Half a minute is usual.
INSTALL_SECONDS = 900


@pytest.fixture(scope="module")
def vm(images: Images) -> Iterator[VirtualMachine]:
    """A guest of its own, without keymoded."""
    with VirtualMachine(images) as machine:
        (package,) = (CHECKOUT / ".deb").glob("keymoded_*.deb")
        shutil.copy(package, machine.shared)
        machine.run(PREPARATION)
        yield machine


@pytest.fixture
def user(vm: VirtualMachine) -> Iterator[Session]:
    """The new user, just logged in."""
    with session(vm, SESSION_TERMINAL, USER) as opened:
        yield opened


def test_every_command_is_below_a_heading_that_is_tested() -> None:
    assert readme.headings_with_commands() == [
        "Talk in three commands",
        "Install",
        "Try it first",
        "A key of your own",
        "See it",
    ]


def test_key_talks_after_the_commands_without_a_group(vm: VirtualMachine, user: Session) -> None:
    assert [*readme.commands("Install")] == ["make deb"]
    # Tests/Desktop runs the last two, with PipeWire.
    install, configure, *_ = readme.commands("Talk in three commands")
    vm.run(user.command_line(f"cd {FOLDER} && {install}"), timeout=INSTALL_SECONDS)
    service.wait_until_following(vm, 1)
    user.run(configure)
    hold_to_talk(vm, user)
    assert vm.run(f"id -nG {USER}").stdout.split() == [USER]


def hold_to_talk(vm: VirtualMachine, user: Session) -> None:
    """Holds the key of push-to-talk until the user sees that, and releases it."""
    vm.play("down ctrl_r")
    user.run("keymodectl wait talk=talking --timeout 60")
    vm.play("up ctrl_r")
    user.run("keymodectl wait talk=silent --timeout 60")


def test_key_is_bound_and_shows_the_panel(vm: VirtualMachine, user: Session) -> None:
    commands = readme.commands("A key of your own")
    configure, wait = commands
    user.run(configure)
    panel = user.start(wait)
    vm.wait_until("pgrep -x keymodectl")
    vm.play("tap f10")
    assert panel.wait().stdout == commands[wait]
    vm.play("tap f10")
    user.run("keymodectl wait keyboard=prepareToEditText --timeout 60")
    # The key of push-to-talk is still bound.
    hold_to_talk(vm, user)


def test_files_for_the_bar_are_where_it_looks(vm: VirtualMachine, user: Session) -> None:
    enter, copy, show, follow = readme.commands("See it")
    user.run(f"{enter} && {copy}")
    needed = re.findall(r"\S+\.(?:jsonc|css)", show)
    assert needed == ["config.jsonc", "style.css"]
    user.run(f"{enter} && test -e {' -a -e '.join(needed)}")
    assert user.run("ls ~/.config/waybar").stdout.split() == ["keymoded.css", "keymoded.jsonc"]

    line = user.start(follow)
    line.wait_for(r"^off prepareToEditText off\n\Z")
    vm.play("tap f10")
    line.wait_for(r"^off prepareToEditText off\noff showingPanel off\n\Z")
