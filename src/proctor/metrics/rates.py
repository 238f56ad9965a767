"""How often something other than a score happened."""

from __future__ import annotations

from collections.abc import Mapping

from proctor.domain.estimate import Estimate
from proctor.domain.trial import Outcome
from proctor.metrics.intervals import estimate_rate


def outcome_rates(counts: Mapping[Outcome, int]) -> dict[str, Estimate]:
    """`invalid` as a share of the answers, `failed` as a share of the trials asked; stopped trials are in neither."""
    answered = counts.get(Outcome.SCORED, 0) + counts.get(Outcome.INVALID, 0)
    failed = counts.get(Outcome.FAILED, 0)
    return {
        "invalid": estimate_rate(counts.get(Outcome.INVALID, 0), answered),
        "failed": estimate_rate(failed, answered + failed),
    }
