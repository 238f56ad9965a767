"""Pages in other languages: their prose is their own, their examples are those of the page that they translate."""

from __future__ import annotations

from pathlib import Path

from docs.markdown import ROOT, blocks

TRANSLATIONS = {
    ROOT / "README.ja.md": ROOT / "README.md",
    ROOT / "docs" / "ja" / "tutorial.md": ROOT / "docs" / "tutorial.md",
}


def translated(page: Path) -> str:
    """The page with the examples, marks and outputs of its original; both have the same number of them."""
    text = page.read_text(encoding="utf-8")
    lines = text.split("\n")
    own, original = list(blocks(text)), list(blocks(TRANSLATIONS[page].read_text(encoding="utf-8")))
    assert len(own) == len(original), f"{page.name} has {len(own)} examples, its original {len(original)}"
    for mine, theirs in reversed(list(zip(own, original, strict=True))):
        assert (mine.language, mine.marks) == (theirs.language, theirs.marks), f"{page.name}:{mine.line}"
        lines[mine.first : mine.last] = theirs.lines
    return "\n".join(lines)
