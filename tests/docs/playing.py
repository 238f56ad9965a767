"""A document is played from top to bottom: files written, commands typed, code executed, outputs compared."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from docs.markdown import Block, blocks, steps
from docs.terminal import Terminal, masked


@dataclass(frozen=True, slots=True)
class Played:
    """A block with what it shows and what it should show."""

    block: Block
    shown: tuple[str, ...]
    happened: tuple[str, ...]

    @property
    def is_true(self) -> bool:
        has_numbers = "numbers vary" not in self.block.marks
        return masked("\n".join(self.shown), has_numbers=has_numbers) == masked(
            "\n".join(self.happened), has_numbers=has_numbers
        )

    @property
    def new_errors(self) -> set[str]:
        """Error messages that the document did not show: perhaps it is the example that is wrong."""
        shown, happened = masked("\n".join(self.shown)), masked("\n".join(self.happened))
        return {line for line in happened if line.startswith("Error:") and line not in shown}


def play(text: str, folder: Path, present: frozenset[str] = frozenset()) -> Iterator[Played]:
    """Every block that shows an output, in order; those that need something that is not present are left out."""
    terminal = Terminal(folder)
    printed: str | None = None
    for block in blocks(text):
        if block.marks.get("needs", "") not in {"", *present}:
            continue
        if "file" in block.marks:
            _write(terminal.work / block.marks["file"], block.text)
        if "output" in block.marks:
            assert printed is not None, f"line {block.line}: an output without the Python block that prints it"
            yield Played(block, block.lines, tuple(line.rstrip() for line in printed.rstrip().split("\n")))
            printed = None
        elif block.language == "python" and "file" not in block.marks:
            printed = terminal.run_python(block.text)
            assert terminal.last_code == 0, f"line {block.line}: the example failed:\n{printed}"
        elif block.language == "console":
            yield _console(block, terminal)


def _console(block: Block, terminal: Terminal) -> Played:
    happened: list[str] = []
    shown: list[str] = []
    for step in steps(block):
        typed = f"$ {step.command}".split("\n")
        output = terminal.run(step.command, block.marks.get("press"))
        lines = [line.rstrip() for line in output.rstrip().split("\n")] if output.strip() else []
        happened += [*typed, *lines]
        shown += [*typed, *step.shown]
    return Played(block, tuple(shown), tuple(happened))


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
