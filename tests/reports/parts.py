"""Documents that a test makes by hand: what it does not say is what most have."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from proctor.domain.documents.effort import Percentiles, TokenCounts
from proctor.domain.documents.estimate import MetricEstimate
from proctor.domain.documents.evaluation import EvaluationSummary, Selection
from proctor.domain.documents.judging import JudgeTokens, JudgeWork
from proctor.domain.documents.run import RunSummary
from proctor.domain.run import RunStatus
from proctor.runs.measuring.totals import rates_of, totals_of


def estimate(value: float | None = 1.0, n: int = 10, **more: Any) -> MetricEstimate:
    return MetricEstimate(**{"value": value, "stderr": None, "ci95": None, "n": n, "method": "", **more})


def evaluation(**changes: Any) -> EvaluationSummary:
    nothing: Any = rates_of([])
    values = {
        "model": "m", "benchmark": "b", "version": "1", "digest": "d", "selection": Selection(), "revisions": {},
        "samples": 10, "epochs": 1, "trials": 10, "scored": 10, "invalid": 0, "failed": 0, "stopped": 0, "pending": 0,
        "cached": 0, "is_forgeable": False, "metrics": {"accuracy": estimate()}, "categories": {},
        "usage": TokenCounts(None, None, None, None), "cost_usd": None, "answers_cost_usd": None,
        "cost_basis": "reported", "price_sources": (), "cost_per_correct_usd": None,
        "latency_seconds": Percentiles(None, None), "first_token_seconds": Percentiles(None, None),
        "tokens_per_second": Percentiles(None, None), "unreadable_verdicts": 0, "scorers": {"exact": "1"},
        "rescored": None, "side": changes.get("model", "m"), "settings": {}, "rates": nothing, **changes,
    }  # fmt: skip
    return EvaluationSummary(**values)


def run_of(*evaluations: EvaluationSummary, seconds: float = 4.0) -> RunSummary:
    return RunSummary(
        run_id="r",
        name=None,
        status=RunStatus.COMPLETED,
        error=None,
        created_at=datetime(2026, 11, 18, tzinfo=UTC),
        seconds=seconds,
        unanswered_cost_usd=0.0,
        totals=totals_of(evaluations, seconds),
        evaluations=evaluations,
    )


def work(**changes: Any) -> JudgeWork:
    values = {
        "verdicts": 60, "unreadable": 0, "undecided": 0, "preferred_first": 0, "preferred_second": 0, "requests": 60,
        "cached": 0, "usage": JudgeTokens(None, None), "cost_usd": None, "cost_basis": "unknown", "price_sources": (),
        **changes,
    }  # fmt: skip
    return JudgeWork(**values)
