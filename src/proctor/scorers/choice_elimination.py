"""The option that a response leaves when it rules out every other one."""

from __future__ import annotations

from proctor.scorers.choice_mentions import Mention, lettered_options, quoted_options
from proctor.scorers.choice_patterns import Patterns
from proctor.scorers.denial import is_denied
from proctor.scorers.stance import is_asked
from proctor.scorers.stance_words import AFFIRMATION, CLAUSE_END, DISMISSED, OPEN, SUPPOSED

MIN_OPTIONS = 3
MAX_TEXT = 400
_CONTEXT_CHARACTERS = 80


def only_one_left(text: str, patterns: Patterns, choices: tuple[str, ...], labels: str) -> str | None:
    """'Not A, and B and D are out' leaves C of four; a longer text says more than which are out."""
    if len(choices) < MIN_OPTIONS or len(text) > MAX_TEXT:
        return None
    named = lettered_options(text, patterns) or quoted_options(text, choices, labels)
    left = set(labels[: len(choices)]).difference(*(mention.labels for mention in named))
    if len(left) != 1 or not all(_is_out(text, mention) for mention in named):
        return None
    return left.pop()


def _is_out(text: str, mention: Mention) -> bool:
    floor = max(0, mention.start - _CONTEXT_CHARACTERS)
    opening = max((found.end() for found in CLAUSE_END.finditer(text, floor, mention.start)), default=floor)
    closing = CLAUSE_END.search(text, mention.end, mention.end + _CONTEXT_CHARACTERS)
    clause = f"{text[opening : mention.start]} \0 {text[mention.end : closing.start() if closing else None]}"
    clause = AFFIRMATION.sub("", clause)
    if is_asked(text, mention.end) or OPEN.search(clause) or SUPPOSED.search(clause):
        return False
    return DISMISSED.search(clause) is not None or is_denied(text, mention.start, mention.end)
