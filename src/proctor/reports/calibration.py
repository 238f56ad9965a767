"""Is a judge's high mark a right answer? Its marks held against another scorer's on the same responses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from proctor.domain.estimate import Estimate
from proctor.metrics.intervals import MeanAccumulator
from proctor.reports.summary import estimate_json

BINS = 5


def calibration_json(judge: str, reference: str, pairs: Sequence[tuple[float, float, int]]) -> dict[str, Any] | None:
    """How often the two agree on right or wrong, and the reference's mean for each height of the judge's mark.

    None when no response has both marks. Right means a mark of at least a half.
    """
    n = sum(count for *_, count in pairs)
    if not n:
        return None
    agreed = MeanAccumulator()
    bins = [MeanAccumulator() for _ in range(BINS)]
    for mark, other, count in pairs:
        place = min(BINS - 1, int(mark * BINS))
        for _ in range(count):
            agreed.add_value(float((mark >= 0.5) == (other >= 0.5)))
            bins[place].add_value(other)
    return {
        "judge": judge,
        "reference": reference,
        "n": n,
        "agreement": estimate_json(agreed.estimate()),
        "bins": [
            {"from": place / BINS, "to": (place + 1) / BINS, "reference": estimate_json(found)}
            for place, found in enumerate(_estimates(bins))
            if found.n
        ],
    }


def _estimates(bins: Sequence[MeanAccumulator]) -> list[Estimate]:
    return [one.estimate() for one in bins]
