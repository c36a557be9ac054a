"""Grabs a keyboard until it is ended, and tells what only it gets.

Runs in the guest: `grab.py DEVICE`. After the line `grabbed` there is one for each key event: its
time in µs since boot, its code and its value.
"""

import fcntl
import os
import struct
import sys
import time

from support.input_events import EV_KEY, EVENT, EVIOCGRAB, EVIOCSCLOCKID


def main(path: str) -> None:
    device = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    fcntl.ioctl(device, EVIOCSCLOCKID, struct.pack("@i", time.CLOCK_BOOTTIME))
    fcntl.ioctl(device, EVIOCGRAB, 1)
    print("grabbed", flush=True)
    while True:
        data = os.read(device, EVENT.size * 64)
        for seconds, micros, kind, code, value in EVENT.iter_unpack(data):
            if kind == EV_KEY:
                print(seconds * 1_000_000 + micros, code, value, flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
