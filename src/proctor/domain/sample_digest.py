"""The fingerprint of samples: the same content gives the same digest, whatever file format and machine it came from."""

from __future__ import annotations

from hashlib import blake2b

import orjson

from proctor.domain.benchmark import Fingerprint
from proctor.domain.identity import canonical
from proctor.domain.message import Json
from proctor.domain.sample import Sample

_LINE = orjson.OPT_SORT_KEYS | orjson.OPT_APPEND_NEWLINE


class SampleDigest:
    """Add samples in order, then ask for the fingerprint; order and every field of a sample count."""

    __slots__ = ("_count", "_hash")

    def __init__(self) -> None:
        self._hash = blake2b(digest_size=16)
        self._count = 0

    def add(self, sample: Sample) -> bytes:
        """Take one sample in, and give the JSON it counts as; raises TypeError or ValueError where that cannot be."""
        values: list[Json] = [
            sample.id,
            sample.input,
            sample.target,
            sample.choices,
            sample.category,
            sample.group,
            sample.follow_ups,
            sample.tags,
            sample.metadata,
        ]
        if sample.files:
            values.append(sample.files)
        if not sample.files and isinstance(sample.input, str):
            try:
                line = orjson.dumps(values, option=_LINE)
            except TypeError:
                line = canonical(values) + b"\n"  # mappings and numbers that the quick way does not know
        else:
            line = canonical(values) + b"\n"
        self._hash.update(line)  # JSON never holds a raw line break, so samples cannot run into one another
        self._count += 1
        return line

    def fingerprint(self) -> Fingerprint:
        return Fingerprint(self._hash.hexdigest(), self._count)
