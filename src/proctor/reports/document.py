"""A run as one document; apart from `summary`, because kept numbers are shown without loading what computes them."""

from __future__ import annotations

from typing import Any

from proctor.reports.totals import rates_json, totals_json
from proctor.stores.runs import RunRow


def run_json(run: RunRow, evaluations: list[dict[str, Any]]) -> dict[str, Any]:
    """The one document that `--json` prints."""
    seconds = round(run.seconds, 3)
    return {
        "run_id": run.id,
        "name": run.name,
        "status": run.status.value,
        "error": run.error,
        "created_at": run.created_at.isoformat(),
        "seconds": seconds,
        "unanswered_cost_usd": float(run.unanswered_usd),
        "totals": totals_json(evaluations, seconds),
        "evaluations": [{**item, "rates": rates_json([item])} for item in evaluations],
    }
