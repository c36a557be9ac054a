"""A recorder for push-to-talk in a guest without sound: says what time it is while it is alive.

Runs in the guest: `stamps.py [stubborn] [descendant]`. Its first line is `began PID TIME EVENT
SINCE`, with EVENT and SINCE as `keymodectl while` tells them; then `PID TIME` follows every 20 ms.
Times are CLOCK_BOOTTIME, in microseconds. A stubborn one ignores SIGTERM. With `descendant`, a
grandchild in a session of its own writes all that, while its parent is gone.
"""

import os
import signal
import sys
import time

NAME = "stamps"
"""What `pgrep -x` finds it by."""

PERIOD_SECONDS = 0.02


def stamp(*words: str) -> None:
    now = time.clock_gettime_ns(time.CLOCK_BOOTTIME) // 1000
    pid, *rest = words
    os.write(1, " ".join([pid, str(now), *rest]).encode() + b"\n")


def record() -> None:
    with open("/proc/self/comm", "w") as name:
        name.write(NAME)
    pid = str(os.getpid())
    event = os.environ.get("KEYMODE_EVENT") or "-"
    stamp(f"began {pid}", event, os.environ.get("KEYMODE_TIME") or "0")
    while True:
        time.sleep(PERIOD_SECONDS)
        stamp(pid)


def main() -> None:
    if "stubborn" in sys.argv:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if "descendant" in sys.argv:
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                record()
            os._exit(0)
        signal.pause()
    record()


if __name__ == "__main__":
    main()
