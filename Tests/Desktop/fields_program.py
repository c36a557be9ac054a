"""A program with windows of text fields and buttons: fields_program.py VERSION FIFO WINDOW...

VERSION is that of GTK, 3.0 or 4.0. Each line that is written to FIFO is a command and its operands:

focus WINDOW WIDGET    gives the focus to a widget, as soon as its window is in front
write WINDOW TEXT      writes a text into the window's entry, and into its title
close WINDOW           closes a window

Debian's Python runs it, since GTK's bindings are only there.
"""

import os
import sys

import gi

VERSION, FIFO, *TITLES = sys.argv[1:]
gi.require_version("Gtk", VERSION)
from gi.repository import GLib, Gtk  # noqa: E402

IS_OLD = VERSION == "3.0"


def text_view(editable):
    view = Gtk.TextView(editable=editable)
    view.get_buffer().set_text("text")
    return view


def password():
    return Gtk.Entry(visibility=False) if IS_OLD else Gtk.PasswordEntry()


WIDGETS = {
    "button": lambda: Gtk.Button(label="button"),
    "check": lambda: Gtk.CheckButton(label="check"),
    "entry": Gtk.Entry,
    "password": password,
    "search": Gtk.SearchEntry,
    "number": lambda: Gtk.SpinButton(adjustment=Gtk.Adjustment(upper=9)),
    "text": lambda: text_view(editable=True),
    "readonly": lambda: text_view(editable=False),
}


class Window:
    """A window with one of each widget."""

    def __init__(self, title):
        self.window = Gtk.Window(title=title)
        self.widgets = {name: make() for name, make in WIDGETS.items()}
        self.wanted = None
        box = Gtk.Box(orientation=Gtk.Orientation.VERTICAL)
        for widget in self.widgets.values():
            box.add(widget) if IS_OLD else box.append(widget)
        self.window.add(box) if IS_OLD else self.window.set_child(box)
        self.window.connect("notify::is-active", self.grab)
        self.window.show_all() if IS_OLD else self.window.present()

    def focus(self, name):
        self.wanted = name
        self.grab()

    def write(self, text):
        self.widgets["entry"].set_text(text)
        self.window.set_title(text)

    def grab(self, *_):
        if self.wanted and self.window.is_active():
            self.widgets[self.wanted].grab_focus()
            self.wanted = None


Gtk.init(None) if IS_OLD else Gtk.init()
windows = {title: Window(title) for title in TITLES}
fifo = os.open(FIFO, os.O_RDWR | os.O_NONBLOCK)


def read(*_):
    for line in os.read(fifo, 4096).decode().splitlines():
        command, title, *operands = line.split()
        if command == "focus":
            # Only one widget is to get the focus.
            for window in windows.values():
                window.wanted = None
            windows[title].focus(*operands)
        elif command == "write":
            windows[title].write(*operands)
        else:
            windows.pop(title).window.destroy()
    return True


GLib.unix_fd_add_full(GLib.PRIORITY_DEFAULT, fifo, GLib.IOCondition.IN, read)
GLib.MainLoop().run()
