"""Content hashes: of trials, requests and data. Equal means interchangeable, on any machine."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from hashlib import blake2b
from typing import Any

import orjson

from proctor.domain.message import Json, Prompt
from proctor.domain.model import ModelIdentity

KEY_VERSION = "1"


def _plain(value: Any) -> Any:
    """How orjson sees what it cannot serialise itself; a type's name keeps unlike things apart."""
    if isinstance(value, bytes):
        return {"bytes": value.hex()}
    if is_dataclass(value) and not isinstance(value, type):
        return {"type": type(value).__name__, **{f.name: getattr(value, f.name) for f in fields(value)}}
    if isinstance(value, Mapping):
        return dict(value)
    return str(value)


def canonical(value: Json) -> bytes:
    """One byte string per value: sorted keys, no white space; 0, 0.0, '0' and false stay apart."""
    return orjson.dumps(
        value, default=_plain, option=orjson.OPT_SORT_KEYS | orjson.OPT_NON_STR_KEYS | orjson.OPT_PASSTHROUGH_DATACLASS
    )


def digest(value: Json) -> str:
    return blake2b(canonical(value), digest_size=16).hexdigest()


def trial_id(model: ModelIdentity, benchmark: str, sample_id: str, epoch: int, options: Mapping[str, Json]) -> str:
    """`benchmark` names the benchmark with the version that was really used."""
    return digest(["trial", KEY_VERSION, model, benchmark, sample_id, epoch, options])


def cache_key(model: ModelIdentity, prompt: Prompt, options: Mapping[str, Json], epoch: int) -> str:
    """Two requests share a key only when nothing that can change the answer differs."""
    return digest(["request", KEY_VERSION, model, prompt, options, epoch])
