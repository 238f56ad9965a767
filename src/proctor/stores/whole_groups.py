"""Which groups of samples an evaluation that could be stopped early has asked to their end."""

from __future__ import annotations

from sqlalchemy import func, select

from proctor.metrics.intervals import has_clusters
from proctor.stores.comparing import EvaluationRow
from proctor.stores.database import Database, explained
from proctor.stores.runs import GROUP_SIZES, RunStore
from proctor.stores.schema import responses


def whole_groups(database: Database, evaluation: EvaluationRow) -> frozenset[str] | None:
    """The groups of which every planned sample was asked; None where each sample stands for itself.

    Of a run that did not write the planned sizes down, and did not ask everything, none is known to be whole.
    """
    planned = (RunStore(database).last_event(evaluation.run_id, GROUP_SIZES) or {}).get(evaluation.digest)
    asked = _asked(database, evaluation)
    if planned is None:
        alone = asked.pop(None, 0)
        if alone + sum(asked.values()) < evaluation.samples:
            return frozenset()
        planned = asked if has_clusters(alone, asked.values()) else {}
    return frozenset(group for group, size in planned.items() if asked.get(group) == size) if planned else None


def _asked(database: Database, evaluation: EvaluationRow) -> dict[str | None, int]:
    """How many samples of each group were asked."""
    count = func.count(responses.c.sample_id.distinct())
    query = (
        select(responses.c.cluster, count)
        .where(responses.c.evaluation_id == evaluation.id)
        .group_by(responses.c.cluster)
    )  # fmt: skip
    with explained(database.path), database.engine.connect() as connection:
        return {row[0]: row[1] for row in connection.execute(query)}
