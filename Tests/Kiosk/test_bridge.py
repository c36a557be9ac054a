"""The bridge of examples/kiosk, as a browser, another user, and a foreign page reach it."""

import gzip
import json
import os
import socket
import stat
import struct
import subprocess
import urllib.request
from pathlib import Path

import pytest
from events import EventStream
from kiosk import EXAMPLE, Kiosk
from support.connection import Connection
from support.input_events import COMPOSE, ESC, INSERT
from support.passed_sockets import start_with_sockets
from support.process import Process
from support.waiting import wait_until

FILES = ["index.html", "kiosk.js", "kiosk.css", "icon.svg", "pictures/sun.svg"]


def test_first_the_states_then_every_change(kiosk: Kiosk) -> None:
    with EventStream(kiosk.bridge) as stream:
        first = stream.next()
        assert (first.data["state"]["keyboard"], first.data["changes"]) == ("prepareToEditText", [])
        pressed = kiosk.keyboard.press(COMPOSE)
        event = stream.next()
        [change] = event.data["changes"]
        assert change["time"] == pressed
        assert (change["from"], change["to"]) == ("prepareToEditText", "showingPanel")
        assert event.data["missed"] == 0
        # Boot time in microseconds, after the key.
        assert 0 < event.data["now"] - pressed < 10_000_000


def test_an_id_is_instance_and_sequence(kiosk: Kiosk) -> None:
    with EventStream(kiosk.bridge) as stream:
        stream.next()
        kiosk.keyboard.press(COMPOSE)
        event = stream.next()
        state = event.data["state"]
        assert event.identity == f"{state['instance']}:1"


@pytest.mark.parametrize("way", ["Last-Event-ID", "after"])
def test_a_page_that_comes_back_gets_what_it_missed(kiosk: Kiosk, way: str) -> None:
    with EventStream(kiosk.bridge) as stream:
        seen = stream.next().identity
    with EventStream(kiosk.bridge) as other:
        other.next()
        for key in (COMPOSE, INSERT, ESC):
            kiosk.keyboard.press(key)
            other.next()
    again = {"last": seen} if way == "Last-Event-ID" else {"after": seen}
    with EventStream(kiosk.bridge, **again) as stream:
        data = stream.next().data
        assert [change["sequence"] for change in data["changes"]] == [1, 2, 3]
        assert data["missed"] == 0


def test_the_header_counts_more_than_the_address_of_the_first_request(kiosk: Kiosk) -> None:
    with EventStream(kiosk.bridge) as stream:
        first = stream.next().identity
        kiosk.keyboard.press(COMPOSE)
        second = stream.next().identity
    with EventStream(kiosk.bridge, after=first, last=second) as stream:
        assert stream.next().data["changes"] == []


def test_changes_that_the_daemon_no_longer_keeps_are_counted(kiosk: Kiosk) -> None:
    with EventStream(kiosk.bridge) as stream:
        seen = stream.next().identity
    # Each press changes Shift, and the daemon keeps 1,024 changes.
    with Connection(kiosk.control_socket) as trigger:
        for _ in range(1100):
            assert trigger.call("Trigger", event="shiftPressed")["changed"]
    with EventStream(kiosk.bridge, after=seen) as stream:
        data = stream.next().data
        assert len(data["changes"]) + data["missed"] == data["state"]["sequence"] == 1100
        assert data["missed"] >= 1100 - 1024


@pytest.mark.parametrize("identity", ["x", "12", "ab:-1", "ab:1:2", "ab: 1", "a" * 5000])
def test_a_strange_id_is_refused(kiosk: Kiosk, identity: str) -> None:
    status, body = kiosk.bridge.ask(
        "GET", f"/events?token={kiosk.bridge.token}", headers={"Last-Event-ID": identity}
    )
    assert (status, body) == (400, b"not an event's ID")


def test_an_id_of_the_future_leads_to_the_states(kiosk: Kiosk) -> None:
    instance = kiosk.states()["instance"]
    with EventStream(kiosk.bridge, after=f"{instance}:99") as stream:
        assert stream.next().kind == "away"
        assert stream.next().data["state"]["sequence"] == 0


def test_an_event_acts(kiosk: Kiosk) -> None:
    status, body = kiosk.bridge.ask(
        "POST", "/trigger", b'{"event":"tapTextField"}', authorized(kiosk)
    )
    assert (status, json.loads(body)["changed"]) == (200, True)
    assert kiosk.states()["keyboard"] == "editingText"


def authorized(kiosk: Kiosk, **headers: str) -> dict[str, str]:
    """The headers that the page sends, and others."""
    own = {"Authorization": f"Bearer {kiosk.bridge.token}", "Origin": kiosk.bridge.origin}
    return {**own, **headers}


EVENT = b'{"event":"tapTextField"}'

# What must be refused: the method, the path, the body, the headers, the status and the line in the log.
REFUSED = {
    "a foreign Host": ("GET", "/index.html", None, {"Host": "evil.example"}, 403, "foreign Host"),
    "another name of the host": (
        "POST",
        "/trigger",
        EVENT,
        {"Host": "localhost:{port}"},
        403,
        "foreign Host",
    ),
    "another port": ("GET", "/state", None, {"Host": "127.0.0.1"}, 403, "foreign Host"),
    "a foreign Origin": (
        "POST",
        "/trigger",
        EVENT,
        {"Origin": "http://evil.example"},
        403,
        "foreign Origin",
    ),
    "the Origin of a file": ("POST", "/trigger", EVENT, {"Origin": "null"}, 403, "foreign Origin"),
    "a foreign page that reads": (
        "GET",
        "/events?token={token}",
        None,
        {"Origin": "http://evil.example"},
        403,
        "foreign Origin",
    ),
    "no Origin": ("POST", "/trigger", EVENT, {"Origin": None}, 403, "foreign Origin"),
    "no token": ("POST", "/trigger", EVENT, {"Authorization": None}, 403, "no token"),
    "another token": ("POST", "/trigger", EVENT, {"Authorization": "Bearer x"}, 403, "no token"),
    "a token beyond ASCII": (
        "POST",
        "/trigger",
        EVENT,
        {"Authorization": "Bearer é"},
        403,
        "no token",
    ),
    "a token in the wrong place": (
        "POST",
        "/trigger?token={token}",
        EVENT,
        {"Authorization": None},
        403,
        "no token",
    ),
    "a stream without a token": ("GET", "/events", None, {}, 403, "no token"),
    "a stream with another token": ("GET", "/events?token=x", None, {}, 403, "no token"),
    "states without a token": ("GET", "/state", None, {"Authorization": None}, 403, "no token"),
    "1 MiB": ("POST", "/trigger", b" " * (1 << 20), {}, 413, "Maximum request body size"),
    "no JSON": ("POST", "/trigger", b"tapTextField", {}, 400, "the body is not"),
    "no text": ("POST", "/trigger", b"\xff\xff", {}, 400, "the body is not"),
    "brackets without end": ("POST", "/trigger", b"[" * 1000, {}, 400, "the body is not"),
    "many brackets": (
        "POST",
        "/trigger",
        b'{"event":' + b"[" * 480 + b"]" * 480 + b"}",
        {},
        400,
        "the body is not",
    ),
    "a compressed body": (
        "POST",
        "/trigger",
        gzip.compress(EVENT),
        {"Content-Encoding": "gzip"},
        400,
        "the body is not",
    ),
    "no object": ("POST", "/trigger", b"[1]", {}, 400, "the body is not"),
    "no event": ("POST", "/trigger", b"{}", {}, 400, "the body is not"),
    "an event that does not exist": (
        "POST",
        "/trigger",
        b'{"event":"boil"}',
        {},
        400,
        "InvalidParameter",
    ),
    "an event that is no name": ("POST", "/trigger", b'{"event":7}', {}, 400, "the body is not"),
    "an event by GET": ("GET", "/trigger", None, {}, 404, "Not Found"),
    "a file beside the page": ("GET", "/../keymode-kiosk", None, {}, 404, "Not Found"),
    "a file by its code": ("GET", "/%2e%2e/keymode-kiosk", None, {}, 404, "Not Found"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_it_is_refused_and_logged_once_and_nothing_changes(kiosk: Kiosk, case: str) -> None:
    method, path, body, changed, expected, reason = REFUSED[case]
    names = {"token": kiosk.bridge.token, "port": str(kiosk.bridge.port)}
    headers = {**authorized(kiosk), **{name: value for name, value in changed.items() if value}}
    for name in [name for name, value in changed.items() if value is None]:
        del headers[name]
    headers = {name: value.format(**names) for name, value in headers.items()}
    status, _ = kiosk.bridge.ask(method, path.format(**names), body, headers)
    assert status == expected
    # A file that is not there is no refusal, and some versions of aiohttp raise no error for it.
    if expected != 404:
        [line] = kiosk.bridge.log
        assert line.startswith(f"{method} refused: ") and reason in line
    assert kiosk.bridge.token not in "".join(kiosk.bridge.log)
    assert kiosk.states()["sequence"] == 0


@pytest.mark.parametrize("file", FILES)
def test_no_file_carries_the_token_and_each_is_guarded(kiosk: Kiosk, file: str) -> None:
    connection = kiosk.bridge.connection()
    connection.request("GET", f"/{file}")
    response = connection.getresponse()
    assert response.status == 200
    assert kiosk.bridge.token.encode() not in response.read()
    policy = response.headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy and "unsafe" not in policy
    assert response.headers["X-Content-Type-Options"] == "nosniff"
    assert "Access-Control-Allow-Origin" not in response.headers


def test_only_its_user_can_read_the_token(kiosk: Kiosk) -> None:
    assert stat.S_IMODE(kiosk.bridge.entrance.stat().st_mode) == 0o600


def test_the_token_survives_a_restart(kiosk: Kiosk) -> None:
    token = kiosk.bridge.token
    kiosk.bridge.kill()
    kiosk.bridge.start()
    assert kiosk.bridge.token == token
    assert kiosk.states()["sequence"] == 0


@pytest.mark.parametrize("damage", ["readable by others", "a link", "without a token"])
def test_a_token_that_others_may_know_is_replaced(kiosk: Kiosk, damage: str) -> None:
    token, entrance = kiosk.bridge.token, kiosk.bridge.entrance
    kiosk.bridge.kill()
    if damage == "readable by others":
        entrance.chmod(0o644)
    elif damage == "a link":
        entrance.rename(entrance.with_name("other"))
        entrance.symlink_to("other")
    else:
        entrance.write_text("")
    kiosk.bridge.start()
    assert kiosk.bridge.token != token
    assert stat.S_IMODE(entrance.lstat().st_mode) == 0o600


def is_answering(port: int) -> bool:
    """Whether a bridge answers at this port."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/icon.svg", timeout=60) as response:
            return bool(response.status == 200)
    except OSError:
        return False


def test_it_listens_on_loopback_alone(kiosk: Kiosk, tmp_path: Path) -> None:
    """As a person starts it: the other tests pass a socket."""
    (tmp_path / "own").mkdir()
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    process = subprocess.Popen(
        [EXAMPLE / "keymode-kiosk", "--port", str(port), "--socket-dir", tmp_path / "daemon"],
        env={"PATH": "/usr/bin:/bin", "XDG_RUNTIME_DIR": str(tmp_path / "own")},
    )
    try:
        wait_until(lambda: is_answering(port), "an answer")
        inodes = {
            link.readlink().name
            for link in Path(f"/proc/{process.pid}/fd").iterdir()
            if str(link.readlink()).startswith("socket:")
        }
        listening = [
            fields[1]
            for kind in ("tcp", "tcp6")
            for fields in map(str.split, Path(f"/proc/net/{kind}").read_text().splitlines()[1:])
            if fields[3] == "0A" and f"socket:[{fields[9]}]" in inodes
        ]
        assert listening == [f"0100007F:{port:04X}"]
    finally:
        process.terminate()
        assert process.wait(60) == 0


def test_a_web_server_in_front_names_the_origin(kiosk: Kiosk, tmp_path: Path) -> None:
    """The socket is a Unix socket, and the address that of the web server."""
    (tmp_path / "own").mkdir()
    path = tmp_path / "own/http.sock"
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        listener.listen()
        process = start_with_sockets(
            [EXAMPLE / "keymode-kiosk", "--origin", "https://chat.example"],
            {"http": listener.fileno()},
            {"PATH": "/usr/bin:/bin", "XDG_RUNTIME_DIR": str(tmp_path / "own")},
        )
    try:
        with socket.socket(socket.AF_UNIX) as client:
            client.connect(str(path))
            client.sendall(
                b"GET /index.html HTTP/1.1\r\nHost: chat.example\r\nConnection: close\r\n\r\n"
            )
            assert client.recv(4096).startswith(b"HTTP/1.1 200")
        entrance = (tmp_path / "own/keymode-kiosk.html").read_text()
        assert "url=https://chat.example/index.html#" in entrance
    finally:
        process.terminate()
        process.wait(60)


def test_a_unix_socket_needs_an_origin(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tmp_path / "http.sock"))
        listener.listen()
        process = start_with_sockets(
            [EXAMPLE / "keymode-kiosk"],
            {"http": listener.fileno()},
            {"PATH": "/usr/bin:/bin", "XDG_RUNTIME_DIR": str(tmp_path)},
            stderr=subprocess.PIPE,
            text=True,
        )
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 2 and "--origin" in errors
    assert not (tmp_path / "keymode-kiosk.html").exists()


def test_a_charset_is_neither_used_nor_logged(kiosk: Kiosk) -> None:
    headers = authorized(kiosk, **{"Content-Type": "application/json; charset=SECRET"})
    status, _ = kiosk.bridge.ask("POST", "/trigger", EVENT, headers)
    assert (status, kiosk.bridge.log) == (200, [])


# Python runs this module at its start. It stands for a machine where names do not resolve: there the
# lookup takes ten seconds, for which the bridge would do nothing else.
NO_NAMES = """
import socket
def getfqdn(name=""):
    raise RuntimeError("a name was looked up")
socket.getfqdn = getfqdn
"""


@pytest.mark.parametrize("path", ["/index.html", "/state", "/events"])
def test_a_request_without_a_host_is_refused_without_a_lookup(
    kiosk: Kiosk, tmp_path: Path, path: str
) -> None:
    kiosk.bridge.kill()
    (tmp_path / "bridge/sitecustomize.py").write_text(NO_NAMES)
    kiosk.bridge.start()
    with socket.create_connection(("127.0.0.1", kiosk.bridge.port), 60) as client:
        client.sendall(f"GET {path} HTTP/1.0\r\n\r\n".encode())
        assert b" 403 " in client.recv(4096)
    assert kiosk.bridge.log == ["GET refused: foreign Host"]


# Sends a request, and prints what comes back.
STRANGER = """
import socket, sys
client = socket.create_connection(("127.0.0.1", int(sys.argv[1])), 60, (sys.argv[2], 0))
try:
    client.sendall(sys.argv[3].encode())
    print(client.recv(12).decode())
except ConnectionError:
    print()
"""


@pytest.mark.skipif(os.getuid() != 0, reason="only root can start programs of another user")
@pytest.mark.parametrize("address", ["127.0.0.1", "127.0.0.2"])
def test_a_connection_of_another_user_is_not_answered(kiosk: Kiosk, address: str) -> None:
    def answer(user: int) -> str:
        request = f"GET /kiosk.js HTTP/1.1\r\nHost: 127.0.0.1:{kiosk.bridge.port}\r\n\r\n"
        given = [str(kiosk.bridge.port), address, request]
        return subprocess.run(
            ["/usr/bin/python3", "-c", STRANGER, *given],
            capture_output=True,
            text=True,
            check=True,
            cwd="/",
            user=user,
            group=user,
            extra_groups=[],
        ).stdout.strip()

    assert answer(0) == "HTTP/1.1 200"
    assert answer(65534) == ""
    assert kiosk.bridge.log == []


def test_bad_requests_leave_no_bytes_in_the_log(kiosk: Kiosk) -> None:
    for request in (
        b"GET /SECRET HTTP/9.9x\r\n\r\n",
        b"GET / HTTP/1.1\r\nBad SECRET\r\n\r\n",
        b"\x16\x03SECRET\r\n\r\n",
    ):
        with socket.create_connection(("127.0.0.1", kiosk.bridge.port), 60) as client:
            client.sendall(request)
            assert b" 400 " in client.recv(4096)
    assert "SECRET" not in "".join(kiosk.bridge.log)


def test_pages_that_leave_at_once_leave_nothing(kiosk: Kiosk) -> None:
    request = f"GET /events?token={kiosk.bridge.token} HTTP/1.1\r\nHost: 127.0.0.1:{kiosk.bridge.port}\r\n\r\n"
    for _ in range(200):
        client = socket.create_connection(("127.0.0.1", kiosk.bridge.port), 60)
        # A close that resets the connection.
        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        client.sendall(request.encode())
        client.close()
    with EventStream(kiosk.bridge) as stream:
        assert stream.next().data["state"]["sequence"] == 0
    assert kiosk.bridge.log == []


def test_no_daemon_is_a_state_of_its_own(kiosk: Kiosk) -> None:
    with EventStream(kiosk.bridge) as stream:
        seen = stream.next().identity
        kiosk.daemon.kill()
        assert stream.next().kind == "away"
        kiosk.daemon.start()
        while (event := stream.next()).kind == "away":
            pass
        # The daemon kept its changes, so the page has missed none.
        assert (event.identity, event.data["missed"]) == (seen, 0)


def test_a_trigger_without_a_daemon_is_answered(kiosk: Kiosk, tmp_path: Path) -> None:
    kiosk.daemon.kill()
    (tmp_path / "daemon/control.sock").unlink()
    status, body = kiosk.bridge.ask("POST", "/trigger", EVENT, authorized(kiosk))
    assert status == 503 and b"control.sock" in body


def test_a_page_that_does_not_read_holds_up_no_other(kiosk: Kiosk) -> None:
    with EventStream(kiosk.bridge, buffer=4096) as sleeping, EventStream(kiosk.bridge) as awake:
        for stream in (sleeping, awake):
            stream.next()
        presses, seen = 10_000, 0
        with Connection(kiosk.control_socket) as trigger:
            for _ in range(presses):
                assert trigger.call("Trigger", event="shiftPressed")["changed"]
                data = awake.next().data
                assert data["missed"] == 0
                seen += len(data["changes"])
        assert seen == presses
        got, missed = 0, 0
        while got + missed < presses:
            data = sleeping.next().data
            got, missed = got + len(data["changes"]), missed + data["missed"]
        assert missed > 0 and got + missed == presses


def test_streams_of_pages_that_have_gone_are_ended(kiosk: Kiosk) -> None:
    def clients() -> int:
        with Connection(kiosk.control_socket) as asking:
            count: int = asking.call("GetStatistics")["clients"]
        return count - 1

    streams = [EventStream(kiosk.bridge) for _ in range(100)]
    for stream in streams:
        stream.next()
    assert clients() == 100
    for stream in streams:
        stream.close()
    # No change happens here.
    wait_until(lambda: clients() == 0, "the end of the abandoned streams")


def test_nothing_runs_while_nothing_changes(kiosk: Kiosk) -> None:
    with EventStream(kiosk.bridge) as stream:
        stream.next()
        assert kiosk.bridge.process
        bridge = Process(kiosk.bridge.process.pid)

        def switches() -> int:
            return int(bridge.status("voluntary_ctxt_switches"))

        wait_until(lambda: bridge.state() == "S", "the bridge to sleep")
        before = switches()
        # Time itself is measured here, so nothing can be waited for.
        subprocess.run(["sleep", "3"], check=True)
        assert switches() == before


def test_without_a_session_it_says_what_is_missing() -> None:
    ended = subprocess.run(
        [EXAMPLE / "keymode-kiosk"], env={"PATH": "/usr/bin:/bin"}, capture_output=True, text=True
    )
    assert ended.returncode == 2
    assert "XDG_RUNTIME_DIR" in ended.stderr


def test_a_port_in_use_is_named(kiosk: Kiosk, tmp_path: Path) -> None:
    ended = subprocess.run(
        [EXAMPLE / "keymode-kiosk", "--port", str(kiosk.bridge.port)],
        env={"PATH": "/usr/bin:/bin", "XDG_RUNTIME_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
    )
    assert ended.returncode == 2
    assert str(kiosk.bridge.port) in ended.stderr and "Traceback" not in ended.stderr


@pytest.mark.parametrize(("file", "most"), [("keymode-kiosk", 200), ("connections.py", 125)])
def test_it_is_short(file: str, most: int) -> None:
    assert len((EXAMPLE / file).read_text().splitlines()) <= most
