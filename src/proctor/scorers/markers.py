"""Where a response announces its answer, in the languages benchmarks are written in.

Markers are found with plain substring searches from the end: a response may be long, and its answer is near its end.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from proctor.scorers.lazy_pattern import lazy_pattern

TAIL = 100  # most answers stand here, and a short search is a quick one
MAX_MARKER_LENGTH = 20
NEAR = 20  # no room for another marker and its answer
ASCII_MARKERS = (
    "answer", "####", "antwort", "antwoord", "respuesta", "resposta", "risposta", "jawaban", "jibu", "cevap",
)  # fmt: skip
OTHER_MARKERS = (
    "réponse", "ответ", "答案", "答え", "解答", "回答", "答：", "答:", "정답", "답은", "답:", "답：", "الإجابة",
    "الاجابة", "الجواب", "उत्तर", "উত্তর", "సమాధానం", "คำตอบ", "đáp án", "đáp số", "odpowiedź", "απάντηση", "תשובה", "svar",
)  # fmt: skip

# What may stand between a marker and the answer it announces.
CONNECTOR = lazy_pattern(
    r"""[:=：＝]|\b(?:is|are|was|be|equals?|equal\ to|isn['’]t|ist|lautet|beträgt|sind|es|son|sería|é|è|est|sont|ni
    |adalah|är|er|jest|wynosi|là|is\ gelijk)\b|—|是|为|為|は|が|은|는|이
    |هو|هي|равен|равна|равно|это|है|হল|হলো|คือ|είναι|->|→""",
    re.VERBOSE | re.IGNORECASE,
)
NEGATION = lazy_pattern(
    r"\b(?:not|isn't|isn’t|cannot be|can't be|never|nicht|kein|no es|n'est pas|pas|не)[\W_]*$"
    r"|不是|不为|ではない|아니",
    re.IGNORECASE,
)
CORRECTION = lazy_pattern(
    r"""\b(?:wait|(?:hold|hang)\ on|no\ wait|on\ reflection|strike\ that|my\ bad|un\ (?:momento|instant)|warte"
    r"|actually|correction|scratch\ that|on\ second\ thou?ght|let\ me\ (?:re|correct|double|fix)
    |(?:or|ou|oder|o)\ (?:rather|plutôt|vielmehr|besser|mejor|más\ bien)|i\ (?:made\ a\ mistake|was\ wrong|misread
      |meant?)|my\ mistake|corrected\ to|sorry|oops|hmm|no,
    |(?:ah|oh|ach|eh|ay)[,]?\ (?:no|non|nein)
    |moment\ mal|korrektur|nein|verrechnet|stimmt\ nicht|pardon|je\ voulais\ dire|quise\ decir|(?:mich
    |habe)\ (?:geirrt|vertan)|en\ fait|attend(?:s|ez)
    |je\ me\ suis\ trompée?|espera|perdón|corrección|me\ (?:he\ )?equivo\w+|подождите|исправление)\b
    |\b(?:moment|halt|stop|stopp),
    |等等|等一下|哦不|噢不|不不|(?:，|。)不[，,]|不对[，。,！ ]
    |更正|订正|(?:算|看|写|弄|搞)错了|いや[、，]|いえ[、，]|訂正|間違え
    |아니(?=[,.요 ]|에요[,. ]|다[,. ])|잠깐|잠시만요|정정|잘못""",
    re.VERBOSE | re.IGNORECASE,
)
# 'Sorry for the delay' and 'Actually, it has been so since 987' take nothing back.
WEAK = lazy_pattern(r"sorry|hmm|actually|en\sfait", re.IGNORECASE)
# 'A common mistake is to choose C', 'many students pick A': not the choice of who is speaking.
OF_OTHERS = lazy_pattern(
    r"\b(?:students?|people|many|some|others|mistakes?|tempt\w*|might|may|could|never|not|n['’]t|if)\b[^.,\n]{0,20}$"
    r"|\b(?:students|people)\b[^.,\n]{0,40}$"
    r"|(?:in(?=correct)|un(?=richtig))\w+:?$"
    r"|\b(?:incorrect|wrong|false|falsche[nr]?|mauvaises?|incorrectas?)\s+\w+$",
    re.IGNORECASE,
)
PUNCTUATION = lazy_pattern(r"[\W_]*")
SENTENCE_END = lazy_pattern(
    r"(?<!\bi\.e)(?<!\be\.g)(?<!\bd\.h)(?<!\bd\. h)(?<!\bz\.B)[.!?](?:\s|$)|[!?](?=[\u3040-\uffff])|[。！？\n]"
)
_NEXT_TURN = lazy_pattern(
    r"\n[ \t#*_>]{0,8}(?:q|question|problem|human|user|instruction|frage|pregunta|pergunta|вопрос|问题|题目|問題|질문)"
    r"(?:[ \d#*_]{0,8}[:\n]|\s?\d{1,3}[.)])",
    re.IGNORECASE,
)
_END_OF_TURN = lazy_pattern(r"<\|(?:im_end|im_start|endoftext|eot_id|end)\|>|</s>|\[/?INST\]|<end_of_turn>")
_NEW_LINE = lazy_pattern(r"[*_)\"']*[.!]\s*\n")  # '… is the best answer.' says nothing of the line below
_NEXT_LINE = lazy_pattern(r":[\s*_>#$(\[`]*$")


def announces(gap: str, longest: int, naming: re.Pattern[str] | None = None) -> bool:
    """Whether what stands between a marker and an answer ties them: ' is therefore ' does, ' in ' does not."""
    if PUNCTUATION.fullmatch(gap):
        return _NEW_LINE.match(gap) is None
    if len(gap) > longest or not (CONNECTOR.search(gap) or (naming and naming.search(gap))):
        return False
    return SENTENCE_END.search(_NEXT_LINE.sub(":", gap)) is None


def own_turn(text: str) -> str:
    """The text up to the token by which a model ends its turn, where it wrote on after it."""
    if "<" not in text and "[" not in text:  # most often; the pattern is slow
        return text
    before = _END_OF_TURN.split(text, maxsplit=1)[0]
    return before if before.strip() else text


def first_turn(text: str) -> str:
    """The text up to where a model that does not stop asks itself the next question."""
    found = _NEXT_TURN.search(text, 1)
    return text[: found.start()] if found else text


def asks_on(text: str) -> bool:
    """Whether a model that does not stop asks itself the next question."""
    return _NEXT_TURN.search(text, 1) is not None


def marker_ends(text: str, lowered: str, also: tuple[str, ...] = ()) -> Iterator[int]:
    """Where each answer marker ends, the last one first."""
    markers = ASCII_MARKERS + also if text.isascii() else ASCII_MARKERS + OTHER_MARKERS + also
    limit = len(lowered)
    floor = max(0, limit - TAIL)
    while limit > 0:
        best, width = -1, 0
        for marker in markers:
            found = lowered.rfind(marker, max(floor, best), limit)
            if found > best:
                best, width = found, len(marker)
                if limit - found < NEAR:
                    break
        if best >= 0:
            yield best + width
            limit = best
        elif floor:
            limit, floor = min(limit, floor + MAX_MARKER_LENGTH), 0
        else:
            return
