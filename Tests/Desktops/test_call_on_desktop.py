"""Push-to-talk in a call of a browser, by the commands of README, with the desktop's own PipeWire."""

from pathlib import Path

import pytest
from desk import Desk
from desktops import START_SECONDS
from support import readme
from support.waiting import wait_until

HEARD = "/tmp/heard"
"""What the page has heard, a line for each half a second."""

# The page's colours.
HEARS, IS_SILENT = (0xD0, 0x21, 0x2F), (0x2F, 0x81, 0x32)

# By the last option the page may use a microphone without a question, which the test could not answer.
BROWSER = "chromium --ozone-platform={} --no-first-run --password-store=basic --use-fake-ui-for-media-stream"
CALL = f"{BROWSER} http://localhost:8000/ >/tmp/browser 2>&1\n"


class Call:
    """A call in a browser, which has the focus."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        tone = "$(pw-link --output | grep -m 1 ^tone:)"
        wait_until(
            lambda: desk.ask_desktop(f"pw-link {tone} microphone:input_MONO", check=False).exit_code == 0,
            "the microphone and its tone",
        )
        desk.write_home("call_page.py", Path(__file__).with_name("call_page.py").read_text())
        desk.ask_desktop(f"systemd-run --user --quiet python3 call_page.py {HEARD}")
        desk.write_home("call", CALL.format("x11" if desk.desktop.compositor == "Xorg" else "wayland"))
        desk.type("sh call\n")
        wait_until(self._hears_anything, "the call", START_SECONDS)

    def _hears_anything(self) -> bool:
        """Waits for the page, and loads it again: on a busy machine, Chromium on Xorg began with an empty one."""
        begins = f"timeout 90 sh -c 'until test -s {HEARD}; do sleep 1; done'"
        if self._desk.run(begins, check=False).exit_code == 0:
            return True
        self._desk.look("empty")
        self._desk.play("tap f5")
        return False

    def _next(self, count: int) -> list[float]:
        """What is heard in the next halves of a second, of which the first may have begun before."""
        lines = f"wc -l <{HEARD}"
        self._desk.run(f"end=$(($({lines}) + {count + 1})); until test $({lines}) -ge $end; do sleep 0.05; done")
        heard = self._desk.run(f"tail -n {count} {HEARD}").stdout
        return [float(line) for line in heard.split()]

    def wait_for_tone(self) -> None:
        """Waits until it is heard."""
        wait_until(lambda: all(self._next(1)), "the tone in the call")

    def wait_for_silence(self) -> None:
        """Waits until nothing is heard; then every sample of two seconds is exactly zero."""
        wait_until(lambda: not any(self._next(1)), "silence in the call")
        self.expect_silence()

    def expect_silence(self) -> None:
        """Checks that every sample of the next two seconds is exactly zero."""
        assert self._next(4) == [0] * 4


@pytest.fixture
def call(desk: Desk) -> Call:
    """A call, with the commands of README after that which installs the package."""
    _, configure, start, *_ = readme.commands("Talk in three commands")
    desk.run(configure)
    desk.ask_desktop(start)
    return Call(desk)


def test_call_hears_while_the_key_is_held_and_nothing_behind_the_lock_screen(desk: Desk, call: Call) -> None:
    call.expect_silence()
    desk.wait_for_color(IS_SILENT)
    desk.look("silent")
    desk.play("down ctrl_r")
    call.wait_for_tone()
    desk.wait_for_color(HEARS)
    desk.look("heard")
    desk.play("up ctrl_r")
    call.wait_for_silence()

    desk.play("down ctrl_r")
    call.wait_for_tone()
    # The lock ends it, although the key is held.
    desk.lock()
    call.wait_for_silence()
    desk.play("up ctrl_r; wait 500; down ctrl_r")
    desk.run("keymodectl wait talk=talking --timeout 100")
    call.expect_silence()
    desk.play("up ctrl_r")
    desk.unlock()
    call.expect_silence()
    desk.play("down ctrl_r")
    call.wait_for_tone()
    desk.look("again")
    desk.play("up ctrl_r")
    call.wait_for_silence()
