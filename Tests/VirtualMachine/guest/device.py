"""Makes a device in the guest, prints its node, and then each LED that is switched.

    device.py NAME CODES

CODES are the further parameters of `uinput.Keyboard`, as JSON. The device exists until the program
ends.
"""

import json
import sys

from uinput import LED_NAMES, Keyboard

if __name__ == "__main__":
    _, name, codes = sys.argv
    with Keyboard(name, **json.loads(codes)) as keyboard:
        print(f"{name}: {keyboard.node}", flush=True)
        for led, is_on in keyboard.leds_switched():
            print(LED_NAMES[led], "on" if is_on else "off", flush=True)
