"""Where a response announces its answer, in the languages benchmarks are written in.

Markers are found with plain substring searches from the end: a response may be long, and its answer is near its end.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

ASCII_MARKERS = (
    "answer", "antwort", "antwoord", "respuesta", "resposta", "risposta", "jawaban", "jibu", "cevap", "####",
)  # fmt: skip
OTHER_MARKERS = (
    "réponse", "ответ", "答案", "答え", "解答", "回答", "答：", "答:", "정답", "답은", "답:", "답：", "الإجابة",
    "الاجابة", "الجواب", "उत्तर", "উত্তর", "సమాధానం", "คำตอบ", "đáp án", "đáp số", "odpowiedź", "απάντηση", "תשובה", "svar",
)  # fmt: skip

# What may stand between a marker and the answer it announces.
CONNECTOR = re.compile(
    r"""[:=：＝]|\b(?:is|are|was|be|equals?|equal\ to|ist|lautet|beträgt|sind|es|son|sería|é|è|est|sont|ni|adalah|är|er
    |jest|wynosi|là|is\ gelijk)\b|—|是|为|為|は|が|은|는|이|هو|هي|равен|равна|равно|это|है|হল|হলো|คือ|είναι|->|→""",
    re.VERBOSE | re.IGNORECASE,
)
NEGATION = re.compile(
    r"\b(?:not|isn't|isn’t|cannot be|can't be|never|nicht|kein|no es|n'est pas|pas|не)[\W_]*$"
    r"|不是|不为|ではない|아니",
    re.IGNORECASE,
)
CORRECTION = re.compile(
    r"""\b(?:wait|actually|correction|scratch\ that|on\ second\ thou?ght|let\ me\ (?:re|correct|double|fix)
    |i\ (?:made\ a\ mistake|was\ wrong|misread|meant?)|my\ mistake|sorry|oops|hmm|no,
    |moment\ mal|korrektur|nein|en\ fait|correction|espera|perdón|corrección|подождите|исправление)\b
    |等等|不对|更正|订正|いや|訂正|間違え|아니|잠깐|정정""",
    re.VERBOSE | re.IGNORECASE,
)


def marker_ends(text: str, lowered: str, also: tuple[str, ...] = ()) -> Iterator[int]:
    """Where each answer marker ends, the last one first."""
    markers = also + (ASCII_MARKERS if text.isascii() else ASCII_MARKERS + OTHER_MARKERS)
    limit = len(lowered)
    while limit > 0:
        best, width = -1, 0
        for marker in markers:
            found = lowered.rfind(marker, max(best, 0), limit)
            if found > best:
                best, width = found, len(marker)
        if best < 0:
            return
        yield best + width
        limit = best
