"""The programs of both languages accept every diagram, and draw all of its text."""

import json
import re
from collections.abc import Callable
from functools import cache
from types import ModuleType

import graphviz
import mermaid
import pytest
from drawing import Drawing, visible
from support.checkout import CHECKOUT

GOLDEN_FILES = CHECKOUT / "Tests/StateMachinesTests/Diagrams"
PAGES = [CHECKOUT / "README.md", *sorted((CHECKOUT / "docs").glob("*.md"))]

# The program of each language, by the suffix of the golden files.
PROGRAMS: dict[str, ModuleType] = {"dot": graphviz, "mmd": mermaid}

# What is wrong in each language, and could follow from a name that is not escaped.
WRONG = {
    "dot": 'digraph {\n  "a\\" -> "b"\n}\n',
    "mmd": 'stateDiagram-v2\n  state "a "b"" as s0\n  [*] --> s0\n',
}
MERMAID_BLOCK = re.compile(r"^```mermaid\n(.*?)^```$", re.MULTILINE | re.DOTALL)
CONTROL = re.compile(r"[\0-\x1f\x7f-\x9f]")

Drawings = Callable[[str], dict[str, Drawing]]


@pytest.fixture(scope="session")
def drawings() -> Drawings:
    """The drawings of the golden files with a suffix, of the wrong diagram, and, for Mermaid, of
    the documentation, each by its name. A language's program draws all of them at once."""

    @cache
    def draw(suffix: str) -> dict[str, Drawing]:
        diagrams = {file.stem: file.read_text("utf-8") for file in GOLDEN_FILES.glob(f"*.{suffix}")}
        diagrams["wrong"] = WRONG[suffix]
        if suffix == "mmd":
            diagrams |= shown_diagrams()
        drawn: dict[str, Drawing] = PROGRAMS[suffix].draw(diagrams)
        assert drawn.keys() == diagrams.keys()
        return drawn

    return draw


def shown_diagrams() -> dict[str, str]:
    """The diagrams that the documentation shows, by page and number."""
    return {
        f"{page.name} {number}": block
        for page in PAGES
        for number, block in enumerate(MERMAID_BLOCK.findall(page.read_text("utf-8")))
    }


@pytest.mark.parametrize("suffix", PROGRAMS)
def test_program_accepts_every_diagram_but_the_wrong_one(drawings: Drawings, suffix: str) -> None:
    refused = {name: drawn.error for name, drawn in drawings(suffix).items() if drawn.error}
    assert refused.keys() == {"wrong"}, refused


def test_there_are_diagrams_in_both_languages_and_in_the_documentation() -> None:
    dot, mmd = ({file.stem for file in GOLDEN_FILES.glob(f"*.{suffix}")} for suffix in PROGRAMS)
    assert {"keyboard", "shift", "turnstile", "odd-names", "job", "isolated", "even-ones"} == dot <= mmd
    assert {"configuration.md 0", "configuration.md 1", "architecture.md 0"} <= shown_diagrams().keys()


@pytest.mark.parametrize("suffix", PROGRAMS)
def test_odd_names_are_drawn_as_they_are(drawings: Drawings, suffix: str) -> None:
    names = json.loads((GOLDEN_FILES / "odd-names.json").read_text("utf-8"))
    expected = visible(
        CONTROL.sub("\N{REPLACEMENT CHARACTER}", name) for name in names["states"] + names["events"]
    )
    assert drawings(suffix)["odd-names"].text == expected


def test_drawings_in_both_languages_have_the_same_text(drawings: Drawings) -> None:
    golden = {file.stem for file in GOLDEN_FILES.glob("*.dot")}
    for name in golden:
        assert drawings("mmd")[name].text == drawings("dot")[name].text, name
        assert drawings("dot")[name].text, name


@pytest.mark.parametrize("suffix", PROGRAMS)
def test_only_the_current_state_is_coloured(drawings: Drawings, suffix: str) -> None:
    colored = {name for name, drawn in drawings(suffix).items() if "#ffd75f" in drawn.svg.lower()}
    assert colored == {"job", "odd-names"}
