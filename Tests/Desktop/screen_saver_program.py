"""A screen saver on the session bus: screen_saver_program.py FILE KIND...

Each KIND is the word in one of its names, such as `xfce`. It is active while FILE has the word `active`.
It prints that it was asked, and what FILE has once the bus has passed that on.
"""

import sys

from gi.repository import Gio, GLib

FILE, *KINDS = sys.argv[1:]
BUS = ("org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus")
INTERFACE = """<node><interface name="org.{}.ScreenSaver">
  <method name="GetActive"><arg type="b" direction="out"/></method>
</interface></node>"""


def is_active():
    return GLib.Variant("(b)", ("active" in open(FILE).read(),))


def called(connection, sender, path, interface, method, arguments, invocation):
    print(f"{FILE} was asked", flush=True)
    invocation.return_value(is_active())


def tell(monitor, file, other, event):
    if event == Gio.FileMonitorEvent.CHANGES_DONE_HINT:
        for kind in KINDS:
            path, interface = f"/org/{kind}/ScreenSaver", f"org.{kind}.ScreenSaver"
            bus.emit_signal(None, path, interface, "ActiveChanged", is_active())
        # The bus passes on what was sent before this call, and then answers it.
        bus.call_sync(*BUS, "GetId", None, None, Gio.DBusCallFlags.NONE, -1, None)
        print(f"{FILE} has told: {open(FILE).read()}", flush=True)


bus = Gio.bus_get_sync(Gio.BusType.SESSION)
file_monitor = Gio.File.new_for_path(FILE).monitor_file(0, None)
file_monitor.connect("changed", tell)
for kind in KINDS:
    (saver,) = Gio.DBusNodeInfo.new_for_xml(INTERFACE.format(kind)).interfaces
    bus.register_object(f"/org/{kind}/ScreenSaver", saver, called, None, None)
    Gio.bus_own_name_on_connection(bus, f"org.{kind}.ScreenSaver", 0, None, None)
GLib.MainLoop().run()
