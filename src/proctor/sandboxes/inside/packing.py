"""A compact form for very long lists of flat tuples over few different values, exact and bounded."""

from __future__ import annotations

import base64
import zlib
from collections.abc import Iterator
from itertools import chain, islice
from typing import Any

MIN_LENGTH = 4_096
MAX_ELEMENTS = 1 << 28
_MAX_DISTINCT = 255


def packed(values: list[Any]) -> dict[str, Any] | None:
    """The list in compact form; None when it is not of the kind this is for."""
    if len(values) < MIN_LENGTH or set(map(type, values)) != {tuple}:
        return None
    kinds = set(map(type, islice(chain.from_iterable(values), 1_000)))
    # One type, and no two equal values that are not the same: then a value's place in a table says everything.
    if len(kinds) != 1 or not kinds <= {str, int, float} or set(map(type, chain.from_iterable(values))) != kinds:
        return None
    distinct = set(islice(chain.from_iterable(values), 100_000))
    if len(distinct) > _MAX_DISTINCT:
        return None
    distinct = set(chain.from_iterable(values))
    if len(distinct) > _MAX_DISTINCT or (float in kinds and any(value == 0 or value != value for value in distinct)):
        return None
    if int in kinds and any(value.bit_length() > 1_000 for value in distinct):
        return None
    table = sorted(distinct)
    index = {value: place for place, value in enumerate(table)}
    lengths = set(map(len, values))
    return {
        "table": table,
        "lengths": lengths.pop() if len(lengths) == 1 else list(map(len, values)),
        "count": len(values),
        "data": base64.b64encode(zlib.compress(bytes(map(index.__getitem__, chain.from_iterable(values))), 1)).decode(),
    }


def unpacked(form: dict[str, Any]) -> list[Any]:
    """The list again; raises ValueError for anything that does not add up."""
    table, lengths, count = form["table"], form["lengths"], form["count"]
    if type(table) is not list or not {str, int, float}.issuperset(map(type, table)):
        raise ValueError("a table of plain values was expected")
    each = [lengths] * count if type(lengths) is int and type(count) is int and 0 <= count <= MAX_ELEMENTS else lengths
    if (
        type(each) is not list
        or any(type(length) is not int or length < 0 for length in each)
        or sum(each) > MAX_ELEMENTS
    ):
        raise ValueError("lengths that make no sense")
    # Inflated with a cap: what is announced is what is read.
    places = iter(zlib.decompressobj().decompress(base64.b64decode(form["data"]), sum(each) + 1))
    found: Iterator[Any] = map(table.__getitem__, places)
    made = [tuple(islice(found, length)) for length in each]
    if next(places, None) is not None or list(map(len, made)) != each:
        raise ValueError("lengths that do not fit the data")
    return made
