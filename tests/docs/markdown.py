"""The fenced blocks of a document, with the marks that stand in HTML comments before them.

Marks: `<!-- file: NAME -->` writes the block to a file, `<!-- output -->` is what the Python block before it prints,
`<!-- numbers vary -->` compares without figures, `<!-- needs: WHAT -->` leaves the block out and says so,
`<!-- press: ctrl-c after N answers -->` presses the keys once N more answers are recorded, and
`kill -9` kills the command then.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MARK = re.compile(r"<!--\s*(file|needs|press|output|numbers vary)\s*(?::\s*(.*?))?\s*-->")
FENCE = re.compile(r"^(`{3,})(\S*)\s*$")


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block; `first` and `last` are the indexes of the lines inside the fence."""

    language: str
    lines: tuple[str, ...]
    first: int
    last: int
    marks: dict[str, str] = field(default_factory=dict)

    @property
    def text(self) -> str:
        return "".join(f"{line}\n" for line in self.lines)

    @property
    def line(self) -> int:
        """The line of the opening fence, counted from 1."""
        return self.first


@dataclass(frozen=True, slots=True)
class Step:
    """A command of a console block and the output shown below it."""

    command: str
    shown: tuple[str, ...]


def documents() -> list[Path]:
    """Everything a reader reads, in a fixed order."""
    at_the_top = [ROOT / name for name in ("README.md", "README.ja.md", "CHANGELOG.md", "CONTRIBUTING.md")]
    return [*at_the_top, *sorted((ROOT / "docs").rglob("*.md")), *sorted((ROOT / "examples").rglob("*.md"))]


def name_of(document: Path) -> str:
    return document.relative_to(ROOT).as_posix() if document.is_relative_to(ROOT) else document.name


def blocks(text: str) -> Iterator[Block]:
    lines = text.split("\n")
    marks: dict[str, str] = {}
    place = 0
    while place < len(lines):
        fence = FENCE.match(lines[place])
        if fence is None:
            if found := MARK.fullmatch(lines[place].strip()):
                marks[found[1]] = found[2] or ""
            elif lines[place].strip():
                marks = {}
            place += 1
            continue
        end = lines.index(fence[1], place + 1)
        yield Block(fence[2], tuple(lines[place + 1 : end]), place + 1, end, marks)
        marks, place = {}, end + 1


def steps(block: Block) -> list[Step]:
    """The commands of a console block; a line that ends with a backslash goes on in the next."""
    found: list[tuple[list[str], list[str]]] = []
    goes_on = False
    for line in block.lines:
        if goes_on:
            found[-1][0].append(line)
        elif line.startswith("$ "):
            found.append(([line[2:]], []))
        elif found:
            found[-1][1].append(line)
        else:
            raise ValueError(f"line {block.line}: a console block begins with a command ('$ …')")
        goes_on = (goes_on or line.startswith("$ ")) and line.endswith("\\")
    return [Step("\n".join(command), tuple(_trimmed(shown))) for command, shown in found]


def _trimmed(lines: list[str]) -> list[str]:
    while lines and not lines[-1].strip():
        lines = lines[:-1]
    return lines
