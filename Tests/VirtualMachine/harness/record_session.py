"""Makes the recordings for tests and examples: the same typing by several programs, and chords.

All programs record at once, so all recordings must lead to the same changes; typing.jsonl has them,
with the times of evemu's recording. `python -m harness.record_session demo` makes examples/demo.evemu
instead.

The chords are shortcuts, selecting, dragging, games and capitals. `keymodectl record` records the
keyboard and a mouse into one file; chords.jsonl has the changes.
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

# A fixed script, so that new recordings differ in little but times. QEMU's PS/2 keyboard lacks two
# of the keys that are bound by default, Dictate and Emoji.
SCRIPT = """
    tap shift; wait 200; tap shift; wait 60; tap a; wait 60; tap shift; wait 560
    tap shift; wait 660; tap shift; wait 560
    tap shift; wait 100; tap h; wait 40; tap i; wait 460
    tap shift; wait 120; tap shift_r; wait 200; tap shift_r; wait 560
    tap shift; wait 100; hold j 600 250 80; wait 100
    hold shift 600 250 80; wait 60; tap k; wait 100
    tap scroll_lock; wait 60; tap compose; wait 60; tap insert; wait 60; tap esc; wait 60
    tap compose; wait 60; tap scroll_lock; wait 60; tap scroll_lock; wait 60; tap esc; wait 60
    tap shift; wait 60; down ctrl; wait 30; tap c; wait 30; up ctrl; wait 60
    down alt_r; wait 30; tap e; wait 30; up alt_r; wait 560
    down shift; wait 30; tap insert; wait 30; up shift; wait 60
    down q; wait 40; down w; wait 40; up q; wait 40; up w; wait 560
    tap shift; wait 60; down e; wait 40; down r; wait 40; up r; wait 40; up e; wait 560
    down shift; wait 60; down t; wait 40; down y; wait 40; up t; wait 40; up y; wait 60; up shift
    wait 560; tap shift; wait 60; tap kp_7; wait 60; tap kp_3; wait 60; tap kp_9; wait 60; tap kp_1
    wait 60; tap f5; wait 60; tap pause
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

_SHIFT_TAB = "down shift; wait 60; tap tab; wait 60; up shift"
_SHIFT_CLICK = "down shift; wait 60; tap btn_left; wait 60; up shift"
_CTRL_SHIFT_V = "down ctrl; wait 50; down shift; wait 50; tap v; wait 50; up shift; up ctrl"
_ALT_SHIFT = "down alt; wait 60; tap shift; wait 60; up alt"

# What a person does at a keyboard; each is followed by a pause.
CHORDS = {
    "Shift+Tab, twice": f"{_SHIFT_TAB}; wait 90; {_SHIFT_TAB}",
    "Shift+Left, twice": "down shift; wait 60; tap left; wait 60; up shift; wait 90; "
    "down shift; wait 60; tap left; wait 60; up shift",
    "selecting: Shift, arrows, End": "down shift; wait 80; hold right 400; wait 60; tap down; "
    "wait 60; tap end; wait 60; up shift",
    "selecting: Shift while Right is held": "down right; wait 120; tap shift 300; wait 60; "
    "up right",
    "Ctrl+Shift+V": _CTRL_SHIFT_V,
    "Ctrl+Shift+T, Shift first": "down shift; wait 50; down ctrl; wait 50; tap t; wait 50; "
    "up ctrl; up shift",
    "Super+Shift+S": "down meta_l; wait 50; down shift; wait 50; tap s; wait 50; up shift; "
    "up meta_l",
    "layout: Alt+Shift": _ALT_SHIFT,
    "layout: Alt+Shift, twice": f"{_ALT_SHIFT}; wait 90; {_ALT_SHIFT}",
    "layout: Shift+Alt": "down shift; wait 60; tap alt; wait 60; up shift",
    "layout: Ctrl+Shift": "down ctrl; wait 60; tap shift; wait 60; up ctrl",
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
    "game: W, then Shift, Space": "down w; wait 150; down shift; wait 200; tap spc; wait 100; "
    "up shift; wait 100; up w",
    "game: Up, then Shift, twice": "down up; wait 150; tap shift 80; wait 150; tap shift 80; "
    "wait 100; up up",
    "game: W, then Shift, twice": "down w; wait 150; tap shift 80; wait 150; tap shift 80; "
    "wait 100; up w; wait 100; tap shift",
    "a capital: Shift held": "down shift; wait 60; tap h; wait 60; up shift; wait 60; tap i",
    "two capitals: Shift held": "down shift; wait 60; tap h; wait 60; tap i; wait 60; up shift",
    "a capital: Shift tapped": "tap shift; wait 90; tap h; wait 60; tap i",
    "a capital with AltGr": "down alt_r; wait 60; down shift; wait 60; tap e; wait 60; up shift; "
    "up alt_r",
    "double Shift, text, Shift": "tap shift; wait 90; tap shift; wait 90; tap h; wait 60; tap i; "
    "wait 90; tap shift",
    "capsLock, Shift+Tab, text, Shift": "tap shift; wait 90; tap shift; wait 300; "
    f"{_SHIFT_TAB}; wait 90; tap h; wait 300; tap shift",
    "Shift, Ctrl+Shift+V, a letter": f"tap shift; wait 600; {_CTRL_SHIFT_V}; wait 90; tap h",
    "Shift, Shift+click, a letter": f"tap shift; wait 600; {_SHIFT_CLICK}; wait 90; tap h",
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
