"""Which of several options a response settles on in the end, where it sets the others aside or leaves them open."""

from __future__ import annotations

import re

from proctor.scorers.choice_answers import is_answer
from proctor.scorers.choice_labels import is_conditional
from proctor.scorers.choice_listing import ends_within_sentence
from proctor.scorers.choice_mentions import Mention, lettered_options, quoted_options
from proctor.scorers.choice_patterns import MANY_OPTIONS, Patterns
from proctor.scorers.lazy_pattern import lazy_pattern
from proctor.scorers.markers import SENTENCE_END
from proctor.scorers.stance import Stance, stance_towards
from proctor.scorers.stance_words import TURN

_BECAUSE = lazy_pattern(
    r"[)\]*_\"'”’»」』`]{0,4},?\s(?:as|because|since|for|weil|denn|da|car|puisque|parce|porque|ya\sque|pues)\b"
    r"|[,，]?因为",
    re.IGNORECASE,
)
ALL_SET_ASIDE = "sets every option aside or leaves it open"


def read_commitment(
    text: str, patterns: Patterns, choices: tuple[str, ...], labels: str
) -> tuple[str | None, str] | None:
    """The option that remains, or None and why none does; nothing where fewer than two options are named."""
    lettered = lettered_options(text, patterns)
    named = lettered or quoted_options(text, choices, labels)
    if len(frozenset[str]().union(*(mention.labels for mention in named))) < 2:
        return None
    stances = _stances(text, named)
    kept = [place for place, stance in enumerate(stances) if stance is not Stance.SET_ASIDE]
    if not kept:
        return None, ALL_SET_ASIDE
    last = named[kept[-1]]
    if len(last.labels) > 1:
        return (None, MANY_OPTIONS) if lettered else None
    if any(last.labels & mention.labels for mention in named[kept[-1] + 1 :]):
        return None
    is_last_word = lettered and not re.search(r"\w", text[last.end :])
    is_given = is_last_word or (SENTENCE_END.search(text, last.end) and is_answer(text, named, last))
    if stances[kept[-1]] is Stance.PLAIN and not is_given and ends_within_sentence(text):
        return None, "breaks off before an option was chosen"
    others = [named[place] for place in kept[:-1] if named[place].labels != last.labels]
    is_turned = bool(others) and TURN.search(text, others[-1].end, last.start) is not None
    if others and stances[kept[-1]] is not Stance.SETTLED and not is_turned:
        return _only_given(text, named, kept) if lettered and choices else None
    return next(iter(last.labels)), "the option that remains"


def _only_given(text: str, named: list[Mention], kept: list[int]) -> tuple[str, str] | None:
    """'It is B. Iron (A) is solid': the only one that is given as the answer."""
    given = {label for place in kept if is_answer(text, named, named[place]) for label in named[place].labels}
    return (given.pop(), "the only option given as an answer") if len(given) == 1 else None


def _stances(text: str, named: list[Mention]) -> list[Stance]:
    ends = [0, *(mention.end for mention in named)]
    starts = [*(mention.start for mention in named[1:]), len(text)]
    stances: list[Stance] = []
    for mention, floor, ceiling in zip(named, ends, starts, strict=False):
        is_aside = is_conditional(text, mention.start) or _is_ground(text, named, stances, mention)
        stance = Stance.SET_ASIDE if is_aside else stance_towards(text, mention.start, mention.end, floor, ceiling)
        stances.append(stance)
    return stances


def _is_ground(text: str, named: list[Mention], stances: list[Stance], mention: Mention) -> bool:
    """'It is B, as A has no atmosphere and C and D are gas giants': why B was given as the answer."""
    given = [each for each, stance in zip(named, stances, strict=False) if stance is not Stance.SET_ASIDE]
    if not given or given[-1].labels & mention.labels or not is_answer(text, named, given[-1]):
        return False
    between = text[given[-1].end : mention.start]
    return _BECAUSE.match(between) is not None and SENTENCE_END.search(between) is None
