"""Runs in its own process: compares expressions that models wrote, with limits and no network."""

from __future__ import annotations

import ctypes
import logging
import re
import resource
import sys
from importlib import import_module
from typing import Any

import orjson

from proctor.worker_loop import answer_questions

_PROSE = re.compile(r"(?<![\\A-Za-z])[A-Za-z]{2,}|[^\W\d_A-Za-zα-ωΑ-Ωπ]")
_FUNCTION = re.compile(r"(?<![A-Za-z\\])[A-Za-z]\s*\(\s*[a-z]\s*\)\s*=(?!=)")
_DELIMITED = re.compile(r"\$|\\boxed|\\\(|\\\[")
_SIGNS = str.maketrans({
    "×": r"\times ", "·": r"\cdot ", "÷": "/", "−": "-", "π": r"\pi ", "∞": r"\infty ", "∪": r"\cup ", "²": "^2",
    "³": "^3", "°": r"^\circ ", "≤": r"\leq ", "≥": r"\geq ",
})  # fmt: skip
_ROOT = re.compile(r"√\s*(?:\(([^()]*)\)|(\w+))")
MEMORY_BYTES = 2 * 1024**3
FILE_BYTES = 1024**2
OPEN_FILES = 32
CLONE_NEWUSER = 0x10000000
CLONE_NEWNET = 0x40000000


def main() -> None:
    _leave_network()
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    answer_questions(_answer, _get_ready)


def _get_ready() -> None:
    logging.disable(logging.WARNING)  # the library warns that its own time limits are off
    compare_expressions("$x^2 + 2x + 1$", ["(x+1)^2"])  # the first loads grammars: not on an answer's time
    _limit()


def _leave_network() -> None:
    """Into a network of our own that has no way out, where the system lets an ordinary user do so."""
    ctypes.CDLL(None, use_errno=True).unshare(CLONE_NEWUSER | CLONE_NEWNET)


def _limit() -> None:
    """No other programs, hardly any files; whatever was needed is loaded by now."""
    for kind, most in (
        (resource.RLIMIT_NPROC, 0),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_FSIZE, FILE_BYTES),
        (resource.RLIMIT_NOFILE, OPEN_FILES),
    ):
        resource.setrlimit(kind, (most, most))
    sys.set_int_max_str_digits(0)  # the clock is the limit, not the length of a number


def _answer(question: bytes) -> bytes:
    asked = orjson.loads(question)
    try:
        return orjson.dumps(compare_expressions(asked["answer"], asked["targets"]))
    except Exception:  # noqa: BLE001 - whatever a parser makes of a text, the text is to blame: the caller tries the target
        return orjson.dumps({"problem": "crash"})


def compare_expressions(answer: str, targets: list[str]) -> dict[str, Any]:
    library = import_module("math_verify")
    wanted = [parsed for target in targets if (parsed := _parse(library, _in_maths(_plain(target))))]
    if not wanted:
        return {"problem": "target"}
    answer = _plain(answer)
    said = _parse(library, _in_maths(_ending(answer)) if _ending(answer) else answer)
    if not said and not _PROSE.search(answer):
        said = _parse(library, _in_maths(answer))
    if not said:
        return {"problem": "answer"}
    shown = str(said[-1])[:200]
    # The caller's clock is the limit: the library's own would need signals and forgives what it stops.
    return {"is_equal": any(_equal(library, gold, said) for gold in wanted), "answer": shown}


def _equal(library: Any, gold: list[Any], said: list[Any]) -> bool:
    """The library takes an equation for its right side: right for 'x = 5', wrong for '2x + 3y = 0' against 0."""
    if _is_equation(said[0]) != _is_equation(gold[0]):
        return False
    return bool(library.verify(gold, said, timeout_seconds=None))


def _is_equation(expression: Any) -> bool:
    """Whether it relates two sides and does not just name a value."""
    is_relation = bool(getattr(expression, "is_Equality", False))
    return is_relation and not expression.lhs.is_Symbol and bool(expression.lhs.free_symbols)


def _parse(library: Any, text: str) -> list[Any]:
    parsed: list[Any] = library.parse(text, parsing_timeout=None)
    return parsed


def _plain(text: str) -> str:
    """Signs as LaTeX writes them, and the value of a function without its name: 'f(x) = x^2' says x^2."""
    text = _ROOT.sub(lambda found: rf"\sqrt{{{found[1] or found[2]}}}", text).translate(_SIGNS)
    return _FUNCTION.sub("", text)


def _ending(answer: str) -> str:
    """The expression that a text without any LaTeX ends with, after 'is', 'equals', ':' or '='; else nothing."""
    if _DELIMITED.search(answer):
        return ""
    line = answer.strip().splitlines()[-1] if answer.strip() else ""
    said = re.split(r"\b(?:is|are|equals?)\b|[:=：]|[是为は]", line)[-1].strip(" *_`.。")
    return said if said and not _PROSE.search(said) and re.search(r"[\dα-ω\\a-z]", said) else ""


def _in_maths(text: str) -> str:
    """A bare expression as LaTeX, so that it is read as one; an escaped dollar is money, not a delimiter."""
    text = text.replace("\\$", "")
    return text if "$" in text or "\\boxed" in text else f"${text}$"
