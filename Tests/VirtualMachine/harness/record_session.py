"""Makes the recordings for tests and examples: the same typing by several programs, and chords.

All programs record at once, so all recordings must lead to the same changes; typing.jsonl has them,
with the times of evemu's recording. `python -m harness.record_session demo` makes examples/demo.evemu
instead.

The chords are shortcuts, dragging and a game. `keymodectl record` records the keyboard and a mouse into
one file; chords.jsonl has the changes.
"""

import sys
from pathlib import Path

from support.checkout import CHECKOUT

from harness import keys, service
from harness.build_image import ensure_images
from harness.recorder import FOREIGN, KEYMODECTL_YAML, MARKER, KeyRecorder, Recorder, record
from harness.recordings import assert_same_but_for_time_base, changes_of, replay
from harness.vm import PS2_KEYBOARD, USB_MOUSE_NAME, VirtualMachine

FOLDER = CHECKOUT / "Tests/RecordingsTests/Recordings"
DEMO = CHECKOUT / "examples/demo.evemu"

# A fixed script, so that new recordings differ in little but times.
SCRIPT = """
    tap shift; wait 120; tap shift_r; wait 200; tap shift_r; wait 560
    tap shift; wait 100; hold j 600 250 80; wait 100
    hold shift 600 250 80; wait 60; tap k; wait 100
    tap scroll_lock; wait 60; tap compose; wait 60; tap insert; wait 60; tap esc
"""

# Keys that show what keymoded does.
DEMO_SCRIPT = """
    tap a 60; wait 1500
    tap shift 90; wait 700; tap h 80; wait 150; tap i 80; wait 900
    tap shift 90; wait 160; tap shift 90; wait 700; tap o 80; wait 150; tap k 80; wait 900
    tap shift 90; wait 900
    tap scroll_lock 90; wait 1400; tap scroll_lock 90; wait 900
    down ctrl; wait 90; tap c 80; wait 90; up ctrl; wait 600
    tap compose 90; wait 1200; tap insert 90; wait 1000; tap esc 90; wait 300
"""

_SHIFT_CLICK = "down shift; wait 60; tap btn_left; wait 60; up shift"

# What a person does at a keyboard; each is followed by a pause.
CHORDS = {
    "Shift+Insert": "down shift; wait 60; tap insert; wait 60; up shift",
    "Shift+Enter": "down shift; wait 60; tap ret; wait 60; up shift",
    "Shift+F10": "down shift; wait 60; tap f10; wait 60; up shift",
    "Shift+click, twice": f"{_SHIFT_CLICK}; wait 90; {_SHIFT_CLICK}",
    "Ctrl+Shift+click": f"down ctrl; wait 50; {_SHIFT_CLICK}; wait 50; up ctrl",
    "dragging, then Shift": "down btn_left; wait 200; down shift; wait 200; up btn_left; wait 60; "
    "up shift",
    "Shift, then dragging": "down shift; wait 100; down btn_left; wait 300; up btn_left; wait 60; "
    "up shift",
    "game: Shift, then W": "down shift; wait 80; hold w 500; wait 60; up shift",
}

# Longer than any pause within a chord, and than the threshold of Shift.
PAUSE_MS = 1200
CHORDS_SCRIPT = "; ".join(f"{chord}; wait {PAUSE_MS}" for chord in CHORDS.values())


def record_chords(vm: VirtualMachine) -> None:
    """Types all chords, and stores the recordings with their changes."""
    vm.run(f"systemctl start {service.UNITS}")
    mouse = vm.plug_usb_mouse("chords")
    service.wait_until_followed(vm, USB_MOUSE_NAME)
    vm.wait_for_usb_mouse()
    recorder = Recorder(vm, KEYMODECTL_YAML, PS2_KEYBOARD, mouse)
    vm.play(f"{CHORDS_SCRIPT}; {MARKER}")
    recorder.wait_for_marker()
    recorder.stop()
    vm.unplug("chords")
    store(recorder, "chords.libinput.yaml")
    (FOLDER / "chords.jsonl").write_text(replayed(recorder.path))


def replayed(recording: Path) -> str:
    """The output of `keymodectl replay --json` for a recording; exits if it reports a fault."""
    ended = replay(recording)
    if ended.returncode != 0 or ended.stderr:
        raise SystemExit(f"{recording.name}: {ended.stderr}")
    return ended.stdout


def record_typing(vm: VirtualMachine) -> None:
    """Types the script, and stores the recordings of all programs, and their changes."""
    recorders = record(vm, SCRIPT, FOREIGN)
    replays = [replayed(recorder.path) for recorder in recorders]
    changes = [changes_of(lines) for lines in replays]
    for others in changes[1:]:
        assert_same_but_for_time_base(changes[0], others)
    for recorder in recorders:
        store(recorder, f"typing{recorder.tool.suffix}")
    (FOLDER / "typing.jsonl").write_text(replays[0])


def store(recorder: Recorder, name: str) -> None:
    """Stores a recording."""
    (FOLDER / name).write_bytes(recorder.recording())
    print(f"{name}: {len(recorder.recording())} bytes")


def record_demo(vm: VirtualMachine) -> None:
    """Makes examples/demo.evemu with evemu-record."""
    recorder = KeyRecorder(vm, PS2_KEYBOARD)
    vm.play(DEMO_SCRIPT)
    recorder.wait_for_events(len(keys.parse(DEMO_SCRIPT)))
    recorder.stop()
    DEMO.write_bytes(recorder.recording())


def main() -> None:
    with VirtualMachine(ensure_images()) as vm:
        if "demo" in sys.argv:
            record_demo(vm)
            return
        service.install(vm)
        record_typing(vm)
        record_chords(vm)


if __name__ == "__main__":
    main()
