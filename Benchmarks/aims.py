"""What keymoded is to reach, and whether the results do."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import latency
import native
from markdown import short, table
from replay import Format


@dataclass(frozen=True)
class Aim:
    """A bound for figures of a part's results, and what limits them."""

    what: str
    part: str
    bound: float
    unit: str
    figures: Callable[[Mapping[str, Any]], Sequence[float]]
    limit: str
    at_least: bool = False

    def row(self, result: Mapping[str, Any]) -> tuple[str, ...]:
        """The aim, the lowest and the highest figure, how many reach it, and the limit."""
        figures = self.figures(result)
        met = sum(each >= self.bound if self.at_least else each <= self.bound for each in figures)
        ends = dict.fromkeys(short(each) for each in (min(figures), max(figures)))
        answer = {0: "no", len(figures): "yes"}.get(met, f"{met} of {len(figures)}")
        bound = f"{'≥' if self.at_least else '≤'} {self.bound:,g} {self.unit}"
        return (self.what, bound, "–".join(ends), f"**{answer}**", self.limit)


def in_guest(result: Mapping[str, Any]) -> list[float]:
    """How many times as long keymoded takes as keyd, idle and busy."""
    medians = [
        [latency.spread(result, load, name, "p50").median for name in ("keymoded-nice", "keyd")]
        for load in latency.LOADS
    ]
    return [ours / theirs for ours, theirs in medians]


def millions(*tools: str) -> Callable[[Mapping[str, Any]], list[float]]:
    """Million events a second of these tools' recordings."""
    return lambda result: [Format.of(result, tool).millions().median for tool in tools]


COLD = "a key's code and data have left the caches since the last key"
COLUMNS = "`read()`, and the columns of each line"
AIMS = [
    Aim(
        "From a key to a client, natively: p50, for each load and pause",
        "native",
        1,
        "× keyd",
        lambda result: native.ratios(result, "keyd", "p50"),
        COLD,
    ),
    Aim(
        "the same: p99",
        "native",
        1,
        "× keyd",
        lambda result: native.ratios(result, "keyd", "p99"),
        "what else the machine does",
    ),
    Aim(
        "the same: p50, beside a relay",
        "native",
        1.6,
        "× relay",
        lambda result: native.ratios(result, "relay", "p50"),
        COLD,
    ),
    Aim(
        "In the guest: p50, idle and busy",
        "latency",
        1.5,
        "× keyd",
        in_guest,
        "an emulator translates code that is not in its caches",
    ),
    Aim(
        "Replay of evemu-record's recordings",
        "replay",
        10,
        "× libevemu",
        lambda result: [Format.of(result, "evemu-record").faster_than("libevemu")],
        COLUMNS,
        at_least=True,
    ),
    Aim(
        "the same",
        "replay",
        2,
        "× `wc -l`",
        lambda result: [1 / Format.of(result, "evemu-record").faster_than("wc -l")],
        "`wc -l` looks at each byte once, for one character",
    ),
    Aim(
        "Replay of libinput's recordings",
        "replay",
        10,
        "million events a second",
        millions("libinput record"),
        COLUMNS,
        at_least=True,
    ),
    Aim(
        "Replay of evtest's and getevent's",
        "replay",
        20,
        "million events a second",
        millions("evtest", "getevent -t", "getevent -lt"),
        COLUMNS,
        at_least=True,
    ),
    Aim(
        "Replay of raw records",
        "replay",
        50,
        "million events a second",
        millions("cat"),
        "the machines, and changes as JSON",
        at_least=True,
    ),
    Aim(
        "`replay --each` of small recordings, in one process",
        "corpus",
        10_000,
        "recordings a second",
        lambda result: [
            each["replay --each"]["recordings_per_s"] for each in result["by_size"].values()
        ],
        "opening each file",
        at_least=True,
    ),
    Aim(
        "Resident memory at rest, Debian 12",
        "daemon",
        7500,
        "KiB",
        lambda result: [result["memory_kib"]["rss"]],
        "which pages of the programs the kernel maps",
    ),
    Aim(
        "the same, Debian 13",
        "latency",
        7500,
        "KiB",
        lambda result: [result["memory_kib"]["keymoded"]["rss"]],
        "which pages of the programs the kernel maps",
    ),
    Aim(
        "Anonymous part of it, Debian 12",
        "daemon",
        600,
        "KiB",
        lambda result: [result["memory_kib"]["anonymous"]],
        "relocations, and the heap",
    ),
    Aim(
        "the same, Debian 13",
        "latency",
        600,
        "KiB",
        lambda result: [result["memory_kib"]["keymoded"]["anonymous"]],
        "relocations, and the heap",
    ),
    Aim(
        "Until the last of 512 subscribers has a change",
        "daemon",
        2,
        "ms",
        lambda result: [result["fan_out"]["512"]["ms_until_the_last"]],
        "`send()`",
    ),
    Aim(
        "From `exec` to `READY=1`",
        "daemon",
        15,
        "ms",
        lambda result: [result["start"]["ready_ms"]["median"]],
        "the dynamic linker, and Swift's runtime",
    ),
]


def table_of(results: Mapping[str, Mapping[str, Any]]) -> str:
    """The table of all aims whose part was measured."""
    return table(
        ("", "aim", "figure", "met", "the limit"),
        (aim.row(results[aim.part]) for aim in AIMS if aim.part in results),
    )
