"""Results as flat rows: the same fields in every export."""

from __future__ import annotations

from typing import Any

from proctor.domain.price import basis_kind, basis_source
from proctor.stores.results import ResultRow


def result_json(row: ResultRow) -> dict[str, Any]:
    """One trial as `export -f jsonl` writes it."""
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
        "scores": {
            score.scorer: {
                "value": score.value,
                "answer": score.answer,
                "reason": score.reason,
                "invalid": score.is_invalid,
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
