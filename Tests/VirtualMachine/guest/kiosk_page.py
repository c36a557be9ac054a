"""What the kiosk's page does: `kiosk_page.py COMMAND …`.

    follow [LAST]               prints each event as JSON, after the one with this ID, until the
                                connection ends
    ask METHOD PATH [BODY]      prints the status and the body of the reply

The token is that of the user's own file.
"""

import json
import os
import re
import sys
from http.client import HTTPConnection
from pathlib import Path

from support.server_sent_events import next_event

ADDRESS = ("127.0.0.1", 8735)


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


if __name__ == "__main__":
    _, command, *words = sys.argv
    {"follow": follow, "ask": ask}[command](*words)
