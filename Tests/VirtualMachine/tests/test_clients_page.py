"""The examples of docs/clients.md, as they are on that page."""

import re
import shutil
from pathlib import Path

import pytest
import varlink
from harness.service import as_user, state, systemd_version
from harness.vm import VirtualMachine
from support.checkout import CHECKOUT
from support.connection import INTERFACE

PAGE = (CHECKOUT / "docs/clients.md").read_text()


def example(language: str, number: int = 0) -> str:
    """The text of the page's example of this language and number."""
    found = re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    return str(found[number])


def share(guest: VirtualMachine, name: str, text: str) -> str:
    """Writes a text to a file of the guest that every user may read, and returns its path."""
    (guest.shared / name).write_text(text)
    (guest.shared / name).chmod(0o644)
    return f"/host/{name}"


def require_systemd(guest: VirtualMachine, version: int) -> None:
    """Skips the test if the guest's systemd is older than the example needs."""
    if systemd_version(guest) < version:
        pytest.skip(f"came with systemd {version}")


def test_shell_example_with_varlinkctl_works(guest: VirtualMachine) -> None:
    require_systemd(guest, 255)
    script = share(guest, "example.sh", example("sh"))
    groups = ("keymoded-state", "keymoded-control")
    answers = guest.run(as_user("ordinary", f"sh -e {script}", *groups)).stdout.splitlines()
    assert ['"keyboard":"prepareToEditText"' in answers[0], len(answers)] == [True, 2]
    assert '"changed":true' in answers[1]
    assert '"keyboard":"editingText"' in answers[1]
    # systemd's parser accepts the description of the interface.
    introspect = f"varlinkctl introspect /run/keymoded/state.sock {INTERFACE}"
    assert "method Monitor(" in guest.run(as_user("reader", introspect)).stdout


def test_shell_example_with_socat_and_jq_works(guest: VirtualMachine) -> None:
    script = share(guest, "example.sh", example("sh", 1))
    follower = guest.start(as_user("reader", f"sh {script}"))
    follower.wait_for(r"^off\n\Z")
    guest.play("tap shift")
    follower.wait_for(r"^off\non\n\Z")
    guest.play("tap q")
    follower.wait_for(r"^off\non\noff\n\Z")


def test_python_example_without_a_package_prints_the_states_and_their_changes(
    guest: VirtualMachine,
) -> None:
    script = share(guest, "plain.py", example("python"))
    follower = guest.start(as_user("reader", f"python3 -u {script}"))
    follower.wait_for(r"^off prepareToEditText\n\Z")
    guest.play("tap shift")
    follower.wait_for(r"\non prepareToEditText\n  shift is now on\n\Z")


def test_python_example_follows_changes_across_a_restart(guest: VirtualMachine) -> None:
    shutil.copytree(Path(varlink.__file__).parent, guest.shared / "varlink", dirs_exist_ok=True)
    script = share(guest, "example.py", example("python", 1))
    follower = as_user("reader", f"python3 -B -u {script} >/run/said")
    guest.start(f"cd /host; {follower}")
    # Only its first output shows that the program has subscribed.
    guest.wait_until("keymodectl trigger clickMoreButton; [ -s /run/said ]")
    guest.run("keymodectl trigger tapTextField")
    guest.wait_until("tail -n 1 /run/said | grep -qx 'keyboard is now editingText'")
    before, lines = state(guest)["sequence"], len(guest.run("cat /run/said").stdout.splitlines())

    guest.run("systemctl restart keymoded; keymodectl trigger clickSwitchButton")
    guest.wait_until("tail -n 1 /run/said | grep -qx 'keyboard is now prepareToRecord'")
    after, said = state(guest)["sequence"], guest.run("cat /run/said").stdout.splitlines()
    assert len(said) - lines == after - before == 1
    assert set(said[: lines - 1]) <= {
        "keyboard is now showingPanel",
        "keyboard is now prepareToEditText",
    }


def test_c_example_follows_changes_and_reports_a_refusal(guest: VirtualMachine) -> None:
    require_systemd(guest, 257)
    program = share(guest, "watch.c", example("c"))
    guest.run(f"tcc -Wall -Werror -o /run/watch {program} -lsystemd")
    follower = guest.start(as_user("reader", "/run/watch"))
    follower.wait_for(r"^off prepareToEditText\n\Z")
    guest.run("keymodectl trigger clickMoreButton")
    follower.wait_for(r"^off prepareToEditText\noff showingPanel\n\Z")
    refused = guest.run(as_user("ordinary", "/run/watch"), check=False)
    assert refused.exit_code == 1
    assert refused.stderr == "/run/keymoded/state.sock: Permission denied\n"
