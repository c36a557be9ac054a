"""A person at a desk: a home, a session bus, a compositor without a screen, and a keymoded.

Desktop programs refuse to run as root, or should. If root runs the tests, the person is the user
`nobody`.
"""

import contextlib
import os
import re
import secrets
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

from support.checkout import CHECKOUT, PROGRAMS
from support.fifo_keyboard import FifoKeyboard
from support.picture import Picture
from support.user_manager import UserManager
from support.waiting import BOUND_SECONDS, NotInTimeError, wait_until

EXAMPLES = CHECKOUT / "examples"

NOBODY = 65534

# A bus that activates no services: those that a usual session bus starts would outlive the test.
BUS = """
<busconfig>
  <type>session</type>
  <listen>unix:path={folder}/run/bus</listen>
  <policy context="default">
    <allow send_destination="*" eavesdrop="true"/>
    <allow eavesdrop="true"/>
    <allow own="*"/>
  </policy>
</busconfig>
"""

# Only the fonts in the tests' packages, so that a test notices a missing glyph, and pictures are
# the same everywhere.
FONTS = """
<fontconfig>
  <dir>/usr/share/fonts/truetype/dejavu</dir>
  <cachedir>{folder}/fonts</cachedir>
  <match>
    <edit name="family" mode="append_last"><string>DejaVu Sans</string></edit>
  </match>
</fontconfig>
"""

# The threshold is long because triggers are slower than a finger. No example knows the state.
SETTINGS = """
devices: { ignore: ["*"] }
shift: { threshold: 60s }
keyboard:
  table:
    states: [showingStickers]
    events: [clickStickerButton]
    rows:
      prepareToEditText: { clickStickerButton: showingStickers }
      showingStickers: { clickStickerButton: prepareToEditText }
machines:
  talk:
    initial: silent
    rows:
      silent: { press: talking }
      talking: { release: silent, tap: open }
      open: { press: silent }
"""


class Seat:
    """The person's home and programs. `close` ends all programs that were started there."""

    def __init__(self) -> None:
        self._home = tempfile.TemporaryDirectory(prefix="keymoded-desktop.")
        self.folder = Path(self._home.name)
        # A user other than root runs the programs as themselves.
        self._user = NOBODY if os.getuid() == 0 else None
        self._groups: list[int] | None = [] if os.getuid() == 0 else None
        # In the environment of all programs that are started here, and of their children.
        self._mark = f"KEYMODED_SEAT={secrets.token_hex(8)}"
        self._started: list[subprocess.Popen[bytes]] = []
        self._daemon: subprocess.Popen[bytes] | None = None
        self._keyboards = contextlib.ExitStack()
        self._manager: UserManager | None = None
        for name in ("bin", "run", "fonts"):
            (self.folder / name).mkdir(mode=0o700)
        # The checkout may be where only root has access.
        for name in ("keymoded", "keymodectl"):
            shutil.copy(PROGRAMS / name, self.folder / "bin" / name)
        shutil.copy(CHECKOUT / "data/libexec/keymode-focus", self.folder / "bin")
        shutil.copytree(CHECKOUT / "data/libexec", self.folder / "libexec/keymoded")
        shutil.copytree(CHECKOUT / "data/sounds", self.folder / "share/keymoded/sounds")
        shutil.copytree(EXAMPLES, self.folder / "examples", ignore=shutil.ignore_patterns(".build"))
        self.write("bus.conf", BUS.format(folder=self.folder))
        self.write("fonts.conf", FONTS.format(folder=self.folder))
        self.write("keymoded.yaml", SETTINGS)
        for path in [self.folder, *self.folder.rglob("*")]:
            self._give(path)
        self.environment = {
            "HOME": str(self.folder),
            "XDG_CONFIG_HOME": str(self.folder / ".config"),
            "PATH": f"{self.folder}/bin:/usr/bin:/bin",
            "SHELL": "/bin/sh",
            "LC_ALL": "C.UTF-8",
            "TZ": "UTC",
            "XDG_RUNTIME_DIR": str(self.folder / "run"),
            "DBUS_SESSION_BUS_ADDRESS": f"unix:path={self.folder}/run/bus",
            # The person has no session of systemd-logind, which `keymodectl while` would look for.
            "DBUS_SYSTEM_BUS_ADDRESS": f"unix:path={self.folder}/no-system-bus",
            "FONTCONFIG_FILE": str(self.folder / "fonts.conf"),
            # Otherwise GTK asks the bus for accessibility and for settings.
            "GTK_A11Y": "none",
            "NO_AT_BRIDGE": "1",
            "GSETTINGS_BACKEND": "memory",
            self._mark.partition("=")[0]: self._mark.partition("=")[2],
        }

    def write(self, name: str, text: str) -> Path:
        """Writes a file into the home."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        self._give(path)
        return path

    def _give(self, path: Path) -> None:
        if self._user is not None:
            os.chown(path, self._user, self._user)

    def start(self, *command: str, folder: str = ".") -> subprocess.Popen[bytes]:
        """Starts a program as the person, in a process group of its own."""
        with open(self.folder / "log", "ab") as log:
            process = subprocess.Popen(
                # A shell that runs the tests in the background makes them ignore SIGINT.
                ["env", "--default-signal", *command],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env=self.environment,
                cwd=self.folder / folder,
                process_group=0,
                user=self._user,
                group=self._user,
                extra_groups=self._groups,
            )
        self._started.append(process)
        return process

    @property
    def manager(self) -> UserManager:
        """The person's service manager, which starts when it is first needed."""
        if not self._manager:
            self._manager = UserManager()
            (self.folder / "run/systemd").symlink_to(self._manager.runtime / "systemd")
        return self._manager

    @property
    def _managed(self) -> dict[str, str]:
        """What the programs of the manager have in their environment besides the others."""
        return {
            "KEYMODED_SOCKET_DIR": f"{self.folder}/run/keymoded",
            # One bus for everything.
            "DBUS_SYSTEM_BUS_ADDRESS": self.environment["DBUS_SESSION_BUS_ADDRESS"],
        }

    def start_managed(self, *command: str) -> subprocess.Popen[bytes]:
        """Starts a program where the person has a service manager, as `keymodectl while` needs it.

        What else runs here has none: a manager would take the real-time priority from PipeWire.
        """
        own = {**self.environment, **self._managed}
        with open(self.folder / "log", "ab") as log:
            process: subprocess.Popen[bytes] = self.manager.start(
                *("env", "--chdir", str(self.folder), *command),
                environment=own,
                stdout=log,
                stderr=log,
                process_group=0,
            )
        self._started.append(process)
        return process

    def start_package_unit(self, name: str, *settings: str) -> None:
        """Has the service manager start a unit of the package, with more settings of the service."""
        unit = (CHECKOUT / "systemd/user" / name).read_text()
        unit = unit.replace("@bindir@", f"{self.folder}/bin")
        self.write(f".config/systemd/user/{name}", unit.replace("@libexecdir@", "%h/libexec/keymoded"))
        self.start_unit(name, *settings)

    def start_unit(self, name: str, *settings: str) -> None:
        """Has the service manager start a unit that is installed in the home."""
        unit = (self.folder / ".config/systemd/user" / name).read_text()
        # The manager has a home of its own, and looks for programs in /usr alone.
        unit = unit.replace("%h/", f"{self.folder}/")
        unit = unit.replace("=keymodectl ", f"={self.folder}/bin/keymodectl ")
        variables = {**self.environment, **self._managed}.items()
        lines = "".join(f'Environment="{name}={value}"\n' for name, value in variables)
        lines += "".join(f"{setting}\n" for setting in settings)
        self.manager.write_unit(name, unit)
        self.manager.write_unit(f"{name}.d/environment.conf", f"[Service]\n{lines}")
        self.manager.systemctl("daemon-reload")
        self.manager.systemctl("start", name)

    def run(self, *command: str, folder: str = ".") -> str:
        """Runs a program as the person to its end, and returns what it printed."""
        ended = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            env=self.environment,
            cwd=self.folder / folder,
            timeout=BOUND_SECONDS,
            user=self._user,
            group=self._user,
            extra_groups=self._groups,
        )
        assert ended.returncode == 0, f"{command}: {ended.stderr.decode()}\n{self.log}"
        return ended.stdout.decode()

    def install(self, example: str) -> None:
        """Installs an example by the shell commands of its page."""
        page = (EXAMPLES / example / "README.md").read_text()
        for commands in re.findall(r"^ *```sh\n(.*?)^ *```$", page, re.DOTALL | re.MULTILINE):
            self.run("sh", "-euc", commands, folder=f"examples/{example}")

    @property
    def log(self) -> str:
        """The output of the programs that were started."""
        return (self.folder / "log").read_text(errors="replace")

    # The session bus

    def start_bus(self) -> None:
        """Starts the session bus."""
        self.start("dbus-daemon", f"--config-file={self.folder}/bus.conf", "--nofork")
        self.wait_for((self.folder / "run/bus").exists, "a session bus")

    def bus_names(self) -> str:
        """The names on the session bus, as gdbus prints them."""
        bus = ("--dest", "org.freedesktop.DBus", "--object-path", "/org/freedesktop/DBus")
        method = ("--method", "org.freedesktop.DBus.ListNames")
        return self.run("gdbus", "call", "--session", *bus, *method)

    def start_logind(self, session: str) -> None:
        """Starts a stand-in for systemd-logind on the session bus.

        The words are its session's seat, those of Active and LockedHint that are true, Asleep while the
        machine sleeps, and Lock or Unlock for a request; `tell` changes them.
        """
        self.write("session", session)
        system = f"DBUS_SYSTEM_BUS_ADDRESS={self.environment['DBUS_SESSION_BUS_ADDRESS']}"
        program = Path(__file__).with_name("logind_program.py").read_text()
        self.start("env", system, "/usr/bin/python3", "-c", program)
        self.wait_for(lambda: "org.freedesktop.login1" in self.bus_names(), "logind")

    def start_saver(self, kind: str, what: str, *others: str) -> subprocess.Popen[bytes]:
        """Starts a stand-in for a screen saver, such as `xfce`'s, with these words of what it is.

        It is active while one of the words is `active`; `tell` changes them. It may also have the names
        of others.
        """
        self.write(f"saver-{kind}", what)
        program = Path(__file__).with_name("screen_saver_program.py").read_text()
        saver = self.start("/usr/bin/python3", "-c", program, f"saver-{kind}", kind, *others)
        names = [f"org.{each}.ScreenSaver" for each in (kind, *others)]
        self.wait_for(lambda: all(name in self.bus_names() for name in names), kind)
        return saver

    def tell(self, name: str, words: str) -> None:
        """Changes the words of a stand-in, `session` or `saver-KIND`, and waits until it has told them.

        The words must not be those that it told last.
        """
        self.write(name, words)
        told = f"{name} has told: "

        def has_told() -> bool:
            lines = [line for line in self.log.splitlines() if line.startswith(told)]
            return lines[-1:] == [told + words]

        self.wait_for(has_told, f"{told}{words}")

    # The daemon

    def start_keymoded_with_keyboard(self, leds: int | None = None) -> FifoKeyboard:
        """Starts the daemon with a keyboard, which may have LEDs; these are on."""
        keyboard = self._keyboards.enter_context(FifoKeyboard(self.folder, leds))
        for path in self.folder.glob("keyboard*"):
            self._give(path)
        self.environment.update(keyboard.environment)
        try:
            self.start_keymoded("--device", str(keyboard.path))
        finally:
            for name in keyboard.environment:
                del self.environment[name]
        return keyboard

    def start_keymoded(self, *options: str) -> None:
        """Starts the daemon, and waits until it serves."""
        settings = f"{self.folder}/keymoded.yaml"
        self._daemon = self.start("keymoded", "--config", settings, *options)
        self.wait_for(lambda: (self.folder / "run/keymoded/control.sock").exists(), "keymoded")
        wait_until(self._serves, "keymoded")

    def _serves(self) -> bool:
        asked = self.start("keymodectl", "state")
        return asked.wait(BOUND_SECONDS) == 0

    def kill_keymoded(self) -> None:
        """Kills the daemon with SIGKILL."""
        assert self._daemon
        self._daemon.kill()
        self._daemon.wait()

    def trigger(self, *events: str) -> None:
        """Sends events instead of keys."""
        for event in events:
            self.run("keymodectl", "trigger", event)

    @property
    def keyboard(self) -> str:
        """The state of the keyboard."""
        return self.run("keymodectl", "state", "keyboard").strip()

    # Its processes

    def processes(self, name: str = "") -> dict[int, str]:
        """The command lines of all processes of this seat, or of those with this name, by PID."""
        found = {}
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                environment = (folder / "environ").read_bytes().split(b"\0")
                if self._mark.encode() in environment:
                    command = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode()
                    if not name or (folder / "comm").read_text() == f"{name}\n":
                        found[int(folder.name)] = command
            except (FileNotFoundError, ProcessLookupError, PermissionError):
                continue
        return found

    def wait_for(self, is_so: Callable[[], bool], what: str) -> None:
        """Waits until a condition holds; the error has the running programs and the log."""
        try:
            wait_until(is_so, what)
        except NotInTimeError as error:
            running = "\n".join(self.processes().values())
            raise NotInTimeError(f"{error}\n{running}\n{self.log}") from error

    def close(self) -> None:
        """Ends every process of this seat, and removes the home."""
        wait_until(self._has_ended, "every process to end")
        if self._manager:
            self._manager.close()
        self._keyboards.close()
        self._home.cleanup()

    def _has_ended(self) -> bool:
        running = self.processes()
        for number in running:
            kill(number)
        for process in self._started:
            process.poll()
        return not running


def kill(number: int) -> None:
    """Kills a process that may be gone already."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(number, signal.SIGKILL)


class Desktop:
    """A compositor without a screen, of which tests take pictures."""

    BACKGROUND = (0x4C, 0x56, 0x6A)

    SETTINGS = """
output HEADLESS-1 resolution {width}x{height} scale 2 background #4c566a solid_color
default_border none
exec sh -c 'echo $WAYLAND_DISPLAY $SWAYSOCK > {folder}/desktop.new; \
  mv {folder}/desktop.new {folder}/desktop'
{more}
"""

    def __init__(self, seat: Seat, more: str = "", width: int = 960, height: int = 320) -> None:
        self.seat = seat
        (seat.folder / "desktop").unlink(missing_ok=True)
        settings = self.SETTINGS.format(folder=seat.folder, more=more, width=width, height=height)
        path = seat.write("sway.conf", settings)
        seat.environment |= {
            "WLR_BACKENDS": "headless",
            "WLR_RENDERER": "pixman",
            "WLR_LIBINPUT_NO_DEVICES": "1",
        }
        self.process = seat.start("sway", "--config", str(path))
        seat.wait_for((seat.folder / "desktop").exists, "sway")
        display, socket = (seat.folder / "desktop").read_text().split()
        seat.environment |= {"WAYLAND_DISPLAY": display, "SWAYSOCK": socket}
        # Another process, which sway starts, draws the background.
        half = width * height // 2
        self.wait_for(lambda seen: seen.colors()[self.BACKGROUND] > half, "the background")

    def picture(self) -> Picture:
        """Takes a picture of the screen."""
        path = self.seat.folder / "picture.ppm"
        self.seat.run("grim", "-t", "ppm", str(path))
        return Picture.read(path)

    def wait_for(self, is_it: Callable[[Picture], bool], what: str) -> Picture:
        """Waits until a picture is as it should be, and returns it."""
        picture = self.picture()

        def is_there() -> bool:
            nonlocal picture
            picture = self.picture()
            return is_it(picture)

        try:
            self.seat.wait_for(is_there, f"a picture: {what}")
        except NotInTimeError:
            path = Path(tempfile.gettempdir()) / "keymoded-not-seen.png"
            picture.write_png(path)
            print(f"the last picture: {path}")
            raise
        return picture
