"""The page in its four states: each looks different, and `make pictures` shows them in README."""

import base64
import os
from pathlib import Path

from browser import Tab, is_state
from kiosk import FIRST_KEY, NOTE_KEYS, Kiosk

from support.checkout import CHECKOUT
from support.input_events import COMPOSE, ESC, LEFTSHIFT, SCROLLLOCK, B

WIDTH, HEIGHT = 360, 460
STATES = ["prepareToEditText", "editingText", "prepareToRecord", "showingPanel"]

# Shows pictures side by side, with their names below.
ROW = """
document.head.innerHTML = `<style>
  body { display: flex; gap: 14px; margin: 0; padding: 10px; background: #fff; width: max-content; }
  figure { margin: 0; }
  img { display: block; border: 1px solid #8a97a5; border-radius: 10px; }
  figcaption { padding-top: 8px; font: 15px "DejaVu Sans Mono"; text-align: center; color: #14202e; }
</style>`;
document.body.replaceChildren(...given[0].map(([name, data]) => {
  const figure = document.createElement('figure');
  figure.innerHTML = `<img src="data:image/png;base64,${data}"><figcaption>${name}</figcaption>`;
  return figure;
}));
await Promise.all([...document.images].map((image) => image.decode()));
const { right, bottom } = document.querySelector("figure:last-child figcaption").getBoundingClientRect();
return [right + 10, bottom + 10];
"""


def test_each_state_has_a_different_look(kiosk: Kiosk, page: Tab, tmp_path: Path) -> None:
    page.resize(WIDTH, HEIGHT)
    pictures = {}

    def look(state: str) -> None:
        page.wait_for(is_state("keyboard", state))
        # Nothing blinks or grows while the picture is taken.
        page.run("await Promise.all(document.getAnimations().map((each) => each.finished))")
        page.picture(tmp_path / f"{state}.png")
        pictures[state] = (tmp_path / f"{state}.png").read_bytes()

    kiosk.enter(page, "editingText")
    kiosk.keyboard.press(LEFTSHIFT)
    page.wait_for(is_state("shift", "on"))
    page.run(NOTE_KEYS)
    page.type("i")
    kiosk.keyboard.press(B, page.run(FIRST_KEY))
    page.wait_for(is_state("shift", "off"))
    page.type("s there a room for two? 😊\ue007")
    kiosk.keyboard.press(ESC)
    look("prepareToEditText")

    kiosk.enter(page, "editingText")
    page.type("we arrive on ")
    kiosk.keyboard.press(LEFTSHIFT)
    page.wait_for(is_state("shift", "on"))
    page.type("f")
    assert page.run("return document.getElementById('field').value") == "we arrive on F"
    look("editingText")

    kiosk.keyboard.press(SCROLLLOCK)
    page.wait_for("document.querySelector('#voice-time').textContent === '0:01'")
    page.wait_for("document.querySelector('#level').value > 0.2")
    look("prepareToRecord")

    kiosk.keyboard.press(SCROLLLOCK)
    page.wait_for("document.querySelectorAll('.voice').length === 1")
    kiosk.keyboard.press(COMPOSE)
    look("showingPanel")

    assert len(set(pictures.values())) == len(STATES)
    if os.environ.get("REMAKE_PICTURES") == "1":
        row = [(state, base64.b64encode(pictures[state]).decode()) for state in STATES]
        page.open("about:blank", "about:blank")
        page.resize(4 * (WIDTH + 40), HEIGHT + 100)
        page.picture(CHECKOUT / "docs/pictures/kiosk.png", *page.run(ROW, row))
