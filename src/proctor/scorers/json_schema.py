"""The response is JSON that fits a schema.

Schemas come from benchmark files: nothing is fetched for a `$ref`, and patterns run on an engine that cannot backtrack.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from typing import Any

import orjson

from proctor.domain.errors import BenchmarkError, ScorerError
from proctor.domain.message import Json
from proctor.domain.response import Response
from proctor.domain.sample import Sample
from proctor.domain.score import Score
from proctor.scorers.json_values import json_in
from proctor.scorers.options import build, version_of
from proctor.scorers.reading import final_text

NAME = "json_schema"
REVISION = "5"
MAX_ERRORS = 5
NO_SCHEMA = "neither the scorer nor the sample has a schema"


def create(**options: Json) -> SchemaMatch:
    scorer = build(SchemaMatch, NAME, options)
    _library()
    if scorer.schema is not None:
        _validator(orjson.dumps(scorer.schema))
    return scorer


@dataclass(frozen=True, slots=True)
class SchemaMatch:
    """1 when the JSON in the response fits the schema: the option's, else the metadata's `schema`, else the target."""

    schema: Mapping[str, Json] | None = None

    @property
    def name(self) -> str:
        return NAME

    @property
    def version(self) -> str:
        return version_of(self, REVISION)

    def obstacle(self, sample: Sample) -> str | None:
        if self.schema is not None:
            return None
        schema = self._schema_of(sample)
        if schema is None:
            return NO_SCHEMA
        try:
            _validator(schema)
        except BenchmarkError as error:
            return str(error)
        return None

    async def score(self, sample: Sample, response: Response) -> Score:
        schema = self._schema_of(sample)
        if schema is None:
            return Score.unscored(NAME, reason=NO_SCHEMA)
        text = final_text(response.text)
        if not text:
            return Score.invalid(NAME, reason="the response is empty")
        written = json_in(text)
        try:
            document = orjson.loads(written)
        except orjson.JSONDecodeError as error:
            return Score.invalid(NAME, reason=f"the response is not JSON: {error}")
        try:
            errors = [f"{_path(e)}: {e.message}" for e in _first(_validator(schema).iter_errors(document))]
        except BenchmarkError as error:
            raise ScorerError(str(error)) from error
        except ValueError as error:
            return Score.invalid(NAME, reason=f"the JSON cannot be checked: {error}")
        reason = "fits the schema" if not errors else errors[0]
        return Score(NAME, float(not errors), answer=written, reason=reason, details={"errors": errors})

    def _schema_of(self, sample: Sample) -> bytes | None:
        if self.schema is not None:
            return orjson.dumps(self.schema)
        if isinstance(sample.metadata.get("schema"), Mapping):
            return orjson.dumps(sample.metadata["schema"])
        return sample.targets[0].encode() if sample.targets else None


def _first(errors: Any) -> list[Any]:
    return [error for error, _ in zip(errors, range(MAX_ERRORS), strict=False)]


def _path(error: Any) -> str:
    return "/".join(map(str, error.instance_path)) or "the document"


@lru_cache(maxsize=256)
def _validator(schema: bytes) -> Any:
    library = _library()
    try:
        return library.validator_for(
            orjson.loads(schema), retriever=_refuse, pattern_options=library.RegexOptions(), validate_formats=True
        )
    except (ValueError, orjson.JSONDecodeError, library.ReferencingError) as error:
        raise BenchmarkError(f"The schema cannot be used: {error}") from error


def _refuse(address: str) -> Json:
    raise ValueError(f"the schema refers to {address}, and nothing is fetched for a schema")


def _library() -> Any:
    try:
        return import_module("jsonschema_rs")
    except ImportError as error:
        raise BenchmarkError(
            f"The scorer '{NAME}' needs the package jsonschema-rs: pip install 'proctor[schema]'."
        ) from error
