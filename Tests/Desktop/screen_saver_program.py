"""A screen saver on the session bus: screen_saver_program.py KIND FILE

KIND is the word in its name, such as `xfce`. It is active while FILE has the word `active`.
"""

import sys

from gi.repository import Gio, GLib

KIND, FILE = sys.argv[1:]
NAME, PATH = f"org.{KIND}.ScreenSaver", f"/org/{KIND}/ScreenSaver"
XML = f"""<node><interface name="{NAME}">
  <method name="GetActive"><arg type="b" direction="out"/></method>
</interface></node>"""


def is_active():
    return GLib.Variant("(b)", ("active" in open(FILE).read(),))


def called(connection, sender, path, interface, method, arguments, invocation):
    invocation.return_value(is_active())


def tell(monitor, file, other, event):
    if event == Gio.FileMonitorEvent.CHANGES_DONE_HINT:
        bus.emit_signal(None, PATH, NAME, "ActiveChanged", is_active())
        bus.flush_sync()
        print(f"{KIND} has told", flush=True)


bus = Gio.bus_get_sync(Gio.BusType.SESSION)
(saver,) = Gio.DBusNodeInfo.new_for_xml(XML).interfaces
bus.register_object(PATH, saver, called, None, None)
file_monitor = Gio.File.new_for_path(FILE).monitor_file(0, None)
file_monitor.connect("changed", tell)
Gio.bus_own_name_on_connection(bus, NAME, 0, None, None)
GLib.MainLoop().run()
