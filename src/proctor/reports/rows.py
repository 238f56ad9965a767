"""Results as flat rows: the same fields in every export."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Callable, Collection, Iterator, Sequence
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


EXTRAS = ("prompt", "metadata", "choices", "tags")
"""What an export has only where it is asked for: the prompt as it was sent, and what else the sample holds."""


def extras_json(row: ResultRow, extras: Collection[str]) -> dict[str, Any]:
    """The fields among EXTRAS that were asked for; None where the sample has none."""
    if not extras:
        return {}
    known = {**orjson.loads(row.sample_body), "prompt": orjson.loads(row.prompt)}
    return {name: known.get(name) for name in EXTRAS if name in extras}


def count_worked_examples(row: ResultRow) -> int:
    """How many worked examples (few-shot) stand as turns between the prompt's system messages and the sample's own."""
    own = len(orjson.loads(row.sample_body).get("messages", ())) or 1
    roles = [message["role"] for message in orjson.loads(row.prompt)["messages"]]
    turns = roles[example_places(roles, 0).start : -own]
    return len(turns) // 2 if turns == ["user", "assistant"] * (len(turns) // 2) else 0


def example_places(roles: Sequence[str], count: int) -> range:
    """Where so many worked examples stand among messages of these roles: after the system messages, two each."""
    first = next((place for place, role in enumerate(roles) if role != "system"), len(roles))
    return range(first, first + 2 * count)


class RunRows(Struct, frozen=True):
    """A run's results, read anew each time they are walked through: what an export format is given."""

    run_id: str
    read: Callable[[], Iterator[ResultRow]]
    extras: tuple[str, ...] = ()
    """The fields among EXTRAS that were asked for."""

    def __iter__(self) -> Iterator[ResultRow]:
        return self.read()


def result_json(row: ResultRow, *, has_details: bool = True, extras: Collection[str] = ()) -> dict[str, Any]:
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
        **extras_json(row, extras),
    }


def flat_json(row: ResultRow, extras: Collection[str] = ()) -> dict[str, Any]:
    """The same trial for a table: usage beside the rest, tool calls and extras as JSON text, no details."""
    values = result_json(row, has_details=False, extras=extras)
    values.update(values.pop("usage"))
    for name in ("tool_calls", *extras):
        if values.get(name) is not None:
            values[name] = orjson.dumps(values[name]).decode()
    return values
