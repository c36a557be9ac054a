"""Keeps the namespaces of a `UserManager`, and ends what runs in them when its input ends.

A process of its own, so that nothing is left behind when the tests are killed. Runs as root:
`user_namespace.py CGROUP FOLDER`. It makes the control group, prints the PID of the first process
in the namespaces, and at the end removes the control group and the folder.
"""

import errno
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

# The first process; PID 1 in the namespaces. A kernel without PID 1 there would leave ended
# processes, so it ignores SIGCHLD.
#
# systemd sees no control group but its own: with version 1 of them mounted, or another group's
# processes in sight, it would move what runs beside it.
FIRST = """
mount -t proc proc /proc
mount -t cgroup2 cgroup2 /sys/fs/cgroup
mount -t tmpfs -o mode=755 tmpfs /run
mount -t tmpfs -o mode=755 tmpfs /var/log
# The services of users that packages of this machine switch on.
mount -t tmpfs -o mode=755 tmpfs /etc/systemd/user
# What says that systemd runs: see sd_booted(3).
mkdir -p /run/systemd/system
echo ready
exec env --ignore-signal=CHLD sleep infinity
"""


def main(cgroup: Path, folder: Path) -> None:
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    cgroup.mkdir()
    outer = subprocess.Popen(
        # The kernel kills all processes of a namespace whose first process ends.
        ["setpriv", "--pdeathsig", "KILL", "unshare", "--kill-child", "--fork", "--pid"]
        + ["--mount", "--propagation", "private", "--cgroup", "sh", "-euc", FIRST],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        preexec_fn=lambda: (cgroup / "cgroup.procs").write_text(str(os.getpid())),
    )
    try:
        assert outer.stdout
        if outer.stdout.readline():
            print(Path(f"/proc/{outer.pid}/task/{outer.pid}/children").read_text(), flush=True)
            sys.stdin.read()
    finally:
        outer.kill()
        outer.wait()
        (cgroup / "cgroup.kill").write_text("1")
        for each, _, _ in os.walk(cgroup, topdown=False):
            remove(Path(each))
        shutil.rmtree(folder)


def remove(cgroup: Path) -> None:
    """Removes a control group once its killed processes have ended, which they do soon."""
    while True:
        try:
            return cgroup.rmdir()
        except OSError as error:
            if error.errno != errno.EBUSY:
                raise
            time.sleep(0.01)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
