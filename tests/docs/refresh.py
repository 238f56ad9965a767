"""`scripts/refresh-docs`: brings every generated page, pasted output and picture up to date."""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from docs import pages, picture
from docs.markdown import documents, name_of
from docs.playing import play
from docs.translations import TRANSLATIONS, translated


def refresh_document(document: Path, present: frozenset[str] = frozenset(), *, is_everything: bool = False) -> bool:
    """Replace the outputs that are no longer true (or all of them); gives whether anything changed."""
    text = document.read_text(encoding="utf-8")
    lines = text.split("\n")
    with tempfile.TemporaryDirectory() as folder:
        played = list(play(text, Path(folder), present))
    for item in reversed(played):
        if is_everything or not item.is_true:
            for error in sorted(item.new_errors):
                print(f"Look at this: {name_of(document)}:{item.block.line} now says: {error}", file=sys.stderr)
            lines[item.block.first : item.block.last] = item.happened
    return _write(document, "\n".join(lines))


def main() -> None:
    reader = argparse.ArgumentParser(prog="scripts/refresh-docs", description=__doc__)
    reader.add_argument("documents", nargs="*", help="only these, for example README.md")
    reader.add_argument("--all", action="store_true", help="paste every output anew, true or not")
    reader.add_argument("--with", action="append", default=[], metavar="WHAT", help="also blocks that need this")
    given = reader.parse_args()
    is_everything, wanted, present = given.all, given.documents, frozenset(getattr(given, "with"))
    changed = [name_of(page) for page, make in pages.GENERATED.items() if _write(page, make())]
    with tempfile.TemporaryDirectory() as folder:
        drawn = picture.draw(Path(folder))
    is_old = not picture.PICTURE.exists() or picture.words(picture.PICTURE.read_text()) != picture.words(drawn)
    if (is_everything or is_old) and _write(picture.PICTURE, drawn):
        changed.append(name_of(picture.PICTURE))
    for document in documents():
        if document in TRANSLATIONS:
            continue
        if (not wanted or name_of(document) in wanted) and refresh_document(
            document, present, is_everything=is_everything
        ):
            changed.append(name_of(document))
    changed += [name_of(page) for page in TRANSLATIONS if _write(page, translated(page))]
    print(f"Changed: {', '.join(changed)}." if changed else "Everything is up to date.")


def _write(path: Path, text: str) -> bool:
    if path.exists() and path.read_text(encoding="utf-8") == text:
        return False
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return True


if __name__ == "__main__":
    main()
