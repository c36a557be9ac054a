"""Which system calls a process makes: for programs on this machine and in the guest."""

import re
import subprocess
import tempfile
from collections.abc import Callable


def counted(pid: int, work: Callable[[], object]) -> dict[str, int]:
    """How often the process makes each system call while `work` runs, by strace."""
    with tempfile.NamedTemporaryFile("r") as report:
        strace = ["strace", "-f", "-c", "-U", "calls,name", "-o", report.name, "-p", str(pid)]
        tracer = subprocess.Popen(strace, stderr=subprocess.PIPE, text=True)
        assert tracer.stderr
        tracer.stderr.readline()  # It is attached.
        work()
        tracer.terminate()
        tracer.communicate()
        found = re.findall(r"^ *(\d+) (\w+)$", report.read(), re.MULTILINE)
    return {name: int(count) for count, name in found if name != "total"}
