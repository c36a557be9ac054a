"""A keyboard in the guest, and what a person types on it.

    person.py SOCKET NAME CODES

CODES are the further parameters of `uinput.Keyboard`, as JSON. Prints the node of the keyboard, which
exists until the program ends. A connection to SOCKET brings a JSON array with a NUL behind it, of
events: when in milliseconds, type, code, value. The reply comes once all are sent: by how many
milliseconds the latest was late, and the LEDs that are lit then.
"""

import fcntl
import json
import os
import socket
import sys
import time

from uinput import Keyboard

EVIOCGLED = 0x80024519  # with room for 2 bytes


def lit(node: str) -> list[int]:
    """The numbers of the LEDs that are lit."""
    descriptor = os.open(node, os.O_RDONLY | os.O_CLOEXEC)
    try:
        bits = bytearray(2)
        fcntl.ioctl(descriptor, EVIOCGLED, bits)
    finally:
        os.close(descriptor)
    return [number for number in range(16) if bits[number // 8] >> number % 8 & 1]


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
        node = keyboard.node
        print(f"{name}: {node}", flush=True)
        while True:
            connection, _ = listener.accept()
            with connection:
                request = b""
                while not request.endswith(b"\0") and (received := connection.recv(65536)):
                    request += received
                late = play(keyboard, json.loads(request.rstrip(b"\0")))
                reply = {"late": round(late, 1), "leds": lit(node)}
                connection.sendall(json.dumps(reply).encode() + b"\0")


if __name__ == "__main__":
    main(*sys.argv[1:])
