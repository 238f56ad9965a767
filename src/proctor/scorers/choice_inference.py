"""Which option a response means that states none."""

from __future__ import annotations

from collections import deque
from itertools import islice

from proctor.scorers.choice_answers import answer_by_text, is_only_bracketed
from proctor.scorers.choice_commitment import ALL_SET_ASIDE, read_commitment
from proctor.scorers.choice_labels import is_conditional, is_label, mentioned_in, read_correction
from proctor.scorers.choice_listing import breaks_off, skip_listing
from proctor.scorers.choice_mentions import quoted_options
from proctor.scorers.choice_patterns import (
    APPROVED,
    CALLED_WRONG_BEFORE,
    CONCESSION,
    CONCLUDES,
    LETTER,
    MANY_OPTIONS,
    NOT_RIGHT,
    ORDINAL,
    ORDINALS,
    REFUTED,
    THEREFORE,
    VERDICT_ITEM,
    WRONG_ASKED,
    Patterns,
)
from proctor.scorers.choice_predicates import said_of_one
from proctor.scorers.choice_texts import fold_choice, inflected_choice, only_choice_in, reworded_choice
from proctor.scorers.denial import is_denied
from proctor.scorers.markers import CORRECTION, NEGATION, SENTENCE_END
from proctor.scorers.stance import Stance, stance_towards
from proctor.scorers.stance_words import TURN

CONCLUSIONS_TRIED = 20


def infer_choice(
    text: str, patterns: Patterns, choices: tuple[str, ...], labels: str, question: str
) -> tuple[str | None, str]:
    """No statement was found: a conclusion, the only option mentioned, or the only one quoted."""
    if not skip_listing(text, patterns, choices, labels):
        return None, "lists the options without choosing one"
    if breaks_off(text, patterns, labels):
        return None, "breaks off while going through the options"
    text = _without_listing(text, patterns, choices, labels)
    approved = {found[1] for found in islice(patterns.listed.finditer(text), 60) if APPROVED.search(found[2])}
    if len(approved) == 1 and len(set(patterns.listed.findall(text))) > 1:
        return approved.pop(), "the only one listed as right"
    settled = (
        said_of_one(text, patterns, choices, labels, question)
        or _corrected_to(text, patterns, choices, labels)
        or _concluded_text(text, patterns, choices, labels)
        or read_commitment(text, patterns, choices, labels)
    )
    if settled is not None:
        is_quoted = settled[1] == ALL_SET_ASIDE and (last := only_choice_in(_sentences(text)[-1], choices, labels))
        return (last, "quoted in the last sentence") if is_quoted else settled
    concluded = _concluded(text, patterns)
    if concluded:
        return concluded, "the conclusion"
    ending = patterns.ending.search(text, max(0, len(text) - 60))
    is_wrong_asked = WRONG_ASKED.search(question) is not None
    if (
        ending
        and not is_wrong_asked
        and CALLED_WRONG_BEFORE.search(text, max(0, ending.start(1) - 60), ending.start(1))
    ):
        return None, "rules an option out without choosing one"
    if ending:
        return ending[1], "the last word"
    mentioned = mentioned_in(text, patterns)
    if len(mentioned) > 1 and (settled := _contrasted(text, patterns)):
        return settled
    named = answer_by_text(text, patterns, choices, labels, question) if choices else None
    if len(mentioned) == 1 and not (named and named[0] and is_only_bracketed(text, patterns)):
        if all(is_denied(text, *found.span()) for found in patterns.mention.finditer(text)):
            return None, "rules an option out without choosing one"
        return mentioned.pop(), "the only option mentioned"
    if named and named[0]:
        return named
    return (None, MANY_OPTIONS) if mentioned else _by_letter_or_place(text, choices, labels)


def read_verdicts(text: str, labels: str) -> tuple[str, str] | None:
    """The only option said to be right by a response that judges at least two: 'A: wrong. B: right.'"""
    items = [(found[1], found[2]) for found in VERDICT_ITEM.finditer(text) if found[1] in labels]
    right = {label for label, said in items if APPROVED.search(said) and not REFUTED.search(said)}
    wrong = {label for label, said in items if REFUTED.search(said)}
    if len(right) != 1 or not wrong or right & wrong:
        return None
    return right.pop(), "the only one said to be right"


def _by_letter_or_place(text: str, choices: tuple[str, ...], labels: str) -> tuple[str | None, str]:
    """'The letter b', 'the second option'."""
    letters = {found[1].upper() for found in LETTER.finditer(text)} & set(labels)
    if len(letters) == 1:
        return letters.pop(), "named as a letter"
    places = {
        ORDINALS[found[found.lastindex or 0].lower()]
        for found in ORDINAL.finditer(text)
        if not is_denied(text, *found.span())
    }
    if len(places) == 1 and min(places) < len(labels):
        return labels[places.pop()], "named by its place"
    if inflected := inflected_choice(text, choices, labels):
        return inflected, "named in another form"
    if reworded := reworded_choice(text, choices, labels):
        return reworded, "named in other words"
    return None, "names no option"


def _corrected_to(text: str, patterns: Patterns, choices: tuple[str, ...], labels: str) -> tuple[str, str] | None:
    """The only option after the last correction: 'I thought of A, but I was wrong: it is D'."""
    last = max((found.start() for found in CORRECTION.finditer(text)), default=None)
    if (
        last
        and choices
        and not mentioned_in(text, patterns)
        and (named := only_choice_in(text[last:], choices, labels))
    ):
        return named, "named in a correction"
    if last is None or len(mentioned_in(text, patterns, last)) != 1 or len(mentioned_in(text, patterns)) < 2:
        return None
    return read_correction(text, last, patterns)


def _contrasted(text: str, patterns: Patterns) -> tuple[str, str] | None:
    """'A is not correct, B is.'"""
    found = patterns.alone_right.search(text, max(0, len(text) - 60))
    if found is None:
        return None
    before = patterns.label.search(text, max(0, found.start() - 80), found.start())
    if before is None or not NOT_RIGHT.match(text[: found.start()], before.end()):
        return None
    return found[1], "set against one that is not correct"


def _without_listing(text: str, patterns: Patterns, choices: tuple[str, ...], labels: str) -> str:
    """The text without the options as the question listed them, where several are repeated."""
    restated = [
        found
        for found in islice(patterns.listed.finditer(text), 60)
        if labels.index(found[1]) < len(choices)
        and fold_choice(found[2]) == fold_choice(choices[labels.index(found[1])])
    ]
    if len(restated) > 1:
        for found in reversed(restated):
            text = text[: found.start()] + text[found.end() :]
    return text


def _sentences(text: str) -> list[str]:
    return [part for part in SENTENCE_END.split(text) if part.strip()] or [""]


def _concluded_text(text: str, patterns: Patterns, choices: tuple[str, ...], labels: str) -> tuple[str, str] | None:
    """The only option that is named by its text behind the last 'so' or 'that leaves', and the last to be named."""
    last = max((found.end() for found in CONCLUDES.finditer(text)), default=None)
    if last is None or mentioned_in(text, patterns, last):
        return None
    named = quoted_options(text[last:], choices, labels)
    if len(named) != 1 or len(named[0].labels) != 1:
        return None
    start, end = last + named[0].start, last + named[0].end
    is_same_sentence = SENTENCE_END.search(text, last, start) is None
    if (
        not is_same_sentence
        or is_denied(text, start, end)
        or TURN.search(text, end)
        or is_conditional(text, start, end)
    ):
        return None
    return next(iter(named[0].labels)), "the conclusion"


def _concluded(text: str, patterns: Patterns) -> str | None:
    concluded = None
    for start in deque(THEREFORE.finditer(text), maxlen=CONCLUSIONS_TRIED):
        for found in patterns.label.finditer(text, start.end(), start.end() + 80):
            between = text[start.end() : found.start("label")]
            if SENTENCE_END.search(between) or (concluded and CONCESSION.search(between)):
                break
            if (
                found["label"].isupper()
                and not NEGATION.search(between)
                and stance_towards(text, found.start("label"), found.end()) is not Stance.SET_ASIDE
                and is_label(text, found.start("label"), found["label"])
                and not is_conditional(text, found.start("label"))
            ):
                concluded = found["label"]
    return concluded
