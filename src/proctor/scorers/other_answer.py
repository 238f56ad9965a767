"""Whether a short response has given another answer before it names a thing: 'Weber wrote it, Mozart conducted it'.

The first clause that answers is the answer. What follows is a remark, unless the response turns to it ('but'), gives it
as a form of 'is' gives an answer, or says more of what the question asks.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import NamedTuple

from proctor.scorers.asked_words import asked_words, words_of
from proctor.scorers.lazy_pattern import lazy_pattern
from proctor.scorers.markers import CORRECTION, SENTENCE_END
from proctor.scorers.stance_words import FORMERLY, NOWADAYS, SUPPOSED, TURN, UNREAL

MAX_WORDS = 6
"""Of a clause that says 'it' of what is asked: 'Goethe wrote it'."""
_ARTICLE = r"(?:the|der|die|das|den|le|la|les|el|los|las)\s|l['’]"
_CLAUSE_END = lazy_pattern(
    rf"{SENTENCE_END.pattern}|[;；，、]\s?|,(?:\s|(?=[\u3040-\uffff]))|\s[–—]\s"
    r"|\s(?=(?:and|while|whereas|when|und|während|wohingegen|et|tandis|alors|quand|y|mientras|cuando)\s)|(?<=[고며])\s",
    re.IGNORECASE,
)
_NO_ANSWER = lazy_pattern(
    r"\b(?:not|nicht|kein\w*|pas|no|ni|neither|weder|never|many|often|some|clarify|unlike)\b|n['’]t\b"
    r"|ない|ません|なく|아니|아닙|않|不|没|可能|かも|か\Z|吗|呢|\?",
    re.IGNORECASE,
)
"""What is denied, left open or asked."""
_BARE = lazy_pattern(
    rf"[\W_]*(?:{_ARTICLE}|(?:an?|eine?|une?|una?)\s)?(?:[^\W\d_][\w'’.-]*\s?){{1,3}}[\W_]*", re.IGNORECASE
)
_BARE_SPACELESS = lazy_pattern(
    r"[\W_]*(?:应该)?是?(?![在从对据按由于虽如当作这那该此它他她因])[\u3040-\u9fff가-힣ァ-ヶー·]{2,9}(?<![はがをにでもて时后前年里])(?:です|입니다)?[\W_]*"
)
_INTERJECTION = lazy_pattern(
    r"[\W_]*(?:yes|no|sure|ok\w*|well|right|easy|(?:good|great)\squestion|of\scourse|correct|ja|nein|klar|gut|gute\sfrage"
    r"|gerne|natürlich|oui|non|bien\ssûr|d['’]accord|bonne\squestion|bonjour|sí|claro|bueno|buena\spregunta|hola|hallo|hello|hi"
    r"|por\ssupuesto|はい|いいえ|もちろん|네|예|아니요|물론\w*|好的?|是的?|当然|不是|您好|你好)[\W_]*",
    re.IGNORECASE,
)
_ADVERBIAL = lazy_pattern(
    r"[\W_]*(?:in|im|at|am|on|as|by|to|for|from|since|if|when|von|vor|nach|seit|bei|zu|soweit|wie|wenn|en|à|au|selon|según"
    r"|depuis|desde|como|comme|with|mit|avec|con|born|founded|known|located|today|heute|hoy|after|before|during|(?:al)?though"
    r"|while|whereas|obwohl|während|bien|même|aunque|mientras|because|weil|porque|its?|there|here|hier|ich|je|yo|i)\b"
    r"|[\W_]*\w+(?:ly|ment|mente|weise|lich)\b",
    re.IGNORECASE,
)
"""What opens a clause that says when, where or how; a bare name opens with none of these."""
_PLACE = lazy_pattern(
    r"[\W_]*(?:(?P<by>by|von|vom|par|por)|in|im|en|au|aux|à|dans|at|on|am)\s(?!\w+\s(?:opinion|view|fact|short))",
    re.IGNORECASE,
)
_WHERE_ASKED = lazy_pattern(
    r"\b(?:where|(?:in|on|at)\swh(?:ich|at)|wo|(?:in|an|auf)\swelche\w+|où|dans\squel|en\squel|dónde|en\squé)\b",
    re.IGNORECASE,
)
"""'In Niger' is a bare answer there, and by whom something is anywhere."""
_GIVES = lazy_pattern(
    r"[\W_]*(?:(?:i\s(?:think|believe|guess|suppose)(?:\sthat)?|je\s(?:crois|pense)\s(?:que\s|qu['’])|creo\sque)\s?)?(?:(?:it|that|this|es|das|dies|ce|c['’]|lo)\s?(?:is|was|['’]s|would\sbe|(?:has\sto|must)\sbe|ist|war|wäre|est|était|serait)"
    r"|(?:es|fue|era|sería|eran|fueron|c['’]est|je\sdirais|diría)\b)\s(?!an?\b|eine?[rnms]?\b|une?\b|una?\b|in\b|im\b|en\b|à\b)\S"
    r"|[\W_]*(?:the|die|der|das|le|la|el|l['’])\s?\w+\s(?:is|was|ist|war|stammt|est|était|es|fue)\s(?:by|von|de|d['’]|par|por)\b"
    r"|[\W_]*(?:应该|就|答案)?是(?![一的不否])",
    re.IGNORECASE,
)
"""'It was Weber', 'C'est Weber', '是韦伯'."""
_WROTE_IT = lazy_pattern(
    r"\s(?:it|them|this|es|sie|ihn|dies|en\sest)\b|\b(?:l['’]a|la|lo|les|las|los|le)\s\w+|^\S+\sdid\b", re.IGNORECASE
)
_WROTE_IT_SPACELESS = lazy_pattern(
    r"[\W_]*(?:[^\s、，。はを]{2,10}が[^\s、，。が]{1,6}|[가-힣]{2,8}[이가]\s[가-힣]{1,6}[고며]|[\u4e00-\u9fff·]{2,8}(?:写|创作|发明|发现|画|建|造)了?的?)[\W_]*"
)
"""'谷崎が書き', '이효석이 썼고', '施耐庵写的'."""
_IS = lazy_pattern(
    r"\b(?:is|was|are|were|by|ist|war|sind|waren|von|est|était|sont|par|es|era|fue|son|por)\b|['’]s\s|c['’]est|です"
    r"|である|でした|だ\Z|で[、，\s]*\Z|입니다|이에요|예요|이다|습니다|[고며]\s?\Z|是|为",
    re.IGNORECASE,
)
_IS_NAME = lazy_pattern(
    r"\b(?:is|was|by|ist|war|von|est|était|par|es|era|fue|por)\s(?!an?\b|eine?\b|une?\b|una\b|in\b|im\b|en\b|born\b|\d)"
    r"(?:[^\W\d_][\w'’.-]*\s?){1,3}[\W_]*\Z",
    re.IGNORECASE,
)
"""'… was discovered by Rutherford'."""
_PREDICATE_BEFORE = lazy_pattern(
    r"(?:\w(?:ed|en|wn|de|t)\sby|\w(?:t|ist|war)\svon|\w(?:é|ée|és|ées|t|te)\spar|\w(?:[ai]d|ech|crit)[oa]s?\spor|\b(?:is|was|are|were|so|called|named|ist|war|sind|heisst|heißt|est|était|sont|appelle|nomme|es|era|fue|son|llama|mean|diría|dirais)"
    rf"|['’]s|[:=→])\s?(?:(?:also|thus|therefore|donc|also|however|indeed|definitely)\s)?(?:{_ARTICLE})?[\W_]*\Z|[是为叫]\Z",
    re.IGNORECASE,
)
_PREDICATE_AFTER = lazy_pattern(
    r"[\W_]*(?:\Z|[.!。！,，;；\n]|\s(?:who|that|which|where|qui|que|der|die|das|dessen|quien)\b)|(?:です|でした|だ|である|입니다|이에요|예요|이다)"
)
_COPULA_AFTER = lazy_pattern(
    r"[)\]*_\"'”’»」』`]{0,4}(?:です|でした|だ。|である|と(?:され|言われ|いわれ)|입니다|이에요|예요|이다)"
)
_ONLY = lazy_pattern(
    rf"[\W_]*(?:(?:and|und|et|y|while|whereas|während|tandis\sque|alors\sque|mientras)\s)?(?:{_ARTICLE})?[\W_]*",
    re.IGNORECASE,
)
_OF_HIM = lazy_pattern(
    r"\b(?:his|her|their|its|sein\w*|ihr\w*|son|sa|ses|leur|sus?|second\w*|zweit\w*|deuxième|segund\w*|only|nur|just|merely|solo|sólo"
    r"|other|ander\w*|autre|otr[oa])\b|他的?|她的?|其|彼|그의|그녀",
    re.IGNORECASE,
)
"""What is said of a companion, a second or another thing."""
_SUBORDINATE = lazy_pattern(
    r"(?:while|whereas|(?:al)?though|whom?|whose|which|während|wohingegen|obwohl|tandis|alors|bien\sque|qui|dont|mientras|aunque|que|quien)\b",
    re.IGNORECASE,
)
_OTHER_THINGS = lazy_pattern(
    r"\b(?:(?:an)?other|andere\w*|d['’]autres|un\sautre|une\sautre|otr[oa]s?|elsewhere|anderswo|ailleurs)\b|別の"
    r"|他の|다른|其他|别的|另",
    re.IGNORECASE,
)
_LIMITS = lazy_pattern(
    r"\b(?:only|just|merely|nur|lediglich|bloss|solo|sólo|solamente|seulement)\b|\bn(?:e\s|['’])[^,.]{1,20}\sque\b|だけ|のみ|[가-힣]만\s|只",
    re.IGNORECASE,
)
"""'Mozart only conducted it': less than what is asked."""
_WORD = lazy_pattern(r"[a-zß-ÿ]+|[^\W\d_]{2,}", re.IGNORECASE)
_FORMER_ASKED = lazy_pattern(
    r"\b(?:former\w*|until|before|previous\w*|were|did|once|bis|vor\w*|früher\w*|ehemalig\w*|war|waren|wurde|avant"
    r"|ancien\w*|était|antes|antigu\w+|era|fue|hasta)\b|以前|昔|旧|옛|예전|曾|过去|原来",
    re.IGNORECASE,
)


class _Clause(NamedTuple):
    start: int
    end: int
    boundary: str
    """What ends it."""

    @property
    def ends_sentence(self) -> bool:
        return SENTENCE_END.match(self.boundary) is not None or self.boundary[:1] in (";", "；")


def is_behind_other_answer(text: str, start: int, end: int, question: str) -> bool:
    """Whether a clause before this place answers the question, and this one only remarks on something."""
    *earlier, here = _clauses(text, start)
    if not earlier:
        return False
    asked = asked_words(question) - words_of(text[start:end])
    closing = _CLAUSE_END.search(text, end)
    around = f"{text[here.start : start]} {text[end : closing.start() if closing else len(text)]}"
    is_aside = _LIMITS.search(around) or _OTHER_THINGS.search(around) or _SUBORDINATE.match(text, here.start)
    repeated = frozenset() if is_aside else asked & words_of(around)
    is_subject = _ONLY.fullmatch(text, here.start, start) is not None
    for clause in earlier:
        said = text[clause.start : clause.end]
        if not _names_something(said, question) or _is_taken_over(text, clause, here, start, end, question):
            continue
        of_question = asked & words_of(said)
        if _is_bare(said, clause, question) or _gives(said, question):
            if clause.ends_sentence or not repeated or len(repeated) <= len(of_question):
                return True
        elif of_question and (len(of_question) > len(repeated) or of_question == repeated):
            is_clear = is_subject and (of_question == repeated or len(of_question) > 1)
            if is_clear or _IS.search(said):
                return True
    return False


def is_before_answer(text: str, start: int, end: int, question: str) -> bool:
    """Whether a later clause says of something else all that this one says of what is asked, and more."""
    bounds = [end, *(found.end() for found in _CLAUSE_END.finditer(text, end)), len(text)]
    own, *later = [text[begin:stop] for begin, stop in pairwise(bounds)]
    if not any(later):
        return False
    here = _clauses(text, start)[-1]
    asked = asked_words(question) - words_of(text[start:end])
    repeated = asked & words_of(text[here.start : start] + own)
    return any(
        repeated < asked & words_of(said)
        and _IS_NAME.search(said) is not None
        and text[start:end] not in said
        and _names_something(said, question)
        for said in later
    )


def _clauses(text: str, start: int) -> list[_Clause]:
    """The clauses up to this place; the last is the one it is in."""
    ends = [found for found in _CLAUSE_END.finditer(text, 0, start + 1) if found.end() <= start]
    closed = [
        _Clause(begin, found.start(), found[0])
        for begin, found in zip([0, *(found.end() for found in ends)], ends, strict=False)
    ]
    return [*closed, _Clause(ends[-1].end() if ends else 0, start, "")]


def _names_something(said: str, question: str) -> bool:
    """Whether a clause says something that the question does not, and stands by it."""
    asked = question.casefold()
    return (
        any(word.casefold() not in asked for word in _WORD.findall(said))
        and _INTERJECTION.fullmatch(said) is None
        and not any(p.search(said) for p in (_NO_ANSWER, CORRECTION, SUPPOSED, UNREAL, FORMERLY))
    )


def _is_bare(said: str, clause: _Clause, question: str) -> bool:
    if not said.isascii() and _BARE_SPACELESS.fullmatch(said):
        return True
    place = _PLACE.match(said) if clause.start == 0 else None
    if place and (place["by"] or _WHERE_ASKED.search(question)):
        said = said[place.end() :]
    return clause.boundary != " " and _BARE.fullmatch(said) is not None and not _ADVERBIAL.match(said)


def _gives(said: str, question: str) -> bool:
    if _GIVES.match(said) or _WROTE_IT_SPACELESS.fullmatch(said):
        return True
    words = _WORD.findall(said)
    if not 1 < len(said.split()) <= MAX_WORDS or _ADVERBIAL.match(said):
        return False
    asked = question.casefold()
    is_object_asked = words[0].casefold() not in asked and words[-1].casefold() in asked and len(words[-1]) > 2
    return is_object_asked or _WROTE_IT.search(said) is not None


def _is_taken_over(text: str, clause: _Clause, here: _Clause, start: int, end: int, question: str) -> bool:
    """Whether the clause here is the answer instead: the response turns to it, or says that this is it."""
    head = text[here.start : start]
    if FORMERLY.search(head) and not _FORMER_ASKED.search(question):
        return False
    if any(pattern.search(text, clause.end, start) for pattern in (TURN, CORRECTION, NOWADAYS)):
        return True
    if _OF_HIM.search(head) or _SUBORDINATE.match(head):
        return False
    if _COPULA_AFTER.match(text, end) or (_ONLY.fullmatch(head) and _PREDICATE_AFTER.match(text, end)):
        return True
    return _PREDICATE_BEFORE.search(head) is not None and _PREDICATE_AFTER.match(text, end) is not None
