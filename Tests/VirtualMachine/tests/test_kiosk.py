"""The kiosk's bridge as a service of its user's manager, installed as its page says."""

import json
import re
import shutil
from collections.abc import Iterator
from typing import Any

import pytest
from harness import service
from harness.guest_process import GuestProcess
from harness.sessions import Session, as_user, session, systemctl
from harness.vm import VirtualMachine
from support.checkout import CHECKOUT

EXAMPLE = CHECKOUT / "examples/kiosk"
EXAMPLES = "/usr/share/doc/keymoded/examples"
SERVICE, SOCKET = "keymode-kiosk.service", "keymode-kiosk.socket"
ENTRANCE = "$XDG_RUNTIME_DIR/keymode-kiosk.html"

MEMORY_MAX = 128 << 20

# More than the five starts in ten seconds after which systemd gives up by default.
KILLS = 6


def commands(containing: str) -> str:
    """The block of shell commands of the page that has this text."""
    page = (EXAMPLE / "README.md").read_text()
    (found,) = (
        block
        for block in re.findall(r"^```sh\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
        if containing in block
    )
    return str(found)


@pytest.fixture(scope="module")
def desk(installed: VirtualMachine) -> Iterator[Session]:
    """Alice's session, where she has done what the page says, without the browser."""
    shutil.copytree(EXAMPLE, installed.shared / "kiosk", dirs_exist_ok=True)
    installed.run(f"install -d {EXAMPLES}; cp -r --no-preserve=ownership /host/kiosk {EXAMPLES}")
    service.restart(installed)
    block = commands("systemctl --user enable")
    copy_and_enable = block[block.index("cp -r") : block.index("chromium --kiosk")]
    try:
        with session(installed) as opened:
            opened.run(copy_and_enable)
            # The commands return once the bridge is ready, so nothing waits for its file.
            assert opened.run(f"stat --format '%a %U' {ENTRANCE}").stdout == "600 alice\n"
            yield opened
    finally:
        installed.run("rm -rf /usr/share/doc/keymoded ~alice/kiosk ~alice/.config ~alice/.local")


def page(vm: VirtualMachine, words: str) -> str:
    """The command line of kiosk_page.py as alice."""
    return as_user("alice", f"exec {service.program(vm, 'kiosk_page')} {words}")


def ask(vm: VirtualMachine, words: str) -> tuple[int, str]:
    """The status and the body of the reply to a request of alice's page."""
    status, _, body = vm.run(page(vm, f"ask {words}")).stdout.partition(" ")
    return int(status), body


def follow(vm: VirtualMachine, last: str = "") -> GuestProcess:
    return vm.start(page(vm, f"follow {last}"))


def event(stream: GuestProcess) -> dict[str, Any]:
    """The next event of a stream."""
    (line,) = stream.read_lines(1)
    found: dict[str, Any] = json.loads(line)
    return found


def states(stream: GuestProcess) -> list[str]:
    """The states to which the changes of the next event lead; none was missed."""
    data = event(stream)["data"]
    assert data["missed"] == 0
    return [change["to"] for change in data["changes"]]


def entrance(desk: Session) -> str:
    return desk.run(f"cat {ENTRANCE}").stdout


def main_pid(vm: VirtualMachine) -> int:
    return int(systemctl(vm, f"show --value --property MainPID {SERVICE}").stdout)


def kill_often(vm: VirtualMachine) -> None:
    """Kills the bridge with SIGKILL each time systemd has started it; returns when it is ready."""
    shown = f"systemctl --user show --value --property MainPID {SERVICE}"
    vm.run(
        as_user(
            "alice",
            f"""
            set -e
            for _ in {{1..{KILLS}}}; do
              until pid=$({shown}); [ $pid != 0 ] && kill -KILL $pid 2>/dev/null; do
                sleep 0.05
              done
            done
            until systemctl --user is-active --quiet {SERVICE} && [ "$({shown})" != $pid ]; do
              sleep 0.05
            done
            """,
        )
    )


def test_units_are_well_formed(guest: VirtualMachine, desk: Session) -> None:
    verify = f"systemd-analyze --user verify --man=no ~/kiosk/{SOCKET} ~/kiosk/{SERVICE}"
    complaints = desk.run(verify, check=False).stderr.splitlines()
    assert [line for line in complaints if "kiosk" in line] == []
    shown = systemctl(guest, f"status --no-pager --full {SERVICE} {SOCKET}").stdout
    for complaint in ("ignoring", "not supported", "Failed", "cannot"):
        assert complaint not in shown
    # Where it is depends on the version of systemd.
    state = "stat --format %a ~/.config/keymode-kiosk ~/.local/state/keymode-kiosk 2>/dev/null"
    assert desk.run(state, check=False).stdout == "700\n"


def test_killed_bridge_comes_back_with_its_token(
    guest: VirtualMachine, desk: Session
) -> None:
    token = entrance(desk)
    stream = follow(guest)
    last = event(stream)["id"]
    kill_often(guest)
    assert stream.wait().exit_code == 0
    guest.run("keymodectl trigger tapTextField; keymodectl trigger clickMoreButton")
    assert states(follow(guest, last)) == ["editingText", "showingPanel"]
    assert entrance(desk) == token


@pytest.fixture
def strict(guest: VirtualMachine, desk: Session) -> Iterator[int]:
    """The PID of a bridge that a denied system call would kill."""
    folder = f".config/systemd/user/{SERVICE}.d"
    desk.run(
        f"mkdir -p {folder}; echo -e '[Service]\\nSystemCallErrorNumber=kill' >{folder}/kill.conf; "
        f"systemctl --user daemon-reload; systemctl --user restart {SERVICE}"
    )
    yield main_pid(guest)
    desk.run(f"rm -r {folder}; systemctl --user daemon-reload; systemctl --user restart {SERVICE}")


def test_page_gets_keys_its_fingers_act_and_the_service_stays_within_its_limits(
    guest: VirtualMachine, strict: int
) -> None:
    stream = follow(guest)
    first = event(stream)["data"]
    assert (first["state"]["states"]["keyboard"], first["changes"]) == ("prepareToEditText", [])
    guest.play("tap compose")
    assert states(stream) == ["showingPanel"]
    assert ask(guest, "GET /index.html")[0] == 200
    assert ask(guest, "GET /no-such-file")[0] == 404
    assert ask(guest, """POST /trigger '{"event": "tapTextField"}'""")[0] == 200
    assert states(stream) == ["editingText"]
    guest.run("systemctl restart keymoded.service")
    assert event(stream)["event"] == "away"
    event(stream)
    assert main_pid(guest) == strict
    # What a crowd takes is measured without a guest, in Tests/Kiosk.
    group = systemctl(guest, f"show --value --property ControlGroup {SERVICE}").stdout.strip()
    assert guest.run(f"cat /sys/fs/cgroup{group}/memory.max").stdout == f"{MEMORY_MAX}\n"
    status = guest.run(f"cat /proc/{strict}/status").stdout
    assert re.search(r"^NoNewPrivs:\t1$", status, re.MULTILINE)
    assert re.search(r"^Seccomp:\t2$", status, re.MULTILINE)


def test_commands_of_the_page_install_its_keys(guest: VirtualMachine, desk: Session) -> None:
    # Root runs this in the home of alice, as she would with sudo.
    install = commands("reload keymoded").replace("sudo ", "").replace("~", "~alice")
    # The package has the folder.
    guest.run(f"install -d /etc/keymoded/keymoded.yaml.d; {install}")
    guest.wait_until("keymodectl stats | grep -Eq '^reloads +[1-9]'")
    stream = follow(guest)
    event(stream)
    for script, state in (
        ("down f9", "prepareToRecord"),
        ("up f9", "editingText"),
        ("tap f10", "showingPanel"),
    ):
        guest.play(script)
        assert states(stream) == [state]


def test_next_login_starts_the_service(guest: VirtualMachine, desk: Session) -> None:
    # The last test, because it ends the session of the others.
    token = entrance(desk)
    desk.close()
    guest.wait_until("! test -e /run/user/$(id -u alice)")
    with session(guest) as again:
        again.run("systemctl --user start default.target")
        assert again.run(f"systemctl --user is-active {SERVICE}").stdout == "active\n"
        assert entrance(again) != token
        assert ask(guest, "GET /state")[0] == 200
