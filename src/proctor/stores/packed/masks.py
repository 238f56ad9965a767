"""Which results of a segment are meant: a byte for each, 1 or 0."""

from __future__ import annotations

import sys
import zlib
from array import array
from collections.abc import Iterable, Sequence
from itertools import compress

SEGMENT = 65_536
"""Results that are packed together: their places fit into two bytes."""
_PLACES, _MASK = b"\x00", b"\x01"
_DENSE = 16
"""Where more than one in so many has it, a mask is shorter than the places."""

Mask = bytes


def ones(count: int) -> Mask:
    return b"\x01" * count


def both(masks: Iterable[Mask], count: int) -> Mask:
    """Where all of them say so."""
    found = -1
    for mask in masks:
        found &= int.from_bytes(mask, "little")
    return ones(count) if found == -1 else found.to_bytes(count, "little")


def either(masks: Iterable[Mask], count: int) -> Mask:
    """Where any of them says so."""
    found = 0
    for mask in masks:
        found |= int.from_bytes(mask, "little")
    return found.to_bytes(count, "little")


def chosen(ids: Sequence[int], mask: Mask) -> list[int]:
    return list(compress(ids, mask))


def pack_places(places: array[int], count: int) -> bytes:
    """Ascending places among `count`, as few bytes."""
    if len(places) * _DENSE <= count:
        return _PLACES + little_endian(places)
    return _MASK + zlib.compress(_mask_of(places, count), 1)


def unpack_places(packed: Sequence[bytes], count: int) -> Mask:
    """A mask of all the places that were packed."""
    sparse = array("H")
    dense = []
    for one in packed:
        if one[:1] == _PLACES:
            sparse.frombytes(one[1:])
        else:
            dense.append(zlib.decompress(one[1:]))
    if sys.byteorder == "big":
        sparse.byteswap()
    found = _mask_of(sparse, count)
    return either([found, *dense], count) if dense else found


def _mask_of(places: array[int], count: int) -> Mask:
    mask = bytearray(count)
    for place in places:
        mask[place] = 1
    return bytes(mask)


def little_endian(values: array[int] | array[float]) -> bytes:
    """The numbers as bytes, the same on every machine."""
    if sys.byteorder == "big":
        values = values[:]
        values.byteswap()
    return values.tobytes()


def numbers(kind: str, packed: bytes) -> array[int]:
    found = array(kind)
    found.frombytes(packed)
    if sys.byteorder == "big":
        found.byteswap()
    return found
