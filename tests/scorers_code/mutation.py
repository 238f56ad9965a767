"""Seeded one-token changes to a program, and plain CPython's opinion of the result."""

from __future__ import annotations

import io
import keyword
import random
import subprocess
import sys
import tokenize

_SWAPS = """
+ - - + * + / // // / % * ** * < <= <= < > >= >= > == != != == += -= -= += *= += and or or and True False False True
break continue continue break & | | & ^ & << >> >> << None 0 min max max min while if [ ( : ; return yield
"""
_OPERATORS = dict(zip(_SWAPS.split()[::2], _SWAPS.split()[1::2], strict=True))
_OPERATORS |= {"in": "not in", "not": "", "is": "is not", "if": "if not"}


def _replacement(token: tokenize.TokenInfo, names: list[str], rng: random.Random) -> str | None:
    text = token.string
    if text in _OPERATORS:
        return _OPERATORS[text]
    if token.type == tokenize.NUMBER:
        return rng.choice([f"({text}+1)", f"({text}-1)", "0", f"{text}.5" if text.isdigit() else "1"])
    if token.type == tokenize.STRING and not text.startswith(('"""', "'''")):
        return rng.choice(['""', '"x"', f"({text}+' ')"])
    if token.type == tokenize.NAME and not keyword.iskeyword(text):
        others = [name for name in names if name != text]
        return rng.choice(others) if others else None
    return None


def mutate(source: str, rng: random.Random, first_line: int = 0) -> str | None:
    """The source with one token changed at or after a line; None when nothing can be changed."""
    tokens = list(tokenize.generate_tokens(io.StringIO(source).readline))
    names = sorted({t.string for t in tokens if t.type == tokenize.NAME and not keyword.iskeyword(t.string)})
    places = [
        t
        for t in tokens
        if t.start[0] > first_line and t.type in (tokenize.NAME, tokenize.NUMBER, tokenize.OP, tokenize.STRING)
    ]
    rng.shuffle(places)
    for token in places:
        new = _replacement(token, names, rng)
        if new is None:
            continue
        lines = source.splitlines(keepends=True)
        line = lines[token.start[0] - 1]
        if token.start[0] != token.end[0]:
            continue
        lines[token.start[0] - 1] = line[: token.start[1]] + new + line[token.end[1] :]
        return "".join(lines)
    return None


_PLAIN = """
import sys, resource
resource.setrlimit(resource.RLIMIT_AS, ({memory}, {memory}))
resource.setrlimit(resource.RLIMIT_CPU, ({seconds}, {seconds}))
space = {{"__name__": "solution"}}
program, tests = {program!r}, {tests!r}
try:
    exec(compile(program, "<submission>", "exec"), space)
    for test in tests:
        exec(compile(test, "<test>", "exec"), space)
except BaseException:
    sys.exit(1)
sys.exit(42)
"""


# Of a mutant that does not end; the slowest of those that do takes a tenth of it.
CPU_SECONDS = 2


def plainly_passes(program: str, tests: list[str]) -> bool:
    """Whether the tests run to their end in an ordinary interpreter, in one process, as most harnesses do it."""
    source = _PLAIN.format(program=program, tests=tests, memory=600 << 20, seconds=CPU_SECONDS)
    done = subprocess.run(
        [sys.executable, "-s", "-S", "-c", source],
        env={"PYTHONHASHSEED": "0", "LANG": "C.UTF-8"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        check=False,
    )
    return done.returncode == 42
