"""Runs in lists: summaries only, newest first, paged by key."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import orjson
from msgspec import Struct
from sqlalchemy import ColumnElement, exists, false, func, or_, select, tuple_

from proctor.domain.price import UNKNOWN
from proctor.domain.run import RunStatus
from proctor.stores.database import Database
from proctor.stores.json_columns import json_text
from proctor.stores.playground import OPEN_STATES, AskRow, PlaygroundStore
from proctor.stores.scoping import in_scope
from proctor.stores.tables.playground import playground_answers, playground_asks
from proctor.stores.tables.runs import evaluations, run_tags, runs


class RunListing(Struct, frozen=True):
    id: str
    name: str | None
    started_by: str | None
    status: RunStatus
    created_at: datetime
    seconds: float
    models: tuple[str, ...]
    benchmarks: tuple[str, ...]
    trials: int
    tags: tuple[str, ...]
    costs: tuple[tuple[float | None, str, Mapping[str, Any]], ...] | None
    """For each evaluation its cost, what that rests on, and what its judges did; None before all are summed up."""


class RunFilter(Struct, frozen=True):
    """Which runs are wanted; each part that is given must hold."""

    statuses: tuple[RunStatus, ...] = ()
    models: tuple[str, ...] = ()
    """All of them took part."""
    benchmarks: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    """It has all of them."""
    name: str | None = None
    """A part of the name, whatever its case."""
    since: datetime | None = None
    until: datetime | None = None
    """Started before this."""
    owner: str | None = None
    """Who started it: a user's name, or `key ID`."""


def list_runs(
    database: Database, *, limit: int, wanted: RunFilter | None = None, before: tuple[str, str] | None = None
) -> list[RunListing]:
    """The newest runs; `before` is (created_at, id) of the last one seen."""
    query = select(runs).order_by(runs.c.created_at.desc(), runs.c.id.desc()).limit(limit)
    query = query.where(*in_scope(database, runs), *_conditions(wanted or RunFilter()))
    if before is not None:
        query = query.where(tuple_(runs.c.created_at, runs.c.id) < before)
    with database.reading() as connection:
        rows = connection.execute(query).all()
        parts = connection.execute(
            select(
                evaluations.c.run_id,
                evaluations.c.model,
                evaluations.c.benchmark,
                (evaluations.c.samples * evaluations.c.epochs).label("trials"),
                evaluations.c.summary,
            )
            .where(evaluations.c.run_id.in_([row.id for row in rows]))
            .order_by(evaluations.c.run_id, evaluations.c.position)
        ).all()
        found_tags = connection.execute(
            select(run_tags).where(run_tags.c.run_id.in_([row.id for row in rows])).order_by(run_tags.c.tag)
        ).all()
    tags_of: dict[str, list[str]] = {row.id: [] for row in rows}
    for found in found_tags:
        tags_of[found.run_id].append(found.tag)
    parts_of: dict[str, list[Any]] = {row.id: [] for row in rows}
    for part in parts:
        parts_of[part.run_id].append(part)
    return [
        RunListing(
            id=row.id,
            name=row.name,
            started_by=row.started_by,
            status=RunStatus(row.status),
            created_at=datetime.fromisoformat(row.created_at),
            seconds=row.seconds,
            models=_named(row.plan, parts_of[row.id], "model"),
            benchmarks=_named(row.plan, parts_of[row.id], "benchmark"),
            trials=sum(part.trials for part in parts_of[row.id]),
            tags=tuple(tags_of[row.id]),
            costs=_costs(parts_of[row.id]),
        )
        for row in rows
    ]


def _named(plan: str, parts: Sequence[Any], what: str) -> tuple[str, ...]:
    """What took part; before there is an evaluation, what the plan names, a file by its name alone."""
    if parts:
        return tuple(dict.fromkeys(getattr(part, what) for part in parts))
    found = orjson.loads(plan)[f"{what}s"]
    if what == "model":
        return tuple(dict.fromkeys(f"{one['provider']}/{one['name']}" for one in found))
    return tuple(dict.fromkeys(one["benchmark"].replace("\\", "/").rpartition("/")[2] for one in found))


def _conditions(wanted: RunFilter) -> list[ColumnElement[bool]]:
    found = [_took_part("model", name) for name in wanted.models]
    found += [_took_part("benchmark", name) for name in wanted.benchmarks]
    found += [exists().where(run_tags.c.run_id == runs.c.id, run_tags.c.tag == tag) for tag in wanted.tags]
    if wanted.statuses:
        found.append(runs.c.status.in_([status.value for status in wanted.statuses]))
    if wanted.name is not None:
        found.append(runs.c.name.icontains(wanted.name, autoescape=True))
    if wanted.owner is not None:
        found.append(runs.c.started_by == wanted.owner)
    if wanted.since is not None:
        found.append(runs.c.created_at >= _moment(wanted.since))
    if wanted.until is not None:
        found.append(runs.c.created_at < _moment(wanted.until))
    return found


def _took_part(column: str, name: str) -> ColumnElement[bool]:
    return exists().where(evaluations.c.run_id == runs.c.id, evaluations.c[column] == name)


def _moment(when: datetime) -> str:
    """As runs are dated: their texts sort as their times do."""
    return when.astimezone(UTC).isoformat(timespec="microseconds")


def _costs(parts: Sequence[Any]) -> tuple[tuple[float | None, str, Mapping[str, Any]], ...] | None:
    if not all(part.summary for part in parts):
        return None
    summaries = [orjson.loads(part.summary) for part in parts]
    return tuple(
        (summary["cost_usd"], summary.get("cost_basis") or UNKNOWN, summary.get("judges") or {})
        for summary in summaries
        if summary["scored"] + summary["invalid"] + summary["failed"]
    )


def list_asks(
    database: Database, *, limit: int, wanted: RunFilter, before: tuple[str, str] | None = None
) -> list[AskRow]:
    """The newest asks of the playground, as `list_runs`; `name` is a part of the prompt.

    Of a status are all that may have it: that an answer was lost with its process is only seen when it is read.
    """
    if wanted.benchmarks or wanted.tags:
        return []
    asks, answers = playground_asks, playground_answers
    query = select(asks.c.id).order_by(asks.c.created_at.desc(), asks.c.id.desc()).limit(limit)
    query = query.where(*in_scope(database, asks))
    for name in wanted.models:
        query = query.where(exists().where(answers.c.ask_id == asks.c.id, answers.c.model == name))
    if wanted.statuses:
        query = query.where(or_(*map(_may_be, wanted.statuses)))
    if wanted.name is not None:
        query = query.where(json_text(asks.c.request, "prompt").icontains(wanted.name, autoescape=True))
    if wanted.owner is not None:
        query = query.where(asks.c.author == wanted.owner)
    if wanted.since is not None:
        query = query.where(asks.c.created_at >= _moment(wanted.since))
    if wanted.until is not None:
        query = query.where(asks.c.created_at < _moment(wanted.until))
    if before is not None:
        query = query.where(tuple_(asks.c.created_at, asks.c.id) < before)
    with database.reading() as connection:
        ids = list(connection.execute(query).scalars())
    return PlaygroundStore(database).some(ids)


def _may_be(status: RunStatus) -> ColumnElement[bool]:
    """An ask's answers do not rule the status out."""
    mine = playground_answers.c.ask_id == playground_asks.c.id
    has_complete = exists().where(mine, playground_answers.c.state == "complete")
    is_open = exists().where(mine, playground_answers.c.state.in_(OPEN_STATES))
    found: dict[RunStatus, ColumnElement[bool]] = {RunStatus.RUNNING: is_open, RunStatus.COMPLETED: has_complete}
    return false() if status is RunStatus.QUEUED else found.get(status, ~has_complete)


def asked_models(database: Database) -> list[str]:
    """Every model that was asked in the playground."""
    with database.reading() as connection:
        query = select(playground_answers.c.model).where(*in_scope(database, playground_answers)).distinct()
        return list(connection.execute(query).scalars())


def count_runs(database: Database) -> int:
    with database.reading() as connection:
        return connection.execute(select(func.count()).select_from(runs).where(*in_scope(database, runs))).scalar_one()
