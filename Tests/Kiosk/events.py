"""The bridge's stream of events, read as a browser would, or more slowly."""

import socket
from http.client import HTTPResponse
from typing import Self
from urllib.parse import urlencode

from kiosk import Bridge

from support.server_sent_events import Event, next_event
from support.waiting import BOUND_SECONDS


class EventStream:
    """A connection to `/events`."""

    def __init__(
        self, bridge: Bridge, after: str = "", last: str | None = None, buffer: int | None = None
    ) -> None:
        """Connects; `buffer` limits the bytes that the kernel keeps until they are read."""
        self._connection = bridge.connection()
        if buffer is not None:
            own = socket.socket()
            own.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
            own.settimeout(BOUND_SECONDS)
            own.connect(("127.0.0.1", bridge.port))
            self._connection.sock = own
        headers = {} if last is None else {"Last-Event-ID": last}
        query = urlencode({"token": bridge.token, "after": after})
        self._connection.request("GET", f"/events?{query}", headers=headers)
        self._response: HTTPResponse = self._connection.getresponse()
        assert self._response.status == 200, self._response.read()
        assert self._response.headers["Content-Type"] == "text/event-stream"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Ends the connection."""
        self._response.close()
        self._connection.close()

    def next(self) -> Event:
        """The next event; raises ConnectionError at the end of the connection."""
        while event := next_event(self._response):
            if event.kind != "settings":
                return event
        raise ConnectionError("the bridge has ended the stream")
