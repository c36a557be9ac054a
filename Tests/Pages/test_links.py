"""Links between the pages that name a heading lead to one. DocumentationTests.swift looks for the files."""

import os
import re

import pytest
from samples import pages
from support.checkout import CHECKOUT


def headings(page: str) -> set[str]:
    """The headings of a page, or of the page of a folder, as links name them."""
    path = CHECKOUT / page
    written = (path / "README.md" if path.is_dir() else path).read_text()
    text = re.sub(r"^```.*?^```", "", written, flags=re.MULTILINE | re.DOTALL)
    titles = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    shown = [re.sub(r"\[(.*?)\]\(.*?\)", r"\1", title).strip().lower() for title in titles]
    return {re.sub(r"[^\w\- ]", "", title).replace(" ", "-") for title in shown}


@pytest.mark.parametrize("page", [page for page in pages() if page.endswith(".md")])
def test_links_to_headings_lead_to_some(page: str) -> None:
    for name, heading in re.findall(r"\]\(([^)#:]*)#([^)]+)\)", (CHECKOUT / page).read_text()):
        target = os.path.normpath(os.path.join(os.path.dirname(page), name)) if name else page
        assert heading in headings(target), f"{page}: {name}#{heading}"
