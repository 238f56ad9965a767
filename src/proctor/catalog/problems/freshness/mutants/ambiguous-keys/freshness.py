"""The rules of an HTTP cache: what may be kept, how long it is fresh, and what may be answered."""

import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime

Headers = Mapping[str, str]
Directives = dict[str, str | None]

_STORABLE = frozenset({200, 203, 204, 301, 404, 410})
_STAYING = frozenset({"content-length", "content-encoding"})
_DATE = "%a, %d %b %Y %H:%M:%S GMT"
_PART = re.compile(
    r"""\s*(?P<name>[^\s=,"]+)\s*(?P<equals>=\s*(?:"(?P<quoted>(?:[^"\\]|\\.)*)"|(?P<plain>[^,]*)))?""",
    re.DOTALL,
)
_NUMBER = re.compile(r"[0-9]+")


def _value(headers: Headers, name: str) -> str | None:
    for key, value in headers.items():
        if key.lower() == name:
            return value
    return None


def directives(value: str) -> Directives:
    """Read the directives of a Cache-Control value."""
    found: Directives = {}
    place = 0
    while place < len(value):
        part = _PART.match(value, place)
        if part is not None:
            found.setdefault(part["name"].lower(), _argument(part))
            place = part.end()
        comma = value.find(",", place)
        place = len(value) if comma < 0 else comma + 1
    return found


def _argument(part: re.Match[str]) -> str | None:
    if part["equals"] is None:
        return None
    if part["quoted"] is not None:
        return re.sub(r"\\(.)", r"\1", part["quoted"], flags=re.DOTALL)
    return str(part["plain"]).strip()


def _control(headers: Headers) -> Directives:
    return directives(_value(headers, "cache-control") or "")


def _seconds(control: Directives, name: str) -> int | None:
    return _number(control.get(name))


def _number(text: str | None) -> int | None:
    return int(text) if text is not None and _NUMBER.fullmatch(text) else None


def _date(text: str | None) -> int | None:
    try:
        moment = datetime.strptime(text or "", _DATE)
    except ValueError:
        return None
    return int(moment.replace(tzinfo=UTC).timestamp())


def may_store(
    method: str,
    status: int,
    request: Headers,
    response: Headers,
    shared: bool = False,
) -> bool:
    """Say whether an answer may be kept."""
    asked, answered = _control(request), _control(response)
    if method != "GET" or status not in _STORABLE:
        return False
    if "no-store" in asked or "no-store" in answered:
        return False
    return not shared or _may_share(request, answered)


def _may_share(request: Headers, answered: Directives) -> bool:
    if "private" in answered:
        return False
    allowing = {"public", "s-maxage", "must-revalidate"}
    return _value(request, "authorization") is None or not allowing.isdisjoint(answered)


def lifetime(response: Headers, shared: bool = False) -> int | None:
    """Say for how many seconds an answer is fresh."""
    control = _control(response)
    for name in ("s-maxage", "max-age") if shared else ("max-age",):
        seconds = _seconds(control, name)
        if seconds is not None:
            return seconds
    expires, date = _value(response, "expires"), _date(_value(response, "date"))
    if expires is None or date is None:
        return None
    end = _date(expires)
    return 0 if end is None else max(0, end - date)


def age(response: Headers, received: int, now: int) -> int:
    """Say how old an answer is."""
    told = _number(_value(response, "age")) or 0
    date = _date(_value(response, "date"))
    apparent = 0 if date is None else max(0, received - date)
    return max(told, apparent) + now - received


def decide(
    request: Headers,
    response: Headers,
    received: int,
    now: int,
    shared: bool = False,
) -> str:
    """Say what may be done with a kept answer: fresh, stale, validate or fail."""
    asked = _control(request)
    found = _decided(asked, response, age(response, received, now), shared)
    return "fail" if found == "validate" and "only-if-cached" in asked else found


def _decided(asked: Directives, response: Headers, old: int, shared: bool) -> str:
    answered = _control(response)
    oldest = _seconds(asked, "max-age")
    if "no-cache" in asked or "no-cache" in answered:
        return "validate"
    if oldest is not None and oldest < old:
        return "validate"
    known = lifetime(response, shared)
    if known is not None and known > old:
        margin = _seconds(asked, "min-fresh") or 0
        return "fresh" if known - old >= margin else "validate"
    binding = {"must-revalidate", "proxy-revalidate"} if shared else {"must-revalidate"}
    if not binding.isdisjoint(answered):
        return "validate"
    return "stale" if _is_taken_stale(asked, old - (known or 0)) else "validate"


def _is_taken_stale(asked: Directives, stale: int) -> bool:
    if "max-stale" not in asked:
        return False
    if asked["max-stale"] is None:
        return True
    most = _seconds(asked, "max-stale")
    return most is not None and most >= stale


def validators(response: Headers) -> dict[str, str]:
    """Give the headers of a conditional request."""
    pairs = (("If-None-Match", "etag"), ("If-Modified-Since", "last-modified"))
    found = ((name, _value(response, source)) for name, source in pairs)
    return {name: value for name, value in found if value is not None}


def refreshed(response: Headers, answer: Headers) -> dict[str, str]:
    """Give the headers after a 304."""
    kept = {name.lower(): value for name, value in response.items()}
    new = {name.lower(): value for name, value in answer.items()}
    return kept | {name: value for name, value in new.items() if name not in _STAYING}


def key(method: str, url: str, vary: str, request: Headers) -> str | None:
    """Give a text that tells entries apart; None for what matches nothing."""
    names = sorted({part.strip().lower() for part in vary.split(",")} - {""})
    if "*" in names:
        return None
    values = [_value(request, name) for name in names]
    trimmed = [None if value is None else value.strip() for value in values]
    return json.dumps([method, url, names, " ".join(value or "" for value in trimmed)])
