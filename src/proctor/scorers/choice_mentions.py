"""Where a response names options: by their letters or by their texts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import islice
from typing import NamedTuple

from proctor.scorers.choice_labels import is_label
from proctor.scorers.choice_patterns import Patterns
from proctor.scorers.lazy_pattern import lazy_pattern
from proctor.scorers.markers import SENTENCE_END
from proctor.scorers.polite_forms import polite_forms
from proctor.scorers.reading import plain
from proctor.scorers.stance_words import DISMISSED, NEGATIVE, TURN

MAX_MENTIONS = 200
_JOIN = lazy_pattern(
    r"[)\]*_.\"'”’»」』]*\s*(?:[,，、/&]\s*)?(?:(?:then|dann|puis|luego)\s)?"
    r"(?:(?:and|or|nor|as\swell\sas|und|oder|sowie|als\sauch|wie\sauch|noch|et|ou|ni|y|o|e|u|como)\s+|和|或者?|与|與|及"
    r"|还是|還是|と|か|や|も|または|もしくは"
    r"|와|과|도|이나|나|또는|혹은|아니면|및|랑|하고)?\s*(?:(?:maybe|possibly|perhaps|vielleicht|peut-être|quizás?)\s+)?"
    r"(?:(?:the|option|choice|answer|die|der|das|antwort|la|las|el|opción|le|les|réponse)\s+"
    r"|l['’]){0,2}[(\[*_\"'“‘«「『]*",
    re.IGNORECASE,
)
_ARTICLE = lazy_pattern(
    r"\A(?:(?:the|an?|der|die|das|ein|eine|le|la|les|un|une|el|los|las|una|it|they|he|she|es|er|sie|ils?"
    r"|elles?)\s(?=\w)|l['’](?=\w))",
    re.IGNORECASE,
)
"""An article, or the pronoun of an option that says what something does: 'It falls' as 'The price falls'."""
_BRACKETED = lazy_pattern(r"\s?[(\[](\w)[)\]]")


MAX_BOTH = 60
_BOTH = lazy_pattern(
    r"\bboth\b[^.;\n]{1,60}?\b(?:are|seem|could\sbe|would\sbe)\s(?P<said>[^.;\n]{0,30})"
    r"|\b(?:are|sont|sind|son)\s(?:both|tou(?:s|tes)\sles\sdeux|beide|ambos|ambas|los\sdos|las\sdos)\b",
    re.IGNORECASE,
)


class Mention(NamedTuple):
    """Options named side by side."""

    labels: frozenset[str]
    start: int
    end: int


def lettered_options(text: str, patterns: Patterns) -> list[Mention]:
    return list(_group(text, _letters(text, patterns)))


def quoted_options(text: str, choices: tuple[str, ...], labels: str) -> list[Mention]:
    return list(_group(text, _texts(text, choices, labels)))


def named_options(text: str, patterns: Patterns, choices: tuple[str, ...], labels: str) -> list[Mention]:
    """Options by their texts, and by letters in brackets where those stand behind something else: 'the lungs (A)'."""
    quoted = [*_texts(text, choices, labels)]
    ends = [mention.end for mention in quoted]
    bracketed = [
        mention
        for mention in _letters(text, patterns)
        if not any(end <= mention.start <= end + 2 for end in ends)
        and _BRACKETED.match(text, max(0, mention.start - 1))
    ]
    return list(_group(text, iter(sorted([*quoted, *bracketed], key=lambda mention: mention.start))))


def gives_both(text: str, patterns: Patterns, choices: tuple[str, ...], labels: str) -> bool:
    """Whether two options are said to be right together, and none of them behind it: 'Both C and D are prime'."""
    both = list(_BOTH.finditer(text))
    if not both:
        return False
    opening = max((found.end() for found in SENTENCE_END.finditer(text, 0, both[-1].start())), default=0)
    if both[-1]["said"] is not None and quoted_options(text[opening : both[-1].start()], choices, labels):
        return False  # 'Sue, since both John and Mike are taller'
    around = text[max(0, both[-1].start() - MAX_BOTH) : both[-1].end() + MAX_BOTH]
    named = [*lettered_options(around, patterns), *quoted_options(around, choices, labels)]
    pair = next((mention for mention in named if len(mention.labels) > 1), None)
    letters = {label for mention in lettered_options(around, patterns) for label in mention.labels}
    pair_labels = pair.labels if pair else frozenset(letters)
    if len(pair_labels) != 2:
        return False
    rest = text[both[-1].end() :]
    if NEGATIVE.search(both[-1]["said"] or "") or DISMISSED.search(both[-1]["said"] or "") or TURN.search(rest):
        return False
    last = lettered_options(rest, patterns)
    return not last or all(
        mention.labels & pair_labels == pair_labels or not mention.labels & pair_labels for mention in last
    )


def _letters(text: str, patterns: Patterns) -> Iterator[Mention]:
    for found in islice(patterns.mention.finditer(text), MAX_MENTIONS):
        group = found.lastindex or 0
        if group != 5 or is_label(text, found.start(5), found[5]):
            yield Mention(frozenset(found[group].upper()), found.start(), found.end())


def _texts(text: str, choices: tuple[str, ...], labels: str) -> Iterator[Mention]:
    """Where options stand by their texts; a text inside another option's longer text does not count."""
    wanted = _wordings(choices, labels)
    lowered = text.lower()
    if len(lowered) != len(text) or not wanted:  # a few letters grow when lowered
        return
    either = "|".join(map(re.escape, sorted(wanted, key=len, reverse=True)))
    for found in islice(
        re.finditer(rf"(?<![^\W\u3040-\uffff])(?:{either})(?![^\W\u3040-\uffff])", lowered), MAX_MENTIONS
    ):
        yield Mention(frozenset(wanted[found[0]]), found.start(), found.end())


@lru_cache(maxsize=1024)
def _wordings(choices: tuple[str, ...], labels: str) -> dict[str, str]:
    """The options' texts; also without their articles and in polite forms, where that tells them apart."""
    lowered = (_lower_choice(choice) for choice in choices)
    whole = {choice: label for choice, label in zip(lowered, labels, strict=False) if choice}
    others = [
        (other, label) for text, label in whole.items() for other in {_ARTICLE.sub("", text, 1), *polite_forms(text)}
    ]
    texts = [text for text, _ in others]
    return {**{text: label for text, label in others if texts.count(text) == 1 and len(text) > 1}, **whole}


def _lower_choice(choice: str) -> str:
    """As the text it is looked for in: folding would make 'ss' of 'ß'."""
    return " ".join(plain(choice).lower().strip(" .").split())


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
