"""Plays a recording of `libinput record` on devices of its own: `play.py RECORDING [PORT...]`.

Each device has the keys that it sends, and the first also those of a keyboard. Each PORT is that of a
device, such as `usb-1/input0`; without it, the device tells none. Prints the daemon's changes, and for
each device the times of its events, as JSON.
"""

import json
import re
import sys
import time
from pathlib import Path

from daemon import Daemon
from support.waiting import wait_until
from uinput import KEYBOARD_KEYS, Keyboard

EVENT = re.compile(r"- \[ *(\d+), *(\d+), *1, *(\d+), *(\d+)\]")


def main(recording: str, *ports: str) -> None:
    daemon = Daemon()
    devices: list[Keyboard] = []
    events: list[tuple[float, int, int, int]] = []
    for index, section in enumerate(Path(recording).read_text().split("- node:")[1:]):
        found = [tuple(map(int, numbers)) for numbers in EVENT.findall(section)]
        events += [(second + micro / 1e6, index, code, value) for second, micro, code, value in found]
        keys = {code for _, _, code, _ in found} | set(() if index else KEYBOARD_KEYS)
        port = ports[index] if index < len(ports) else ""
        devices.append(Keyboard(f"Played {index}", keys, port=port))
    daemon.wait_until_followed(*devices)
    daemon.changes()
    for device in devices:
        device.observe()
    begin = time.monotonic() + 0.05
    for at, index, code, value in sorted(events):
        time.sleep(max(0.0, begin + at - time.monotonic()))
        devices[index].send((code, value))
    changes = daemon.changes()
    print(json.dumps({"changes": changes, "stamps": [device.stamps() for device in devices]}))
    for device in devices:
        device.remove()
    wait_until(lambda: not any("Played" in name for name in daemon.devices()), "them to be gone")


if __name__ == "__main__":
    main(*sys.argv[1:])
