"""Makes the recordings of chords: shortcuts, selecting, dragging, games and capitals.

`keymodectl record` records the keyboard and a mouse into one file, with and without redaction. Both
must lead to the changes that are stored beside them. Where every press of Shift counts, the changes
are those of version 0.1.0; they are stored too.
"""

from pathlib import Path

from support.checkout import CHECKOUT

from harness import service
from harness.build_image import ensure_images
from harness.recorder import KEYMODECTL_YAML, MARKER, REDACTED_YAML, Recorder
from harness.recordings import replay
from harness.vm import PS2_KEYBOARD, USB_MOUSE_NAME, VirtualMachine

FOLDER = CHECKOUT / "Tests/EventRecordingsTests/Recordings"

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
SCRIPT = "; ".join(f"{chord}; wait {PAUSE_MS}" for chord in CHORDS.values())


def record_chords(vm: VirtualMachine) -> None:
    """Types all chords, and stores the recordings with their changes."""
    vm.run(f"systemctl start {service.UNITS}")
    mouse = vm.plug_usb_mouse("chords")
    service.wait_until_followed(vm, USB_MOUSE_NAME)
    vm.wait_for_usb_mouse()
    recorders = [
        Recorder(vm, tool, PS2_KEYBOARD, mouse) for tool in (KEYMODECTL_YAML, REDACTED_YAML)
    ]
    vm.play(f"{SCRIPT}; {MARKER}")
    for recorder in recorders:
        recorder.wait_for_marker()
        recorder.stop()
    vm.unplug("chords")
    shown, redacted = (replayed(recorder.path) for recorder in recorders)
    assert shown == redacted
    name = "chords.libinput.yaml"
    (FOLDER / name).write_bytes(recorders[0].recording())
    (FOLDER / f"{name}.jsonl").write_text(shown)
    print(f"{name}: {len(recorders[0].recording())} bytes, {len(shown.splitlines())} changes")
    always = vm.shared / "always.yaml"
    always.write_text("shift: { trigger: always }\ndevices: { pointers: no }\n")
    (FOLDER / "chords.always.jsonl").write_text(replayed(recorders[0].path, "--config", always))


def replayed(recording: Path, *options: str | Path) -> str:
    """The output of `keymodectl replay --json` for a recording; exits if it reports a fault."""
    ended = replay(recording, *options)
    if ended.returncode != 0 or ended.stderr:
        raise SystemExit(f"{recording.name}: {ended.stderr}")
    return ended.stdout


def main() -> None:
    with VirtualMachine(ensure_images()) as vm:
        service.install(vm)
        record_chords(vm)


if __name__ == "__main__":
    main()
