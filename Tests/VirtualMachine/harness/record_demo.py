"""Makes examples/demo.evemu with evemu-record, from keys that show what keymoded does."""

from support.checkout import CHECKOUT

from harness import keys
from harness.build_image import ensure_images
from harness.recorder import KeyRecorder
from harness.vm import PS2_KEYBOARD, VirtualMachine

DEMO = CHECKOUT / "examples/demo.evemu"

SCRIPT = """
    tap a 60; wait 1500
    tap shift 90; wait 700; tap h 80; wait 150; tap i 80; wait 900
    tap shift 90; wait 160; tap shift 90; wait 700; tap o 80; wait 150; tap k 80; wait 900
    tap shift 90; wait 900
    tap scroll_lock 90; wait 1400; tap scroll_lock 90; wait 900
    down ctrl; wait 90; tap c 80; wait 90; up ctrl; wait 600
    tap compose 90; wait 1200; tap insert 90; wait 1000; tap esc 90; wait 300
"""


def main() -> None:
    with VirtualMachine(ensure_images()) as vm:
        recorder = KeyRecorder(vm, PS2_KEYBOARD)
        vm.play(SCRIPT)
        recorder.wait_for_events(len(keys.parse(SCRIPT)))
        recorder.stop()
        DEMO.write_bytes(recorder.recording())


if __name__ == "__main__":
    main()
