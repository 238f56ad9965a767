"""Values as tagged plain JSON: the only thing that crosses between a check and a library in its place.

None, booleans, strings, whole numbers and lists are themselves; everything else is an object with one key, its tag. A
value of a subclass is reduced to its base type; anything else is a handle, whose meaning is the owner's.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any

MAX_DEPTH = 100
_BIG_INT_BITS = 10_000  # Python refuses to write longer ones in decimal


class ValueCodecError(Exception):
    """A value that cannot cross, or a message that says nothing sensible."""


def encode(value: Any, export: Callable[[Any], Any], depth: int = 0) -> Any:
    """The value as JSON; `export` gives a tagged form to what is not plain."""
    if value is None or value is True or value is False:
        return value
    if depth > MAX_DEPTH:
        raise ValueCodecError(f"a value nested more than {MAX_DEPTH} deep cannot cross")
    for kind, write in _WRITERS:
        if isinstance(value, kind):
            return write(value, lambda item: encode(item, export, depth + 1))
    return export(value)


def decode(data: Any, adopt: Callable[[str, Any], Any], depth: int = 0) -> Any:
    """The value, made of base types only; `adopt` gives a face to the other side's handles."""
    if data is None or isinstance(data, bool | int | str):
        return data
    if depth > MAX_DEPTH:
        raise ValueCodecError("nested too deep")
    if isinstance(data, list):
        return [decode(item, adopt, depth + 1) for item in data]
    if not isinstance(data, dict) or len(data) != 1:
        raise ValueCodecError("a value without a tag")
    ((tag, body),) = data.items()
    read = _READERS.get(tag)
    if read is None:
        return adopt(tag, body)
    try:
        return read(body, lambda item: decode(item, adopt, depth + 1))
    except (ValueError, TypeError, ArithmeticError, LookupError, AttributeError) as error:
        raise ValueCodecError(f"a value that makes no sense: {error}") from error


def dumps(message: Any) -> bytes:
    return json.dumps(message, separators=(",", ":")).encode()


def loads(body: bytes) -> Any:
    try:
        return json.loads(body)
    except (ValueError, RecursionError, MemoryError) as error:
        raise ValueCodecError(f"not JSON: {type(error).__name__}") from error


Inner = Callable[[Any], Any]


def _write_int(value: int, _: Inner) -> Any:
    plain = int.__int__(value)
    return {"i": hex(plain)} if plain.bit_length() > _BIG_INT_BITS else plain


def _write_float(value: float, _: Inner) -> Any:
    plain = float.__float__(value)
    return {"f": plain.hex() if math.isfinite(plain) else repr(plain)}


def _write_pairs(value: dict[Any, Any], inner: Inner) -> Any:
    return {"d": [[inner(key), inner(item)] for key, item in dict.items(value)]}


# Read through the base type's own methods: a subclass may have replaced them.
_WRITERS: tuple[tuple[type, Callable[[Any, Inner], Any]], ...] = (
    (int, _write_int),
    (float, _write_float),
    (str, lambda value, _: str.__str__(value)),
    (list, lambda value, inner: [inner(item) for item in list.__iter__(value)]),
    (dict, _write_pairs),
    (tuple, lambda value, inner: {"t": [inner(item) for item in tuple.__iter__(value)]}),
    (frozenset, lambda value, inner: {"F": [inner(item) for item in frozenset.__iter__(value)]}),
    (set, lambda value, inner: {"s": [inner(item) for item in set.__iter__(value)]}),
    (bytes, lambda value, _: {"b": bytes.hex(value)}),
    (bytearray, lambda value, _: {"B": bytearray.hex(value)}),
    (complex, lambda value, _: {"c": [value.real.hex(), value.imag.hex()]}),
    (datetime, lambda value, _: {"T": [datetime.isoformat(value), value.fold]}),
    (date, lambda value, _: {"D": date.isoformat(value)}),
    (time, lambda value, _: {"M": [time.isoformat(value), value.fold]}),
    (timedelta, lambda value, _: {"u": [value.days, value.seconds, value.microseconds]}),
    (Decimal, lambda value, _: {"m": Decimal.__str__(value)}),
    (Fraction, lambda value, _: {"q": [int(value.numerator), int(value.denominator)]}),
    (range, lambda value, _: {"R": [value.start, value.stop, value.step]}),
)

_READERS: dict[str, Callable[[Any, Inner], Any]] = {
    "i": lambda body, _: int(body, 16),
    "f": lambda body, _: float(body) if body in ("nan", "inf", "-inf") else float.fromhex(body),
    "d": lambda body, inner: {inner(key): inner(item) for key, item in body},
    "t": lambda body, inner: tuple(inner(item) for item in body),
    "F": lambda body, inner: frozenset(inner(item) for item in body),
    "s": lambda body, inner: {inner(item) for item in body},
    "b": lambda body, _: bytes.fromhex(body),
    "B": lambda body, _: bytearray.fromhex(body),
    "c": lambda body, _: complex(float.fromhex(body[0]), float.fromhex(body[1])),
    "T": lambda body, _: datetime.fromisoformat(body[0]).replace(fold=body[1]),
    "D": lambda body, _: date.fromisoformat(body),
    "M": lambda body, _: time.fromisoformat(body[0]).replace(fold=body[1]),
    "u": lambda body, _: timedelta(*map(int, body)),
    "m": lambda body, _: Decimal(body),
    "q": lambda body, _: Fraction(*map(int, body)),
    "R": lambda body, _: range(*map(int, body)),
}
