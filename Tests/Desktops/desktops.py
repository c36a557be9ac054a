"""Whole desktops of Debian 13 in the guest, each in the state that its login led to.

The login and the start of a desktop take minutes in an emulated guest. So they are done once, with the package
installed and a terminal in front, and the state is saved beside the images; every guest starts from it.
"""

import inspect
import shlex
import shutil
from dataclasses import dataclass
from pathlib import Path

from harness.build_image import ensure_images
from harness.guest_process import Completed
from harness.sessions import Session, as_user
from harness.vm import VirtualMachine
from support.checkout import CHECKOUT
from support.microphone import MICROPHONE
from support.waiting import wait_until

USER, PASSWORD = "anna", "secret"
"""She is in none of keymoded's groups."""
OTHER = "berta"
"""A second person, whom a test adds. She has the same password."""

# What an emulated desktop takes to start.
START_SECONDS = 600.0

TRANSCRIPT = "/tmp/transcript"
"""All that the terminal has shown."""

# A terminal as desktops start one: in a unit of the user's manager. What is typed is read by a shell.
_TERMINAL = (
    "exec systemd-run --user --quiet --collect --unit terminal --setenv PS1='$ ' --setenv SHELL=/bin/sh "
    "{} script --quiet --flush " + TRANSCRIPT
)
_FOOT = _TERMINAL.format("--setenv WAYLAND_DISPLAY=wayland-0 foot --override main.font=monospace:size=14")
_XFCE4_TERMINAL = _TERMINAL.format(
    f"--setenv DISPLAY=:0 --setenv XAUTHORITY=/home/{USER}/.Xauthority "
    "xfce4-terminal --disable-server --font='monospace 14' --execute"
)

_SHELL = "gdbus call --session --dest org.gnome.Shell --object-path /org/gnome/Shell --method"
_OVERVIEW = "org.gnome.Shell OverviewActive"

# The desktop's own settings of PipeWire load no library that has a tone.
_MICROPHONE = f"context.spa-libs = {{ audiotestsrc = audiotestsrc/libspa-audiotestsrc }}\n{MICROPHONE}"

# What a person may have set, of which the tests do not tell: it takes time, or comes at any time. A key is not
# repeated: on a busy host its release may come late.
_GNOME_SETTINGS = """\
[org/gnome/desktop/interface]
enable-animations=false
cursor-blink=false
[org/gnome/desktop/peripherals/keyboard]
repeat=false
[org/gnome/desktop/session]
idle-delay=uint32 0
[org/gnome/shell]
welcome-dialog-last-shown-version='999'
[org/gnome/desktop/background]
picture-options='none'
"""
_GNOME_PREPARED = f"""
set -e
mkdir -p /etc/dconf/profile /etc/dconf/db/local.d
printf 'user-db:user\\nsystem-db:local\\n' >/etc/dconf/profile/user
cat >/etc/dconf/db/local.d/test <<'EOF'
{_GNOME_SETTINGS}
EOF
dconf update
printf '[daemon]\\nAutomaticLoginEnable=true\\nAutomaticLogin={USER}\\n' >/etc/gdm3/daemon.conf
systemctl start gdm
"""

# The login screen is drawn without OpenGL, whose emulation takes all of both processors.
_PLASMA_PREPARED = f"""
set -e
mkdir -p /etc/sddm.conf.d
printf '[Autologin]\\nUser={USER}\\nSession=plasma\\n' >/etc/sddm.conf.d/test.conf
printf '[General]\\nGreeterEnvironment=QT_QUICK_BACKEND=software\\n' >>/etc/sddm.conf.d/test.conf
printf '[Keyboard]\\nKeyRepeat=nothing\\n' >/etc/xdg/kcminputrc
systemctl start sddm
"""

# light-locker is the one of both that Debian's Xfce has.
_XFCE_PREPARED = f"""
set -e
rm /etc/xdg/autostart/xfce4-screensaver.desktop
mkdir -p /etc/lightdm/lightdm.conf.d
printf '[Seat:*]\\nautologin-user={USER}\\nuser-session=xfce\\ngreeter-hide-users=false\\n' \\
  >/etc/lightdm/lightdm.conf.d/test.conf
cat >/etc/xdg/xfce4/xfconf/xfce-perchannel-xml/keyboards.xml <<'EOF'
<channel name="keyboards" version="1.0">
  <property name="Default" type="empty"><property name="KeyRepeat" type="bool" value="false"/></property>
</channel>
EOF
systemctl start lightdm
"""

# labwc alone, with a bar that has a tray. The guest has no graphics card that OpenGL could use.
_LABWC = """\
mkdir -p ~/.config/waybar ~/.config/labwc
echo '<labwc_config><keyboard><repeatRate>0</repeatRate></keyboard></labwc_config>' >~/.config/labwc/rc.xml
echo '{ "modules-right": ["tray"] }' >~/.config/waybar/config
XDG_SESSION_TYPE=wayland XDG_CURRENT_DESKTOP=labwc WLR_RENDERER=pixman exec labwc --startup waybar
"""

# What says that the desktop has started.
_ON_THE_BUS = "busctl --user status {} >/dev/null 2>&1"


@dataclass(frozen=True)
class Desktop:
    """A desktop, and how it starts."""

    name: str
    """That of its image, too."""
    compositor: str
    """The name of the process that has the keyboards open."""
    version: str
    """The command that prints its version."""
    has_started: str
    """A command of the person that succeeds once all is there."""
    menu: str
    """The keys that open an overview or a menu, in the language of keys.py."""
    login: str = ""
    """What root runs for a login without a greeter, if the desktop has its own way."""
    session: str = ""
    """What the session on a terminal runs, otherwise."""
    terminal: str = _FOOT
    locker: str = ""
    """The command of the session that locks the screen, unless logind asks the desktop to."""
    tells_of_lock: bool = True
    """Whether it tells logind that the screen is locked."""
    keeps_caps: bool = True
    """Whether Caps Lock is on after another console if it was on before."""
    lights_again: bool = True
    """Whether it lights the LEDs of its locks after another console, which the kernel has switched off."""
    locks_to_sleep: bool = True
    """Whether it locks the screen before the machine sleeps."""
    to_login_screen: str = ""
    """The command that asks for the login screen, unless the menu of programs has what leads there."""
    chooses_other: str = ""
    """The keys that choose OTHER on the login screen then."""
    card: str = "virtio-gpu-pci,xres=1024,yres=768"
    """The machine's graphics card. The kernel's driver of virtio's does not support a suspend."""


DESKTOPS = {
    desktop.name: desktop
    for desktop in (
        Desktop(
            name="gnome",
            compositor="gnome-shell",
            version="gnome-shell --version",
            has_started=_ON_THE_BUS.format("org.gnome.Shell"),
            menu="tap meta_l",
            login=_GNOME_PREPARED,
            chooses_other="tap down; wait 500; tap ret",
            card="bochs-display,xres=1024,yres=768",
        ),
        Desktop(
            name="plasma",
            compositor="kwin_wayland",
            version="kwin_wayland --version",
            has_started=_ON_THE_BUS.format("org.kde.plasmashell"),
            menu="tap meta_l",
            login=_PLASMA_PREPARED,
            chooses_other="tap right",
            # KWin cannot use that of Bochs, whose buffers the kernel does not share.
            card="cirrus-vga",
        ),
        Desktop(
            name="xfce",
            compositor="Xorg",
            version="dpkg-query --show xfce4-session xfwm4 xserver-xorg-core",
            has_started=_ON_THE_BUS.format("org.xfce.Panel"),
            menu="down alt; tap f1; up alt",
            login=_XFCE_PREPARED,
            terminal=_XFCE4_TERMINAL,
            tells_of_lock=False,
            lights_again=False,
            to_login_screen="XDG_SEAT_PATH=/org/freedesktop/DisplayManager/Seat0 dm-tool",
            # Xorg would wait for virtio's for ever after a sleep.
            card="bochs-display,xres=1024,yres=768",
        ),
        Desktop(
            name="labwc",
            compositor="labwc",
            version="dpkg-query --show labwc waybar swaylock",
            has_started=_ON_THE_BUS.format("org.kde.StatusNotifierWatcher"),
            menu="down alt; tap spc; up alt",
            session=_LABWC,
            locker="WAYLAND_DISPLAY=wayland-0 setsid --fork sh ~/lock >/dev/null 2>&1",
            keeps_caps=False,
            lights_again=False,
            locks_to_sleep=False,
        ),
    )
}

TERMINAL_OF_SESSION = 7


class PreparedDesktop(VirtualMachine):
    """A guest with a desktop in front, and in it a terminal with the focus."""

    # Llvmpipe needs the instructions; with less memory or fewer processors GNOME is slower still.
    acceleration = "tcg,thread=multi,tb-size=1024"
    processors = 2
    memory_mib = 3072

    def __init__(self, desktop: Desktop) -> None:
        super().__init__(ensure_images(desktop.name))
        self.desktop = desktop

    def _machine(self) -> list[str]:
        processor = ("-cpu", "qemu64,+ssse3,+sse4.1,+sse4.2,+popcnt,+cx16")
        return [*super()._machine(), *processor, "-device", self.desktop.card]

    def ask_desktop(self, command: str, check: bool = True) -> Completed:
        """Runs a shell command as the person, outside of the session, with the desktop's bus."""
        return self.run(as_user(USER, command), check=check)

    def prepared_from(self) -> bytes:
        how = f"{self.desktop}{_MICROPHONE}{inspect.getsource(PreparedDesktop)}"
        return how.encode() + _package().read_bytes()

    def prepare(self) -> None:
        # The state of another package, or of an older version of this module.
        for state in self._images.root.parent.glob("state-*"):
            state.unlink()
        self._begin()
        shutil.copy(_package(), self.shared / "keymoded.deb")
        (self.shared / "microphone.conf").write_text(_MICROPHONE)
        self.run(
            f"""
            set -e
            dpkg --path-include='*' --install /host/keymoded.deb </dev/null
            useradd --create-home --shell /bin/bash {USER}
            echo {USER}:{PASSWORD} | chpasswd
            install -D -m 644 -t /etc/pipewire/pipewire.conf.d /host/microphone.conf
            # logind may use graphics cards only if there was one when it was started.
            systemctl restart systemd-logind
            """,
            START_SECONDS,
        )
        self._log_in()
        self.ask_desktop(self.desktop.terminal)
        self.wait_until(f"test -s {TRANSCRIPT}", START_SECONDS)
        if self.desktop.name == "gnome":
            self._leave_the_overview()
        self.wait_for_the_terminal()
        self.wait_for_rest()
        self.pause()

    def _log_in(self) -> None:
        if self.desktop.login:
            self.run(self.desktop.login)
        else:
            session = Session(self, TERMINAL_OF_SESSION, USER)
            session.bring_to_front()
            # Nothing of it may have a file of /host open, which is unmounted before the state is saved.
            session.run(f"setsid --fork sh -c {shlex.quote(self.desktop.session)} >/tmp/desktop.log 2>&1")
        self.wait_until(as_user(USER, self.desktop.has_started), START_SECONDS)
        self.find_session()
        self.wait_for_rest()

    def find_session(self) -> None:
        """Finds the person's session on the seat."""
        show = f"loginctl list-sessions --no-legend | awk '$3 == \"{USER}\" && $4 == \"seat0\" {{ print $1 }}'"
        identifier = self.run(show).stdout.strip()
        number = self.run(f"loginctl show-session --value --property VTNr {identifier}").stdout
        self.session = Session(self, int(number), USER, identifier=identifier)

    def _leave_the_overview(self) -> None:
        """GNOME begins with it, late, and it takes the keys."""
        get = as_user(USER, f"{_SHELL} org.freedesktop.DBus.Properties.Get {_OVERVIEW}")
        self.wait_until(f"({get}) | grep -q true", START_SECONDS)
        self.ask_desktop(f"{_SHELL} org.freedesktop.DBus.Properties.Set {_OVERVIEW} '<false>'")
        self.wait_until(f"({get}) | grep -q false", START_SECONDS)

    def wait_for_rest(self) -> None:
        """Waits until the processors have had nothing to do for most of three seconds: all has started."""
        idle = "cut -d' ' -f2 /proc/uptime | cut -d. -f1"
        enough = 3 * self.processors - 2
        self.wait_until(
            f"before=$({idle}); sleep 3; test $(($({idle}) - before)) -ge {enough}", START_SECONDS
        )

    def wait_for_the_terminal(self) -> None:
        """Waits until keys arrive there: each Enter shows the prompt once more."""
        before = int(self.run(f"stat --format %s {TRANSCRIPT}").stdout)

        def arrives() -> bool:
            self.play("tap ret")
            grown = f"test $(stat --format %s {TRANSCRIPT}) -gt {before}"
            return self.run(f"timeout 3 sh -c 'until {grown}; do sleep 0.05; done'", check=False).exit_code == 0

        wait_until(arrives, "a key to arrive in the terminal", START_SECONDS)


def _package() -> Path:
    """What `make deb` has built."""
    (package,) = (CHECKOUT / ".deb").glob("keymoded_*.deb")
    return package

