"""Runs `keymodectl keys` on a terminal, types on it, and tells what the terminal shows and keeps.

Runs in the guest. The program is ended by SIGTERM after it has shown a press of F9, which the test
types on the keyboard after the line `typed`.
"""

import fcntl
import os
import pty
import struct
import subprocess
import termios
import time

TYPED = b"secret\r"


def waiting(terminal: int) -> int:
    """How many bytes can be read from the terminal."""
    (count,) = struct.unpack("i", fcntl.ioctl(terminal, termios.FIONREAD, bytes(4)))
    return int(count)


def read_until(terminal: int, text: bytes) -> bytes:
    """What is shown up to `text`."""
    shown = b""
    while text not in shown:
        shown += os.read(terminal, 4096)
    return shown


def main() -> None:
    screen, terminal = pty.openpty()
    program = subprocess.Popen(
        ["keymodectl", "keys"],
        stdin=terminal,
        stdout=terminal,
        stderr=terminal,
        start_new_session=True,
    )
    read_until(screen, b"Ctrl+C ends it")
    os.write(screen, TYPED)
    while waiting(terminal) < len(TYPED):
        time.sleep(0.01)
    print("typed", flush=True)
    shown = read_until(screen, b"F9, free")
    program.terminate()
    status = program.wait()
    echo = bool(termios.tcgetattr(terminal)[3] & termios.ECHO)
    print(
        f"shown: {b'secret' in shown}, left: {waiting(terminal)}, echo: {echo}, status: {status}"
    )


if __name__ == "__main__":
    main()
