"""Server-sent events, as browsers read them: section 9.2 of the HTML standard."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Event:
    """One event; its data is JSON, or nothing."""

    kind: str
    identity: str
    data: Any


def next_event(lines: Iterable[bytes]) -> Event | None:
    """The next event of a stream's further lines; None at its end."""
    fields: dict[str, str] = {}
    for line in lines:
        name, _, value = line.decode().rstrip("\n").partition(":")
        if name:
            fields[name] = value.removeprefix(" ")
        elif "data" in fields:
            data = json.loads(fields["data"]) if fields["data"] else None
            return Event(fields.get("event", "message"), fields.get("id", ""), data)
        else:
            fields.clear()
    return None
