"""Which groups of samples an evaluation that could be stopped early has asked to their end."""

from __future__ import annotations

from sqlalchemy import func, select

from proctor.metrics.intervals import has_clusters
from proctor.stores.comparing import EvaluationRow
from proctor.stores.database import Database
from proctor.stores.keys import is_of_evaluation
from proctor.stores.runs import GROUP_SIZES, RunStore
from proctor.stores.tables.results import responses


def whole_groups(database: Database, evaluation: EvaluationRow) -> frozenset[str] | None:
    """The groups of which every planned sample was asked; None where each sample stands for itself.

    Of a run that did not write the planned sizes down, and did not ask everything, none is known to be whole.
    """
    written = RunStore(database).last_event(evaluation.run_id, GROUP_SIZES) or {}
    planned: dict[str, int] | None = written.get(evaluation.digest)
    alone, asked = _asked(database, evaluation)
    if planned is None:
        if alone + sum(asked.values()) < evaluation.samples:
            return frozenset()
        planned = asked if has_clusters(alone, asked.values()) else {}
    return frozenset(group for group, size in planned.items() if asked.get(group) == size) if planned else None


def _asked(database: Database, evaluation: EvaluationRow) -> tuple[int, dict[str, int]]:
    """How many samples without a group were asked, and how many of each group."""
    count = func.count(responses.c.sample_id.distinct())
    query = (
        select(responses.c.cluster, count)
        .where(is_of_evaluation(database, evaluation.id))
        .group_by(responses.c.cluster)
    )  # fmt: skip
    with database.reading() as connection:
        found = {row[0]: row[1] for row in connection.execute(query)}
    return found.pop(None, 0), found
