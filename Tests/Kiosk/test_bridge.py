"""The bridge of examples/kiosk, as a browser, another user, and a foreign page reach it."""

import gzip
import os
import re
import socket
import stat
import struct
import subprocess
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
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
        assert (first.data["state"]["states"]["keyboard"], first.data["changes"]) == ("prepareToEditText", [])
        pressed = kiosk.keyboard.press(COMPOSE)
        event = stream.next()
        [change] = event.data["changes"]
        assert change["time"] == pressed
        assert (change["from"], change["to"]) == ("prepareToEditText", "showingPanel")
        assert event.data["missed"] == 0
        assert event.identity == f"{event.data['state']['instance']}:1"
        # Boot time in microseconds, after the key.
        assert 0 < event.data["now"] - pressed < 10_000_000


def test_a_page_that_comes_back_gets_what_it_missed(kiosk: Kiosk) -> None:
    with EventStream(kiosk.bridge) as stream:
        seen = [stream.next().identity]
        for key in (COMPOSE, INSERT, ESC):
            kiosk.keyboard.press(key)
            seen.append(stream.next().identity)
    # The header counts more than the address, which is that of the first request.
    for again, missed in (
        ({"last": seen[0]}, [1, 2, 3]),
        ({"after": seen[0]}, [1, 2, 3]),
        ({"after": seen[0], "last": seen[2]}, [3]),
    ):
        with EventStream(kiosk.bridge, **again) as stream:
            data = stream.next().data
            assert [change["sequence"] for change in data["changes"]] == missed
            assert data["missed"] == 0


def test_a_strange_id_is_refused(kiosk: Kiosk) -> None:
    for identity in ("x", "12", "ab:-1", "ab:1:2", "ab: 1", "a" * 5000):
        answer = kiosk.bridge.ask(
            "GET", f"/events?token={kiosk.bridge.token}", headers={"Last-Event-ID": identity}
        )
        assert answer == (400, b"not an event's ID")


def test_an_id_of_the_future_leads_to_the_states(kiosk: Kiosk) -> None:
    instance = kiosk.state()["instance"]
    with EventStream(kiosk.bridge, after=f"{instance}:99") as stream:
        assert stream.next().kind == "away"
        assert stream.next().data["state"]["sequence"] == 0


def authorized(kiosk: Kiosk, **headers: str) -> dict[str, str]:
    """The headers that the page sends, and others."""
    own = {"Authorization": f"Bearer {kiosk.bridge.token}", "Origin": kiosk.bridge.origin}
    return {**own, **headers}


EVENT = b'{"event":"tapTextField"}'

EVIL = "http://evil.example"


@dataclass(frozen=True)
class Refused:
    """A request that must be refused: its status, what the log says, and how it differs."""

    status: int
    reason: str
    body: bytes | None = EVENT
    method: str = "POST"
    path: str = "/trigger"
    headers: Mapping[str, str | None] = field(default_factory=dict)
    """Headers that replace those of the page; None leaves one out."""


def headed(reason: str, name: str, value: str | None) -> Refused:
    """An event with another header."""
    return Refused(403, reason, headers={name: value})


def bodied(body: bytes, status: int = 400, reason: str = "the body is not") -> Refused:
    """A request with this body instead of an event."""
    return Refused(status, reason, body)


def got(status: int, reason: str, path: str, **headers: str | None) -> Refused:
    """A request by GET."""
    return Refused(status, reason, None, "GET", path, headers)


REFUSED = {
    "a foreign Host": got(403, "foreign Host", "/index.html", Host="evil.example"),
    "another name of the host": headed("foreign Host", "Host", "localhost:{port}"),
    "another port": got(403, "foreign Host", "/state", Host="127.0.0.1"),
    "a foreign Origin": headed("foreign Origin", "Origin", EVIL),
    "the Origin of a file": headed("foreign Origin", "Origin", "null"),
    "a foreign page that reads": got(403, "foreign Origin", "/events?token={token}", Origin=EVIL),
    "no Origin": headed("foreign Origin", "Origin", None),
    "no token": headed("no token", "Authorization", None),
    "another token": headed("no token", "Authorization", "Bearer x"),
    "a token beyond ASCII": headed("no token", "Authorization", "Bearer é"),
    "a token in the wrong place": Refused(
        403, "no token", path="/trigger?token={token}", headers={"Authorization": None}
    ),
    "a stream without a token": got(403, "no token", "/events"),
    "a stream with another token": got(403, "no token", "/events?token=x"),
    "states without a token": got(403, "no token", "/state", Authorization=None),
    "1 MiB": bodied(b" " * (1 << 20), 413, "Maximum request body size"),
    "no JSON": bodied(b"tapTextField"),
    "no text": bodied(b"\xff\xff"),
    "brackets without end": bodied(b"[" * 1000),
    "many brackets": bodied(b'{"event":' + b"[" * 480 + b"]" * 480 + b"}"),
    "a compressed body": Refused(
        400, "the body is not", gzip.compress(EVENT), headers={"Content-Encoding": "gzip"}
    ),
    "no object": bodied(b"[1]"),
    "no event": bodied(b"{}"),
    "an event that does not exist": bodied(b'{"event":"boil"}', reason="InvalidParameter"),
    "an event that is no name": bodied(b'{"event":7}'),
    "an event by GET": got(404, "Not Found", "/trigger"),
    "a file beside the page": got(404, "Not Found", "/../keymode-kiosk"),
    "a file by its code": got(404, "Not Found", "/%2e%2e/keymode-kiosk"),
}


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kiosk]:
    """A kiosk for all that is refused."""
    with Kiosk(tmp_path_factory.mktemp("kiosk")) as kiosk:
        yield kiosk


@pytest.mark.parametrize("refused", REFUSED.values(), ids=REFUSED.keys())
def test_it_is_refused_and_logged_once_and_nothing_changes(asked: Kiosk, refused: Refused) -> None:
    kiosk, before = asked, len(asked.bridge.log)
    names = {"token": kiosk.bridge.token, "port": str(kiosk.bridge.port)}
    changed = {**authorized(kiosk), **refused.headers}
    headers = {name: value.format(**names) for name, value in changed.items() if value is not None}
    path = refused.path.format(**names)
    status, _ = kiosk.bridge.ask(refused.method, path, refused.body, headers)
    assert status == refused.status
    # A file that is not there is no refusal, and some versions of aiohttp raise no error for it.
    if status != 404:
        [line] = kiosk.bridge.log[before:]
        assert line.startswith(f"{refused.method} refused: ") and refused.reason in line
    assert kiosk.bridge.token not in "".join(kiosk.bridge.log)
    assert kiosk.state()["sequence"] == 0


def test_no_file_carries_the_token_and_each_is_guarded(kiosk: Kiosk) -> None:
    for file in FILES:
        connection = kiosk.bridge.connection()
        connection.request("GET", f"/{file}")
        response = connection.getresponse()
        assert response.status == 200
        assert kiosk.bridge.token.encode() not in response.read()
        policy = response.headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy and "unsafe" not in policy
        assert response.headers["X-Content-Type-Options"] == "nosniff"
        assert "Access-Control-Allow-Origin" not in response.headers


def test_only_its_user_can_read_the_token_which_survives_a_restart(kiosk: Kiosk) -> None:
    assert stat.S_IMODE(kiosk.bridge.entrance.stat().st_mode) == 0o600
    token = kiosk.bridge.token
    kiosk.bridge.kill()
    kiosk.bridge.start()
    assert kiosk.bridge.token == token
    assert kiosk.state()["sequence"] == 0


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


def start_bridge(
    folder: Path | None, *options: str | Path, listener: socket.socket | None = None
) -> subprocess.Popen[str]:
    """Starts a bridge in a session with this folder, as a person does or with a socket."""
    command = [EXAMPLE / "keymode-kiosk", *options]
    environment = {"PATH": "/usr/bin:/bin"}
    if folder:
        folder.mkdir(exist_ok=True)
        environment["XDG_RUNTIME_DIR"] = str(folder)
    if listener:
        passed = {"http": listener.fileno()}
        return start_with_sockets(command, passed, environment, stderr=subprocess.PIPE, text=True)
    return subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True)


def unix_listener(folder: Path) -> socket.socket:
    """A socket that a web server would connect to."""
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(folder / "http.sock"))
    listener.listen()
    return listener


def is_answering(port: int) -> bool:
    """Whether a bridge answers at this port."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/icon.svg", timeout=60) as response:
            return bool(response.status == 200)
    except OSError:
        return False


def state(folder: Path, port: int) -> str:
    """What a bridge at this port, which a person started in a session with this folder, replies."""
    (token,) = re.findall(r"#([\w-]+)", (folder / "keymode-kiosk.html").read_text())
    headers = {"Authorization": f"Bearer {token}"}
    request = urllib.request.Request(f"http://127.0.0.1:{port}/state", headers=headers)
    try:
        with urllib.request.urlopen(request, timeout=60) as response:
            return str(response.read().decode())
    except urllib.error.HTTPError as error:
        return error.read().decode()


@pytest.mark.parametrize("is_serving", [False, True])
def test_the_sockets_of_the_users_own_daemon_are_used_if_it_serves(
    tmp_path: Path, is_serving: bool
) -> None:
    """A daemon that has ended leaves its folder."""
    own = tmp_path / "keymoded"
    own.mkdir()
    if is_serving:
        (own / "state.sock").touch()
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        process = start_bridge(tmp_path, listener=listener)
    try:
        assert is_answering(port)
        assert (str(own) in state(tmp_path, port)) is is_serving
    finally:
        process.terminate()
        process.wait(60)


def test_it_listens_on_loopback_alone(kiosk: Kiosk, tmp_path: Path) -> None:
    """As a person starts it: the other tests pass a socket."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    options = ("--port", str(port), "--socket-dir", tmp_path / "daemon")
    process = start_bridge(tmp_path / "own", *options)
    try:
        wait_until(lambda: is_answering(port), "an answer")
        # A socket of all addresses would have these, too.
        for address in ("127.0.0.2", "::1"):
            with pytest.raises(OSError, match="refused|assign"):
                socket.create_connection((address, port), 60)
    finally:
        process.terminate()
        assert process.wait(60) == 0


def test_a_web_server_in_front_names_the_origin(tmp_path: Path) -> None:
    """The socket is a Unix socket, and the address that of the web server."""
    with unix_listener(tmp_path) as listener:
        process = start_bridge(tmp_path, "--origin", "https://chat.example", listener=listener)
    try:
        with socket.socket(socket.AF_UNIX) as client:
            client.connect(str(tmp_path / "http.sock"))
            client.sendall(
                b"GET /index.html HTTP/1.1\r\nHost: chat.example\r\nConnection: close\r\n\r\n"
            )
            assert client.recv(4096).startswith(b"HTTP/1.1 200")
        entrance = (tmp_path / "keymode-kiosk.html").read_text()
        assert "url=https://chat.example/index.html#" in entrance
    finally:
        process.terminate()
        process.wait(60)


@pytest.mark.parametrize(
    "wrong", ["a Unix socket without an origin", "no session", "a port in use"]
)
def test_what_is_missing_at_its_start_is_named(kiosk: Kiosk, tmp_path: Path, wrong: str) -> None:
    folder = tmp_path / "own"
    if wrong == "a port in use":
        named = str(kiosk.bridge.port)
        process = start_bridge(folder, "--port", named)
    elif wrong == "no session":
        named = "XDG_RUNTIME_DIR"
        process = start_bridge(None)
    else:
        named = "--origin"
        with unix_listener(tmp_path) as listener:
            process = start_bridge(folder, listener=listener)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 2
    assert named in errors and "Traceback" not in errors
    assert not (folder / "keymode-kiosk.html").exists()


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


def test_a_request_without_a_host_is_refused_without_a_lookup(kiosk: Kiosk, tmp_path: Path) -> None:
    kiosk.bridge.kill()
    (tmp_path / "bridge/sitecustomize.py").write_text(NO_NAMES)
    kiosk.bridge.start()
    paths = ["/index.html", "/state", "/events"]
    for path in paths:
        with socket.create_connection(("127.0.0.1", kiosk.bridge.port), 60) as client:
            client.sendall(f"GET {path} HTTP/1.0\r\n\r\n".encode())
            assert b" 403 " in client.recv(4096)
    assert kiosk.bridge.log == ["GET refused: foreign Host"] * len(paths)


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


def test_pages_that_leave_at_once_or_later_leave_nothing(kiosk: Kiosk) -> None:
    request = f"GET /events?token={kiosk.bridge.token} HTTP/1.1\r\nHost: 127.0.0.1:{kiosk.bridge.port}\r\n\r\n"
    for _ in range(200):
        client = socket.create_connection(("127.0.0.1", kiosk.bridge.port), 60)
        # A close that resets the connection.
        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        client.sendall(request.encode())
        client.close()
    streams = [EventStream(kiosk.bridge) for _ in range(100)]
    for stream in streams:
        assert stream.next().data["state"]["sequence"] == 0
    wait_until(lambda: kiosk.daemon.clients() == 100, "the end of the others")
    for stream in streams:
        stream.close()
    # No change happens here.
    wait_until(lambda: kiosk.daemon.clients() == 0, "the end of the abandoned streams")
    assert kiosk.bridge.log == []


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


def test_nothing_runs_while_nothing_changes(kiosk: Kiosk) -> None:
    with EventStream(kiosk.bridge) as stream:
        stream.next()
        assert kiosk.bridge.process
        bridge = Process(kiosk.bridge.process.pid)
        wait_until(lambda: bridge.state() == "S", "the bridge to sleep")
        before = bridge.switches()
        # Time itself is measured here, so nothing can be waited for.
        subprocess.run(["sleep", "3"], check=True)
        assert bridge.switches() == before


LENGTHS = [("keymode-kiosk", 300), ("connections.py", 125), ("outbox.py", 130), ("echo", 25)]


@pytest.mark.parametrize(("file", "most"), LENGTHS)
def test_it_is_short(file: str, most: int) -> None:
    assert len((EXAMPLE / file).read_text().splitlines()) <= most
