"""Letters and changes of Shift, in every order in which a page can learn of them.

`capitals.js` is pure, and runs here with times of the tests' own, in milliseconds.
"""

from collections.abc import Iterator
from typing import Any

import pytest
from browser import Tab
from conftest import Browsers
from kiosk import Kiosk

# Runs a timeline, and returns the letters as capitals or not at its end, and how each began.
RUN = """
const { Capitals } = await import('/capitals.js');
const capitals = new Capitals();
capitals.begin(given[0]);
const letters = [], first = [], told = [], changed = [];
for (const [what, time, from, to] of given[1]) {
  if (what === 'letter') {
    const letter = capitals.typed(time);
    letters.push(letter);
    first.push(letter.capital);
  } else {
    const before = letters.map((letter) => letter.capital);
    told.push(capitals.changed(time, { event: what, from, to }).map((letter) => letters.indexOf(letter)));
    changed.push([...letters.keys()].filter((index) => letters[index].capital !== before[index]));
  }
}
return [letters.map((letter) => letter.capital), first, told, changed];
"""

Step = tuple[Any, ...]

SHIFT: Step = ("shiftPressed", 1000, "off", "on")
LOCK: Step = ("shiftPressed", 1200, "on", "capsLock")
UNLOCK: Step = ("shiftPressed", 2000, "capsLock", "off")
TYPED: Step = ("characterTyped", 1500, "on", "off")


USED: Step = ("shiftUsed", 1100, "on", "off")

# The state at first, the timeline, in which a number is the time of a letter, which letters are
# capitals at its end, and which were at first.
TIMELINES: dict[str, tuple[str, list[Step | float], str, str]] = {
    "no Shift": ("off", [1, 2], "aa", "aa"),
    "the change comes before the letter": ("off", [SHIFT, TYPED, 1500], "A", "A"),
    "the change comes after the letter": ("off", [SHIFT, 1500, TYPED], "A", "A"),
    "both changes come after the letter": ("off", [1500, SHIFT, TYPED], "A", "a"),
    "the page's clock is early": ("off", [SHIFT, TYPED, 1490], "A", "A"),
    "the letter is at the edge": ("off", [SHIFT, TYPED, 1525], "A", "A"),
    "the letter is beyond the edge": ("off", [SHIFT, TYPED, 1525.1], "a", "a"),
    "a second letter, before the change": ("off", [SHIFT, 1500, 1520, TYPED], "Aa", "Aa"),
    "a second letter, after the change": ("off", [SHIFT, 1500, TYPED, 1520], "Aa", "Aa"),
    "the change comes after two letters, and Shift too": (
        "off",
        [1500, 1520, SHIFT, TYPED],
        "Aa",
        "aa",
    ),
    "a letter just before Shift, by an inexact clock": (
        "off",
        [1001, SHIFT, 1500, TYPED],
        "aA",
        "aa",
    ),
    "a letter before Shift, long after": ("off", [500, SHIFT, 1500, TYPED], "aA", "aA"),
    "Shift was on when the page came": ("on", [5, 90], "Aa", "Aa"),
    "capitals": ("off", [SHIFT, LOCK, 1500, 1600], "AA", "AA"),
    "capitals were on when the page came": ("capsLock", [5], "A", "A"),
    "capitals, told after the letters": ("off", [1500, 1600, SHIFT, LOCK], "AA", "aa"),
    "no capitals any more": ("capsLock", [1900, UNLOCK, 2100], "Aa", "Aa"),
    "no capitals any more, told after the letter": ("capsLock", [2100, UNLOCK], "a", "A"),
    "Shift that was part of a shortcut": ("off", [SHIFT, USED, 1500], "a", "a"),
}


@pytest.fixture(scope="module", params=["chromium", "firefox"])
def module_page(
    request: pytest.FixtureRequest, browsers: Browsers, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Tab]:
    """A page for all timelines, which share nothing."""
    with Kiosk(tmp_path_factory.mktemp("kiosk")) as kiosk:
        yield kiosk.open(browsers.running(request.param))


@pytest.mark.parametrize("name", TIMELINES)
def test_letters_are_capitals_by_their_times(module_page: Tab, name: str) -> None:
    state, timeline, expected, at_first = TIMELINES[name]
    steps = [step if isinstance(step, tuple) else ("letter", step) for step in timeline]
    letters, first, told, changed = module_page.run(RUN, state, steps)

    def shown(capitals: list[bool]) -> str:
        return "".join("A" if capital else "a" for capital in capitals)

    assert (shown(letters), shown(first)) == (expected, at_first)
    # After each change, exactly the letters whose case changed are told.
    assert told == changed


def test_old_letters_are_left_alone(module_page: Tab) -> None:
    timeline: list[Step] = []
    for time in range(0, 200_000, 1000):
        timeline += [
            ("shiftPressed", time, "off", "on"),
            ("characterTyped", time + 500, "on", "off"),
            ("letter", time + 500),
            ("letter", time + 700),
        ]
    letters, _, told, _ = module_page.run(RUN, "off", timeline)
    assert letters == [True, False] * 200
    # No letter is judged anew when its change is forgotten.
    assert not any(told)


# Boot time is 5 s ahead of the page's clock, which the test moves. The page first learns of it by a
# message that took 30 ms.
CLOCK = """
const { BootClock } = await import('/clock.js');
const clock = new BootClock();
const own = performance.now;
let page = 100;
performance.now = () => page;
const ask = (trips) => async () => {
  const trip = trips.shift();
  if (!trip) return null;
  page += trip[0];
  const now = (5000 + page) * 1000;
  page += trip[1];
  return { now };
};
try {
  clock.received(5_100_000, 130);
  SCRIPT
} finally {
  performance.now = own;
}
"""


def clocks(page: Tab, script: str, *arguments: Any) -> Any:
    """Runs a script with two clocks."""
    return page.run(CLOCK.replace("SCRIPT", script), *arguments)


@pytest.mark.parametrize(
    ("trips", "error"),
    [
        # Milliseconds there and back of each question.
        ([], 30),
        ([[9, 1], [1, 1], [1, 9]], 0),
        ([[4, 0], [6, 6], [10, 2]], -2),
        ([[0, 3]], 1.5),
    ],
)
def test_the_fastest_answer_counts(
    module_page: Tab, trips: list[list[float]], error: float
) -> None:
    found = clocks(
        module_page,
        "await clock.measure(ask(given[0])); return clock.pageTime(6_000_000) - 1000;",
        trips,
    )
    assert found == pytest.approx(error, abs=0.001)


def test_a_clock_that_could_not_be_measured_learns_from_messages(module_page: Tab) -> None:
    script = """
    await clock.measure(ask([]));
    // Each message that took less time than those before makes it more exact.
    const better = [[5_200_000, 240], [5_300_000, 305], [5_400_000, 430]]
      .map(([now, arrived]) => clock.received(now, arrived));
    const found = clock.pageTime(5_300_000);
    await clock.measure(ask([[1, 1]]));
    return [better, found, clock.pageTime(5_300_000), clock.received(5_500_000, 540)];
    """
    assert clocks(module_page, script) == [[True, True, True], 305, 300, False]


def test_messages_after_a_sleep_of_the_machine_correct_the_clock(module_page: Tab) -> None:
    script = """
    await clock.measure(ask([[1, 1]]));
    // In time, late, and after a sleep of 60 s, which only boot time counts.
    const better = [[5_200_000, 200.5], [5_200_000, 290], [65_300_000, 300.5]]
      .map(([now, arrived]) => clock.received(now, arrived));
    return [better, clock.pageTime(65_300_000)];
    """
    assert clocks(module_page, script) == [[False, False, True], 300.5]
