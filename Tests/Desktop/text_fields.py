"""Windows with a text field, on a desktop where programs tell what has the focus (AT-SPI)."""

import ast
import contextlib
import json
import re
import subprocess
from typing import Any

from seat import Seat

ROOT = "/org/a11y/atspi/accessible/root"
ACCESSIBLE = "org.a11y.atspi.Accessible"

# A node of the tree: the name of its program on the bus, and a path.
Node = tuple[str, str]

# What GTK 3 and GTK 4 call a text field: zenity is of GTK 4 from Debian 13 on.
TEXT_FIELD = ("text", "text box")

# The end of any text: GTK 4 does not take -1 for it, as others do.
END = str(2**31 - 1)


class GoneError(Exception):
    """The program of a node has ended."""


class AccessibleDesktop:
    """The bus over which programs tell of their windows, and such programs."""

    def __init__(self, seat: Seat) -> None:
        self.seat = seat
        # Set for the other tests, whose programs have no such bus.
        for name in ("GTK_A11Y", "NO_AT_BRIDGE"):
            del seat.environment[name]
        seat.start_bus()
        self.launch()

    def launch(self) -> None:
        """Starts the bus. On a usual session bus, a service of its name does."""
        self.seat.start("/usr/libexec/at-spi-bus-launcher", "--launch-immediately")
        self.seat.wait_for(lambda: "org.a11y.Bus" in self.seat.bus_names(), "the bus's launcher")
        (self._address,) = _values(self._ask_launcher("org.a11y.Bus.GetAddress"))

    def turn_on(self) -> None:
        """Makes programs that start from now on use the bus, as keymode-focus does."""
        self.set("IsEnabled", True)

    def is_on(self) -> bool:
        """Whether programs that start now use the bus."""
        return self.property("IsEnabled")

    def property(self, name: str) -> bool:
        """A property of the bus."""
        get = "org.freedesktop.DBus.Properties.Get"
        return self._ask_launcher(get, "org.a11y.Status", name) == "(<true>,)\n"

    def set(self, name: str, value: bool) -> None:
        """Sets a property of the bus."""
        method = "org.freedesktop.DBus.Properties.Set"
        self._ask_launcher(method, "org.a11y.Status", name, f"<{str(value).lower()}>")

    def _ask_launcher(self, method: str, *arguments: str) -> str:
        launcher = ("--session", "--dest", "org.a11y.Bus", "--object-path", "/org/a11y/bus")
        return self.seat.run("gdbus", "call", *launcher, "--method", method, *arguments)

    def open_field(self, title: str) -> subprocess.Popen[bytes]:
        """Opens a window with a text field, and waits until it has the focus."""
        window = self.seat.start("zenity", "--entry", f"--title={title}", "--text=Message:")
        self.seat.wait_for(lambda: focused_window(self.seat) == title, title)
        return window

    def texts(self) -> list[str]:
        """The texts in the text fields of all programs; those that end meanwhile may be left out."""
        found: list[str] = []
        waiting: list[Node] = [("org.a11y.atspi.Registry", ROOT)]
        while waiting:
            with contextlib.suppress(GoneError):
                self._look_at(waiting.pop(), found, waiting)
        return found

    def _look_at(self, node: Node, found: list[str], waiting: list[Node]) -> None:
        """Adds the text of a text field to `found`, and the children of another node to `waiting`."""
        (role,) = self.call(node, f"{ACCESSIBLE}.GetRoleName")
        if role in TEXT_FIELD:
            (text,) = self.call(node, "org.a11y.atspi.Text.GetText", "0", END)
            found.append(text)
        # Menus have many items, and no text field.
        elif role != "menu bar":
            (children,) = self.call(node, f"{ACCESSIBLE}.GetChildren")
            waiting += children

    def call(self, node: Node, method: str, *arguments: str) -> tuple[Any, ...]:
        """Calls a method of a node on the bus, and returns what it returns."""
        bus = ("--address", self._address, "--dest", node[0], "--object-path", node[1])
        try:
            return _values(self.seat.run("gdbus", "call", *bus, "--method", method, *arguments))
        except AssertionError as error:
            if "ServiceUnknown" in str(error):
                raise GoneError from error
            raise


def focused_window(seat: Seat) -> str | None:
    """The title of the window that has the focus of the desktop."""
    waiting = [json.loads(seat.run("swaymsg", "-t", "get_tree"))]
    while waiting:
        node = waiting.pop()
        if node["focused"] and "pid" in node:
            title: str = node["name"]
            return title
        waiting += node["nodes"] + node["floating_nodes"]
    return None


def _values(printed: str) -> tuple[Any, ...]:
    """The values that gdbus printed."""
    # The types of empty arrays, paths and numbers are before the value.
    values = ast.literal_eval(re.sub(r"@a\([a-z]+\) |objectpath |uint32 ", "", printed))
    assert isinstance(values, tuple)
    return values
