"""A keyboard in the guest, and what a person types on it.

    person.py SOCKET NAME CODES

CODES are the further parameters of `uinput.Keyboard`, as JSON. Prints the node of the keyboard, which
exists until the program ends. A connection to SOCKET brings a JSON array with a NUL behind it, of
events: when in milliseconds, type, code, value. The program replies once it has sent all of them: by how
many milliseconds the latest was late, which LEDs are on, and the kernel's stamps of the keys, as
`Keyboard.stamps` has them. Or the connection brings a string, the name
of other keyboards: the program replies with their nodes, and the keys that are down on them.
"""

import contextlib
import fcntl
import json
import os
import socket
import sys
import time
from pathlib import Path
from typing import Any

from uinput import Keyboard

EVIOCGLED = 0x80024519  # with room for 2 bytes
EVIOCGKEY = 0x80604518  # with room for 96 bytes


def on(node: str, request: int, size: int) -> list[int]:
    """The numbers of the LEDs that are lit, or of the keys that are down."""
    descriptor = os.open(node, os.O_RDONLY | os.O_CLOEXEC)
    try:
        bits = bytearray(size)
        fcntl.ioctl(descriptor, request, bits)
    finally:
        os.close(descriptor)
    return [number for number in range(8 * size) if bits[number // 8] >> number % 8 & 1]


def look(name: str) -> dict[str, list[Any]]:
    """What there is of keyboards with this name."""
    nodes: list[str] = []
    keys: list[int] = []
    for file in Path("/sys/class/input").glob("event*/device/name"):
        # One may vanish meanwhile.
        with contextlib.suppress(OSError):
            if file.read_text() == f"{name}\n":
                node = f"/dev/input/{file.parts[-3]}"
                keys += on(node, EVIOCGKEY, 96)
                nodes.append(node)
    return {"nodes": nodes, "keys": keys}


def play(keyboard: Keyboard, events: list[tuple[float, int, int, int]]) -> float:
    """Sends each event at its time; returns by how much the latest was late."""
    start, late = time.monotonic(), 0.0
    for milliseconds, kind, code, value in events:
        wait = start + milliseconds / 1000 - time.monotonic()
        if wait > 0:
            time.sleep(wait)
        late = max(late, -wait)
        keyboard.send_frame((kind, code, value))
    return late * 1000


def main(path: str, name: str, codes: str) -> None:
    with Keyboard(name, **json.loads(codes)) as keyboard, socket.socket(socket.AF_UNIX) as listener:
        listener.bind(path)
        listener.listen()
        keyboard.observe()
        node = keyboard.node
        print(f"{name}: {node}", flush=True)
        while True:
            connection, _ = listener.accept()
            with connection:
                request = b""
                while not request.endswith(b"\0") and (received := connection.recv(65536)):
                    request += received
                wanted = json.loads(request.rstrip(b"\0"))
                if isinstance(wanted, str):
                    reply = look(wanted)
                else:
                    late = play(keyboard, wanted)
                    leds, stamps = on(node, EVIOCGLED, 2), keyboard.stamps()
                    reply = {"late": round(late, 1), "leds": leds, "stamps": stamps}
                connection.sendall(json.dumps(reply).encode() + b"\0")


if __name__ == "__main__":
    main(*sys.argv[1:])
