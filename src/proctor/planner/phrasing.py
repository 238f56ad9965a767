"""A text cut into phrases: names, numbers and words that mean something, and what is left over."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from msgspec.structs import replace

from proctor.planner.catalogue import PlannerCatalogue
from proctor.planner.characters import SCALES, by_scales
from proctor.planner.fractions import fraction_at
from proctor.planner.lexicon import Concepts, Lexicon, language_of, language_with, lexicon
from proctor.planner.names import exact_models, known_names
from proctor.planner.numbers import number_in_digits, number_in_words, with_fraction
from proctor.planner.phrases import Phrase, Phrases
from proctor.planner.words import CJK, Token, normalise, parts_of_lists, tokens_of

STOPS = frozenset(".,;:!?()[]{}、。/|\u2026")

_UNITS_BEHIND = {"s": ("seconds", ""), "m": ("minutes", "1"), "c": ("currency", "cent")}
"""Letters that are units right behind a number: `30s`, `50c`."""

SILENT_CJK = 4
"""Endings and particles behind a word that was understood say nothing of their own."""


def read_phrases(query: str, catalogue: PlannerCatalogue) -> Phrases:
    """The phrases of a query; a UserError for what is no query at all."""
    text = _apart(normalise(query), catalogue)
    tokens = tokens_of(text)
    language = language_of(tokens)
    items = list(_phrases(text, parts_of_lists(tokens, language), language, catalogue))
    if language == "en" and _has_hundred(tokens):
        language = "fr"
        items = list(_phrases(text, parts_of_lists(tokens, language), language, catalogue))
    elif language == "en":
        unknown = [tokens_of(text[item.start : item.end])[0].text for item in items if item.kind == "unknown"]
        other = language_with(unknown)
        if other is not None:
            language = other
            items = list(_phrases(text, parts_of_lists(tokens, language), language, catalogue))
    elif language in ("zh", "ja") and not any("\u3040" <= token.text < "\u3100" for token in tokens):
        # Characters alone may be of either; the lexicon that knows more of them has them.
        other = "ja" if language == "zh" else "zh"
        again = list(_phrases(text, parts_of_lists(tokens, other), other, catalogue)) if _unread(items) else items
        if _unread(again) < _unread(items):
            language, items = other, again
    _divide_at_dashes(text, items)
    return Phrases(text, language, parts_of_lists(tokens, language), items)


def _unread(items: list[Phrase]) -> int:
    """How many characters mean nothing here."""
    return sum(item.end - item.start for item in items if item.kind == "unknown")


def _has_hundred(tokens: list[Token]) -> bool:
    """`cent questions`: with no amount before it the word is no cent of a dollar, and French."""
    return any(
        token.text == "cent" and (at == 0 or tokens[at - 1].kind == "mark") and at + 1 < len(tokens)
        and tokens[at + 1].kind == "word" for at, token in enumerate(tokens)
    )  # fmt: skip


def _divide_at_dashes(text: str, items: list[Phrase]) -> None:
    """`gsm8k - 50 questions - $2`: a dash with spaces around it divides as a comma does, but for `temperature - 0`."""
    for at, item in enumerate(items[1:-1], 1):
        written = text[item.start - 1 : item.end + 1]
        is_dash = written in (" - ", " \u2013 ", " \u2014 ") or (len(written) == 3 and written[1] == "\u2014")
        is_named = items[at - 1].kind in _LABELS and (at == 1 or items[at - 2].kind == "stop")
        if is_dash and item.kind == "filler" and not (is_named and items[at + 1].number is not None):
            items[at] = replace(item, meanings=(("stop", ","),))


_LABELS = (
    "temperature",
    "top_p",
    "seed",
    "limit",
    "sample",
    "epoch",
    "budget",
    "maxtoken",
    "shot",
    "parallel",
    "level",
)
"""What a dash may stand behind as a colon does."""

_GLUED = re.compile(rf"(?<![A-Za-z0-9-])([A-Za-z][A-Za-z0-9+-]*?)(?=[0-9][0-9.,]*(?:[%~\u301c-]|[{CJK}]))")


_NON = re.compile("(?<![\uac00-\ud7a3])비(?=[\uac00-\ud7a3]{1,5}어(?:[^\uac00-\ud7a3]|[\uac00-\ud7a3]?\\s|$))")
"""`비영어` is all but English."""


def _apart(text: str, catalogue: PlannerCatalogue) -> str:
    """`piqa100問` as `piqa 100問`: where no spaces are written, a benchmark and a number are two words."""
    text = _NON.sub("비 ", text)
    return _GLUED.sub(lambda found: found[1] + " " * (catalogue.benchmark(found[1].lower()) is not None), text)


def read_variants(phrases: Phrases, catalogue: PlannerCatalogue) -> None:
    """`truthfulqa mc2`: variants by the names that the catalogue has for them."""
    known = {name for item in catalogue.benchmarks for name in item.variants}
    for at, item in enumerate(phrases.items):
        if item.kind == "unknown" and phrases.words(at).lower() in known:
            phrases.items[at] = replace(item, meanings=(("variant", phrases.words(at).lower()),))


def complete_names(phrases: Phrases, catalogue: PlannerCatalogue) -> None:
    """`bfcl simple and multiple`, `kobest-copa and wic`: the second part of a name whose first part was said before."""
    for at, item in enumerate(phrases.items):  # `gsm8k, svamp et math`: in a list of benchmarks the word is one, too
        beside = [phrases.items[place] for place in (at - 2, at + 2) if 0 <= place < len(phrases.items)]
        is_listed = any(one.kind == "benchmark" and len(one.meanings) == 1 for one in beside)
        if is_listed and phrases.words(at).lower() == "math" and item.kind == "subject":
            phrases.items[at] = replace(item, meanings=(("softname", "math"), ("subject", "mathematics")))
        is_left_out = item.kind == "unknown" and at > 0 and phrases.items[at - 1].kind == "except"
        if is_left_out and catalogue.benchmark(phrases.words(at).lower()) is not None:  # `except requirements`
            phrases.items[at] = replace(item, meanings=(("benchmark", phrases.words(at).lower()),))
    for at, item in enumerate(phrases.items[:-2]):
        first, dash, _ = item.value.rpartition("-") if item.kind in ("benchmark", "bench") else ("", "", "")
        follows = at + 2
        while (
            dash and follows < len(phrases.items) and phrases.items[follows - 1].kind in ("filler", "stop", "compare")
        ):
            other = phrases.items[follows]
            name = f"{first}-{phrases.text[other.start : other.end].lower()}"
            if other.kind in ("benchmark", "bench") or catalogue.benchmark(name) is None:
                break
            phrases.items[follows] = replace(other, meanings=(("benchmark", name),))
            follows += 2


def read_again(phrases: Phrases, texts: dict[int, str], catalogue: PlannerCatalogue) -> list[Phrase]:
    """The phrases with other words in the places of some; what is shown stays what was written."""
    tokens = [replace(token, text=texts.get(at, token.text)) for at, token in enumerate(phrases.tokens)]
    return list(_phrases(phrases.text, tokens, phrases.language, catalogue))


def _phrases(text: str, tokens: list[Token], language: str, catalogue: PlannerCatalogue) -> Iterator[Phrase]:
    words, names = lexicon(language), known_names(catalogue)
    written = exact_models(text, tokens, catalogue)
    at, is_after_word = 0, False
    while at < len(tokens):
        token = tokens[at]
        found: tuple[int, Concepts] | None
        if at and token.text in _UNITS_BEHIND and not token.gap and tokens[at - 1].kind == "number":
            yield _phrase(tokens, at, at + 1, (_UNITS_BEHIND[token.text],))
            at, is_after_word = at + 1, True
            continue
        if at in written:
            end, meaning = written[at]
            yield _phrase(tokens, at, end, (meaning,))
            at, is_after_word = end, True
            continue
        found = words.longest(tokens, at)
        if found is not None and token.kind == "cjk" and _is_stray(tokens, at, found[0], is_after_word):
            found = None
        if found is not None and found[1] == _TENTHS and not _is_numeral(tokens, at - 1):
            found = None
        named = names.longest(tokens, at, words)
        if named is not None and (found is None or named[0] > found[0] or not _is_word(found, named, catalogue)):
            found = named if found is None or named[0] >= found[0] else found
        part = fraction_at(tokens, at, language)
        if part is not None and (found is None or part[0] >= found[0]):
            yield _phrase(tokens, at, part[0], (("fraction", part[1]),))
            at, is_after_word = part[0], True
            continue
        number = _number(tokens, at, language, found)
        if number is not None:
            end, value, can_stand = number
            vague = found[1] if found is not None and found[1][0][0] in ("vague", "numeral") else ()
            yield _phrase(tokens, at, end, (("number", ""), *vague), value, can_stand)
            at, is_after_word = end, True
        elif found is not None:
            found = _with_plus(tokens, *found, catalogue)
            yield _phrase(tokens, at, *found)
            at, is_after_word = found[0], True
        elif language == "de" and (parts := _compound(token, at, words)):
            yield from parts
            at, is_after_word = at + 1, True
        elif token.kind == "mark":
            kind = "stop" if token.text in STOPS else "filler"
            yield _phrase(tokens, at, at + 1, ((kind, token.text),))
            at, is_after_word = at + 1, False
        else:
            known = lambda here: words.longest(tokens, here) or _number(tokens, here, language, None)  # noqa: E731
            end = _end_of_unknown(tokens, at, known) if token.kind == "cjk" else at + 1
            is_ending = token.kind == "cjk" and _is_ending(tokens, at, end, is_after_word)
            yield _phrase(tokens, at, end, (("filler" if is_ending else "unknown", ""),))
            at, is_after_word = end, is_ending


_ABOUT = ("benchmark", "bench", "benches", "softname", "subject", "group", "category", "unknown")


def _is_word(found: tuple[int, Concepts], named: tuple[int, Concepts], catalogue: PlannerCatalogue) -> bool:
    """Whether a project's own benchmark is called as a word that means something else here: `questions`, `haiku`."""
    kind, name = named[1][0]
    benchmark = catalogue.benchmark(name) if kind == "benchmark" else None
    return benchmark is not None and benchmark.is_own and found[1][0][0] not in _ABOUT


_TENTHS: Concepts = (("percent", "10"),)
"""`2割`, `两成`: tenths behind a number; elsewhere the sign is a part of other words."""


def _is_numeral(tokens: list[Token], at: int) -> bool:
    return at >= 0 and (tokens[at].kind == "number" or tokens[at].text in "一二两三四五六七八九半")


_HEADS = ("fragen", "frage", "aufgaben", "aufgabe", "probleme", "r\u00e4tsel", "tests", "test", "modelle", "modell",
          "kenntnisse", "wissen", "f\u00e4higkeiten", "f\u00e4higkeit", "benchmarks", "benchmark",
          "sprachige", "sprachigen",
          "sprachiger", "sprachiges", "sprachig",
          "obergrenze", "grenze", "limit", "rahmen", "deckel", "budget")  # fmt: skip
"""Last parts of German words: `Physikfragen` are questions of physics."""


def _compound(token: Token, at: int, words: Lexicon) -> list[Phrase]:
    """The two parts of a German word of which the first means something; empty where it is none."""
    last = next((head for head in _HEADS if token.text.endswith(head) and len(token.text) > len(head) + 2), None)
    for cut in (0, 1) if last else ():  # the s of `Wissenschaftsfragen`
        first = token.text[: len(token.text) - len(last or "") - cut]
        found = words.longest([replace(token, text=first)], 0)
        if found is not None:
            middle = token.start + len(first) + cut
            behind = words.longest([replace(token, text=last or "")], 0)
            kinds: Concepts = behind[1] if behind else (("filler", ""),)
            return [Phrase(found[1], at, at, token.start, middle), Phrase(kinds, at, at, middle, token.end)]
    return []


def _with_plus(tokens: list[Token], end: int, concepts: Concepts, catalogue: PlannerCatalogue) -> tuple[int, Concepts]:
    """`humaneval+` is humaneval-plus; `humaneval + mbpp` are two."""
    is_sign = end < len(tokens) and tokens[end].text == "+" and not tokens[end].gap
    is_last = is_sign and (
        end + 1 == len(tokens) or bool(tokens[end + 1].gap) or tokens[end + 1].kind in ("mark", "cjk")
    )
    name = f"{concepts[0][1]}-plus"
    if is_last and concepts[0][0] in ("benchmark", "bench") and catalogue.benchmark(name) is not None:
        return end + 1, (("benchmark", name),)
    return end, concepts


def _phrase(
    tokens: list[Token],
    first: int,
    end: int,
    meanings: Concepts,
    number: float | int | None = None,
    can_stand: bool = True,
) -> Phrase:
    return Phrase(meanings, first, end - 1, tokens[first].start, tokens[end - 1].end, number, can_stand)


def _number(
    tokens: list[Token], at: int, language: str, found: tuple[int, Concepts] | None
) -> tuple[int, float | int, bool] | None:
    """The number that begins here, unless a longer phrase does."""
    if found is not None and found[1][0][0] in ("vague", "numeral"):  # `a few hundred`, `a single`
        return found[0], int(found[1][0][1]), True
    token = tokens[at]
    if token.kind == "number":
        if found is not None and found[0] > at + 1:
            return None
        end, value, can_stand = _digits(tokens, at, language)
        return *with_fraction(tokens, end, value, language), can_stand
    words = number_in_words(tokens, at, language)
    if words is not None and at and tokens[at - 1].text == "의" and tokens[words[0] - 1].text == "만":
        words = (
            number_in_words(tokens[: words[0] - 1], at, language) if words[0] - 1 > at else None
        )  # `오분의 일만` is only a fifth
    if words is None:
        return None
    end, value = with_fraction(tokens, words[0], words[1], language)
    if token.kind == "cjk":
        # A syllable that is also a numeral counts as one only before a unit, or after the sign for hundredths.
        follows = lexicon(language).longest(tokens, end)
        is_counted = _is_counted(tokens, end, language)
        is_bar = follows is not None and follows[1][0][0] == "fractionbar"  # 十分の一, where 十分 means enough
        is_share = at > 0 and tokens[at - 1].text in _SHARE_SIGNS
        is_longer = found is not None and found[0] > end and not is_bar
        is_plain = is_counted or is_share or words[2] or end > words[0] or _is_long(tokens[at : words[0]])
        if is_longer or not is_plain:
            return None
        return end, value, words[2] or value >= MANY
    if found is not None and found[0] > end:
        return None
    return end, value, words[2]


def _is_long(numeral: list[Token]) -> bool:
    """Whether no other word is written like these numerals: `四十`, `마흔`, and not `사이` or `十`."""
    return len(numeral) > 1 and (any(one.text in _SCALES for one in numeral) or numeral[0].text in "스서마예일여아")


_SCALES = frozenset("十百千십백천")
MANY = 10
"""A number in characters that stands without a unit counts something from here on."""
_SHARE_SIGNS = frozenset({"之", "の", "의"})
"""What stands before the second part of a fraction: 十分之一, 五分の一, 십분의 일."""

_COUNTED = frozenset(
    {"sample", "currency", "minutes", "seconds", "times", "counter", "shot", "example", "epoch", "points", "percent",
     "modelword", "request", "token", "fractionbar"}
)  # fmt: skip


def _digits(tokens: list[Token], at: int, language: str) -> tuple[int, float | int, bool]:
    value, end = number_in_digits(tokens[at].text, language), at + 1
    is_grouped = language in ("fr", "es", "de") or (end < len(tokens) and tokens[end].text == "000")
    is_grouped = is_grouped or (at > 0 and tokens[at - 1].kind == "mark" and _is_counting(tokens, end + 1, language))
    is_low = re.fullmatch(r"\d{1,3}", tokens[at].text) is not None
    if (
        is_grouped
        and is_low
        and end < len(tokens)
        and tokens[end].gap == " "
        and re.fullmatch(r"\d{3}", tokens[end].text)
    ):
        value, end = value * 1000 + int(tokens[end].text), end + 1
    following = tokens[end] if end < len(tokens) else None
    if following is not None and following.text == "k" and not following.gap:
        thousands = value * 1000
        return end + 1, int(thousands) if float(thousands).is_integer() else thousands, True
    if following is not None and following.text in SCALES and not following.gap and end == at + 1:  # `1만 5천`
        end, value = by_scales(tokens, at) or (end, value)
        is_part = at > 0 and tokens[at - 1].text == "의"  # `4분의 1만 문제당`
        if tokens[end - 1].text == "만" and (is_part or not _is_counted(tokens, end, language)):  # only 1
            end, value = by_scales(tokens[: end - 1], at) or (end, value)
    return end, value, True


def _is_counted(tokens: list[Token], at: int, language: str) -> bool:
    """Whether something that is counted stands here."""
    behind = lexicon(language).longest(tokens, at)
    return behind is not None and behind[1][0][0] in _COUNTED


def _is_counting(tokens: list[Token], at: int, language: str) -> bool:
    """Whether a word for samples stands here: `, 1 500 questions`."""
    behind = lexicon(language).longest(tokens, at)
    return behind is not None and behind[1][0][0] == "sample"


_PARTICLES = frozenset(
    {"은", "는", "이", "가", "을", "를", "와", "과", "랑", "이랑", "하고", "도", "만", "의", "에서", "으로"}
)


def _is_stray(tokens: list[Token], at: int, end: int, is_after_word: bool) -> bool:
    """Whether one syllable that means something alone is here a part of another Korean word."""
    token = tokens[at]
    if token.text < "\uac00" or end - at > 1:
        return False
    rest = end
    while rest < len(tokens) and not tokens[rest].gap and tokens[rest].kind == "cjk":
        rest += 1
    is_alone = rest == end or "".join(token.text for token in tokens[end:rest]) in _PARTICLES
    return not (is_alone or (is_after_word and not token.gap))


def _end_of_unknown(tokens: list[Token], at: int, known: Callable[[int], object | None]) -> int:
    """The end of a run of characters that mean nothing here: the word's end, or where what is known begins."""
    end = at + 1
    while end < len(tokens) and tokens[end].kind == "cjk" and not tokens[end].gap:
        if tokens[at].text < "\uac00" and known(end) is not None:
            break
        end += 1
    return end


def _is_ending(tokens: list[Token], at: int, end: int, is_after_word: bool) -> bool:
    """Whether a run is grammar: behind a word that was understood, or in Japanese kana alone."""
    is_joined = is_after_word and not tokens[at].gap and end - at <= SILENT_CJK
    is_hangul = tokens[at].text >= "\uac00"
    is_hiragana = all("\u3040" <= token.text <= "\u309f" for token in tokens[at:end])
    return (is_joined and is_hangul) or (is_hiragana and end - at <= SILENT_CJK)
