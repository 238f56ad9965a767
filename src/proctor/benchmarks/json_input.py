"""Inputs of the kind `json`: an object or a list in each row, checked against the benchmark's schema."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from proctor.domain.message import Json
from proctor.json_schema import find_broken_rules, refuse_unusable_schema
from proctor.prompts.json_input import write_json


class JsonInputReader:
    """Makes the one text that stands for an input.

    ValueError says what is wrong with it, BenchmarkError what is wrong with the schema.
    """

    def __init__(self, schema: Mapping[str, Json] | None) -> None:
        self._schema = schema
        if schema is not None:
            refuse_unusable_schema(schema, "An input of the kind 'json' with a schema")

    def read(self, given: Any) -> str:
        value = _parse(given) if isinstance(given, str) else given  # a table has it as text
        if not isinstance(value, Mapping | list):
            raise ValueError("it must be an object or a list, as 'input.kind: json' says")
        try:
            text = write_json(value)
        except (ValueError, TypeError) as fault:
            raise ValueError(f"it holds a value that is not JSON: {fault}") from fault
        except RecursionError:
            raise ValueError("it is nested too deeply") from None
        if self._schema is not None and (broken := find_broken_rules(self._schema, value)):
            raise ValueError("; ".join(broken))
        return text


def _parse(text: str) -> Any:
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    except ValueError as fault:
        raise ValueError(f"it is not JSON: {fault}") from fault
