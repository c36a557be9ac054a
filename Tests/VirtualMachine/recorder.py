"""What a keyboard of the guest sends, as the guest's kernel stamped it."""

import re
from dataclasses import dataclass

from guest_process import GuestProcess
from vm import VirtualMachine

_KEY_LINE = re.compile(r"^E: (\d+\.\d+) 0001 \w+ \w+\t# EV_KEY / (\w+) +(\d)$", re.MULTILINE)


@dataclass(frozen=True)
class RecordedKey:
    """One key event: value is 1 for a press, 0 for a release, 2 for a repeat."""

    seconds: float
    key: str
    value: int


class KeyRecorder:
    """evemu-record, reading a device of the guest until the test ends or `stop()`."""

    def __init__(self, vm: VirtualMachine, device: str) -> None:
        # Into a file it would print only every 4 KiB: hence stdbuf.
        self.process: GuestProcess = vm.start(f"exec stdbuf -oL evemu-record {device}")
        self.process.wait_for("^# +Waiting for events")

    def events(self) -> list[RecordedKey]:
        """All key events so far. Times count from the first event of the recording."""
        return _parse(self.process.stdout)

    def wait_for_events(self, count: int, timeout: float = 10.0) -> list[RecordedKey]:
        """Waits for at least so many key events, and returns all there are."""
        self.process.wait_for(lambda text: len(_parse(text)) >= count, timeout)
        return self.events()

    def stop(self) -> None:
        """Closes the device in the guest."""
        self.process.interrupt()
        self.process.wait()


def _parse(text: str) -> list[RecordedKey]:
    return [
        RecordedKey(float(seconds), key, int(value))
        for seconds, key, value in _KEY_LINE.findall(text)
    ]
