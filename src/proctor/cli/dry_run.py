"""`proctor run --dry-run`: resolve everything, ask nothing, write nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from proctor.domain.evaluation import Evaluation
    from proctor.domain.plan import Plan


def resolved(plan: Plan, evaluations: Sequence[Evaluation]) -> dict[str, Any]:
    """The plan with everything fixed that it left open, as `--dry-run --json` prints it."""
    turns = {id(item.samples): item.samples for item in evaluations}
    requests = {key: sum(1 + len(sample.follow_ups) for sample in samples) for key, samples in turns.items()}
    return {
        "dry_run": True,
        "name": plan.name,
        "seed": plan.seed,
        "trials": sum(item.trials for item in evaluations),
        "estimated_requests": sum(requests[id(item.samples)] * item.epochs for item in evaluations),
        "limits": plan.limits.model_dump(mode="json"),
        "evaluations": [
            {
                "model": item.label,
                "model_spec": str(item.model_spec),
                "endpoint": item.model.identity.endpoint,
                "benchmark": item.benchmark.name,
                "version": item.benchmark.version,
                "digest": item.fingerprint.digest,
                "samples": item.fingerprint.count,
                "epochs": item.epochs,
                "trials": item.trials,
                "options": dict(item.options),
                "scorers": {scorer.name: scorer.version for scorer in item.scorers},
                "metrics": list(item.benchmark.metrics),
            }
            for item in evaluations
        ],
    }
