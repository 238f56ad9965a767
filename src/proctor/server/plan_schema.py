"""The JSON Schema of a plan as people write it: names or mappings, one or several."""

from __future__ import annotations

from typing import Any

from proctor.server.documents import written

EXAMPLE = {
    "name": "first",
    "models": ["demo/strong", {"model": "demo/weak", "temperature": 0}],
    "benchmarks": [{"benchmark": "puzzles", "limit": 10}],
    "seed": 7,
}
_MODEL = written(
    "PlanModel",
    {
        "description": "`provider/name`, also with `?option=value`; or a mapping with sampling options and settings.",
        "anyOf": [
            {"type": "string"},
            {"type": "object", "required": ["model"], "properties": {"model": {"type": "string"}}},
        ],
    },
)
_BENCHMARK = written(
    "PlanBenchmark",
    {
        "description": "A name, or a mapping that says which of its samples, and its parameters.",
        "anyOf": [
            {"type": "string"},
            {
                "type": "object",
                "required": ["benchmark"],
                "properties": {
                    "benchmark": {"type": "string"},
                    "where": {"type": "object"},
                    "limit": {"type": ["integer", "null"], "minimum": 1},
                    "shots": {"type": ["integer", "null"], "minimum": 0},
                    "epochs": {"type": ["integer", "null"], "minimum": 1},
                    "parameters": {"type": "object"},
                    "revisions": {"type": "object"},
                    "matrix": {"type": ["object", "null"]},
                },
            },
        ],
    },
)


def _one_or_many(item: dict[str, Any], least: int) -> dict[str, Any]:
    return {"anyOf": [item, {"type": "array", "items": item, "minItems": least}]}


_POSITIVE = {"type": ["number", "null"], "exclusiveMinimum": 0}
PLAN = written(
    "Plan",
    {
        "title": "Plan",
        "description": "A plan as in a plan file; docs/reference/plan-file.md describes each field.",
        "type": "object",
        "required": ["models", "benchmarks"],
        "additionalProperties": False,
        "properties": {
            "name": {"type": ["string", "null"]},
            "tags": {"type": "array", "maxItems": 20, "items": {"type": "string", "minLength": 1, "maxLength": 50}},
            "models": _one_or_many(_MODEL, 1),
            "benchmarks": _one_or_many(_BENCHMARK, 1),
            "epochs": {"type": "integer", "minimum": 1},
            "seed": {"type": "integer"},
            "sampling": {"type": "object"},
            "judge": {"anyOf": [*_one_or_many(_MODEL, 0)["anyOf"], {"type": "null"}]},
            "cache": {"type": "boolean"},
            "sandbox": {"type": ["string", "null"]},
            "unsafe_no_sandbox": {"type": "boolean"},
            "until": {"type": ["string", "null"]},
            "batch": {"type": "boolean"},
            "offline": {"type": "boolean"},
            "matrix": {"type": ["object", "null"]},
            "gaps": {"type": "array", "items": {"type": "string"}},
            "limits": {
                "type": "object",
                "additionalProperties": False,
                "properties": {
                    "cost_usd": {"anyOf": [_POSITIVE, {"type": "string"}]},
                    "assume_price": {"type": ["string", "null"]},
                    "minutes": _POSITIVE,
                    "concurrency": {"type": "integer", "minimum": 1, "maximum": 4096},
                    "retries": {"type": "integer", "minimum": 0, "maximum": 50},
                    "timeout_seconds": {"type": "number", "exclusiveMinimum": 0},
                    "requests_per_minute": _POSITIVE,
                    "tokens_per_minute": _POSITIVE,
                },
            },
        },
    },
)
