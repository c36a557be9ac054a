"""What the kiosk's page does, and a thief of its port: `kiosk_page.py COMMAND …`.

    follow [LAST]               prints each event as JSON, after the one with this ID, until the
                                connection ends
    ask METHOD PATH [BODY]      prints the status and the body of the reply
    take                        binds the port again and again, and prints "taken" if it can

The token is that of the user's own file.
"""

import errno
import json
import os
import re
import socket
import sys
import time
from http.client import HTTPConnection
from pathlib import Path

from support.server_sent_events import next_event

ADDRESS = ("127.0.0.1", 8735)

# How often `take` has tried when it says so, and the pause between two tries. A bridge takes far
# longer to start.
TRIES = 100
PAUSE_SECONDS = 0.002


def token() -> str:
    entrance = Path(os.environ["XDG_RUNTIME_DIR"], "keymode-kiosk.html").read_text()
    found = re.search(r'url=http://127\.0\.0\.1:8735/index\.html#([\w-]+)">', entrance)
    assert found, entrance
    return found[1]


def follow(last: str = "") -> None:
    connection = HTTPConnection(*ADDRESS)
    headers = {"Last-Event-ID": last} if last else {}
    connection.request("GET", f"/events?token={token()}", headers=headers)
    response = connection.getresponse()
    assert response.status == 200, response.read()
    while event := next_event(response):
        if event.kind == "settings":
            continue
        told = {"event": event.kind, "id": event.identity, "data": event.data}
        print(json.dumps(told), flush=True)


def ask(method: str, path: str, body: str = "") -> None:
    origin = "http://{}:{}".format(*ADDRESS)
    headers = {"Authorization": f"Bearer {token()}", "Origin": origin}
    connection = HTTPConnection(*ADDRESS)
    connection.request(method, path, body or None, headers)
    response = connection.getresponse()
    print(response.status, response.read().decode())


def take() -> None:
    tries = 0
    while True:
        with socket.socket() as other:
            # As servers do; without it a past connection keeps the port for a minute.
            other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                other.bind(ADDRESS)
                other.listen()
            except OSError as error:
                assert error.errno == errno.EADDRINUSE, error
            else:
                print(f"taken, try {tries}", flush=True)
        tries += 1
        if tries % TRIES == 0:
            print(f"{tries} tries", flush=True)
        time.sleep(PAUSE_SECONDS)


if __name__ == "__main__":
    _, command, *words = sys.argv
    {"follow": follow, "ask": ask, "take": take}[command](*words)
