"""Takes the picture of the live view that the README shows; `make pictures` runs it."""

import pytest
from seat import Desktop, Seat
from support.checkout import CHECKOUT

PANEL = (0x88, 0xC0, 0xD0)

TERMINAL = """
font=DejaVu Sans Mono:size=11
pad=12x10
[colors]
background=2e3440
foreground=d8dee9
regular1=e06c75
regular2=a3be8c
regular3=ebcb8b
regular6=88c0d0
"""


def test_picture_of_the_live_view(seat: Seat, pictures_are_remade: bool) -> None:
    if not pictures_are_remade:
        pytest.skip("only `make pictures` takes this picture")
    seat.write("foot.ini", TERMINAL)
    desktop = Desktop(seat, width=1360, height=500)
    seat.kill_keymoded()
    # The path relative to the home is shorter to read in the picture.
    watch = ("keymodectl", "watch", "--socket-dir", "run/keymoded")
    seat.start_keymoded("--recording", f"{seat.folder}/examples/demo.evemu")
    seat.start("foot", f"--config={seat.folder}/foot.ini", *watch)
    picture = desktop.wait_for(lambda seen: seen.colors()[PANEL] > 100, "showingPanel")
    picture.write_png(CHECKOUT / "docs/pictures/watch.png")
