"""A response without the options it names only to set them aside."""

from __future__ import annotations

import re

from proctor.scorers.choice_patterns import ALTERNATIVE, Patterns
from proctor.scorers.choice_texts import QUOTING, choice_at_start, fold_choice
from proctor.scorers.contrast import (
    ALSO_AFTER,
    AS_OTHERS_SAY,
    LEAD_TO_MEANT,
    NOT_ONLY,
    ONLY_WORDS,
    WINDOW,
    rulings_after,
    rulings_before,
)

MAX_CHOICE_LENGTH = 300
Span = tuple[int, int, str]
"""From, to, and what takes its place."""


def drop_ruled_out(text: str, patterns: Patterns, choices: tuple[str, ...], labels: str) -> str:
    """'Not A, but B' as 'B', 'B instead of A' as 'B'; a text that sets nothing aside stays as it is."""
    text = _join_both(text, patterns, choices, labels)
    spans = [*_named_after(text, patterns, choices, labels), *_named_before(text, patterns, choices)]
    kept_from = len(text)
    for start, end, verb in sorted(spans, reverse=True):
        text = " ".join(filter(None, (text[:start], verb, text[min(end, kept_from) :])))
        kept_from = start
    return text


def _join_both(text: str, patterns: Patterns, choices: tuple[str, ...], labels: str) -> str:
    """'Not only A but also B' as 'both A and B'."""
    lowered = text.lower()
    if not any(words in lowered for words in ONLY_WORDS):
        return text

    def joined(found: re.Match[str]) -> str:
        places = (found.end("one"), found.end("other"))
        if None in [_mention_end(text, place, patterns, choices, labels) for place in places]:
            return found[0]
        return f"both {found['one']}{found['rest']} and {found['other']}"

    return NOT_ONLY.sub(joined, text)


def _named_after(text: str, patterns: Patterns, choices: tuple[str, ...], labels: str) -> list[Span]:
    spans: list[Span] = []
    for start, bare, place, verb in rulings_before(text):
        ends = (_mention_end(text, at, patterns, choices, labels) for at in (place, bare))
        end = next(filter(None, ends), None)
        if end is None or choice_at_start(text[start : start + MAX_CHOICE_LENGTH].lstrip(", "), choices, labels):
            continue  # an option may itself begin with 'not'
        while other := ALTERNATIVE.match(text, end):
            more = _mention_end(text, other.end(), patterns, choices, labels)
            if more is None:
                break
            end = more
        if others := AS_OTHERS_SAY.match(text, end):
            end = others.end()
        turn = LEAD_TO_MEANT.match(text, end)
        spans.append((start, turn.end() if turn else end, verb))
    return spans


def _mention_end(text: str, start: int, patterns: Patterns, choices: tuple[str, ...], labels: str) -> int | None:
    """Where the option that is named here ends."""
    found = patterns.label.match(text, start)
    if (
        found is not None
        and found["label"].isupper()
        and not (found["label"] == "I" and text[found.end() :][:1] == " ")
    ):
        return found.end()
    said = text[start : start + MAX_CHOICE_LENGTH]
    label = choice_at_start(said, choices, labels)
    if label is None:
        return None
    end = start + len(said) - len(said.lstrip(QUOTING)) + len(fold_choice(choices[labels.index(label)]))
    own = re.compile(rf"\s?\((?:[^\W\d_]+\s)?{label}\)").match(text, end)  # 'overfitting (A)'
    return own.end() if own else end


def _named_before(text: str, patterns: Patterns, choices: tuple[str, ...]) -> list[Span]:
    spans: list[Span] = []
    floor = 0
    for start, end in rulings_after(text):
        begin = _named_until(text, floor, start, patterns, choices)
        if begin is not None:
            while also := ALSO_AFTER.search(text, floor, begin):
                another = _named_until(text, floor, also.start(), patterns, choices)
                if another is None:
                    break
                begin = another
            spans.append((begin, end, ""))
        floor = end
    return spans


def _named_until(text: str, floor: int, end: int, patterns: Patterns, choices: tuple[str, ...]) -> int | None:
    """Where the option begins that ends here."""
    said = text[max(floor, end - WINDOW) : end]
    label = patterns.named_before.search(said)
    lengths = [len(said) - label.start()] if label else []
    lengths += [len(choice) for choice in choices if choice.strip() and said.casefold().endswith(fold_choice(choice))]
    return end - max(lengths) if lengths else None
