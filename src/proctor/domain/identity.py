"""Content hashes: of trials, requests and data. Equal means interchangeable, on any machine."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import blake2b
from typing import Any

import orjson

from proctor.domain.message import Json, Prompt
from proctor.domain.model import ModelIdentity

KEY_VERSION = "1"


def _plain(value: Any) -> Any:
    """How orjson sees what it cannot serialise itself."""
    if isinstance(value, bytes):
        return {"bytes": value.hex()}
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} has no canonical form")


def canonical(value: Json) -> bytes:
    """One byte string per value: sorted keys, no white space; 0, 0.0, '0' and false stay apart."""
    return orjson.dumps(value, default=_plain, option=orjson.OPT_SORT_KEYS)


def digest(value: Json) -> str:
    return blake2b(canonical(value), digest_size=16).hexdigest()


def rank(seed: int, text: str) -> bytes:
    """A text's place in the order that a seed gives: the same on every machine and in every version."""
    return blake2b(f"{seed}\0{text}".encode("utf-8", "surrogatepass"), digest_size=16).digest()


class TrialIds:
    """Ids of the trials of one evaluation: model, benchmark as really used, and options are hashed once."""

    __slots__ = ("_prefix",)

    def __init__(self, model: ModelIdentity, benchmark: str, options: Mapping[str, Json]) -> None:
        self._prefix = blake2b(canonical(["trial", KEY_VERSION, model, benchmark, options]), digest_size=16)

    def of(self, sample_id: str, epoch: int) -> str:
        state = self._prefix.copy()
        state.update(canonical([sample_id, epoch]))
        return state.hexdigest()


class CacheKeys:
    """Keys of requests: two share one only when nothing that can change the answer differs."""

    __slots__ = ("_prefix",)

    def __init__(self, model: ModelIdentity, options: Mapping[str, Json]) -> None:
        self._prefix = blake2b(canonical(["request", KEY_VERSION, model, options]), digest_size=16)

    def of(self, prompt: Prompt, follow_ups: tuple[str, ...], epoch: int) -> str:
        state = self._prefix.copy()
        plain = prompt.plain
        if plain is None:
            state.update(canonical([prompt, follow_ups, epoch]))
        else:
            state.update(orjson.dumps([plain, follow_ups, epoch]))
        return state.hexdigest()
