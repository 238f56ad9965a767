"""What the evaluations of a run are called beside each other, planned or stored."""

from __future__ import annotations

from collections.abc import Sequence

import orjson

from proctor.domain.evaluation import Evaluation
from proctor.domain.side import EvaluationSide, prompt_settings, side_names
from proctor.runs.columns import EvaluationColumns

NamedSide = tuple[str, EvaluationSide]


def sides_of(evaluations: Sequence[Evaluation]) -> list[NamedSide]:
    """Of evaluations that are about to be made."""
    return _named([
        EvaluationSide(item.label, item.benchmark.name, prompt_settings(item.benchmark_spec.model_dump()))
        for item in evaluations
    ])  # fmt: skip


def sides_of_rows(rows: Sequence[EvaluationColumns]) -> list[NamedSide]:
    """Of all the stored evaluations of a run."""
    return _named([
        EvaluationSide(row["model"], row["benchmark"], prompt_settings(orjson.loads(row["benchmark_spec"])))
        for row in rows
    ])  # fmt: skip


def _named(sides: Sequence[EvaluationSide]) -> list[NamedSide]:
    return list(zip(side_names(sides), sides, strict=True))
