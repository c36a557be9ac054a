"""How soon after a key the kiosk's page in Chromium shows its change, beside a client of the socket."""

import statistics
import tempfile
import threading
import time
from pathlib import Path

from browser import chromium, is_state
from kiosk import Kiosk
from plot import Line, line_plot
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
    "client": "from the key to a client of the socket",
    "bridge": "from the key to the bridge",
    "page": "from the key to the page's script",
    "drawn": "from the key to the page's elements",
    "frame": "from the key to the next frame",
}


def measure(programs: Path, runs: int, sizes: list[int]) -> dict[str, object]:
    """Rounds of presses, each seen by a page and by a client at the same time."""
    with tempfile.TemporaryDirectory(prefix="keymoded-bench-") as name:
        folder = Path(name)
        with Kiosk(folder) as kiosk, chromium(folder) as browser:
            page = kiosk.open(browser)
            page.run(OBSERVE)
            rounds = [one_round(kiosk, page) for _ in range(runs + 1)]
    # The first round warms up.
    return {"unit": "milliseconds", "samples_per_round": SAMPLES, "rounds": rounds[1:]}


def one_round(kiosk: Kiosk, page) -> dict[str, dict[str, float]]:
    """Percentiles of each step, in milliseconds after the key."""
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
    return {step: percentiles(values) for step, values in steps.items()}


def listen(client: Connection, received: list[float]) -> None:
    """Notes the boot time at which each change arrived."""
    while len(received) < SAMPLES:
        client.message()
        received.append(boot_time())


def percentiles(values: list[float]) -> dict[str, float]:
    """The median, the slow ones, and the slowest."""
    ordered = sorted(values)
    return {
        "p50": round(statistics.median(ordered), 3),
        "p99": round(ordered[int(0.99 * len(ordered))], 3),
        "max": round(ordered[-1], 3),
    }


def middle(result: dict[str, object], step: str, what: str) -> float:
    """The median of a figure over all rounds."""
    rounds = result["rounds"]
    assert isinstance(rounds, list)
    return statistics.median(figures[step][what] for figures in rounds)


def summary(result: dict[str, object]) -> list[str]:
    """The figures as text."""
    client = middle(result, "client", "p50")
    return [
        f"{text:40} {middle(result, step, 'p50'):7.2f} ms (p50) {middle(result, step, 'p99'):7.2f} ms (p99)"
        f" {middle(result, step, 'p50') / client:6.1f} times the client"
        for step, text in STEPS.items()
    ]


def picture(result: dict[str, object]) -> str:
    """A plot of the median and the slow presses of each step."""
    shares = [(0.5, "p50"), (0.99, "p99"), (1.0, "max")]
    lines = [
        Line(step, [(share, middle(result, step, what)) for share, what in shares])
        for step in STEPS
    ]
    return line_plot(
        "From a key to the kiosk's page", "share of all presses", "milliseconds", lines
    )
