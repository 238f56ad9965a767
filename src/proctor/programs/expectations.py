"""Whether a service's answers are right: by status, headers, body and members, as the problem says."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from typing import Any

from proctor.metrics.rounding import decimal_text
from proctor.programs.load_answers import MAX_BODY_BYTES, LoadAnswer, LoadFailedError

Request = Mapping[str, Any]
MAX_WRONG = 0.01
"""More wrong answers than this share, and the load has failed; fewer are errors."""
_NAME = re.compile(r"\$\{(\w+)\}")
_VALUE = re.compile(r"[\x21-\x7e]{1,1000}")
_SHOWN = 200
MATCH_SECONDS = 10.0
"""Most answers take a millionth."""


@dataclass(frozen=True, slots=True)
class Judged:
    """How many of a round's answers were wrong, and the first of them in words."""

    wrong_share: float
    example: str = ""

    @property
    def failure(self) -> str:
        if self.wrong_share <= MAX_WRONG:
            return ""
        share = decimal_text(100 * self.wrong_share, 1, limits=(0.0, 100 * MAX_WRONG, 100.0))
        return f"{share} % of the answers under load were wrong, such as: {self.example}"


def judge(requests: Sequence[Request], answers: Sequence[LoadAnswer]) -> Judged:
    """Every answer of a round, by what its request expects."""
    seen: set[tuple[int, str]] = set()
    mistakes = [found for answer in answers if (found := _mistake(requests, answer, seen))]
    return Judged(len(mistakes) / len(answers), mistakes[0]) if mistakes else Judged(0.0)


def _mistake(requests: Sequence[Request], answer: LoadAnswer, seen: set[tuple[int, str]]) -> str:
    if not answer.place:
        return "an answer to no request"
    request = requests[answer.place - 1]
    found = mistake(request.get("expect"), answer) or _repeats(request, answer, seen)
    return f"{request['method']} {request['path']}: {found}" if found else ""


def mistake(expect: Mapping[str, Any] | None, answer: LoadAnswer) -> str:
    """What is wrong with an answer; empty when nothing is. Where nothing is expected, a status below 400 is right."""
    if len(answer.body) >= MAX_BODY_BYTES:
        return f"the answer is longer than {MAX_BODY_BYTES} bytes"
    if expect is None:
        return "" if 200 <= answer.status < 400 else f"status {answer.status}"
    if answer.status != expect["status"]:
        return f"status {answer.status}, expected {expect['status']}"
    return "; ".join(_differences(expect, answer))


def _differences(expect: Mapping[str, Any], answer: LoadAnswer) -> Iterable[str]:
    shown = answer.body[:_SHOWN].decode("utf-8", "replace")
    for name, wanted in (expect.get("headers") or {}).items():
        if not _fits(wanted, answer.headers.get(name.lower())):
            yield f"header {name} is {answer.headers.get(name.lower())!r}, expected {wanted!r}"
    if expect.get("body") is not None and not _matches(expect["body"], answer.body.decode("utf-8", "replace")):
        yield f"another body: {shown!r}"
    members = members_of(answer)
    for name, wanted in (expect.get("members") or {}).items():
        if name not in members or not _fits(wanted, members[name]):
            yield f"another {name}: {shown!r}, expected {wanted!r}"


def _repeats(request: Request, answer: LoadAnswer, seen: set[tuple[int, str]]) -> str:
    name = (request.get("expect") or {}).get("distinct")
    if name is None:
        return ""
    key = (answer.place, json.dumps(members_of(answer).get(name)))
    if key in seen:
        return f"the same {name} again: {key[1][:_SHOWN]}"
    seen.add(key)
    return ""


def _fits(wanted: Any, found: Any) -> bool:
    """Equal; a text between slashes is a regular expression for the whole text, or for the JSON of another value."""
    if isinstance(wanted, str) and len(wanted) > 2 and wanted[0] == wanted[-1] == "/":
        text = found if isinstance(found, str) else json.dumps(found)
        return _matches(wanted[1:-1], text)
    return bool(found == wanted and isinstance(found, bool) == isinstance(wanted, bool))


def _matches(pattern: str, text: str) -> bool:
    """The whole text: the pattern is the problem's and the text the program's, and together they may go on for ever."""
    try:
        return _compiled(pattern).fullmatch(text, timeout=MATCH_SECONDS, concurrent=True) is not None
    except TimeoutError:
        raise LoadFailedError(
            f"an answer of {len(text):,} characters could not be held against {pattern!r} in {MATCH_SECONDS:g} s"
        ) from None


@lru_cache(maxsize=256)
def _compiled(pattern: str) -> Any:
    return import_module("regex").compile(pattern)


def members_of(answer: LoadAnswer) -> dict[str, Any]:
    """Of the JSON object it is; none when it is something else."""
    try:
        found = json.loads(answer.body)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def filled(request: Request, members: Mapping[str, Any]) -> dict[str, Any]:
    """The request with every `${name}` replaced by that member; LoadFailedError when there is none that can be sent."""

    def value(match: re.Match[str]) -> str:
        found = members.get(match[1])
        text = found if isinstance(found, str) else json.dumps(found)
        if match[1] not in members or not _VALUE.fullmatch(text):
            raise LoadFailedError(f"{match[0]} of {request['method']} {request['path']} was not answered before")
        return text

    headers = {name: _NAME.sub(value, text) for name, text in (request.get("headers") or {}).items()}
    made = {**request, "path": _NAME.sub(value, request["path"]), "headers": headers}
    return {**made, "body": _NAME.sub(value, request["body"])} if request.get("body") is not None else made
