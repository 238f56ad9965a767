"""What a response says of other times than the one asked about: 'Before, it was 80', 'in 6 years she will be 24'."""

from __future__ import annotations

import re
from itertools import pairwise

from proctor.scorers.asked_words import last_question
from proctor.scorers.lazy_pattern import lazy_pattern

MAX_TEXT = 240
"""In a longer text what was before is mostly where its working begins."""
_CLAUSE_END = lazy_pattern(
    r"[.!?](?:\s|\Z)|[。！？\n;；]|[，、]|(?<!\d),|,(?!\d)|\s(?=(?:and|but|und|aber|et|mais|y|pero)\s)"
)
_LINK = r"[\s\W]*(?:(?:and|but|und|aber|et|mais|y|pero)\s)?"
_FORMER = lazy_pattern(
    rf"{_LINK}(?:(?:before(?:hand)?(?:\s(?:that|this|the\s\w+))?|previously|formerly|originally|initially|earlier"
    r"|vorher|zuvor|davor|früher|ursprünglich|anfangs|avant|auparavant|à\sl['’]origine|initialement|antes"
    r"|anteriormente|originalmente|inicialmente|contre)\b"
    r"|(?:it|the\s\w+|he|she|they)\s(?:used\sto|originally|previously|formerly)\b"
    r"|以前は|元は|元々|もともと|元の|前は|定価は|원래|전에는|이전에는|본래|原来|原價|原价|之前|以前|本来)"
    r"|[^、。]{0,20}(?:去年|昨年|先月|先週)"
    r"|[^\d]{0,20}\b(?:was|were|had|cost|war|waren|hatte|kostete)\s[^\d]{0,3}[\d.,]+\s?[^\W\d]{0,12}\s?"
    r"(?:before(?:hand)?|previously|originally|vorher|zuvor)[\s\W]*\Z",
    re.IGNORECASE,
)
_FUTURE = lazy_pattern(
    rf"{_LINK}(?:(?:in|dans|dentro\sde|en)\s(?!(?:an?|one|each|every|eine?[mnr]?|une?|un[oa]?)\s)(?:\d+|[^\W\d_]+)\s(?:years?|jahr(?:en)?|ans?|años?|months?|monat(?:en)?"
    r"|mois|meses|weeks?|wochen?|semaines?|semanas?|days?|tagen?|jours?|días?)\b"
    r"|next\s(?:year|month|week)\b|nächste[sn]?\s\w+|l['’]an(?:née)?\sprochain|el\spróximo\saño|el\saño\sque\sviene"
    r"|\d+\s?(?:年|か月|ヶ月|個月|个月|日|天|週間|周)[後后]|\d+\s?(?:년|개월|달|일|주)\s?(?:뒤|후)|来年|明年|내년)",
    re.IGNORECASE,
)
MAX_ONLY = 60
_CONCLUDED = lazy_pattern(
    r"[.;]\s\S|\b(?:so|now|also|jetzt|donc|maintenant|ahora|así)\b|今|지금|现在|所以", re.IGNORECASE
)
_YEARS = r"(?:years?|months?|weeks?|jahre?n?|monate?n?|wochen?|ans?|années?|mois|semaines?|años?|meses|semanas?)"
_AGO = lazy_pattern(
    rf"\b(?:[\w]+\s{_YEARS}\sago|vor\s\w+\s{_YEARS}|il\sy\sa\s\w+\s{_YEARS}|hace\s\w+\s{_YEARS})\b|\d\s?(?:年|か月|週間)前に?は|\d\s?(?:년|개월)\s?전에?는|\d\s?(?:年|个月)前",
    re.IGNORECASE,
)
_WILL = lazy_pattern(
    rf"\b(?:in|dans|dentro\sde|en)\s\w+\s{_YEARS}\b[^.]{{0,30}}\b(?:will|wird|werden|aura|sera|tendrá|será)\b|\b(?:will|wird|aura|tendrá)\b[^.]{{0,30}}\b(?:in|dans|dentro\sde)\s\w+\s{_YEARS}\b",
    re.IGNORECASE,
)
_ASKS_FORMER = lazy_pattern(
    r"\b(?:before|previous\w*|original\w*|initial\w*|first|start\w*|begin\w*|began|earlier|used\sto|did|were|had"
    r"|vor\w*|zuvor|davor|früher|ursprünglich\w*|anfang\w*|zuerst|war|waren|hatten?|avant|auparavant|début|départ"
    r"|origine|initial\w*|avai\w+|était|étaient|antes|principio|origin\w+|inicial\w*|tenía\w*|había\w*|era|eran)\b"
    r"|以前|元[はの々]|最初|はじめ|初め|前[にはの]|원래|처음|전|본래|이었|였|原|之前|开始|本来",
    re.IGNORECASE,
)
_ASKS_FUTURE = lazy_pattern(
    r"\b(?:will|would|in\s(?:\d+|[a-z]+)\s(?:years?|months?|weeks?|days?)|after|later|next|then|from\snow|wird|werden"
    r"|nach|später|dann|jahren|aura|auront|sera|seront|après|dans|prochain\w*|tendr\w+|será\w*|dentro|después"
    r"|próxim\w+)\b|[後后]|来年|明年|뒤|후|내년|将|會|会",
    re.IGNORECASE,
)
_ASKS_BEFORE = lazy_pattern(
    r"\b(?:before|originally|previously|vorher|zuvor|ursprünglich|avant|auparavant|antes|originalmente)\b"
    r"|以前|前[にはの]|元[はの々]|원래|전에|原来|原先|之前",
    re.IGNORECASE,
)
_NOW = lazy_pattern(
    rf"{_LINK}(?:(?:now|today|currently|jetzt|nun|heute|maintenant|aujourd['’]hui|ahora|hoy)\b|今[はの]|現在"
    r"|지금|이제|现在|如今)",
    re.IGNORECASE,
)
_DIGIT = lazy_pattern(r"\d")


def asks_before(question: str) -> bool:
    """Whether a question is about what was so before."""
    return _ASKS_BEFORE.search(last_question(question)) is not None


def says_only_other_time(text: str, question: str) -> bool:
    """'In four years she will be 15', 'She was 15 four years ago' where the question is about now."""
    if len(text) > MAX_ONLY or len(question) < 3 or "=" in text or _CONCLUDED.search(text):
        return False
    asked = last_question(question)
    return any(
        pattern.search(text) is not None and asks.search(asked) is None
        for pattern, asks in ((_AGO, _ASKS_FORMER), (_WILL, _ASKS_FUTURE))
    )


def without_other_times(text: str, question: str) -> str:
    """A short text with blanks for its clauses about a time before or after, where something else remains."""
    if len(text) > MAX_TEXT or len(question) < 3:
        return text
    asked = last_question(question)
    pairs = ((_FORMER, _ASKS_FORMER), (_FUTURE, _ASKS_FUTURE))
    patterns = [pattern for pattern, asks in pairs if not asks.search(asked)]
    if _ASKS_BEFORE.search(asked):
        patterns.append(_NOW)
    bounds = sorted({0, *(found.end() for found in _CLAUSE_END.finditer(text)), len(text)})
    clauses = [(text[start:end], any(p.match(text[start:end]) for p in patterns)) for start, end in pairwise(bounds)]
    clauses = _with_what_follows(clauses)
    if not any(is_aside for _, is_aside in clauses):
        return text
    kept = "".join(" " * len(clause) if is_aside else clause for clause, is_aside in clauses)
    return kept if _DIGIT.search(kept) else text


def _with_what_follows(clauses: list[tuple[str, bool]]) -> list[tuple[str, bool]]:
    """'Before, it was 80': an adverb with no number of its own takes the clause behind it along."""
    marked: list[tuple[str, bool]] = []
    is_open = False
    for clause, is_aside in clauses:
        marked.append((clause, is_aside or is_open))
        is_open = is_aside and not _DIGIT.search(clause) and clause.rstrip().endswith((",", "，", "、"))
    return marked
