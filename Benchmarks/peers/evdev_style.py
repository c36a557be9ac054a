"""Reads a recording as a program on python-evdev does: it makes an object for each event."""

import sys


class InputEvent:
    """The equivalent of evdev.InputEvent, which has five numbers."""

    __slots__ = ("code", "sec", "type", "usec", "value")

    def __init__(self, sec: int, usec: int, event_type: int, code: int, value: int) -> None:
        self.sec = sec
        self.usec = usec
        self.type = event_type
        self.code = code
        self.value = value


def main() -> None:
    """Counts the key events."""
    keys = 0
    with open(sys.argv[1], encoding="ascii") as lines:
        for line in lines:
            if line.startswith("E: "):
                _, time, event_type, code, value = line.split()[:5]
                sec, usec = time.split(".")
                event = InputEvent(
                    int(sec), int(usec), int(event_type, 16), int(code, 16), int(value)
                )
                keys += event.type == 1
    print(keys)


main()
