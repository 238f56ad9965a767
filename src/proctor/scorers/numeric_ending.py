"""Which number a response ends with, where it announces none: its conclusion, without what is only said around it."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator, Mapping
from itertools import pairwise

from proctor.scorers.asked_words import asked_words, last_question, words_of
from proctor.scorers.contrast import is_ruled_out_after
from proctor.scorers.denial import is_denied
from proctor.scorers.lazy_pattern import lazy_pattern
from proctor.scorers.markers import CORRECTION, SENTENCE_END
from proctor.scorers.number_words import find_spelt
from proctor.scorers.numbers import MAX_INTEGER_DIGITS, FoundNumber, find_numbers
from proctor.scorers.numeric_asked import GONE, TOTAL, asks_remainder, keep_asked, says_only_what_is_gone
from proctor.scorers.numeric_facts import asks_fact, only_years, year_bound
from proctor.scorers.numeric_given import count_given, without_given
from proctor.scorers.numeric_patterns import (
    AFTERWORD,
    ASIDE,
    BECAUSE,
    BOLD,
    BOUND_AFTER,
    BOUND_BEFORE,
    CLAUSE_END,
    CONCLUDES,
    GOES_ON,
    HEADED,
    INTRODUCTION,
    LIMIT_ASKED,
    NUMBERED,
    OPERATOR,
    RATE,
    RATE_ASKED,
    RATIO,
    REASON,
    REASON_AT_END,
    REMAINDER,
    SO,
    SPENT,
    UNDONE_SUM,
)
from proctor.scorers.numeric_ranges import ends_range, is_range
from proctor.scorers.numeric_remarks import without_follow_up, without_remarks
from proctor.scorers.numeric_roles import MAX_SHORT, NumberRole, role_of
from proctor.scorers.numeric_spelt import only_spelt, spelt_rather
from proctor.scorers.numeric_statements import stated_number
from proctor.scorers.numeric_subjects import without_others
from proctor.scorers.numeric_times import asks_before, says_only_other_time, without_other_times
from proctor.scorers.numeric_unasked import without_unasked
from proctor.scorers.numeric_units import of_unit_asked
from proctor.scorers.stance import leaves_open
from proctor.scorers.stance_words import TURN

TAIL = 2000
MAX_NUMBERS = 600
"""The last ones are looked at: a tail of digits and commas holds a thousand, and each takes a look around it."""
MAX_SPELT = 240
"""Characters of a response whose numbers are all in words; in a longer one 'two' and 'first' are said of anything."""
DENIED = "said not to be the answer"
OF_ANOTHER = "said of somebody else than the question asks about"
OF_OTHER_TIME = "said of another time than the question asks about"
_THAT_IS = lazy_pattern(r"[\s\W]*(?:soit|that\sis|macht|o\ssea|es\sdecir|en\stotal)\s", re.IGNORECASE)
MAX_ANSWER = 24
"""An answer with its unit alone: '32 Euro. He spent 18'."""


def last_number(text: str, *, comma_decimals: bool, question: str = "") -> tuple[FoundNumber, str, bool] | None:
    """The number, how it was found and whether it is one end of a range."""
    start = max(0, len(text) - TAIL)
    floor = max(0, start - MAX_INTEGER_DIGITS)
    while start > 0 and (text[start - 1].isdigit() or (start > floor and not text[start].isspace())):
        start -= 1  # never cut a number in two
    text = without_follow_up(text[start:].strip())
    text = _conclusion(without_other_times(text, question), comma_decimals)
    text = without_remarks(text, _numbers(text, comma_decimals), question)
    bold = _bold(text, text.rfind("\n") + 1, comma_decimals) or _only_bold(text, comma_decimals)
    if bold:
        number = _likeliest(text, bold)
        return number, "the last number in bold", is_range(text, number)
    outside = ASIDE.sub(lambda found: " " * len(found[0]), text)
    found = _last(outside, question, comma_decimals) or _last(text, question, comma_decimals)
    is_gone = found is not None and len(_numbers(text, comma_decimals)) < 2 and says_only_what_is_gone(text, question)
    if found and says_only_other_time(text, question):
        return found[0], OF_OTHER_TIME, True
    return (found[0], GONE, True) if found and is_gone else found


def opening_number(text: str, *, comma_decimals: bool) -> FoundNumber | None:
    """The number that a first paragraph consists of, perhaps with its unit; none where the rest concludes anew."""
    first, blank, rest = text.partition("\n\n")
    numbers = _numbers(first, comma_decimals) if blank and len(first) < 40 else []
    if len(numbers) != 1 or len(first.replace(numbers[0].text, "").split()) > 1:
        return None
    return None if CONCLUDES.search(rest) or CORRECTION.search(rest) else numbers[0]


def _is_only_bound(text: str, number: FoundNumber, numbers: list[FoundNumber], question: str) -> bool:
    """Whether all that is said is 'more than 9', where no least or greatest number is asked for."""
    is_bound = BOUND_BEFORE.search(text, max(0, number.start - 24), number.start) or BOUND_AFTER.match(text, number.end)
    is_bound = is_bound or year_bound(text, number, question)
    return is_bound is not None and not LIMIT_ASKED.search(question) and len(numbers) < 2


def _conclusion(text: str, comma: bool) -> str:
    """The text up to its conclusion: remarks, checks, grounds and restated facts that follow it are left out."""
    numbers = _numbers(text, comma)
    since = max((found.end() for found in CONCLUDES.finditer(text)), default=0)
    for found in AFTERWORD.finditer(text, since):
        before = _between(numbers, 0, found.start())
        is_apart = not found["origins"] or not GOES_ON.search(text, found.end())
        if (len(before) == 1 and is_apart) or (before and not found["grounds"] and not found["origins"]):
            text = text[: found.start()]
            break
    end = SENTENCE_END.search(text, since) if since else None
    concluded = {number.value for number in _between(numbers, since, end.start())} if end else set()
    is_restated = bool(numbers) and numbers[-1].value in concluded
    if end and concluded and not is_restated and not GOES_ON.search(text, end.end()):
        text = text[: end.start()]
    return text.rstrip()


def _numbers(text: str, comma: bool) -> list[FoundNumber]:
    """The numbers of a text that are not the labels of its steps, nor parts of a ratio or a time."""
    numbered = {found.start(1): found[1] for found in NUMBERED.finditer(text)}
    if "1" not in numbered.values():
        numbered = {}
    last = deque(find_numbers(text, comma_decimals=comma), maxlen=MAX_NUMBERS)
    return [
        number
        for number in last
        if number.start not in numbered
        and not HEADED.search(text, max(0, number.start - 16), number.start)
        and not RATIO.search(text, max(0, number.start - 2), number.start)
        and not (text.startswith(":", number.end) and text[number.end + 1 : number.end + 2].isdigit())
    ]


def _bold(text: str, start: int, comma: bool) -> list[FoundNumber]:
    return [
        number._replace(start=found.start(1) + number.start, end=found.start(1) + number.end)
        for found in BOLD.finditer(text, start)
        for number in _numbers(found[1], comma)
    ]


def _only_bold(text: str, comma: bool) -> list[FoundNumber]:
    """The numbers in bold where all are the same and something is worked out: what follows is a remark."""
    bold = _bold(text, 0, comma) if "**" in text else []
    is_one = len({number.value for number in bold}) == 1
    return bold if is_one and not CORRECTION.search(text, bold[-1].end) else []


def _likeliest(text: str, numbers: list[FoundNumber]) -> FoundNumber:
    """The last of those with the least role."""
    return min(reversed(numbers), key=lambda number: role_of(text, number))


def _last(text: str, question: str, comma: bool) -> tuple[FoundNumber, str, bool] | None:
    """The number that states what is asked, comes to all its parts, or is the likeliest of the last sentence."""
    known = _numbers(text, comma)
    if not known and len(text) <= MAX_SPELT and len(question) > 2:
        known = [*find_spelt(text)]
    numbers = only_years(text, known, question)
    if (own := without_others(text, numbers, question)) is None:
        return numbers[-1], OF_ANOTHER, True
    numbers = own
    if len(numbers) > 1 and asks_fact(text, question):
        numbers = _not_denied(text, numbers) or numbers
    numbers = without_unasked(text, numbers, question)
    if stated := stated_number(text, numbers, question):
        return *stated, is_range(text, stated[0])
    return _likeliest_of_last_sentence(text, numbers, known, question)


def _likeliest_of_last_sentence(
    text: str, numbers: list[FoundNumber], known: list[FoundNumber], question: str
) -> tuple[FoundNumber, str, bool] | None:
    """Of the last sentence with a number that is not merely known, the likeliest answer; else the last number.

    The numbers are those that may answer; the known ones are all from which one may be worked out.
    """
    is_remainder_asked = asks_remainder(question)
    for start, end in _sentences_backwards(text):
        is_worked_out = any(role_of(text, number) is NumberRole.RESULT for number in _between(numbers, start, end))
        united = None if is_worked_out else of_unit_asked(text, _between(numbers, start, end), question)
        if united and role_of(text, united) is not NumberRole.KNOWN:
            return united, "the only number with the unit asked for", is_range(text, united)
        is_left_asked = is_remainder_asked and not is_worked_out
        if is_left_asked and _is_only_spent(text, numbers, start, end):
            continue
        if is_left_asked and _says_left_before(text, numbers, start, end):
            continue
        left = _remainder(text, numbers, start, end, is_asked=is_left_asked)
        begin, stop = left or _claim(text, numbers, start, end, question)
        said = _between(numbers, begin, stop)
        likely = [number for number in said if role_of(text, number) <= NumberRole.RATE]
        is_result = any(role_of(text, number) is NumberRole.RESULT for number in likely)
        asked = keep_asked(text, likely, question) if len(likely) > 1 and not is_result else said
        is_plain = left is None and not is_worked_out and "=" not in text[start:end]
        if is_plain and (rate := _rate_asked(text, _between(numbers, start, end), question)):
            return rate, "the only number for each of what the question names", is_range(text, rate)
        if is_plain and asked:
            if begin > 0 and _only_repeats(text, known, start, end, question):
                continue
            is_whole = begin == start and len(asked) == len(said) and BECAUSE.search(text, start, end) is None
            sentence = _between(numbers, start, end) if is_whole else []
            asked = _new(text, asked, question) or _new(text, sentence, question) or asked
        best = _likeliest(text, asked) if asked else None
        is_given = is_plain and len(question) > 2 and best is not None and not without_given([best], question)
        best = spelt_rather(text, best, begin, stop, question, is_given=is_given) or best
        best = _concluded(text, best, said, end, question) or best
        if best and role_of(text, best) is not NumberRole.KNOWN:
            is_open = _is_only_bound(text, best, numbers, question) or _is_one_of_two(text, numbers)
            return best, "the last number", is_open or ends_range(text, said, best) or is_range(text, best)
    if numbers:
        is_refuted = len(text) <= MAX_SHORT and all(_is_denied(text, number) for number in numbers)
        return numbers[-1], DENIED if is_refuted else "the last number", is_refuted
    return only_spelt(text) if len(question) > 2 else None


def _concluded(
    text: str, best: FoundNumber | None, said: list[FoundNumber], end: int, question: str
) -> FoundNumber | None:
    """Of '12 × 20 = 240, minus the 40, the price now is 200' the 200, and of '= 20; the half, so, ten' the ten.

    A result is no answer yet where what follows draws a conclusion or repeats what the question asks.
    """
    if best is None or len(question) < 3 or role_of(text, best) is not NumberRole.RESULT:
        return None
    so = SO.search(text, best.end, end)
    spelt = without_given([*find_spelt(text, so.end(), end)], question) if so else []
    if spelt:
        return spelt[-1]
    asked = asked_words(question)
    bounds = [best.end, *(found.end() for found in CLAUSE_END.finditer(text, best.end, end)), end]
    for begin, stop in reversed(list(pairwise(bounds))):
        new = without_given(_between(said, begin, stop), question)
        is_conclusion = (
            asked & words_of(text[begin:stop]) or TOTAL.search(text, begin, stop) or _THAT_IS.match(text, begin, stop)
        )
        if len(new) == 1 and role_of(text, new[0]) is NumberRole.SAID and is_conclusion:
            return new[0]
    return None


def _is_one_of_two(text: str, numbers: list[FoundNumber]) -> bool:
    """'Maybe 12, maybe 15'."""
    return len(text) <= MAX_SHORT and len({number.value for number in numbers}) > 1 and leaves_open(text)


def _is_denied(text: str, number: FoundNumber) -> bool:
    return is_denied(text, number.start, number.end) or is_ruled_out_after(text, number.end)


def _not_denied(text: str, numbers: list[FoundNumber]) -> list[FoundNumber]:
    """'Not 1940 but 1964; the games of 1940 …': what is ruled out once stays so."""
    denied = {number.value for number in numbers if role_of(text, number) is NumberRole.KNOWN}
    return [number for number in numbers if number.value not in denied]


def _rate_asked(text: str, said: list[FoundNumber], question: str) -> FoundNumber | None:
    """'84 in two months, that is 42 a month' where the question asks for each month."""
    if len(said) < 2 or not RATE_ASKED.search(last_question(question)):
        return None
    rates = [number for number in without_given(said, question) if RATE.match(text, number.end)]
    return rates[0] if len(rates) == 1 and role_of(text, rates[0]) is not NumberRole.KNOWN else None


def _only_repeats(text: str, numbers: list[FoundNumber], start: int, end: int, question: str) -> bool:
    """'24. That's 4 boxes of 6', '185. There are 200 in all': a sentence that only supports one before it."""
    if len(question) < 3 or asks_remainder(question) or asks_before(question) or SO.search(text, start, end):
        return False
    before = without_given(_between(numbers, 0, start), question)
    said = [*_between(numbers, start, end), *find_spelt(text, start, end)]
    new = without_given(said, question)
    if not before or not new:
        return bool(before)
    if len(text) > MAX_SHORT or "=" in text or CORRECTION.search(text, start, end):
        return False
    most = max(count_given(numbers, new, question))
    return 0 < most < max(count_given(numbers, before, question))


def _new(text: str, said: list[FoundNumber], question: str) -> list[FoundNumber]:
    """Those said that the question does not name."""
    if len(question) < 3 or any(is_range(text, number) or ends_range(text, said, number) for number in said):
        return said
    new = [number for number in without_given(said, question) if role_of(text, number) is not NumberRole.KNOWN]
    return [number for number in new if role_of(text, number) <= NumberRole.RATE] or new


def _is_only_spent(text: str, numbers: list[FoundNumber], start: int, end: int) -> bool:
    """'7 are left. She used 5': a sentence about what is gone, after one about what is left."""
    return (
        SPENT.search(text, start, end) is not None
        and REMAINDER.search(text, start, end) is None
        and bool(before := _between(numbers, 0, start))
        and (REMAINDER.search(text, 0, start) is not None or (len(before) == 1 and start < MAX_ANSWER))
    )


def _says_left_before(text: str, numbers: list[FoundNumber], start: int, end: int) -> bool:
    """'3 are left. She needs 7 bags': a sentence about something else, after one about what is left."""
    if len(text) > MAX_SHORT or REMAINDER.search(text, start, end):
        return False
    if "=" in text or any(pattern.search(text, start, end) for pattern in (SO, CONCLUDES, CORRECTION, TURN)):
        return False
    return any(
        REMAINDER.search(text, begin, stop) and _between(numbers, begin, stop)
        for begin, stop in _sentences(text, start)
    )


def _remainder(
    text: str, numbers: list[FoundNumber], start: int, end: int, *, is_asked: bool
) -> tuple[int, int] | None:
    """Of 'she has 18 left and spent 12' the part that says what is left."""
    if not REMAINDER.search(text, start, end) or not (is_asked or SPENT.search(text, start, end)):
        return None
    bounds = [start, *(found.end() for found in CLAUSE_END.finditer(text, start, end)), end]
    clauses = [pair for pair in pairwise(bounds) if _between(numbers, *pair)]
    if is_asked:
        left = [pair for pair in clauses if REMAINDER.search(text, *pair)]
    else:
        left = [pair for pair in clauses if not SPENT.search(text, *pair)]  # any other clause may be the conclusion
    return left[0] if len(left) == 1 and len(clauses) > 1 and REMAINDER.search(text, *left[0]) else None


def _claim(text: str, numbers: list[FoundNumber], start: int, end: int, question: str) -> tuple[int, int]:
    """The part of a sentence that says what is so: after its 'if' and its 'so', without the when and why."""
    is_ground = REASON_AT_END.search(text, start, end) or UNDONE_SUM.search(text, start, end)
    if is_ground and _between(numbers, 0, start):
        return start, start
    roles = {number.start: role_of(text, number) for number in _between(numbers, start, end)}
    last_said = max((place for place, role in roles.items() if role <= NumberRole.RATE), default=start)
    introduction = INTRODUCTION.match(text, start, end)
    starts = [introduction] if introduction else []
    start = max(
        (found.end() for found in (*starts, *SO.finditer(text, start, end)) if found.end() <= last_said), default=start
    )
    for found in REASON.finditer(text, start, end):
        most = NumberRole.RATE if found[0].startswith(",") else NumberRole.CIRCUMSTANCE
        before, after = _between(numbers, start, found.start()), _between(numbers, found.end(), end)
        said = [number for number in before if roles[number.start] <= most]
        if said:
            is_repeated = BECAUSE.match(found[0]) and said[-1].value in [number.value for number in after]
            is_sum = OPERATOR.search(text, start, found.start()) is not None
            if _has_result(before, roles) and not found[0].startswith(","):
                return start, found.start()
            is_stated = _is_stated_first(text, found, said, question)
            is_working = _has_result(after, roles) and not is_repeated and not is_stated
            return start, end if is_sum or is_working else found.start()
    colon = text.find(": ", start, end)
    said = [number for number in _between(numbers, start, colon) if roles[number.start] <= NumberRole.SAID]
    after = _between(numbers, colon, end)
    if not said or _has_result(after, roles):
        return start, end
    return start, colon if len(after) > 1 or said[-1].value in [number.value for number in after] else end


def _is_stated_first(text: str, because: re.Match[str], said: list[FoundNumber], question: str) -> bool:
    """'18 are free, for 2/3 of 54 = 36': what is said before anything is worked out."""
    if len(text) > MAX_SHORT or len(question) < 3 or "=" in text[: because.start()]:
        return False
    return BECAUSE.match(because[0]) is not None and bool(without_given(said, question))


def _has_result(numbers: list[FoundNumber], roles: Mapping[int, NumberRole]) -> bool:
    return any(roles[number.start] is NumberRole.RESULT for number in numbers)


def _between(numbers: list[FoundNumber], start: int, end: int) -> list[FoundNumber]:
    return [number for number in numbers if start <= number.start < end]


def _sentences_backwards(text: str) -> Iterator[tuple[int, int]]:
    return reversed(list(_sentences(text, len(text))))


def _sentences(text: str, end: int) -> Iterator[tuple[int, int]]:
    return pairwise(sorted({0, *(found.end() for found in SENTENCE_END.finditer(text, 0, end)), end}))
