"""Which of several options a response settles on in the end, where it sets the others aside or leaves them open."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from proctor.scorers.choice_labels import is_conditional, is_label
from proctor.scorers.choice_listing import ends_within_sentence
from proctor.scorers.choice_patterns import MANY_OPTIONS, Patterns
from proctor.scorers.choice_texts import fold_choice
from proctor.scorers.stance import Stance, stance_towards
from proctor.scorers.stance_words import TURN

MAX_MENTIONS = 200
ALL_SET_ASIDE = "sets every option aside or leaves it open"
_JOIN = re.compile(
    r"[)\]*_.\"'”’»」』]*\s*(?:[,，、/&]\s*)?(?:(?:then|dann|puis|luego)\s)?"
    r"(?:(?:and|or|nor|as\swell\sas|und|oder|sowie|als\sauch|wie\sauch|noch|et|ou|ni|y|o|e|u|como)\s+|和|或者?|与|與|及"
    r"|还是|還是|と|か|や|も|または|もしくは"
    r"|와|과|도|이나|나|또는|및|랑|하고)?\s*(?:(?:maybe|possibly|perhaps|vielleicht|peut-être|quizás?)\s+)?"
    r"(?:(?:the|option|choice|answer|die|der|das|antwort|la|las|el|opción|le|les|réponse)\s+"
    r"|l['’]){0,2}[(\[*_\"'“‘«「『]*",
    re.IGNORECASE,
)


class Mention(NamedTuple):
    """Options named side by side."""

    labels: frozenset[str]
    start: int
    end: int


def read_commitment(
    text: str, patterns: Patterns, choices: tuple[str, ...], labels: str
) -> tuple[str | None, str] | None:
    """The option that remains, or None and why none does; nothing where fewer than two options are named."""
    lettered = list(_group(text, _letters(text, patterns)))
    named = lettered or list(_group(text, _texts(text, choices, labels)))
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
    if stances[kept[-1]] is Stance.PLAIN and not is_last_word and ends_within_sentence(text):
        return None, "breaks off before an option was chosen"
    others = [named[place] for place in kept[:-1] if named[place].labels != last.labels]
    is_turned = bool(others) and TURN.search(text, others[-1].end, last.start) is not None
    if others and stances[kept[-1]] is not Stance.SETTLED and not is_turned:
        return None
    return next(iter(last.labels)), "the option that remains"


def _stances(text: str, named: list[Mention]) -> list[Stance]:
    ends = [0, *(mention.end for mention in named)]
    starts = [*(mention.start for mention in named[1:]), len(text)]
    return [
        Stance.SET_ASIDE
        if is_conditional(text, mention.start)
        else stance_towards(text, mention.start, mention.end, floor, ceiling)
        for mention, floor, ceiling in zip(named, ends, starts, strict=False)
    ]


def _letters(text: str, patterns: Patterns) -> Iterator[Mention]:
    for found in islice(patterns.mention.finditer(text), MAX_MENTIONS):
        group = found.lastindex or 0
        if group != 5 or is_label(text, found.start(5), found[5]):
            yield Mention(frozenset(found[group].upper()), found.start(), found.end())


def _texts(text: str, choices: tuple[str, ...], labels: str) -> Iterator[Mention]:
    """Where options stand by their texts; a text inside another option's longer text does not count."""
    wanted = {fold_choice(choice): label for choice, label in zip(choices, labels, strict=False) if fold_choice(choice)}
    lowered = text.lower()
    if len(lowered) != len(text) or not wanted:  # a few letters grow when lowered
        return
    either = "|".join(map(re.escape, sorted(wanted, key=len, reverse=True)))
    for found in islice(
        re.finditer(rf"(?<![^\W\u3040-\uffff])(?:{either})(?![^\W\u3040-\uffff])", lowered), MAX_MENTIONS
    ):
        yield Mention(frozenset(wanted[found[0]]), found.start(), found.end())


def _group(text: str, mentions: Iterator[Mention]) -> Iterator[Mention]:
    """Mentions with nothing but 'and', 'or' or a comma between them as one."""
    group: Mention | None = None
    for mention in mentions:
        if group and _are_joined(text, group, mention):
            group = Mention(group.labels | mention.labels, group.start, mention.end)
            continue
        if group:
            yield group
        group = mention
    if group:
        yield group


def _are_joined(text: str, group: Mention, mention: Mention) -> bool:
    """An option that is named again begins anew: 'between C and D, D'."""
    gap = text[group.end : mention.start]
    return not group.labels & mention.labels and ". " not in gap and _JOIN.fullmatch(gap) is not None
