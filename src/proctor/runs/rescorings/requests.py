"""Runs to be scored again in the background: taken on at once, and shown as far as they are."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime
from decimal import Decimal

from proctor.domain.documents.rescoring import RescoreRequest, ServedRescoring
from proctor.domain.errors import PlanError
from proctor.domain.fields import InvalidValueError
from proctor.domain.log_context import current_context
from proctor.domain.plan import Limits
from proctor.planning.plan_file import model_spec
from proctor.planning.scorer_text import read_scorer
from proctor.runs.rescore import Rescoring, find_stored, prepare
from proctor.runs.resolve import PlanContext
from proctor.stores.accounts.budgets import Spender
from proctor.stores.database import Database
from proctor.stores.idempotency import RequestKey
from proctor.stores.rescorings import RescoringRow, RescoringStore, StoredRequest
from proctor.stores.runs import RunRow
from proctor.yaml_document import explain_value


def accept_rescoring(
    database: Database,
    context: PlanContext,
    run: RunRow,
    asked: RescoreRequest,
    *,
    started_by: str,
    request: RequestKey | None = None,
    spender: Spender | None = None,
) -> str:
    """Write it down and give its id; whatever would keep it from being carried out is refused now."""
    prepared = prepare_request(database, context, run, asked)
    if prepared is None:
        find_stored(database, run.id, asked.use, asked.on)
    else:
        asyncio.run(prepared.close())
    is_paid = prepared is not None and prepared.asks_judges
    stored = StoredRequest(
        asked,
        str(context.folder),
        dict(current_context()),
        asks_judges=is_paid,
    )
    return RescoringStore(database).add(
        run.id,
        stored,
        started_by=started_by,
        request=request,
        spender=spender if is_paid else None,
        cap_usd=None if prepared is None else prepared.cost_limit_usd,
    )


def prepare_request(database: Database, context: PlanContext, run: RunRow, asked: RescoreRequest) -> Rescoring | None:
    """Ready to be executed; None where stored scores are to be put in force."""
    if bool(asked.scorers) == bool(asked.use):
        raise PlanError("Give either scorers (score again) or use (choose stored scores).")
    if asked.use:
        return None
    return prepare(
        database,
        run.id,
        [read_scorer(text) for text in asked.scorers],
        context,
        judges=[model_spec(text) for text in asked.judge],
        on=asked.on,
        limits=_limits_of(asked, run.plan.limits),
    )


def _limits_of(asked: RescoreRequest, limits: Limits) -> Limits:
    """Those of the plan; what scoring again may cost is its own."""
    cost = None if asked.cost_usd is None else Decimal(str(asked.cost_usd))
    price = {} if asked.assume_price is None else {"assume_price": asked.assume_price}
    try:
        return Limits.model_validate({**limits.model_dump(), **price, "cost_usd": cost})
    except InvalidValueError as error:
        raise PlanError(explain_value(error, Limits)) from None


def read_rescoring(database: Database, run_id: str, rescoring_id: str) -> ServedRescoring:
    return _document(RescoringStore(database).get(run_id, rescoring_id))


def list_rescorings(database: Database, run_id: str) -> Sequence[ServedRescoring]:
    """The newest first."""
    return [_document(row) for row in RescoringStore(database).of_run(run_id)]


def _document(row: RescoringRow) -> ServedRescoring:
    def moment(seconds: float) -> str:
        return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")

    progress = 1.0 if row.state == "completed" else row.done / row.total if row.total else 0.0
    return ServedRescoring(
        rescoring_id=row.id,
        run_id=row.run_id,
        status=row.state,
        progress=round(progress, 6),
        done=row.done,
        total=row.total,
        fault=row.fault,
        error=row.error,
        started_by=row.started_by,
        created_at=moment(row.created_at),
        ended_at=None if row.ended_at is None else moment(row.ended_at),
        request=row.request.asked,
        result=row.result,
    )
