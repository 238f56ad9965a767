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
from proctor.scorers.stance_words import FORMERLY, NOWADAYS, OPEN, SUPPOSED, TURN, UNREAL

MIN_VERB_WORDS = 2
"""A clause of fewer words beside the name is the name alone, or 'It is'."""
MIN_VERB_CHARACTERS = 4
MIN_WORD = 8
"""Characters at the beginning of a clause where a 'but' may stand: 'es ist aber'."""
MAX_WORDS = 6
"""Of a clause that says 'it' of what is asked: 'Goethe wrote it'."""
_ARTICLE = r"(?:the|der|die|das|den|le|la|les|el|los|las)\s|l['’]"
_CLAUSE_END = lazy_pattern(
    rf"{SENTENCE_END.pattern}|[;；，、]\s?|\s?[(](?=(?:whose|which|who|dont|qui|dessen|deren|cuy[oa]|que)\b)|,(?:\s|(?=[\u3040-\uffff]))|\s[–—]\s"
    r"|\s(?=(?:and|while|whereas|when|und|während|wohingegen|et|tandis|alors|quand|y|mientras|cuando)\s)|(?<=[고며])\s",
    re.IGNORECASE,
)
_NO_ANSWER = lazy_pattern(
    r"\b(?:not|nicht|kein\w*|pas|no|ni|neither|weder|never|many|often|some|clarify|unlike)\b|n['’]t\b"
    r"|ない|ません|なく|아니|아닙|않|不|没|可能|かも|か\Z|吗|呢|\?",
    re.IGNORECASE,
)
"""What is denied, left open or asked."""
_INSERTED = lazy_pattern(
    r",\s(?:though|however|by\scontrast|in\sfact|instead|of\scourse|hingegen|dagegen|jedoch|allerdings|cependant|toutefois|quant\sà\s(?:elle|lui)|en\sfait"
    r"|sin\sembargo|en\scambio|en\srealidad),\s",
    re.IGNORECASE,
)
"""'The capital, though, is Perth' is one clause."""
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
    r"\b(?:is|was|are|were|has|have|had|by|hat|tiene|ist|war|sind|waren|von|est|était|sont|par|es|era|fue|son|por)\b|['’]s\s|c['’]est|です"
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


_GIVES_ANOTHER = lazy_pattern(
    r"\b(?:is|was|ist|war|est|était|es|era|fue)\s(?:actually\s|really\s|aber\s)?(?:its|the|(?:sein|ihr)e?|der|die|das|l['’]|le|la|son|sa|el|su)\s?\w+[\W_]*\Z"
    r"|\b(?:is|was|ist|war|stammt|est|était|es|era|fue)\s(?:actually\s|aber\s)?(?:by|von|de|d['’]|par|por)\b"
    r"|(?:者|人|作者|的)是(?![一的不否])[^，,。]{2,8}|(?:は|のは)[^、。はが]{2,12}(?:です|だ|である)|[은는]\s[^.,]{1,12}(?:입니다|이다|이에요|예요)",
    re.IGNORECASE,
)
"""'… is its author', 'es de …'."""


_OF_IT = lazy_pattern(
    r"[\W_]*(?:(?:but|aber|doch|mais|pero)\s)?(?:it|he|she|they|er|sie|es|il|elle)\s(?:is|was|are|were|ist|war|est|était)\s(?!by\b|von\b|de\b|par\b)"
    r"|[\W_]*(?:but|aber|mais|pero)\s(?:(?:also|still|auch|aussi|también)\s)?(?:is|was|ist|war|est|es|fue|era)\s(?:the|its|der|die|das|le|la|el|su)\b",
    re.IGNORECASE,
)
"""'…, but it is the capital' says more of the same thing."""


_WEIGHS = lazy_pattern(
    r"\b(?:between|torn|hesitat\w+|zwischen|schwank\w+|hésit\w+|dud[ao]\w*|either|entweder|soit)\b[^.!?]{0,40}\b(?:and|or|und|oder|et|ou|soit|y|o)\b"
    r"|迷|고민|犹豫|之间|사이에서",
    re.IGNORECASE,
)
_SETTLES = lazy_pattern(
    r"\b(?:it\s(?:is|was|must\sbe|has\sto\sbe)|(?:es|das)\s(?:ist|war)|(?:il\ss['’]agit\s(?:de|d['’])|c['’]est|c['’]était)|(?:es|fue|se\strata\sde)|i(?:['’]d|['’]ll|\swould)?\s(?:say|go|choose|pick)\w*|(?:ich\s(?:nehme|sage|wähle))"
    r"|(?:the|die|la)\s(?:answer|antwort|réponse|respuesta)\s(?:is|ist|est|es))\b|です|입니다|是",
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
        if not names_something(said, question) or _is_taken_over(text, clause, here, start, end, question):
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
    rest = _INSERTED.sub(" ", text[end:])
    bounds = [0, *(found.end() for found in _CLAUSE_END.finditer(rest)), len(rest)]
    own, *later = [rest[begin:stop] for begin, stop in pairwise(bounds)]
    if not any(later):
        return False
    here = _clauses(text, start)[-1]
    asked = asked_words(question) - words_of(text[start:end])
    repeated = asked & words_of(text[here.start : start] + own)
    return any(
        repeated < asked & words_of(said)
        and _IS_NAME.search(said) is not None
        and text[start:end] not in said
        and names_something(_without_it(said), question)
        for said in later
    )


def _without_it(said: str) -> str:
    """A clause without its 'but it is': what remains may name something else, as in 'it is Canberra that …'."""
    found = _OF_IT.match(said)
    return said[found.end() :] if found else said


def is_only_weighed(text: str, start: int, end: int) -> bool:
    """'One hesitates between Molière and Racine. It is Racine': whether a later statement settles on another thing."""
    closing = SENTENCE_END.search(text, end)
    if closing is None or closing.end() >= len(text):
        return False
    bounds = sorted({0, *(found.end() for found in SENTENCE_END.finditer(text)), len(text)})
    sentences = [text[begin:stop] for begin, stop in pairwise(bounds) if stop > start]
    if len(sentences) < 2 or not (
        _WEIGHS.search(sentences[0]) or (OPEN.search(text, bounds[0], start) and SUPPOSED.search(sentences[0]))
    ):
        return False
    name = text[start:end]
    return name not in " ".join(sentences[1:]) and any(_SETTLES.search(said) for said in sentences[1:])


def is_turned_from(text: str, start: int, end: int, question: str) -> bool:
    """Whether a clause that says nothing of what is asked is followed by 'but' and one that gives another answer."""
    here = _clauses(text, start)[-1]
    bounds = [end, *(found.end() for found in _CLAUSE_END.finditer(text, end)), len(text)]
    own, *later = [text[begin:stop] for begin, stop in pairwise(bounds)]
    own = f"{text[here.start : start]} {own}"
    asked = asked_words(question) - words_of(text[start:end])
    is_spaceless = text[start] >= "\u3040"
    is_short = len(own.strip(" 。，、")) < MIN_VERB_CHARACTERS if is_spaceless else len(own.split()) < MIN_VERB_WORDS
    if not later or asked & words_of(own) or is_short or _GIVES.match(own):
        return False
    return any(
        TURN.search(before + said[:MIN_WORD]) is not None
        and text[start:end] not in said
        and (asked & words_of(said) or _GIVES_ANOTHER.search(said))
        and _OF_IT.match(said) is None
        and names_something(TURN.sub("", said), question)
        for before, said in pairwise([own, *later])
    )


def _clauses(text: str, start: int) -> list[_Clause]:
    """The clauses up to this place; the last is the one it is in."""
    ends = [found for found in _CLAUSE_END.finditer(text, 0, start + 1) if found.end() <= start]
    closed = [
        _Clause(begin, found.start(), found[0])
        for begin, found in zip([0, *(found.end() for found in ends)], ends, strict=False)
    ]
    return [*closed, _Clause(ends[-1].end() if ends else 0, start, "")]


def names_something(said: str, question: str) -> bool:
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
