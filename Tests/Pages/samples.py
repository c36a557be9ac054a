"""Finds the samples of the pages: what they show in a font of fixed width, apart from words in a line."""

import re
import shutil
import subprocess
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from support.checkout import CHECKOUT

BASH = shutil.which("bash") or "bash"

# With these words begin the commands that pages show without a dollar, and without saying `sh`.
SHELL_WORDS = "exec|keymodectl|make|sha256sum|sudo|swift|systemctl|(?:\\./)?push-to-talk"


@dataclass(frozen=True)
class Sample:
    """A sample of a page that begins in this line; `language` is `session` for commands behind a dollar."""

    page: str
    line: int
    language: str
    text: str

    def __str__(self) -> str:
        return f"{self.page}:{self.line}"

    @property
    def beginning(self) -> str:
        """Its first line."""
        return self.text.split("\n", 1)[0]


@dataclass(frozen=True)
class Command:
    """A command that a page shows, and what the page says that it prints."""

    sample: Sample
    text: str
    output: str = ""

    def __str__(self) -> str:
        return f"{self.sample}: {self.text}"


def pages() -> list[str]:
    """README, the pages of docs and of the examples, and the man pages."""
    patterns = ("README.md", "docs/*.md", "examples/*/README.md", "data/man/*.[1-8]")
    found = [path for pattern in patterns for path in sorted(CHECKOUT.glob(pattern))]
    return [str(path.relative_to(CHECKOUT)) for path in found]


@cache
def samples(page: str) -> tuple[Sample, ...]:
    """The samples of a page, in their order."""
    lines = (CHECKOUT / page).read_text().split("\n")
    find = _in_markdown if page.endswith(".md") else _in_man_page
    return tuple(
        Sample(page, first + 1, language, textwrap.dedent("\n".join(text)).strip("\n"))
        for first, language, text in find(lines)
    )


Found = Iterator[tuple[int, str, list[str]]]


def _in_markdown(lines: list[str]) -> Found:
    """Blocks between fences, and paragraphs that are indented deeper than the list that they are in."""
    number = depth = 0
    while number < len(lines):
        line = lines[number]
        indentation = len(line) - len(line.lstrip())
        if fence := re.match(r" *```(\w*)$", line):
            end = next(n for n in range(number + 1, len(lines)) if lines[n].strip() == "```")
            text = lines[number + 1 : end]
            yield number + 1, fence[1] or _language(textwrap.dedent("\n".join(text))), text
            number = end + 1
            continue
        if not line.strip():
            number += 1
            continue
        if item := re.match(r" {0,3}(?:[*-]|\d+\.) +", line):
            depth = len(item[0])
        elif indentation == 0:
            depth = 0
        is_sample = indentation >= depth + 4 and not lines[number - 1].strip()
        if not is_sample:
            number += 1
            continue
        end = number
        while end < len(lines) and (not lines[end].strip() or lines[end].startswith(" " * (depth + 4))):
            end += 1
        yield from _paragraphs(number, lines[number:end])
        number = end


def _paragraphs(first: int, lines: list[str]) -> Found:
    """An indented block, or two samples if commands follow it after an empty line."""
    start, is_session = 0, lines[0].lstrip().startswith("$ ")
    for number, line in enumerate(lines):
        begins = number > 0 and not lines[number - 1].strip() and line.lstrip().startswith("$ ")
        if begins and not is_session:
            yield first, _language(textwrap.dedent("\n".join(lines[:number]))), lines[:number]
            start, is_session = number, True
    yield first + start, _language(textwrap.dedent("\n".join(lines[start:]))), lines[start:]


def _in_man_page(lines: list[str]) -> Found:
    """Literal displays, and single lines of them."""
    start = None
    for number, line in enumerate(lines):
        if line.startswith(".Bd -literal"):
            start = number + 1
        elif line == ".Ed" and start is not None:
            text = lines[start:number]
            yield start, _language("\n".join(text)), text
            start = None
        elif line.startswith(".Dl "):
            text = [line.removeprefix(".Dl ")]
            yield number, _language(text[0]), text


def _language(text: str) -> str:
    """The language of a sample whose page does not tell it; `text` if it is none."""
    for language, mark in (
        ("session", r"\A\$ "),
        ("ini", r"^\[(?:Unit|Service)\]$"),
        ("sh", rf"\A(?:#.*\n)*(?:{SHELL_WORDS}) "),
        ("yaml", r"\A\w+:(?:\n| \{)"),
        ("varlink", r"\A\{\"method\":"),
        ("json", r'\A"[\w/-]+": [\[{]'),
    ):
        if re.search(mark, text, re.MULTILINE):
            return language
    return "text"


def commands(sample: Sample) -> list[Command]:
    """The commands of a sample of a shell; behind a dollar, each with what it prints."""
    found: list[Command] = []
    unfinished = ""
    for line in sample.text.split("\n"):
        is_command = sample.language != "session" or line.startswith("$ ")
        if unfinished or is_command:
            unfinished += line.removeprefix("$ ") + "\n"
            if _is_whole(unfinished):
                if re.sub(r"^\s*#.*$", "", unfinished, flags=re.MULTILINE).strip():
                    found.append(Command(sample, unfinished.rstrip("\n")))
                unfinished = ""
        elif found:
            last = found.pop()
            found.append(Command(sample, last.text, last.output + line + "\n"))
    assert not unfinished, f"{sample}: an unfinished command: {unfinished}"
    return found


def _is_whole(text: str) -> bool:
    """Whether a shell would run this, and not wait for another line."""
    if text.rstrip("\n").endswith("\\"):
        return False
    checked = subprocess.run([BASH, "-n", "-c", text], capture_output=True)
    return checked.returncode == 0
