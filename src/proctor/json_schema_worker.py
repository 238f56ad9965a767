"""Runs in its own process: says which rules of a schema a value breaks."""

from __future__ import annotations

from itertools import islice
from typing import Any

import orjson

from proctor.domain.errors import BenchmarkError
from proctor.json_schema import MAX_BROKEN_RULES, compile_schema, load_library
from proctor.limited_process import serve

MAX_MESSAGE_LENGTH = 200
NEEDED_BY = "An input of the kind 'json' with a schema"


def find_broken_rules(request: tuple[bytes, bytes]) -> dict[str, Any]:
    schema, value = request
    try:
        errors = compile_schema(schema, NEEDED_BY).iter_errors(orjson.loads(value))
        return {"broken": [_describe(error) for error in islice(errors, MAX_BROKEN_RULES)]}
    except (BenchmarkError, ValueError) as fault:
        return {"fault": str(fault)}


def _describe(error: Any) -> str:
    where = "/".join(map(str, error.instance_path))
    rule = "/".join(map(str, error.schema_path))
    message = " ".join(str(error.message).split())
    if len(message) > MAX_MESSAGE_LENGTH:
        message = f"{message[:MAX_MESSAGE_LENGTH]}…"
    return f"{f'at {where}' if where else 'the whole of it'}: {message} (rule {rule})"


def main() -> None:
    serve(find_broken_rules, lambda: load_library(NEEDED_BY))
