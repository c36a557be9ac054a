"""The tables of docs/performance.md, which are written from the results.

A table is between a line `<!-- table PART NAME -->` and a line `<!-- end -->`; that of the aims is
`<!-- table aims -->`.
"""

import re
from collections.abc import Mapping

from support.checkout import CHECKOUT

PAGE = CHECKOUT / "docs/performance.md"


def filled(page: str, tables: Mapping[str, str]) -> str:
    """The page with these tables, by what their lines say; others stay as they are."""

    def replaced(found: re.Match[str]) -> str:
        name = found[1]
        return f"<!-- table {name} -->\n{tables.get(name, found[2])}<!-- end -->\n"

    between = r"<!-- table ([\w ]+) -->\n(.*?)<!-- end -->\n"
    return re.sub(between, replaced, page, flags=re.DOTALL)
