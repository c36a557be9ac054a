"""Starting a program with open descriptors, as systemd starts a service: see sd_listen_fds(3)."""

import fcntl
import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

# Above the numbers that the program's descriptors get.
OUT_OF_THE_WAY = 50


def start_with_sockets(
    command: Sequence[str | Path],
    descriptors: Mapping[str, int],
    environment: Mapping[str, str],
    **options: Any,
) -> subprocess.Popen[Any]:
    """Starts the program with these descriptors by their names; the options are those of Popen."""
    moved = [fcntl.fcntl(each, fcntl.F_DUPFD, OUT_OF_THE_WAY) for each in descriptors.values()]
    redirections = " ".join(
        f"{place}<&{number} {number}<&-" for place, number in enumerate(moved, start=3)
    )
    try:
        return subprocess.Popen(
            # LISTEN_PID must be the program's own number, which the shell knows.
            ["bash", "-c", f'LISTEN_PID=$$ exec "$0" "$@" {redirections}', *command],
            env={
                **environment,
                "LISTEN_FDS": str(len(moved)),
                "LISTEN_FDNAMES": ":".join(descriptors),
            },
            pass_fds=moved,
            **options,
        )
    finally:
        for number in moved:
            os.close(number)
