"""What is written in Japanese is complete, and shows the same commands as the English pages."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from docs.markdown import FENCE, blocks, name_of
from docs.translations import TRANSLATIONS, translated

HEADING = re.compile(r"^## ", re.MULTILINE)
JAPANESE = re.compile("[\u3040-\u30ff\u4e00-\u9fff]")
BULLET = re.compile(r"^- ", re.MULTILINE)


@pytest.mark.parametrize("page", list(TRANSLATIONS), ids=name_of)
def test_the_examples_are_those_of_the_original(page: Path) -> None:
    assert page.read_text(encoding="utf-8") == translated(page), "run scripts/refresh-docs"


@pytest.mark.parametrize("page", list(TRANSLATIONS), ids=name_of)
def test_every_section_is_there_and_in_japanese(page: Path) -> None:
    own, original = (one.read_text(encoding="utf-8") for one in (page, TRANSLATIONS[page]))
    assert len(HEADING.findall(own)) == len(HEADING.findall(original))
    last = [len(BULLET.findall(HEADING.split(text)[-1])) for text in (own, original)]
    assert last[0] == last[1], "what is not there yet is listed in both"
    for heading in re.findall(r"^#+ (.+)$", _prose(own), re.MULTILINE):
        assert JAPANESE.search(heading), heading
    paragraphs = [one for one in _prose(own).split("\n\n") if len(one) > 60 and not one.startswith(("[", "!"))]
    assert not [one for one in paragraphs if len(JAPANESE.findall(one)) < len(one) / 10]


def _prose(text: str) -> str:
    lines = text.split("\n")
    for block in reversed(list(blocks(text))):
        del lines[block.first - 1 : block.last + 1]
    return "\n".join(line for line in lines if not FENCE.match(line) and not line.startswith("<!--"))
