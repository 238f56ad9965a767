"""A small valid problem to start one's own from."""

from __future__ import annotations

import re
from pathlib import Path

from proctor.domain.errors import UserError

_PROBLEM = """\
id: {id}
title: Add up numbers
version: "1"
difficulty: basic            # basic | intermediate | advanced | expert
area: command-line
brief: |
  A program that adds up whole numbers. They come on standard input, one in each line; an empty line is passed over.
  The result is printed to standard output, followed by a line break. Messages about mistakes go to standard error.
interface: {{kind: command, languages: [python, javascript]}}
requirements:
  - id: R1
    level: MUST
    text: When whole numbers arrive on standard input, the program MUST print their sum followed by a line break.
    checks: [adds_two_numbers, adds_any_numbers]
  - id: R2
    level: MUST
    text: If a line is neither empty nor a whole number, then the program MUST end with exit code 2.
    checks: [refuses_words]
  - id: R3
    level: MUST
    text: Where the argument `--largest` is given, the program MUST print the largest number instead of the sum.
    checks: [prints_the_largest]
  - id: R4
    level: SHOULD
    text: If standard input is empty, then the program SHOULD print 0.
    checks: [prints_nought_for_nothing]
thresholds:
  - {{measure: work_seconds, at_most: 5 gold}}
pass: {{score: 0.7}}
limits: {{memory: 256 MiB, processes: 16, seconds: 20}}
mutants:
  - {{name: drops-signs, breaks: [R1], note: adds the amounts without their signs}}
  - {{name: skips-words, breaks: [R2], note: passes over lines that are no numbers}}
  - {{name: prints-smallest, breaks: [R3], note: prints the smallest number}}
  - {{name: silent-for-nothing, breaks: [R4], note: prints nothing when there is no input}}
"""
_SOLUTION = '''\
"""Adds up whole numbers from standard input."""

import sys


def read_numbers(lines: list[str]) -> list[int]:
    """The numbers of the lines that are not empty; ValueError names a line that is no number."""
    return [int(line) for line in lines if line.strip()]


def result(numbers: list[int], *, is_largest: bool) -> int:
    """The sum, or the largest number."""
    if is_largest:
        return max(numbers, default=0)
    return sum(numbers)


def main() -> int:
    """Read, compute, print; 2 for a line that is no number."""
    try:
        numbers = read_numbers(sys.stdin.read().splitlines())
    except ValueError as error:
        sys.stderr.write(f"{error}\\n")
        return 2
    sys.stdout.write(f"{result(numbers, is_largest='--largest' in sys.argv[1:])}\\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
'''
_OWN_TESTS = '''\
"""Tests of the solution's parts."""

import unittest

from main import read_numbers, result


class Adding(unittest.TestCase):
    """Numbers are read and added."""

    def test_reads_numbers(self) -> None:
        self.assertEqual(read_numbers(["1", "", "-2"]), [1, -2])

    def test_refuses_words(self) -> None:
        with self.assertRaises(ValueError):
            read_numbers(["x"])

    def test_adds(self) -> None:
        self.assertEqual(result([1, 2], is_largest=False), 3)

    def test_finds_the_largest(self) -> None:
        self.assertEqual(result([1, 2], is_largest=True), 2)
'''
_VISIBLE = """\
def test_adds_two_numbers(program):
    done = program.run(stdin="1\\n2\\n")
    assert (done.code, done.out) == (0, "3\\n")
"""
_UNIT = """\
def test_prints_the_largest(program):
    done = program.run("--largest", stdin="3\\n9\\n4\\n")
    assert (done.code, done.out) == (0, "9\\n")


def test_prints_nought_for_nothing(program):
    assert program.run(stdin="").out == "0\\n"
"""
_INTEGRATION = """\
def test_refuses_words(program):
    assert program.run(stdin="1\\nseven\\n").code == 2
"""
_PROPERTY = """\
from hypothesis import given, settings
from hypothesis import strategies as st


@given(numbers=st.lists(st.integers(-10**12, 10**12), min_size=1, max_size=20))
@settings(max_examples=8)
def test_adds_any_numbers(program, numbers):
    done = program.run(stdin="".join(f"{number}\\n" for number in numbers))
    assert done.out == f"{sum(numbers)}\\n"
"""
_WORK = '''\
"""What is made here is made before the clock starts."""

LINES = "".join(f"{number}\\n" for number in range(100_000))
SUM = f"{sum(range(100_000))}\\n"


def work(program):
    """A fixed amount of work, half a second to two for the gold solution; all that it prints is compared."""
    for _ in range(3):
        assert program.run(stdin=LINES, timeout=30).out == SUM
'''
_MUTATIONS = {
    "drops-signs": ("    return sum(numbers)", "    return sum(abs(number) for number in numbers)"),
    "skips-words": ("if line.strip()]", 'if line.strip().lstrip("-").isdigit()]'),
    "prints-smallest": ("return max(numbers, default=0)", "return min(numbers, default=0)"),
    "silent-for-nothing": (
        "    sys.stdout.write(",
        "    if not numbers:\n        return 0\n    sys.stdout.write(",
    ),
}


def scaffold_files(name: str) -> dict[str, str]:
    """Every file of the problem, by its path."""
    mutants = {f"mutants/{key}/main.py": _SOLUTION.replace(old, new) for key, (old, new) in _MUTATIONS.items()}
    return {
        "problem.yaml": _PROBLEM.format(id=name),
        "tests/visible/test_examples.py": _VISIBLE,
        "tests/hidden/unit/test_options.py": _UNIT,
        "tests/hidden/integration/test_mistakes.py": _INTEGRATION,
        "tests/hidden/property/test_sums.py": _PROPERTY,
        "tests/load/work.py": _WORK,
        "solution/main.py": _SOLUTION,
        "solution/README.md": "# Add up numbers\n\n    python3 main.py < numbers.txt\n",
        "solution/tests/test_main.py": _OWN_TESTS,
        **mutants,
    }


def scaffold(folder: Path) -> list[Path]:
    """Write the files into a new folder, whose name becomes the problem's id."""
    name = folder.resolve().name
    if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name):
        raise UserError(f"{name!r} cannot be a problem's id: use small letters, digits and hyphens, like 'word-tally'.")
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UserError(f"{folder} is there already and is not empty; name a new folder.")
    written = []
    for path, text in scaffold_files(name).items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
        written.append(target)
    return written
