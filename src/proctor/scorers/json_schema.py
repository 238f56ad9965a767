"""The response is JSON that fits a schema."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from proctor.domain.errors import BenchmarkError, ScorerError
from proctor.domain.message import Json
from proctor.domain.response import Response
from proctor.domain.sample import Sample
from proctor.domain.score import Score
from proctor.json_schema import compile_schema, load_library
from proctor.scorers.json_values import json_in
from proctor.scorers.options import build, version_of
from proctor.scorers.reading import TextReader, final_text

NAME = "json_schema"
REVISION = "5"
MAX_ERRORS = 5
_NEEDED_BY = f"The scorer '{NAME}'"
NO_SCHEMA = "neither the scorer nor the sample has a schema"


def create(**options: Json) -> SchemaMatch:
    scorer = build(SchemaMatch, NAME, options)
    load_library(_NEEDED_BY)
    if scorer.schema is not None:
        compile_schema(orjson.dumps(scorer.schema), _NEEDED_BY)
    return scorer


@dataclass(frozen=True, slots=True)
class SchemaMatch(TextReader):
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
            compile_schema(schema, _NEEDED_BY)
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
            found = compile_schema(schema, _NEEDED_BY).iter_errors(document)
            errors = [f"{_path(error)}: {error.message}" for error in _first(found)]
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
