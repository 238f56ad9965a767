"""Every example that a document shows is executed here, and shows what really happens."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from docs.markdown import ROOT, Block, blocks, documents, name_of, steps
from docs.picture import PICTURE, draw, words
from docs.playing import play
from docs.terminal import masked
from docs.translations import TRANSLATIONS

EXECUTED = ("console", "python")
SHELLS = ("sh", "bash", "shell", "zsh")


def originals() -> list[Path]:
    """Without translations, whose examples are those of their originals, as another test sees to."""
    return [document for document in documents() if document not in TRANSLATIONS]


def all_blocks() -> list[tuple[Path, Block]]:
    return [(document, block) for document in originals() for block in blocks(document.read_text(encoding="utf-8"))]


def has_examples(document: Path) -> bool:
    found = blocks(document.read_text(encoding="utf-8"))
    return any(block.language in EXECUTED and "needs" not in block.marks for block in found)


@pytest.mark.parametrize("document", [item for item in originals() if has_examples(item)], ids=name_of)
def test_the_examples_of_a_document_show_what_happens(document: Path, tmp_path: Path) -> None:
    for played in play(document.read_text(encoding="utf-8"), tmp_path):
        has_numbers = "numbers vary" not in played.block.marks
        shown = masked("\n".join(played.shown), has_numbers=has_numbers)
        happened = masked("\n".join(played.happened), has_numbers=has_numbers)
        assert shown == happened, f"{name_of(document)}:{played.block.line}: run scripts/refresh-docs"


@pytest.mark.parametrize(
    ("document", "block"),
    [pytest.param(*item, id=f"{name_of(item[0])}:{item[1].line}") for item in all_blocks() if "needs" in item[1].marks],
)
def test_an_example_that_needs_more_than_this_machine_has(document: Path, block: Block) -> None:
    pytest.skip(f"{name_of(document)}:{block.line} needs {block.marks['needs']}")


def test_no_example_escapes_being_executed_in_silence() -> None:
    """A shell block is only for what cannot be executed here, and says what it needs."""
    escaped = [
        f"{name_of(document)}:{block.line}"
        for document, block in all_blocks()
        if block.language in SHELLS and "needs" not in block.marks
    ]
    assert not escaped, "use 'console' blocks with '$ ', or mark these with <!-- needs: … -->"


def test_make_run_gives_the_commands_that_the_readme_shows() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    recipe = re.search(r"^run:.*\n((?:\t.*\n)+)", makefile, re.MULTILINE)
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    first = next(block for block in blocks(readme) if block.language == "console")
    assert recipe is not None
    given = [line.removeprefix("\t@$(BIN)/") for line in recipe[1].splitlines() if line.startswith("\t@$(BIN)/")]
    assert [step.command.replace("\\\n  ", "") for step in steps(first)] == given
    assert all(step.shown for step in steps(first)), "run scripts/refresh-docs --with 'the local model' README.md"


def test_the_set_up_of_the_readme_is_two_commands() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    set_up = text.partition("## Set up\n")[2].partition("\n## ")[0]
    (block,) = blocks(set_up)
    assert block.lines == ("make run", "make test")


def test_the_picture_shows_what_happens(tmp_path: Path) -> None:
    drawn = draw(tmp_path)
    assert "demo/strong" in " ".join(words(drawn))
    assert words(PICTURE.read_text(encoding="utf-8")) == words(drawn), "run scripts/refresh-docs"
