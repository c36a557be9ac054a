"""Push-to-talk in a call, as docs/call.md has it, with the desktop's own PipeWire and WirePlumber."""

import pytest
from desk import Desk
from desktops import USER
from support.waiting import wait_until

# A microphone that hears a tone, as Tests/Desktop has it, since the machine has none.
MICROPHONE = """
context.spa-libs = { audiotestsrc = audiotestsrc/libspa-audiotestsrc }
context.objects = [
  { factory = adapter
    args = {
      factory.name = support.null-audio-sink
      node.name = microphone
      media.class = Audio/Source/Virtual
      audio.position = MONO
      priority.session = 2000
      priority.driver = 2000
    } }
  { factory = adapter
    args = {
      factory.name = audiotestsrc
      node.name = tone
      node.param.Props = { live = false }
    } }
]
"""
# The recording of a call, without a header, which is not zero.
CALL = "pw-record --target push-to-talk --raw --rate 16000 --channels 1 --format s16 ~/call.raw\n"
# Whether one of the next 16000 samples is not zero.
HEARS = f"""
import os, time
size = lambda: os.path.getsize("/home/{USER}/call.raw")
begin = size()
while size() < begin + 32000: time.sleep(0.02)
print(any(open("/home/{USER}/call.raw", "rb").read()[begin:begin + 32000]))
"""


def test_call_hears_while_the_key_is_held_and_nothing_behind_the_lock_screen(desk: Desk) -> None:
    if desk.desktop.name not in ("gnome", "plasma"):
        pytest.skip("its image has no PipeWire")
    desk.write_home("microphone.conf", MICROPHONE)
    desk.ask_desktop(
        "install -D -m 644 -t ~/.config/pipewire/pipewire.conf.d ~/microphone.conf && "
        "systemctl --user restart pipewire wireplumber"
    )
    tone = "$(pw-link --output | grep -m 1 ^tone:)"
    wait_until(
        lambda: desk.ask_desktop(f"pw-link {tone} microphone:input_MONO", check=False).exit_code == 0,
        "the microphone and its tone",
    )
    desk.run("keymodectl recipe push-to-talk")
    desk.ask_desktop("systemctl --user enable --now keymode-call.service")
    desk.write_home("call", CALL)
    desk.type("sh call\n")
    desk.wait_until(f"test -s /home/{USER}/call.raw")
    desk.write_home("hears", HEARS)

    def hears() -> bool:
        return desk.run(f"python3 ~{USER}/hears").stdout == "True\n"

    assert not hears()
    desk.play("down f9")
    wait_until(hears, "the call to hear")
    desk.look("heard")
    desk.play("up f9")
    wait_until(lambda: not hears(), "the call to hear nothing")
    assert not hears()

    desk.play("down f9")
    wait_until(hears, "the call to hear again")
    desk.lock()
    wait_until(lambda: not hears(), "the call to hear nothing behind the lock screen")
    desk.play("up f9; wait 500; down f9")
    desk.run("keymodectl wait talk=talking --timeout 100")
    assert not hears()
    desk.play("up f9")
    desk.unlock()
    assert not hears()
    desk.play("down f9")
    wait_until(hears, "the call to hear after the unlock")
    desk.play("up f9")
