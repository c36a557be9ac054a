"""How soon after a key the kiosk's page in Chromium shows its change, beside a client of the socket."""

import tempfile
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from markdown import ranged, table
from plot import Panel, Row, plot
from spread import Spread, percentiles
from support.clock import boot_time
from support.connection import MONITOR, Connection
from support.input_events import COMPOSE, LEFTSHIFT

# Presses in each round, and the seconds between two.
SAMPLES = 300
PAUSE = 0.03

# A listener that is added after the page's own runs when the page has drawn the states. Times are
# milliseconds since 1970.
OBSERVE = """
const { keymode } = await import('/kiosk.js');
window.samples = [];
keymode.addEventListener('states', ({ detail, timeStamp }) => {
  const drawn = performance.now();
  requestAnimationFrame(() => {
    const frame = performance.now();
    for (const { time } of detail.changes) {
      window.samples.push([time, detail.now, ...[timeStamp, drawn, frame].map((at) => performance.timeOrigin + at)]);
    }
  });
});
"""
STEPS = {
    "client": "a client of the socket",
    "bridge": "the bridge",
    "page": "the page's script",
    "drawn": "the page's elements",
    "frame": "the next frame",
}


def measure(programs: Path, runs: int, sizes: list[int]) -> dict[str, object]:
    """Rounds of presses, each seen by a page and by a client at the same time."""
    # Drawing the plot needs neither of them, nor the packages that they need.
    from browser import chromium
    from kiosk import Kiosk

    with tempfile.TemporaryDirectory(prefix="keymoded-bench-") as name:
        folder = Path(name)
        with Kiosk(folder) as kiosk, chromium(folder) as browser:
            page = kiosk.open(browser)
            page.run(OBSERVE)
            rounds = [one_round(kiosk, page) for _ in range(runs + 1)]
    # The first round warms up.
    return {"unit": "milliseconds", "samples_per_round": SAMPLES, "rounds": rounds[1:]}


def one_round(kiosk, page) -> dict[str, dict[str, float]]:
    """Percentiles of each step, in milliseconds after the key."""
    from browser import is_state

    received: list[float] = []
    with Connection(kiosk.control_socket) as client:
        client.send(MONITOR)
        client.message()
        other = threading.Thread(target=listen, args=(client, received))
        other.start()
        pressed = []
        for _ in range(SAMPLES):
            pressed.append(kiosk.keyboard.press(LEFTSHIFT))
            time.sleep(PAUSE)
        # A last change, after which the page has told of all others.
        kiosk.keyboard.press(COMPOSE)
        page.wait_for(is_state("keyboard", "showingPanel"))
        kiosk.keyboard.press(COMPOSE)
        page.wait_for(is_state("keyboard", "prepareToEditText"))
        other.join()
    since_1970 = time.time_ns() / 1e6 - boot_time() / 1000
    seen = {sample[0]: sample[1:] for sample in page.run("return window.samples.splice(0)")}
    steps: dict[str, list[float]] = {step: [] for step in STEPS}
    for key, at_client in zip(pressed, received[:SAMPLES], strict=True):
        bridge, script, drawn, frame = seen[key]
        key_ms = key / 1000
        times = (
            at_client / 1000,
            bridge / 1000,
            *(at - since_1970 for at in (script, drawn, frame)),
        )
        for step, at in zip(STEPS, times, strict=True):
            steps[step].append(at - key_ms)
    return {step: percentiles(values, 3) for step, values in steps.items()}


def listen(client: Connection, received: list[float]) -> None:
    """Notes the boot time at which each change arrived."""
    while len(received) < SAMPLES:
        client.message()
        received.append(boot_time())


def spread(result: Mapping[str, Any], step: str, what: str) -> Spread:
    """A figure of a step over all rounds, in milliseconds."""
    return Spread.of_rounds([each[step] for each in result["rounds"]], what)


def tables(result: Mapping[str, Any]) -> dict[str, str]:
    """A table of all steps."""
    return {
        "steps": table(
            ("from the key to", "p50", "p99"),
            (
                (text, *(f"{ranged(spread(result, step, what))} ms" for what in ("p50", "p99")))
                for step, text in STEPS.items()
            ),
        )
    }


def picture(result: Mapping[str, Any]) -> str:
    """A plot of the median and the slow presses of each step."""
    rows = [
        Row(text, [spread(result, step, what) for what in ("p50", "p99")], step != "client")
        for step, text in STEPS.items()
    ]
    return plot(
        "From a key to the kiosk's page in Chromium",
        "Times from a press until each step towards the screen has its change.",
        "milliseconds",
        ("p50", "p99"),
        [Panel("", rows)],
    )
