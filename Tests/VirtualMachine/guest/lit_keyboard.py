"""Makes a keyboard with LEDs in the guest, prints its node, and then each LED that is switched.

    lit_keyboard.py NAME

The keyboard exists until the program ends.
"""

import sys

from uinput import LED_NAMES, Keyboard

if __name__ == "__main__":
    with Keyboard(sys.argv[1], leds=range(len(LED_NAMES))) as keyboard:
        print(f"{sys.argv[1]}: {keyboard.node}", flush=True)
        for led, is_on in keyboard.leds_switched():
            print(LED_NAMES[led], "on" if is_on else "off", flush=True)
