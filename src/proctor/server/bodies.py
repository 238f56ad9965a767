"""What callers send, read strictly: bounded in size, depth and numbers, and no field that is not known."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable
from typing import Any, NoReturn, TypeVar

import msgspec
from starlette.requests import ClientDisconnect, Request

from proctor.domain.documents.problem_details import FieldProblem
from proctor.domain.errors import did_you_mean
from proctor.domain.text import storable
from proctor.server.documents import JSON, reference
from proctor.server.problems import ProblemError, pointer

T = TypeVar("T")
MAX_BYTES = 4_000_000
MAX_DEPTH = 64
MAX_DIGITS = 300
UNKNOWN = re.compile(r"unknown field `(.*?)`")
PLACE = re.compile(r" - at `(.*)`$", re.DOTALL)


async def read_limited(request: Request, most: int = MAX_BYTES) -> bytes:
    """The request's body; 413 as soon as it is known to be too large."""
    announced = request.headers.get("content-length", "")
    if announced.isdecimal() and int(announced) > most:
        raise too_large(most)
    parts, size = [], 0
    try:
        async for part in request.stream():
            size += len(part)
            if size > most:
                raise too_large(most)
            parts.append(part)
    except ClientDisconnect:
        raise ProblemError(400, "incomplete", "The request ended before its body was complete.") from None
    return b"".join(parts)


def too_large(most: int) -> ProblemError:
    return ProblemError(413, "too-large", f"At most {most:,} bytes are taken here.", headers={"Connection": "close"})


def parse_json(body: bytes) -> Any:
    """The JSON value; NaN, numbers of thousands of digits, deep nesting and half surrogate pairs are refused."""
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError:
        raise ProblemError(400, "not-json", "The body is not UTF-8 text.") from None
    _refuse_deep(text)
    try:
        found = json.loads(text, parse_constant=_no_constant, parse_int=_whole, object_pairs_hook=_object)
        _refuse_unstorable(found)
    except (ValueError, RecursionError) as error:
        said = str(error).removesuffix(".")
        raise ProblemError(400, "not-json", f"The body is not JSON that is taken here: {said}.") from None
    return found


def _refuse_deep(text: str) -> None:
    """Counted before anything is built; brackets within strings are left out."""
    depth = 0
    for mark in re.finditer(r'"(?:[^"\\]|\\.)*"|[\[\]{}]', text, re.DOTALL):
        if mark[0] in "[{":
            depth += 1
            if depth > MAX_DEPTH:
                raise ProblemError(400, "not-json", f"The body is nested more than {MAX_DEPTH} levels deep.")
        elif mark[0] in "]}":
            depth -= 1


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a number of JSON")


def _whole(digits: str) -> int:
    if len(digits) > MAX_DIGITS:
        raise ValueError(f"a number has more than {MAX_DIGITS} digits")
    return int(digits)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise ValueError(f"the key {twice[:60]!a} is there twice")
    return found


def _refuse_unstorable(value: Any) -> None:
    """No database keeps half of a surrogate pair, and PostgreSQL no NUL."""
    waiting = [value]
    while waiting:
        part = waiting.pop()
        if isinstance(part, str):
            if storable(part) != part:
                raise ValueError("a text has the character NUL, or half of a surrogate pair")
        elif isinstance(part, dict):
            waiting += [*part.keys(), *part.values()]
        elif isinstance(part, list):
            waiting += part


def convert(value: Any, kind: type[T]) -> T:
    """The value as what it is meant to be; mistakes say where they are, and what is allowed."""
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        raise _mistake(str(error), kind) from None


def _mistake(text: str, kind: type) -> ProblemError:
    place = PLACE.search(text)
    where = re.findall(r"\[(\d+|\.\.\.)\]|\.(\w+)", place[1]) if place else []
    path = [index or name for index, name in where]
    said = PLACE.sub("", text)
    unknown = UNKNOWN.search(said)
    if unknown is not None:
        known = [field.encode_name for field in msgspec.structs.fields(kind)] if not path else []
        allowed = f" Allowed here: {', '.join(known)}." if known else ""
        said = f"there is no field {unknown[1]!r}.{did_you_mean(unknown[1], known)}{allowed}"
        path = [*path, unknown[1]]
    else:
        said = said[:1].lower() + said[1:] + "."
    field = ".".join(path) if unknown is None else ""
    detail = f"{field}: {said}" if field else said[:1].upper() + said[1:]
    return ProblemError(422, "body", detail, [FieldProblem(pointer(path), said)])


async def json_value(request: Request) -> Any:
    """The body's JSON value, whatever it is: see `large_json_value`."""
    return await large_json_value(request, MAX_BYTES)


async def large_json_value(request: Request, most: int) -> Any:
    """The JSON value of a body of at most so many bytes.

    Its type must be said to be JSON, which no form of a foreign page can.
    """
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != JSON and not (kind.startswith("application/") and kind.endswith("+json")):
        raise ProblemError(415, "not-json", "The body is JSON: send it with Content-Type: application/json.")
    body = await read_limited(request, most)
    # Beyond the usual size it takes long enough to be felt by everybody else.
    return parse_json(body) if len(body) <= MAX_BYTES else await asyncio.to_thread(parse_json, body)


def body_of(kind: type[T]) -> Callable[[Request], Any]:
    """A dependency that gives the body as a struct; its class refuses fields that it does not know."""

    async def read(request: Request) -> T:
        return convert(await json_value(request), kind)

    return read


def takes(kind: Any, example: Any = None) -> dict[str, Any]:
    """The body of a route, for its `openapi_extra`; the example is sent as written by a test."""
    schema = kind if isinstance(kind, dict) else reference(kind)
    content: dict[str, Any] = {"schema": schema}
    if example is not None:
        content["example"] = example
    return {"requestBody": {"required": True, "content": {JSON: content}}}
