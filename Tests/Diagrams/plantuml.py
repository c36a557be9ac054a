"""PlantUML."""

import re
import subprocess
import tempfile
from pathlib import Path

from drawing import Drawing
from support.waiting import BOUND_SECONDS


def draw(diagrams: dict[str, str]) -> dict[str, Drawing]:
    """Draws diagrams, each under its name, in one process: Java takes a second to start."""
    with tempfile.TemporaryDirectory() as folder:
        files = {name: Path(folder) / f"{index}.puml" for index, name in enumerate(diagrams)}
        for name, file in files.items():
            file.write_text(diagrams[name], "utf-8")
        ended = subprocess.run(
            ["plantuml", "-tsvg", "-charset", "UTF-8", *map(str, files.values())],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=BOUND_SECONDS,
        )
        wrong = set(re.findall(r"^Error line \d+ in file: (.*)$", ended.stdout, re.MULTILINE))
        assert bool(wrong) == (ended.returncode != 0), ended.stdout
        return {
            name: _drawing(file, str(file) in wrong, ended.stdout) for name, file in files.items()
        }


def _drawing(file: Path, is_wrong: bool, output: str) -> Drawing:
    svg = file.with_suffix(".svg")
    if is_wrong or not svg.exists():
        return Drawing(error=output)
    return Drawing.of_svg(svg.read_text("utf-8"))
