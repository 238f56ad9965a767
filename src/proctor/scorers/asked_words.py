"""What a question asks for, as words that an answer may repeat."""

from __future__ import annotations

import re
from functools import lru_cache

from proctor.scorers.lazy_pattern import lazy_pattern

MAX_QUESTION = 400
_SENTENCE = lazy_pattern(r"(?<![^.!?。！？\n])(?:[^.!?。！？\n]*+[?？]|[^。\n]*か。)")
"""Tried only where a sentence can begin: tried at every character it took longer than all else that marks an answer."""
_WORD = lazy_pattern(r"[^\W\d_]+")
_COMMON_WORDS = {
    "en": "which what who whom whose when where why how many much does did have been were will would could"
    " should the and that this these those with from into than then there their they following option"
    " options answer statement statements one ones for are was has had its his her not you your kind type"
    " name called known about",
    "de": "welche welcher welches welchem welchen wer was wann wie viele viel ist sind war waren hat haben wird"
    " werden der die das den dem des ein eine einer eines einem einen und von mit auf für aus bei nach"
    " heißt folgenden dieser diese dieses",
    "fr": "quel quelle quels quelles qui que quoi combien est sont était dans les des une pour par sur avec"
    " cette ces lors parmi suivants elle elles ils",
    "es": "qué cuál cuáles quién cuánto cuánta cuántos cuántas dónde cuándo cómo son era fue los las del una"
    " uno para por con este esta estos estas siguientes entre sus",
}
_COMMON = frozenset(word for words in _COMMON_WORDS.values() for word in words.split())
_HEAD = lazy_pattern(
    r"\b(?:which|what|welche[rsmn]?|quel(?:le)?s?|qué|cuál(?:es)?)\s(?:(?:of\sthe(?:se)?|der|des|de\sl[oa]s)\s)?"
    r"(?:following\s|folgenden\s)?([^\W\d_]+)",
    re.IGNORECASE,
)
"""'Which planet …': every option is one."""
_HAN = lazy_pattern(r"[\u3400-\u9fff]{2,}|[\u30a0-\u30ff]{2,}")
_HAN_KANA = lazy_pattern(r"(?<![\u3400-\u9fff])[\u3400-\u9fff](?![はがをにでとのもへや])[\u3041-\u3096]")
"""The beginning of a Japanese verb or adjective: 初めて, 開かれた."""
_HANGUL = lazy_pattern(r"[가-힣]{2,}")
_ASKING = (
    "모두 얼마 입니 下列 以下 哪一 一个 哪个 哪些 什么 選択 選び 選ん 正し 何か 다음 어느 무엇 어떤 것은 누구 가장"
)
_COMMON_PAIRS = frozenset(_ASKING.split())


def repeats_question(said: str, question: str) -> bool:
    """Whether something that was said repeats a word of what the question asks for."""
    return bool(asked_words(question) & words_of(said))


def last_question(text: str) -> str:
    """The last sentence that asks; the end of the text where none does."""
    tail = text[-MAX_QUESTION:]
    sentences = _SENTENCE.findall(tail)
    return sentences[-1] if sentences else tail


@lru_cache(maxsize=1024)
def asked_words(question: str) -> frozenset[str]:
    """The beginnings of the words of the last question in a text, without those that every option fits."""
    asked = last_question(question)
    heads = {head.lower() for head in _HEAD.findall(asked)} - _COMMON
    return words_of(asked) - {_stem(head) for head in heads}


def words_of(text: str) -> frozenset[str]:
    """Beginnings of words, so that 'write' and 'writes' are one; pairs of characters where a script has no spaces."""
    lowered = text.lower()
    spaced = {
        _stem(word) for word in _WORD.findall(lowered) if len(word) > 2 and word.isalpha() and word not in _COMMON
    }
    if text.isascii():
        return frozenset(spaced)
    pairs = {run[i : i + 2] for run in _HAN.findall(text) for i in range(len(run) - 1)}
    pairs |= set(_HAN_KANA.findall(text))
    syllables = {word[:2] for word in _HANGUL.findall(text)}
    latin = {word for word in spaced if word[0] < "\u3040"}
    return frozenset(latin | pairs | syllables) - _COMMON_PAIRS


def are_forms(one: str, other: str) -> bool:
    """Whether two beginnings may be of one word: 'pag' of paga, 'paga' of pagan."""
    return one == other or (one[0] < "\u3040" and (one.startswith(other) or other.startswith(one)))


_FORMS = (
    "begin begins began begun beginning start starts started starting commence commenced|end ends ended ending"
    " finish finished"
    "|fall falls fell fallen|write wrote written|win wins won|build built|sink sinks sank sunk|find found|eat ate eaten"
    "|give gives gave given|take takes took taken|sell sold|buy bought|lose lost|fly flew flown|swim swam|run"
    " ran|lead led|die died"
    "|become became|hold held|keep kept|leave left|speak spoke spoken|draw drew drawn|drive drove driven|grow"
    " grew grown"
    "|beginnt begann begonnen anfangen begonnen|endet endete|fällt fiel gefallen fallen|schrieb schreibt"
    " geschrieben|starb stirbt gestorben"
    "|liegt lag|fließt floss|fand findet gefunden|gewann gewinnt gewonnen|verlor verliert verloren|erhielt"
    " erhält|kaufte kauft gekauft"
    "|cayó cae caer caído|murió muere morir|nació nace nacer|empezó empieza comenzó comienza|terminó termina"
    " acabó acaba|ganó gana"
    "|mort mourut meurt|naît naquit né née|prit prise prend|commença commence débuta débute|finit finie"
)
_FORM_OF = {word: forms.split()[0] for forms in _FORMS.split("|") for word in forms.split()}
"""Forms of a verb that do not begin alike, and the two words for where something begins."""


def _stem(word: str) -> str:
    word = _FORM_OF.get(word, word)
    word = word[:-1] if len(word) > 3 and word.endswith("s") else word
    return word[:5] if len(word) > 5 else word[: max(3, len(word) - 1)]
