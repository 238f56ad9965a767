"""The options as the question listed them, repeated at the start of a response."""

from __future__ import annotations

import re

from proctor.scorers.choice_patterns import Patterns
from proctor.scorers.choice_texts import QUOTING, fold_choice

_ITEM = re.compile(r"[\s,;|*_#>-]*\(?(\w)[*_]*(?:[).:][*_]*\s*|\s*\Z)")


def skip_listing(text: str, patterns: Patterns, choices: tuple[str, ...], labels: str) -> str:
    """What follows a listing of at least two options, which may be cut off; the whole text where there is none."""
    first = patterns.line.search(text)
    if first is None or first[1] != labels[0] or not choices:
        return text
    position = first.start()
    listed = 0
    for label, choice in zip(labels, choices, strict=False):
        item = _ITEM.match(text, position)
        end = _choice_end(text, item.end(), choice) if item and item[1] == label else None
        if end is None:
            break
        position, listed = end, listed + 1
    return text[position:].strip() if listed > 1 else text


def _choice_end(text: str, start: int, choice: str) -> int | None:
    """Where an option's text ends; the end of the response may come before."""
    said = text[start:]
    bare = said.lstrip(QUOTING)
    wanted = fold_choice(choice)
    folded = bare[: len(wanted)].casefold()
    if folded == wanted and not bare[len(wanted) : len(wanted) + 1].isalnum():
        return start + len(said) - len(bare) + len(wanted)
    return len(text) if wanted.startswith(bare.casefold().rstrip()) else None
