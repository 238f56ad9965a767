"""What a caveat may look like, and whether it holds."""

import operator
import re
from collections.abc import Callable, Mapping

LONGEST = 256
Context = Mapping[str, str | int]
_CAVEAT = re.compile(r"([a-z0-9_]{1,32}) (=|!=|in|under|<|<=|>|>=) (.+)")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_NUMBER = re.compile(r"-?[0-9]+")
_ORDER: dict[str, Callable[[int, int], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


class Malformed(ValueError):
    """A token, caveat, name or secret that is not as described."""


def check_caveat(caveat: str) -> None:
    """Raise Malformed unless it is a caveat."""
    if len(caveat) > LONGEST or _CONTROL.search(caveat):
        raise Malformed("a caveat is too long or has control characters")
    if _CAVEAT.fullmatch(caveat) is None:
        raise Malformed("a caveat is written: field operator value")


def holds(caveat: str, context: Context) -> bool:
    """Say whether a caveat holds in a context."""
    match = _CAVEAT.fullmatch(caveat)
    if match is None or match[1] not in context:
        return False
    given, sign, value = str(context[match[1]]), match[2], match[3]
    if sign in _ORDER:
        return _holds_order(sign, given, value)
    if sign == "under":
        return _is_under(given, value)
    if sign == "in":
        return given in value.split(",")
    return (given == value) is (sign == "=")


def _holds_order(sign: str, given: str, value: str) -> bool:
    if not _NUMBER.fullmatch(given) or not _NUMBER.fullmatch(value):
        return False
    return _ORDER[sign](int(given), int(value))


def _is_under(path: str, allowed: str) -> bool:
    parts = path.removesuffix("/").split("/")
    if not path.startswith("/") or {"", ".", ".."} & set(parts[1:]):
        return False
    top = allowed.removesuffix("/").split("/")
    return parts[: len(top)] == top
