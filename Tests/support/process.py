"""A process as /proc describes it."""

import os
import re
from pathlib import Path


class Process:
    """What /proc says about one process."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.folder = Path(f"/proc/{pid}")

    def status(self, field: str) -> str:
        """A field of `status`, such as VmRSS."""
        found = re.search(rf"^{field}:\s+(.*)$", (self.folder / "status").read_text(), re.MULTILINE)
        assert found, field
        return found[1]

    def state(self) -> str:
        """The letter of its state: S while it sleeps, T while it is stopped."""
        return self._stat()[0]

    def resident_kib(self) -> int:
        """The resident memory, in KiB."""
        return int(self.status("VmRSS").split()[0])

    def anonymous_kib(self) -> int:
        """The anonymous part of the resident memory, in KiB."""
        return int(self.status("RssAnon").split()[0])

    def memory_kib(self) -> dict[str, int]:
        """The resident, the proportional (PSS) and the anonymous memory, in KiB."""
        rollup = (self.folder / "smaps_rollup").read_text()
        found = dict(re.findall(r"^(\w+): +(\d+) kB$", rollup, re.MULTILINE))
        return {field.lower(): int(found[field]) for field in ("Rss", "Pss", "Anonymous")}

    def switches(self) -> dict[str, int]:
        """The context switches of each of its threads, voluntary and involuntary."""
        found = {}
        for thread in (self.folder / "task").iterdir():
            counts = re.findall(r"ctxt_switches:\s*(\d+)", (thread / "status").read_text())
            found[thread.name] = sum(map(int, counts))
        return found

    def descriptors(self) -> int:
        """How many descriptors the process has open; only its user and root can see them."""
        return len(list((self.folder / "fd").iterdir()))

    def cpu_seconds(self) -> float:
        """The CPU time, user and system, in seconds and in steps of the kernel's clock tick."""
        user, system = self._stat()[11:13]
        return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")

    def _stat(self) -> list[str]:
        """The fields of `stat` from the state on, which is behind the name in brackets."""
        return (self.folder / "stat").read_text().rpartition(")")[2].split()
