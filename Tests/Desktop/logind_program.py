"""systemd-logind on the system bus, with one session. Its properties are words of the file `session`.

The machine sleeps while one of the words is Asleep. Lock and Unlock are requests to the session.
It prints the words once the bus has passed them on, and when a lock that delays a sleep is closed.
"""

import os

from gi.repository import Gio, GLib

BUS = ("org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus")
NAME = "org.freedesktop.login1"
XML = f"""<node><interface name="{NAME}.Manager">
  <method name="GetSession"><arg type="s" direction="in"/><arg type="o" direction="out"/></method>
  <method name="Inhibit">
    <arg type="s" direction="in"/><arg type="s" direction="in"/><arg type="s" direction="in"/>
    <arg type="s" direction="in"/><arg type="h" direction="out"/>
  </method>
</interface><interface name="{NAME}.Session">
  <property name="Active" type="b" access="read"/>
  <property name="LockedHint" type="b" access="read"/>
  <property name="Seat" type="(so)" access="read"/>
</interface></node>"""


def called(connection, sender, path, interface, method, arguments, invocation):
    if method == "GetSession":
        return invocation.return_value(GLib.Variant("(o)", ("/session",)))
    what, *_, mode = arguments.unpack()
    reading, writing = os.pipe()
    GLib.io_add_watch(reading, GLib.IO_HUP, closed, f"{mode} of {what}")
    descriptors = Gio.UnixFDList.new_from_array([writing])
    answer = GLib.Variant("(h)", (0,))
    invocation.return_value_with_unix_fd_list(answer, descriptors)
    print(f"{mode} of {what} begins", flush=True)


def closed(descriptor, condition, what):
    print(f"{what} ends", flush=True)
    os.close(descriptor)
    return GLib.SOURCE_REMOVE


def get(connection, sender, path, interface, name):
    global seat, words
    # The file is empty while it is written again.
    seat, *words = open("session").read().split() or [seat, *words]
    if name == "Seat":
        return GLib.Variant("(so)", (seat, "/"))
    return GLib.Variant("b", name in words)


def tell(monitor, file, other, event):
    global is_asleep
    if event == Gio.FileMonitorEvent.CHANGES_DONE_HINT:
        if is_asleep != get(bus, "", "", "", "Asleep").get_boolean():
            is_asleep = not is_asleep
            sleep = GLib.Variant("(b)", (is_asleep,))
            path, interface = "/org/freedesktop/login1", f"{NAME}.Manager"
            bus.emit_signal(None, path, interface, "PrepareForSleep", sleep)
        for request in words:
            if request in ("Lock", "Unlock"):
                bus.emit_signal(None, "/session", f"{NAME}.Session", request, None)
        values = {name: get(bus, "", "", "", name) for name in ("Active", "LockedHint", "Seat")}
        changes = GLib.Variant("(sa{sv}as)", (f"{NAME}.Session", values, []))
        properties = "org.freedesktop.DBus.Properties"
        bus.emit_signal(None, "/session", properties, "PropertiesChanged", changes)
        # The bus passes on what was sent before this call, and then answers it.
        bus.call_sync(*BUS, "GetId", None, None, Gio.DBusCallFlags.NONE, -1, None)
        print("session has told:", seat, *words, flush=True)


is_asleep = False
bus = Gio.bus_get_sync(Gio.BusType.SYSTEM)
manager, session = Gio.DBusNodeInfo.new_for_xml(XML).interfaces
bus.register_object("/org/freedesktop/login1", manager, called, None, None)
bus.register_object("/session", session, None, get, None)
file_monitor = Gio.File.new_for_path("session").monitor_file(0, None)
file_monitor.connect("changed", tell)
Gio.bus_own_name_on_connection(bus, NAME, 0, None, None)
GLib.MainLoop().run()
