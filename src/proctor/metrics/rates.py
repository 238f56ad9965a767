"""How often something other than a score happened."""

from __future__ import annotations

from collections.abc import Mapping

from proctor.domain.estimate import Estimate
from proctor.domain.trial import Outcome
from proctor.metrics.intervals import estimate_rate


def outcome_rates(counts: Mapping[Outcome, int], cached: int = 0) -> dict[str, Estimate]:
    """Shares with intervals; stopped trials are in none.

    `answered` and `failed` are shares of the trials asked, those answered from the cache left out; `invalid` is one
    of all answers.
    """
    answered = counts.get(Outcome.SCORED, 0) + counts.get(Outcome.INVALID, 0)
    failed = counts.get(Outcome.FAILED, 0)
    asked = answered + failed - cached
    # An answer from the cache that has no score (not yet, or its scorer failed) is among the failed, and was not asked.
    lent = min(cached, answered)
    return {
        "answered": estimate_rate(answered - lent, asked),
        "invalid": estimate_rate(counts.get(Outcome.INVALID, 0), answered),
        "failed": estimate_rate(failed - (cached - lent), asked),
    }
