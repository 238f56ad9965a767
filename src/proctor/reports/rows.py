"""Results as flat rows: the same fields in every export."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Callable, Iterator
from typing import Any

import orjson
from msgspec import Struct

from proctor.domain.price import basis_kind, basis_source
from proctor.stores.results import ResultRow


def beside_text(row: ResultRow) -> dict[str, Any]:
    """What the model gave beside its text; of files, names and sizes. Nothing where there was nothing."""
    if not row.more:
        return {}
    more = orjson.loads(row.more)
    names = ("turns", "reasoning", "tool_calls", "logprobs", "left_out", "note")
    found = {name: more[name] for name in names if name in more}
    if "files" in more:
        found["files"] = {name: len(b64decode(body["base64"])) for name, body in more["files"].items()}
    return found


class RunRows(Struct, frozen=True):
    """A run's results, read anew each time they are walked through: what an export form is given."""

    run_id: str
    read: Callable[[], Iterator[ResultRow]]

    def __iter__(self) -> Iterator[ResultRow]:
        return self.read()


def result_json(row: ResultRow, *, has_details: bool = True) -> dict[str, Any]:
    """One trial as `export -f jsonl` writes it; details are what a scorer noted, such as a judge's replies."""
    return {
        "run_id": row.run_id,
        "model": row.model,
        "benchmark": row.benchmark,
        "sample_id": row.sample_id,
        "epoch": row.epoch,
        "attempt": row.attempt,
        "category": row.category,
        "input": row.input,
        "target": row.target,
        "response": row.response,
        **beside_text(row),
        "scores": {
            score.scorer: {
                "value": score.value,
                "answer": score.answer,
                "reason": score.reason,
                "invalid": score.is_invalid,
                "version": score.version,
                **({"details": orjson.loads(score.details)} if has_details and score.details else {}),
            }
            for score in row.scores
        },
        "outcome": row.outcome.value,
        "cached": row.is_cached,
        "finish_reason": row.finish_reason,
        "latency_seconds": row.latency_seconds,
        "first_token_seconds": row.first_token_seconds,
        "usage": {
            "input_tokens": row.input_tokens,
            "output_tokens": row.output_tokens,
            "reasoning_tokens": row.reasoning_tokens,
            "cached_tokens": row.cached_tokens,
        },
        "cost_usd": None if row.cost_usd is None else float(row.cost_usd),
        "cost_basis": basis_kind(row.cost_basis),
        "price_source": basis_source(row.cost_basis),
        "error": row.error,
    }


def flat_json(row: ResultRow) -> dict[str, Any]:
    """The same trial for a table: usage beside the rest, calls of tools as text, no details."""
    values = result_json(row, has_details=False)
    values.update(values.pop("usage"))
    if "tool_calls" in values:
        values["tool_calls"] = orjson.dumps(values["tool_calls"]).decode()
    return values
