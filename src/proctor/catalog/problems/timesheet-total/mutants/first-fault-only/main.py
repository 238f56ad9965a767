"""Add up a time sheet kept as plain text: time per project and in all."""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

UNIT_SECONDS = {"h": 3600, "m": 60}
DAY_SECONDS = 24 * 3600
USAGE = "usage: main.py [--only NAME] [--decimal] < SHEET"

DURATION = re.compile(r"(?:([0-9]+)h)?(?:([0-9]+)m)?(?:([0-9]+)s)?")
DECIMAL = re.compile(r"([0-9]+)\.([0-9]+)([hm])")
CLOCK = r"([01][0-9]|2[0-3]):([0-5][0-9])"
SPAN = re.compile(f"{CLOCK}-{CLOCK}")


class UsageError(Exception):
    """The program was called with arguments it does not have."""


class Options(NamedTuple):
    """What was asked for on the command line."""

    only: str | None = None
    is_decimal: bool = False


def parse_amount(text: str) -> int | None:
    """Give the seconds an amount stands for, or None if it is no amount."""
    if span := SPAN.fullmatch(text):
        from_hour, from_minute, to_hour, to_minute = map(int, span.groups())
        minutes = (to_hour - from_hour) * 60 + to_minute - from_minute
        return minutes * 60 % DAY_SECONDS
    if decimal := DECIMAL.fullmatch(text):
        whole, fraction, unit = decimal.groups()
        scaled = int(whole + fraction) * UNIT_SECONDS[unit]
        seconds, rest = divmod(scaled, 10 ** len(fraction))
        return None if rest else seconds
    duration = DURATION.fullmatch(text)
    if duration is None or not text:
        return None
    hours, minutes, seconds = (int(number or 0) for number in duration.groups())
    return hours * 3600 + minutes * 60 + seconds


def add_up(lines: Iterable[str]) -> tuple[Counter[str], list[str]]:
    """Give the seconds of each project, and a complaint for each malformed line."""
    times: Counter[str] = Counter()
    complaints = []
    for number, line in enumerate(lines, 1):
        words = line.split()
        if not words or words[0].startswith("#"):
            continue
        seconds = parse_amount(words[0])
        if seconds is None:
            complaints.append(f"line {number}: {words[0]!r} is not an amount of time")
        elif len(words) == 1:
            complaints.append(f"line {number}: the name of a project is missing")
        else:
            times[" ".join(words[1:])] += seconds
    return times, complaints


def format_time(seconds: int, *, is_decimal: bool = False) -> str:
    """Write a time as H:MM:SS, or as hours with two decimals, halves rounded up."""
    if is_decimal:
        hundredths = (seconds + 18) // 36
        return f"{hundredths // 100}.{hundredths % 100:02}"
    minutes, second = divmod(seconds, 60)
    hour, minute = divmod(minutes, 60)
    return f"{hour}:{minute:02}:{second:02}"


def report(times: Counter[str], options: Options) -> list[str]:
    """Give the lines to print: longest project first, the total last."""
    if options.only is not None:
        rows = [(options.only, times[options.only])]
    else:
        rows = sorted(times.items(), key=lambda row: (-row[1], row[0]))
        rows.append(("TOTAL", times.total()))
    return [
        f"{format_time(seconds, is_decimal=options.is_decimal)} {name}"
        for name, seconds in rows
    ]


def parse_arguments(arguments: Sequence[str]) -> Options:
    """Read the options; raises UsageError for anything else."""
    options = Options()
    rest = list(arguments)
    while rest:
        argument = rest.pop(0)
        if argument == "--decimal":
            options = options._replace(is_decimal=True)
        elif argument == "--only" and rest:
            options = options._replace(only=" ".join(rest.pop(0).split()))
        else:
            raise UsageError(f"cannot use {argument!r}\n{USAGE}")
    return options


def main(arguments: Sequence[str]) -> int:
    """Read the sheet from standard input, print the report, give the exit code."""
    try:
        options = parse_arguments(arguments)
    except UsageError as error:
        print(error, file=sys.stderr)
        return 2
    times, complaints = add_up(sys.stdin)
    if complaints:
        print(complaints[0], file=sys.stderr)
        return 1
    print("\n".join(report(times, options)))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
