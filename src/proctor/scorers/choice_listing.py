"""The options as the question listed them, repeated or gone through one by one in a response."""

from __future__ import annotations

from itertools import islice

from proctor.scorers.choice_patterns import Patterns
from proctor.scorers.choice_texts import QUOTING, fold_choice
from proctor.scorers.lazy_pattern import lazy_pattern
from proctor.scorers.markers import SENTENCE_END

MAX_ITEMS = 60
_ITEM = lazy_pattern(r"[\s,;|*_#>-]*\(?(\w)[*_]*(?:[).:][*_]*\s*|\s*\Z)")

_ENDED = lazy_pattern(r"[.!?。！？✓✔✅✗✘❌✖][\"'”’»」』)）*_`\s]*\Z")


def breaks_off(text: str, patterns: Patterns, labels: str) -> bool:
    """Whether a response goes through the options in their order and ends within one that is not the last."""
    reached = 0
    for found in islice(patterns.item.finditer(text), MAX_ITEMS):
        if reached < len(labels) and found[1] == labels[reached]:
            reached += 1
        elif found[1] not in labels[:reached]:
            return False
    return 1 < reached < len(labels) and not _is_ended(text)


def ends_within_sentence(text: str) -> bool:
    """Whether the last of several sentences has no end."""
    return not _is_ended(text) and SENTENCE_END.search(text) is not None


def _is_ended(text: str) -> bool:
    return _ENDED.search(text, max(0, len(text) - 20)) is not None


def skip_listing(text: str, patterns: Patterns, choices: tuple[str, ...], labels: str) -> str:
    """What follows a listing of at least two options, which may be cut off; the whole text where there is none."""
    first = patterns.line.search(text)
    if first is None or first[1] != labels[0]:
        return text
    end = _listing_end(text, first.start(), choices, labels)
    return text if end is None else text[end:].strip()


def lists_options(text: str, position: int, choices: tuple[str, ...], labels: str) -> bool:
    """Whether the options are listed from here on, as the question lists them."""
    return _listing_end(text, position, choices, labels, least=len(choices)) is not None


def _listing_end(text: str, position: int, choices: tuple[str, ...], labels: str, least: int = 2) -> int | None:
    listed = 0
    for label, choice in zip(labels, choices, strict=False):
        item = _ITEM.match(text, position)
        end = _choice_end(text, item.end(), choice) if item and item[1] == label else None
        if end is None:
            break
        position, listed = end, listed + 1
    return position if listed >= max(least, 2) else None


def _choice_end(text: str, start: int, choice: str) -> int | None:
    """Where an option's text ends; the end of the response may come before."""
    said = text[start:]
    bare = said.lstrip(QUOTING)
    wanted = fold_choice(choice)
    folded = bare[: len(wanted)].casefold()
    if folded == wanted and not bare[len(wanted) : len(wanted) + 1].isalnum():
        return start + len(said) - len(bare) + len(wanted)
    return len(text) if wanted.startswith(bare.casefold().rstrip()) else None
