"""The clock of the kernel's and keymoded's time stamps."""

import time


def boot_time() -> int:
    """The time in microseconds."""
    return time.clock_gettime_ns(time.CLOCK_BOOTTIME) // 1000
