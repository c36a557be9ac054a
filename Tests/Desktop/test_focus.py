"""`keymode-focus`, on a desktop whose programs tell what has the focus (AT-SPI)."""

import os
import random
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from seat import Desktop, Seat
from support.process import Process
from support.user_manager import UserManager, require_root
from support.waiting import BOUND_SECONDS, wait_until
from text_fields import ACCESSIBLE, ROOT, AccessibleDesktop

PREPARING = "prepareToEditText"
EDITING = "editingText"
PANEL = "showingPanel"

FIELDS = ["entry", "password", "search", "number", "text"]
OTHERS = ["button", "check", "readonly"]

# Longer than `keymode-focus` waits before it closes what it opened.
LONG = 0.3

REGISTRY = "org.a11y.atspi.Registry"


class Accessibility(AccessibleDesktop):
    """The bus over which programs tell of themselves, and who listens there."""

    def kill(self) -> None:
        """Kills the accessibility bus, its launcher and its registry."""
        running = self.seat.processes()
        for number, command in running.items():
            if "at-spi" in command:
                os.kill(number, signal.SIGKILL)
        self.seat.wait_for(lambda: not self.has_name("org.a11y.Bus"), "the bus to end")

    def has_name(self, name: str) -> bool:
        """Whether a program has this name on the session bus."""
        return f"'{name}'" in self.seat.bus_names()

    def registered(self) -> str:
        """The events for which listeners have registered."""
        registry = (REGISTRY, "/org/a11y/atspi/registry")
        return str(self.call(registry, f"{REGISTRY}.GetRegisteredEvents"))

    def wait_until_heard(self, program: subprocess.Popen[bytes]) -> None:
        """Waits until a program of GTK 4 knows that another program listens for focus.

        It asks the registry once that knows the program, and tells of no focus before the answer.
        """
        self.seat.wait_for(lambda: self._names(program), "a program on the accessibility bus")
        (name,) = self._names(program)
        # Messages stay in order: the program has asked, the registry has answered, and the program
        # has the answer.
        for asked in (name, REGISTRY, name):
            self.call((asked, ROOT), f"{ACCESSIBLE}.GetRole")

    def _names(self, program: subprocess.Popen[bytes]) -> list[str]:
        """The names of a process among the programs that the registry knows."""
        asking = "org.freedesktop.DBus.GetConnectionUnixProcessID"
        (known,) = self.call((REGISTRY, ROOT), f"{ACCESSIBLE}.GetChildren")
        return [
            name
            for name, _ in known
            if self.call(("org.freedesktop.DBus", "/"), asking, name) == (program.pid,)
        ]

    def start_focus(self, *options: str) -> subprocess.Popen[bytes]:
        """Starts `keymode-focus`, and waits until it receives what programs tell."""
        self.focus = self.seat.start("keymode-focus", *options)
        self.wait_until_followed()
        return self.focus

    def wait_until_followed(self) -> None:
        """Waits until `keymode-focus` has registered for its events."""
        self.seat.wait_for(lambda: "deactivate" in self.registered().lower(), "a registration")

    def wait_for(self, state: str) -> None:
        """Waits for a state of the keyboard."""
        self.seat.wait_for(lambda: self.seat.keyboard == state, state)

    def stays(self, state: str) -> None:
        """Asserts that the keyboard is in a state, and still is after the time for a change."""
        self.wait_for(state)
        time.sleep(LONG)
        assert self.seat.keyboard == state, self.seat.log


class Program:
    """A program with windows of text fields and buttons."""

    def __init__(self, desktop: Accessibility, version: str, *windows: str) -> None:
        self.seat = seat = desktop.seat
        source = Path(__file__).with_name("fields_program.py")
        copy = seat.write(source.name, source.read_text())
        self.fifo = seat.folder / f"commands-{windows[0]}"
        os.mkfifo(self.fifo)
        self.fifo.chmod(0o666)
        self.process = seat.start("/usr/bin/python3", str(copy), version, str(self.fifo), *windows)
        for window in windows:
            title = f'"name": "{window}"'
            seat.wait_for(lambda: title in seat.run("swaymsg", "-t", "get_tree"), window)
        if version == "4.0":
            desktop.wait_until_heard(self.process)

    def focus(self, window: str, widget: str) -> None:
        """Goes to a window, as by a click on the widget in it."""
        self.seat.run("swaymsg", f"[title={window}]", "focus")
        self.send(f"focus {window} {widget}")

    def send(self, command: str) -> None:
        """Sends a command to the program."""
        self.fifo.write_text(f"{command}\n")


@pytest.fixture
def accessibility(seat: Seat) -> Accessibility:
    """A session without a desktop."""
    return Accessibility(seat)


@pytest.fixture
def desktop(accessibility: Accessibility) -> Iterator[Accessibility]:
    """A desktop with `keymode-focus`."""
    accessibility.start_focus()
    Desktop(accessibility.seat)
    # Without any keyboard, no window of the seat gets the focus.
    accessibility.seat.start("wvkbd-mobintl", "--hidden")
    yield accessibility


def test_every_focus_leads_to_the_right_state(desktop: Accessibility) -> None:
    programs = {
        "three": Program(desktop, "3.0", "three", "drei"),
        "four": Program(desktop, "4.0", "four", "vier"),
    }
    programs |= {"drei": programs["three"], "vier": programs["four"]}
    for window, program in programs.items():
        program.focus(window, "entry")
        desktop.wait_for(EDITING)
        program.focus(window, "button")
        desktop.wait_for(PREPARING)

    dice = random.Random(18)
    changes = 0
    while changes < 200:
        # Changes quick and slow, some just before and after an event is sent.
        for _ in range(dice.choice([1, 1, 2, 5, 10])):
            window = dice.choice(list(programs))
            widget = dice.choice(FIELDS + OTHERS)
            time.sleep(dice.choice([0, 0, 0.02, 0.13, 0.15, 0.17]))
            programs[window].focus(window, widget)
            changes += 1
        state = EDITING if widget in FIELDS else PREPARING
        try:
            desktop.stays(state)
        except AssertionError as error:
            raise AssertionError(f"change {changes}, to {widget} in {window}") from error


def test_program_that_hangs_does_not_keep_the_focus(desktop: Accessibility) -> None:
    hanging = Program(desktop, "3.0", "hanging")
    other = Program(desktop, "3.0", "other")
    hanging.focus("hanging", "entry")
    desktop.wait_for(EDITING)
    os.kill(hanging.process.pid, signal.SIGSTOP)
    desktop.stays(EDITING)
    other.focus("other", "button")
    desktop.wait_for(PREPARING)
    other.focus("other", "entry")
    desktop.wait_for(EDITING)
    # What it tells late is not about the present focus.
    os.kill(hanging.process.pid, signal.SIGCONT)
    desktop.stays(EDITING)


def test_program_that_never_answers_delays_no_other(desktop: Accessibility) -> None:
    program = Program(desktop, "3.0", "window")
    program.focus("window", "button")
    mute = desktop.seat.start("/usr/bin/python3", "-c", MUTE_PROGRAM)
    desktop.seat.wait_for((desktop.seat.folder / "asked").exists, "a question")
    desktop.stays(PREPARING)
    program.focus("window", "entry")
    desktop.wait_for(EDITING)
    mute.kill()
    desktop.stays(EDITING)


# Connects to the accessibility bus.
ON_ACCESSIBILITY_BUS = """
from gi.repository import Gio, GLib
session = Gio.bus_get_sync(Gio.BusType.SESSION)
(address,) = session.call_sync("org.a11y.Bus", "/org/a11y/bus", "org.a11y.Bus", "GetAddress",
    None, None, 0, -1, None)
flags = Gio.DBusConnectionFlags
bus = Gio.DBusConnection.new_for_address_sync(
    address, flags.AUTHENTICATION_CLIENT | flags.MESSAGE_BUS_CONNECTION)
"""


# Tells that an object has the focus, and answers no question about it.
MUTE_PROGRAM = (
    ON_ACCESSIBILITY_BUS
    + """
def ignore(connection, message, is_incoming):
    if not is_incoming or message.get_member() != "GetState":
        return message
    open("asked", "w").close()
bus.add_filter(ignore)
bus.emit_signal(None, "/object", "org.a11y.atspi.Event.Object", "StateChanged",
    GLib.Variant("(siiva{sv})", ("focused", 1, 0, GLib.Variant("i", 0), {})))
GLib.MainLoop().run()
"""
)


# Tells that a text field has the focus. Before it answers what that is, the field loses the focus and gets
# it back, as an editor's does while a program beside it is killed; before that it answers late.
BUSY_PROGRAM = (
    ON_ACCESSIBILITY_BUS
    + """
import time
def tell(kind, member, is_so):
    node = "/window" if kind == "Window" else "/field"
    bus.emit_signal(None, node, f"org.a11y.atspi.Event.{kind}", member,
        GLib.Variant("(siiva{sv})", ("focused", is_so, 0, GLib.Variant("i", 0), {})))
start, asked = time.monotonic(), []
def answer(connection, message, is_incoming):
    member = message.get_member()
    if not is_incoming or member not in ("GetState", "GetRole"):
        return message
    if time.monotonic() < start + SILENT:
        return None
    if member == "GetRole" and not asked:
        asked.append(member)
        tell("Window", "Deactivate", 0)
        tell("Object", "StateChanged", 0)
        tell("Window", "Activate", 0)
        tell("Object", "StateChanged", 1)
    reply = Gio.DBusMessage.new_method_reply(message)
    value = ("(au)", ([1 << 7, 0],)) if member == "GetState" else ("(u)", (79,))
    reply.set_body(GLib.Variant(*value))
    connection.send_message(reply, Gio.DBusSendMessageFlags.NONE)
    return None
bus.add_filter(answer)
tell("Window", "Activate", 0)
tell("Object", "StateChanged", 1)
GLib.MainLoop().run()
"""
)


@pytest.mark.parametrize("silent", [0, 6])
def test_field_that_gets_its_focus_back_while_it_is_asked_counts(
    accessibility: Accessibility, silent: int
) -> None:
    accessibility.start_focus()
    program = BUSY_PROGRAM.replace("SILENT", str(silent))
    accessibility.seat.start("/usr/bin/python3", "-c", program)
    accessibility.stays(EDITING)


def test_panel_that_takes_the_focus_closes_nothing(desktop: Accessibility) -> None:
    program = Program(desktop, "3.0", "window")
    program.focus("window", "entry")
    desktop.wait_for(EDITING)
    desktop.seat.trigger("clickMoreButton")
    desktop.wait_for(PANEL)
    picker = Program(desktop, "4.0", "picker")
    for widget in ("entry", "button"):
        picker.focus("picker", widget)
        desktop.stays(PANEL)
    picker.send("close picker")
    desktop.stays(PANEL)
    # Nor does a text field that loses the focus, where a key has begun editingText.
    desktop.seat.trigger("tapTextField")
    program.focus("window", "button")
    desktop.stays(EDITING)


def test_real_programs_tell_of_their_fields(desktop: Accessibility) -> None:
    program = Program(desktop, "3.0", "window")
    for command in (("zenity", "--entry"), ("mousepad",)):
        # Once the state has changed twice, no event of this program can come after the editor's.
        program.focus("window", "entry")
        desktop.wait_for(EDITING)
        program.focus("window", "button")
        desktop.wait_for(PREPARING)
        editor = desktop.seat.start(*command)
        desktop.stays(EDITING)
        editor.terminate()
        editor.wait(BOUND_SECONDS)
        desktop.wait_for(PREPARING)


def test_restarted_daemon_is_told_of_the_next_focus(desktop: Accessibility) -> None:
    seat = desktop.seat
    program = Program(desktop, "3.0", "window")
    program.focus("window", "entry")
    desktop.wait_for(EDITING)
    seat.kill_keymoded()
    program.focus("window", "button")
    # A field that gets the focus while there is no daemon has it when the daemon is there.
    program.focus("window", "password")
    seat.start_keymoded()
    desktop.wait_for(EDITING)
    program.focus("window", "button")
    desktop.wait_for(PREPARING)


@pytest.mark.parametrize("part", ["bus", "registry"])
def test_accessibility_that_ends_is_used_again(desktop: Accessibility, part: str) -> None:
    seat = desktop.seat
    program = Program(desktop, "3.0", "window")
    program.focus("window", "entry")
    desktop.wait_for(EDITING)
    if part == "bus":
        desktop.kill()
        desktop.wait_for(PREPARING)
        desktop.launch()
    else:
        for number in seat.processes("at-spi2-registr"):
            os.kill(number, signal.SIGKILL)
    desktop.wait_until_followed()
    seat.wait_for(lambda: desktop.property("IsEnabled"), "IsEnabled")
    # Programs of GTK 3 do not look for another bus.
    program.process.kill()
    desktop.wait_for(PREPARING)
    program = Program(desktop, "3.0", "next")
    program.focus("next", "entry")
    desktop.wait_for(EDITING)


@pytest.mark.parametrize(
    ("before", "meanwhile", "after"),
    [(False, False, False), (True, False, True), (False, True, True)],
    ids=["it was off", "it was on", "a screen reader came"],
)
def test_accessibility_is_as_before_at_the_end(
    accessibility: Accessibility, before: bool, meanwhile: bool, after: bool
) -> None:
    accessibility.set("IsEnabled", before)
    focus = accessibility.start_focus()
    accessibility.seat.wait_for(lambda: accessibility.property("IsEnabled"), "IsEnabled")
    if meanwhile:
        accessibility.set("ScreenReaderEnabled", True)
    focus.terminate()
    assert focus.wait(BOUND_SECONDS) == -signal.SIGTERM
    assert accessibility.property("IsEnabled") == after


def test_focus_waits_for_the_daemon_and_for_the_accessibility_bus(
    accessibility: Accessibility,
) -> None:
    accessibility.kill()
    accessibility.seat.kill_keymoded()
    accessibility.seat.start("keymode-focus")
    # In any order.
    for message in ("at-spi2-core", "no keymoded listens on"):
        accessibility.seat.wait_for(lambda: message in accessibility.seat.log, message)
    accessibility.launch()
    accessibility.wait_until_followed()


@pytest.mark.parametrize("absent", ["seat0 Active LockedHint", "seat0", "seat1 Active"])
def test_field_counts_once_the_session_is_in_front(
    accessibility: Accessibility, absent: str
) -> None:
    seat = accessibility.seat
    # One bus for everything.
    seat.environment["DBUS_SYSTEM_BUS_ADDRESS"] = seat.environment["DBUS_SESSION_BUS_ADDRESS"]
    seat.start_logind(absent)
    accessibility.start_focus()
    Desktop(seat)
    seat.start("wvkbd-mobintl", "--hidden")
    program = Program(accessibility, "3.0", "window")
    program.focus("window", "entry")
    accessibility.stays(PREPARING)
    seat.tell("session", "seat0 Active")
    accessibility.wait_for(EDITING)
    seat.tell("session", absent)
    program.focus("window", "button")
    accessibility.stays(EDITING)
    seat.tell("session", "seat0 Active")
    accessibility.wait_for(PREPARING)
    seat.start_saver("mate", "active")
    program.focus("window", "entry")
    accessibility.stays(PREPARING)
    seat.tell("saver-mate", "")
    accessibility.wait_for(EDITING)


def test_unit_runs_with_its_restrictions() -> None:
    require_root()
    unit = "keymode-focus.service"
    with UserManager() as manager:
        manager.systemctl("start", unit)
        # It has connected to the bus that this has started, and receives signals.
        wait_until(lambda: manager.pids("at-spi2-registr") != [], "the registry")
        time.sleep(1)
        assert manager.told(unit, "ActiveState") == "active"
        assert manager.told(unit, "NRestarts") == "0"
        manager.systemctl("stop", unit)
        assert manager.told(unit, "Result") == "success"


# Has the name of the accessibility bus, and says that it is what this program's argument says.
FALSE_LAUNCHER = """
import sys
from gi.repository import Gio, GLib
interface = Gio.DBusNodeInfo.new_for_xml('''<node><interface name="org.a11y.Bus">
  <method name="GetAddress"><arg type="s" direction="out"/></method>
</interface></node>''').interfaces[0]
def called(connection, sender, path, interface, method, arguments, invocation):
    print("asked", flush=True)
    invocation.return_value(GLib.Variant("(s)", (sys.argv[1],)))
session = Gio.bus_get_sync(Gio.BusType.SESSION)
session.register_object("/org/a11y/bus", interface, called, None, None)
Gio.bus_own_name_on_connection(session, "org.a11y.Bus", 0, None, None)
GLib.MainLoop().run()
"""


def test_address_that_would_start_a_program_starts_none(accessibility: Accessibility) -> None:
    seat = accessibility.seat
    accessibility.kill()
    started = seat.folder / "run/started"
    address = f"unix:path=/nowhere/bus;unixexec:path=/bin/mkdir,argv1={started}"
    seat.start("/usr/bin/python3", "-c", FALSE_LAUNCHER, address)
    seat.start("keymode-focus")
    # It asks again, a second later, after it could not use the first answer.
    seat.wait_for(lambda: seat.log.count("asked") >= 2, "a second question")
    assert not started.exists()


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a socket to another group")
def test_user_without_permission_learns_who_has_it(accessibility: Accessibility) -> None:
    socket = accessibility.seat.folder / "run/keymoded/control.sock"
    shutil.chown(socket, "root", "games")
    socket.chmod(0o660)
    focus = accessibility.seat.start("keymode-focus")
    assert focus.wait(BOUND_SECONDS) == 5
    assert "only members of the group 'games' may use it" in accessibility.seat.log
    assert not accessibility.property("IsEnabled")


def test_nothing_wakes_it_while_nothing_happens(desktop: Accessibility) -> None:
    seat, focus = desktop.seat, Process(desktop.focus.pid)
    program = Program(desktop, "3.0", "window")
    program.focus("window", "entry")
    desktop.wait_for(EDITING)
    for _ in range(10):
        # Idle threads of the runtime end after some seconds.
        before = focus.switches()
        time.sleep(2)
        if focus.switches() == before:
            break
    assert focus.switches() == before
    # A text and a title that change are no business of it.
    program.send("write window hello")
    seat.wait_for(lambda: '"name": "hello"' in seat.run("swaymsg", "-t", "get_tree"), "the title")
    time.sleep(1)
    assert focus.switches() == before
