"""Gives `replay/RUN` the answers of that run."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from proctor.domain.evaluation import Evaluation
from proctor.domain.plan import Plan
from proctor.domain.response import Response
from proctor.models.replay import ReplayModel, prompt_digest
from proctor.stores.database import Database
from proctor.stores.runs import RunStore


def name_replays(plan: Plan, database: Database) -> Plan:
    """The plan with full run ids in place of 'latest' and beginnings: what is replayed must not change later."""
    models = tuple(
        spec.model_copy(update={"name": RunStore(database).get(spec.name).id}) if spec.provider == "replay" else spec
        for spec in plan.models
    )
    return plan.model_copy(update={"models": models})


def bind_replays(evaluations: Sequence[Evaluation], database: Database) -> None:
    """Point every replaying model at the run it names; raises NotFoundError when there is none."""
    for evaluation in evaluations:
        if isinstance(evaluation.model, ReplayModel):
            evaluation.model.bind(_answers(evaluation.model.run, database))


def _answers(reference: str, database: Database) -> Callable[[str], Response | None]:
    from proctor.stores.recorded import RecordedAnswers

    run = RunStore(database).get(reference)
    return RecordedAnswers(database, run.id, prompt_digest).find
