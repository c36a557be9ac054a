"""Makes the recordings for tests: the same typing, recorded by several programs, and chords.

All programs record at once, so all recordings must lead to the same changes. The changes of each
recording are stored beside it, in `<name>.jsonl`.
"""

from harness import service
from harness.build_image import ensure_images
from harness.record_chords import FOLDER, record_chords, replayed
from harness.recorder import KEYMODECTL, record
from harness.recordings import assert_same_but_for_time_base, changes_of
from harness.vm import VirtualMachine

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


def main() -> None:
    with VirtualMachine(ensure_images()) as vm:
        service.install(vm)
        recorders = record(vm, SCRIPT)
        replays = [replayed(recorder.path) for recorder in recorders]
        changes = [changes_of(lines) for lines in replays]
        for others in changes[1:]:
            assert_same_but_for_time_base(changes[0], others)
        FOLDER.mkdir(exist_ok=True)
        for recorder, lines in zip(recorders, replays, strict=True):
            if recorder.tool == KEYMODECTL:
                continue  # The redacted one has the same events.
            name = f"typing{recorder.tool.suffix}"
            (FOLDER / name).write_bytes(recorder.recording())
            (FOLDER / f"{name}.jsonl").write_text(lines)
            print(f"{name}: {len(recorder.recording())} bytes, {len(lines.splitlines())} changes")
        record_chords(vm)


if __name__ == "__main__":
    main()
