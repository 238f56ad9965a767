"""The calendar: days before and after, days of the week, days between."""

from __future__ import annotations

import re
from datetime import date, timedelta

from proctor.puzzles.dice import Dice
from proctor.puzzles.puzzle import Puzzle, PuzzleForm
from proctor.puzzles.readings import DATE, MONTHS, NUMBER, WEEKDAY, WEEKDAYS

_END_DATE = "\nEnd with: ANSWER: the date as YYYY-MM-DD"
_REACH = {1: 25, 2: 90, 3: 500, 5: 3000}


def make(dice: Dice, level: int) -> Puzzle:
    start = date(1950, 1, 1) + timedelta(days=dice.below(36_500))
    if level == 4:
        return _about_weeks(dice, start)
    days = dice.between(2, _REACH[level])
    ahead = level == 1 or dice.below(2) == 0
    steps, total = f"{days} days", days
    if level == 5:
        weeks = dice.between(2, 60)
        steps, total = f"{weeks} weeks and {days} days", days + 7 * weeks
    end = start + timedelta(days=total if ahead else -total)
    direction = "after" if ahead else "before"
    if level == 5 and dice.below(2):
        question = (
            f"Which day of the week is the date {steps} {direction} {_spell(start)} (Gregorian calendar)?"
            "\nEnd with: ANSWER: the day of the week in English"
        )
        return Puzzle(question, WEEKDAYS[end.weekday()], "dates", level)
    question = f"Which date is {steps} {direction} {_spell(start)} (Gregorian calendar)?{_END_DATE}"
    return Puzzle(question, end.isoformat(), "dates", level)


def _about_weeks(dice: Dice, start: date) -> Puzzle:
    if dice.below(2):
        question = (
            f"Which day of the week is {_spell(start)} (Gregorian calendar)?"
            "\nEnd with: ANSWER: the day of the week in English"
        )
        return Puzzle(question, WEEKDAYS[start.weekday()], "dates", 4)
    end = start + timedelta(days=dice.between(60, 1500))
    question = (
        f"How many days after {_spell(start)} is {_spell(end)} (Gregorian calendar; the day after a date is 1 day "
        "after it)?\nEnd with: ANSWER: the number of days"
    )
    return Puzzle(question, str((end - start).days), "dates", 4)


def _spell(day: date) -> str:
    return f"{day.day} {MONTHS[day.month - 1]} {day.year}"


def day_number(year: int, month: int, day: int) -> int:
    """Days since 1 March of the year 0, counted without the standard library's calendar."""
    shifted = year - (month < 3)
    month_place = (month + 9) % 12
    return 365 * shifted + shifted // 4 - shifted // 100 + shifted // 400 + (153 * month_place + 2) // 5 + day - 1


def date_of(number: int) -> tuple[int, int, int]:
    """The inverse of `day_number`."""
    era, rest = divmod(number, 146_097)
    year_place = (rest - rest // 1460 + rest // 36_524 - rest // 146_096) // 365
    day_place = rest - (365 * year_place + year_place // 4 - year_place // 100)
    month_place = (5 * day_place + 2) // 153
    month = month_place + 3 if month_place < 10 else month_place - 9
    return era * 400 + year_place + (month < 3), month, day_place - (153 * month_place + 2) // 5 + 1


_DATE = rf"(\d+) ({'|'.join(MONTHS)}) (\d+)"
_STEPS = r"(?:(\d+) weeks and )?(\d+) days (after|before) "


def _number(day: str, month: str, year: str) -> int:
    return day_number(int(year), MONTHS.index(month) + 1, int(day))


def _moved(match: re.Match[str]) -> int:
    weeks, days, direction, *start = match.groups()
    total = int(days) + 7 * int(weeks or 0)
    return _number(*start) + (total if direction == "after" else -total)


def _weekday(number: int) -> str:
    return WEEKDAYS[(number + 2) % 7]


def _solve_date(match: re.Match[str]) -> str:
    year, month, day = date_of(_moved(match))
    return f"{year:04}-{month:02}-{day:02}"


FORMS = (
    PuzzleForm(re.compile(rf"Which date is {_STEPS}{_DATE}"), _solve_date, DATE),
    PuzzleForm(
        re.compile(rf"Which day of the week is the date {_STEPS}{_DATE}"),
        lambda match: _weekday(_moved(match)),
        WEEKDAY,
    ),
    PuzzleForm(
        re.compile(rf"Which day of the week is {_DATE}"), lambda match: _weekday(_number(*match.groups())), WEEKDAY
    ),
    PuzzleForm(
        re.compile(rf"How many days after {_DATE} is {_DATE}"),
        lambda match: str(_number(*match.groups()[3:]) - _number(*match.groups()[:3])),
        NUMBER,
    ),
)
