"""The picture of the README: a real run in a real terminal, drawn as SVG."""

from __future__ import annotations

import html
import io
import re
from pathlib import Path

from docs.markdown import ROOT
from docs.terminal import COLUMNS, Terminal, masked

PICTURE = ROOT / "docs" / "images" / "run.svg"
COMMAND = "proctor run puzzles -m demo/strong -m demo/average --limit 120"
MOVEMENT = re.compile(r"\x1b\[(?:\?25[lh]|\d*[AK])")
FONT = re.compile(r"\s*@font-face \{.*?\}\n", re.DOTALL)
SVG_TEXT = re.compile(r"<text[^>]*>(.*?)</text>", re.DOTALL)


def draw(folder: Path) -> str:
    """Run the command and draw what the terminal shows at the end."""
    from rich.console import Console
    from rich.text import Text

    shown = Terminal(folder, "xterm-256color").run(COMMAND)
    # The live view is gone when the run ends: what comes after the last movement of the cursor is what stays.
    final = MOVEMENT.split(shown)[-1].strip("\r\n")
    console = Console(record=True, width=COLUMNS - 12, file=io.StringIO(), force_terminal=True, highlight=False)
    console.print(Text.assemble(("$ ", "bold green"), COMMAND, "\n"))
    console.print(Text.from_ansi(final))
    drawn = console.export_svg(title="proctor", unique_id="proctor")
    return "\n".join(line.rstrip() for line in FONT.sub("\n", drawn).split("\n"))


def words(svg: str) -> list[str]:
    """The text of the picture, without what differs from run to run."""
    found = " ".join(html.unescape(part) for part in SVG_TEXT.findall(svg))
    return masked(found.replace("\xa0", " "))
