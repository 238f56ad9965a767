"""JSON schemas from strangers' files: nothing is fetched for a `$ref`, no pattern backtracks, and time is limited.

A schema of a few lines can take 2**40 steps (`allOf` twice the next definition, forty times): values are checked in a
process of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, lru_cache
from importlib import import_module
from typing import Any

import orjson

from proctor.domain.errors import BenchmarkError
from proctor.domain.message import Json
from proctor.limited_process import LimitedProcess, WorkLimitError

MAX_SCHEMA_BYTES = 1_000_000
MAX_BROKEN_RULES = 3
"""How many broken rules are told of one value."""


def find_broken_rules(schema: Mapping[str, Json], value: Json) -> list[str]:
    """The first rules that a value breaks: where in the value, and which.

    ValueError where it is no JSON value, BenchmarkError where the schema cannot be used or a limit is passed.
    """
    try:
        request = orjson.dumps(schema), orjson.dumps(value)
    except TypeError as fault:
        raise ValueError(f"it cannot be checked against the schema: {fault}") from fault
    try:
        reply = _process().ask(request)
    except WorkLimitError as fault:
        raise BenchmarkError(f"it cannot be checked against the schema: {fault}") from fault
    if "fault" in reply:
        raise BenchmarkError(reply["fault"])
    return list(reply["broken"])


def refuse_unusable_schema(schema: Mapping[str, Json], needed_by: str) -> None:
    """Raises BenchmarkError where no value could be checked against it."""
    load_library(needed_by)
    find_broken_rules(schema, None)


@cache
def _process() -> LimitedProcess:
    return LimitedProcess("proctor.json_schema_worker", "checks values against schemas")


@lru_cache(maxsize=256)
def compile_schema(schema: bytes, needed_by: str) -> Any:
    """A validator; BenchmarkError says why the schema cannot be used, or what must be installed."""
    library = load_library(needed_by)
    if len(schema) > MAX_SCHEMA_BYTES:
        raise BenchmarkError(f"The schema has {len(schema):,} bytes; at most {MAX_SCHEMA_BYTES:,} are allowed")
    try:
        return library.validator_for(
            orjson.loads(schema), retriever=_refuse, pattern_options=library.RegexOptions(), validate_formats=True
        )
    except (ValueError, orjson.JSONDecodeError, library.ReferencingError) as error:
        raise BenchmarkError(f"The schema cannot be used: {error}") from error


def _refuse(address: str) -> Json:
    raise ValueError(f"the schema refers to {address}, and nothing is fetched for a schema")


def load_library(needed_by: str) -> Any:
    try:
        return import_module("jsonschema_rs")
    except ImportError as error:
        raise BenchmarkError(f"{needed_by} needs the package jsonschema-rs: pip install 'proctor[schema]'.") from error
