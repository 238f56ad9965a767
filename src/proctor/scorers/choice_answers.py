"""Which of the options that a response names by their texts is its answer."""

from __future__ import annotations

import re

from proctor.scorers.asked_words import asked_words, last_question, words_of
from proctor.scorers.choice_mentions import Mention, named_options
from proctor.scorers.choice_patterns import THEREFORE, Patterns
from proctor.scorers.denial import is_denied
from proctor.scorers.lazy_pattern import lazy_pattern
from proctor.scorers.markers import SENTENCE_END
from proctor.scorers.stance import Stance, stance_towards
from proctor.scorers.stance_words import AFFIRMATION, CLAUSE_END, NEGATIVE

_LAST_WORD = lazy_pattern(r"[^\W\d_]+(?=[\W_]*\Z)")
_STATEMENT_END = lazy_pattern(rf"{SENTENCE_END.pattern}|[;；]\s?")
MAX_SENTENCE = 400
MAX_ADVERB = 3
"""'No' and 'yes' may be options, and mostly are not where a sentence goes on: 'There is no reason'."""
_ARTICLE = r"(?:the|an?|der|die|das|den|dem|des|eine?[mnrs]?|l[ae]s?|du|de\sla|des|une?|el|los|una)"
_IS = lazy_pattern(
    r"(?:\b(?:is|was|are|were|be|been|called|namely|ist|war|wäre|sind|waren|heißt|lautet|um|nämlich|est|était|fut"
    r"|sont|serait"
    r"|agit\s(?:de|du|des)|appelle|es|son|era|eran|fue|sería|trata\s(?:de|del)|llama|makes?\sit|says?|think|believe"
    r"|guess|denke|glaube|sagen|tippe\sauf|dirais|crois|pense|creo(?:\sque)?|diría(?:\sque)?|pienso)|(?<=it)['’]s"
    r"|(?<=that)['’]s"
    r"|\bagit\sd['’]|(?:\w(?:ed|en|wn)\sby|\bvon|\w[ée]e?s?\spar|\w[ai]d[oa]s?\spor)|[是为叫即])"
    r"\s{0,2}(?:an?\s(?:example|case|form|type|kind)\sof\s)?(?:(?:clearly|definitely|probably|certainly|obviously"
    r"|indeed|of\scourse|likely|actually|therefore|thus|most\slikely|surely|simply"
    r"|natürlich|eindeutig|sicher|wohl|also|daher|bien\ssûr|sûrement|bien|donc|sans\sdoute|claramente|sin\sduda"
    r"|probablemente|por\ssupuesto)\s){0,2}"
    rf"(?:(?:de|del|von|of|by)\s)?(?:{_ARTICLE}\s|[ld]['’])?[(\[*_\"'“‘«「『`]{{0,4}}\Z",
    re.IGNORECASE,
)
"""'It was …', 'c'est …', '答案是…' directly before an option."""
_IS_AFTER = lazy_pattern(
    r"[)\]*_\"'”’»」』`]{0,4}(?:です(?!が)|でした(?!が)|だ(?![がとけっ])|である|になり|(?:이|였|이었)?(?:입니다"
    r"|습니다)(?!만)|이에요|예요|이다(?!고)|이죠|네요)"
    r"|\s(?:it\sis|ist\ses|es\sla\srespuesta)(?=[.!\s]*\Z)"
)
_OPENING = lazy_pattern(
    r"[\W_]*(?:(?:yes|probably|likely|wahrscheinlich|vermutlich|wohl|probablement|probablemente|easy|certainly"
    r"|definitely|sure|clearly|obviously|of\scourse|ja|klar|natürlich|eindeutig"
    r"|sicher|oui|bien\ssûr"
    r"|certainement|évidemment|sí|claro|por\ssupuesto|desde\sluego|evidentemente)\b[\W_]*)?"
    rf"(?:{_ARTICLE}\s|l['’])?[\W_]*\Z",
    re.IGNORECASE,
)
_POINTS = lazy_pattern(r"[:=→≈]\s?[(\[*_\"'“‘«「『`$]{0,4}\Z")
_OWN_LETTER = lazy_pattern(r"\s?\([A-Z]\)")
_STANDS_ALONE = lazy_pattern(r"[)\]*_\"'”’»」』`$]{0,4}(?:[\n.]|\s?(?:[.!;:–—(。！；：（]|-\s|\Z))")
_SUPERLATIVE = lazy_pattern(
    r"\b(?:the\s(?:\w+\s)?(?:\w{2,}est|most|main|only)|am\s\w+sten|(?:der|die|das)\s(?:\w+ste|einzige)[nrs]?|(?:le"
    r"|la|les)\s(?:plus|seule?)"
    r"|(?:el|la|los|las|lo)\s(?:más|únic[oa])|mayor|menor)\b|最|一番|もっとも|唯一|가장|유일",
    re.IGNORECASE,
)
_ALONE_BEFORE = lazy_pattern(
    rf"(?:\b(?:only|nur|einzig|allein|seuls?|seules?|solo|sólo|solamente|únicamente)\s(?:{_ARTICLE}\s|l['’])?|只有|唯有|仅有)\Z",
    re.IGNORECASE,
)
_ALONE_AFTER = lazy_pattern(r"(?:だけ[がはで]|のみ|만(?:이\s|\s))")
_GOES_ON = lazy_pattern(
    r"[)\]*_\"'”’»」』`]{0,4}[,，、]\s?(?!(?:by|in|on|however|though|too|dagegen|hingegen|jedoch|auch|aber|en|quant"
    r"|elle|lui"
    r"|aussi|por|también|但|而|则|一方|반면)\b)"
)
"""'Mary Shelley, who …' opens a response; 'Charles's law, by contrast, …' compares."""


def answer_by_text(
    text: str, patterns: Patterns, choices: tuple[str, ...], labels: str, question: str
) -> tuple[str | None, str] | None:
    """The only option that the response stands by, gives as an answer or says what is asked of."""
    named = named_options(text, patterns, choices, labels)
    if not named:
        return None
    asserted = [mention for mention in named if not is_denied(text, mention.start, mention.end, question)]
    if not asserted:
        return None, "rules an option out without choosing one"
    live = [mention for mention in asserted if not _is_set_aside(text, named, mention)]
    for how, chosen in (
        ("the only option quoted", asserted),
        ("the only option quoted and not set aside", live),
        ("the only option given as an answer", [mention for mention in live if is_answer(text, named, mention)]),
        ("the only option said of what is asked", _said_of_what_is_asked(text, live, choices, question)),
        ("the only option said to be alone", [mention for mention in live if _is_alone(text, mention)]),
        (
            "the only option with a superlative",
            [mention for mention in live if _SUPERLATIVE.search(around(text, mention, CLAUSE_END))],
        ),
        ("the only option of the last sentence", _of_last_sentence(text, named, live)),
    ):
        found = frozenset[str]().union(*(mention.labels for mention in chosen))
        if len(found) == 1:
            return next(iter(found)), how
    return None, "names more than one option"


def is_only_bracketed(text: str, patterns: Patterns) -> bool:
    """Whether every letter stands in brackets behind something else: 'the lungs (A)'."""
    return all(re.search(r"\w\s?\(\Z", text[: found.start() + 1]) for found in patterns.mention.finditer(text))


def _is_set_aside(text: str, named: list[Mention], mention: Mention) -> bool:
    place = named.index(mention)
    floor = named[place - 1].end if place else 0
    ceiling = named[place + 1].start if place + 1 < len(named) else len(text)
    return stance_towards(text, mention.start, mention.end, floor, ceiling) is Stance.SET_ASIDE


def is_answer(text: str, named: list[Mention], mention: Mention) -> bool:
    """Whether it stands behind a form of 'is', before one where a language has it there, or alone."""
    if len(mention.labels) > 1:
        return False
    floor = max(0, mention.start - MAX_SENTENCE)
    opening = max((found.end() for found in SENTENCE_END.finditer(text, floor, mention.start)), default=floor)
    is_after = _IS_AFTER.match(text, mention.end)
    if is_after and SENTENCE_END.match(text, is_after.end()):
        return True
    own = _OWN_LETTER.match(text, mention.end)
    is_alone = _STANDS_ALONE.match(text, own.end() if own else mention.end) is not None
    if is_alone and _POINTS.search(text, max(opening, mention.start - 8), mention.start):
        return True
    if any(opening <= other.start < mention.start for other in named):
        return False
    before = text[opening : mention.start]
    said = text[mention.start : mention.end]
    if is_after or (_IS.search(before) and (is_alone or said.isupper() or len(said) > MAX_ADVERB)):
        return True
    if not _OPENING.fullmatch(AFFIRMATION.sub("", before)):
        return False
    return is_alone or (opening == 0 and _GOES_ON.match(text, mention.end) is not None)


def _is_alone(text: str, mention: Mention) -> bool:
    """'Only the skin …', '只有企鹅', with no conclusion behind it: 'Only Jupiter is smaller, so Saturn'."""
    if THEREFORE.search(text, mention.end):
        return False
    return _ALONE_BEFORE.search(text, max(0, mention.start - 24), mention.start) is not None or (
        _ALONE_AFTER.match(text, mention.end) is not None
    )


def _of_last_sentence(text: str, named: list[Mention], live: list[Mention]) -> list[Mention]:
    """What a response ends on; its subject is more often something else that is compared: 'The lungs only …'."""
    ends = [found.end() for found in SENTENCE_END.finditer(text) if found.end() < len(text)]
    last = [mention for mention in named if mention.start >= (ends[-1] if ends else 0)]
    is_subject = bool(last) and _OPENING.fullmatch(text, ends[-1] if ends else 0, last[0].start) is not None
    return [] if is_subject or any(mention not in live for mention in last) else last


def _said_of_what_is_asked(text: str, live: list[Mention], choices: tuple[str, ...], question: str) -> list[Mention]:
    """The mentions whose clauses, or else sentences, repeat most of the question's words."""
    asked = asked_words(question) - frozenset[str]().union(*map(words_of, choices))
    for ends in (CLAUSE_END, _STATEMENT_END, SENTENCE_END):
        repeated = [len(asked & words_of(around(text, mention, ends))) for mention in live]
        if any(repeated):
            break
    most = max(repeated, default=0)
    best = [mention for mention, count in zip(live, repeated, strict=True) if count == most] if most else []
    if not NEGATIVE.search(last_question(question)):  # 'Saturn has rings, not moons'
        best = [
            mention for mention in best if not NEGATIVE.search(AFFIRMATION.sub("", around(text, mention, CLAUSE_END)))
        ]
    topic = words_of(" ".join(_LAST_WORD.findall(last_question(question))))
    return [mention for mention in best if topic & words_of(around(text, mention, CLAUSE_END))] or best


def around(text: str, mention: Mention, ends: re.Pattern[str]) -> str:
    """The clause or sentence without the option itself."""
    floor, ceiling = max(0, mention.start - MAX_SENTENCE), mention.end + MAX_SENTENCE
    opening = max((found.end() for found in ends.finditer(text, floor, mention.start)), default=floor)
    closing = ends.search(text, mention.end, ceiling)
    return f"{text[opening : mention.start]} {text[mention.end : closing.start() if closing else ceiling]}"
