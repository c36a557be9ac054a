"""The commands that README shows, as a reader copies them."""

import re
import textwrap

from support.checkout import CHECKOUT

# A command follows a dollar; lines that are indented further continue it. What it prints follows.
_COMMAND = re.compile(r"^    \$ (.*(?:\n {8}.*)*)\n((?:    (?!\$ ).*\n)*)", re.MULTILINE)


def commands(heading: str) -> dict[str, str]:
    """The commands below a heading of README, in their order, each with its output there."""
    readme = (CHECKOUT / "README.md").read_text()
    _, found, rest = readme.partition(f"\n## {heading}\n")
    assert found, heading
    section = rest.partition("\n## ")[0]
    return {
        re.sub(r"\n +", " ", command): textwrap.dedent(output)
        for command, output in _COMMAND.findall(section)
    }


def headings_with_commands() -> list[str]:
    """The headings of README below which commands are shown."""
    readme = (CHECKOUT / "README.md").read_text()
    return [
        heading for heading in re.findall(r"^## (.*)$", readme, re.MULTILINE) if commands(heading)
    ]
