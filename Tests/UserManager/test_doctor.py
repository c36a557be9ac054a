"""`keymodectl doctor` where all is right, with units and a socket of a real user manager."""

import os
import pty

from person import Person
from support.waiting import wait_until

TALK = "keyboard: { bindings: { clickSwitchButton: [F9, F9 release] } }\n"
LEFT_SHIFT = 42

# Stand-ins: PipeWire's socket, and the service that makes the microphone.
SOCKET = "[Socket]\nListenStream=%t/pipewire-0\nService=pipewire.service\n"
SERVICE = "[Service]\nExecStart=sleep infinity\n"


def test_exit_status_says_whether_all_is_right() -> None:
    with Person(TALK, has_keyboard=True) as person:
        for name in ("pipewire.service", "keymode-call.service"):
            person.write_unit(name, SERVICE)
        person.write_unit("pipewire.socket", SOCKET)
        person.systemctl("daemon-reload")
        person.systemctl("start", "pipewire.socket")

        status, text = doctor(person)
        assert status == 1
        wrong = [line for line in text.splitlines() if line.startswith("no")]
        assert [line.split()[1] for line in wrong] == ["microphone"], text

        person.systemctl("start", "keymode-call.service")
        status, text = doctor(person)
        assert status == 0, text
        assert "ok  microphone     keymode-call.service makes it" in text
        assert "ok  a key          it has arrived" in text


def doctor(person: Person) -> tuple[int, str]:
    """The exit status of doctor on a terminal, and its text. Shift is pressed when it asks."""
    own, terminal = pty.openpty()
    shown = bytearray()
    try:
        process = person.start(
            *("keymodectl", "doctor", "--config", f"{person.folder}/keymoded.yaml"),
            stdin=terminal,
            stdout=terminal,
            stderr=terminal,
        )
        os.set_blocking(own, False)

        def shows(text: bytes) -> bool:
            try:
                shown.extend(os.read(own, 65536))
            except BlockingIOError:
                pass
            return text in shown

        wait_until(lambda: shows(b"within 10 seconds"), "the question")
        person.keyboard.send(LEFT_SHIFT, 1)
        person.keyboard.send(LEFT_SHIFT, 0)
        wait_until(lambda: shows(b"microphone") and process.poll() is not None, "the end")
        shows(b"")
        return process.returncode, shown.decode().replace("\r\n", "\n")
    finally:
        os.close(own)
        os.close(terminal)
