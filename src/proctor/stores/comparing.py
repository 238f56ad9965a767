"""Evaluations side by side, within a run or across runs, and the marks that pair them sample by sample."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

import orjson
from msgspec import Struct
from msgspec.structs import replace
from sqlalchemy import ColumnElement, Select, and_, func, select

from proctor.domain.run import BY_HAND, RunStatus
from proctor.domain.side import EvaluationSide, prompt_settings, side_names
from proctor.stores.database import ROWS_AT_A_TIME, Database
from proctor.stores.json_columns import json_text
from proctor.stores.keys import is_body_of, is_of_evaluation
from proctor.stores.measuring import Unmeasured
from proctor.stores.packed.selection import find_samples
from proctor.stores.result_filters import counted_value, is_current, is_of, mark_weight
from proctor.stores.runs import REVISION
from proctor.stores.scoping import in_scope
from proctor.stores.tables.results import bodies, responses, samples, scores
from proctor.stores.tables.runs import evaluations, runs


class EvaluationRow(Struct, frozen=True):
    """One model on one benchmark within one run: everything that decides whether two may be compared."""

    id: int
    run_id: str
    run_status: RunStatus
    created_at: datetime
    model: str
    model_spec: Mapping[str, Any]
    benchmark: str
    benchmark_spec: Mapping[str, Any]
    version: str
    digest: str
    samples: int
    epochs: int
    options: Mapping[str, Any]
    scorers: Mapping[str, str]
    metrics: tuple[str, ...]
    tags: Mapping[str, str]
    has_summary: bool
    until: str | None = None
    """The rule that could stop the run early; None where every sample was asked whatever the answers."""
    is_stopped_by_hand: bool = False
    """Somebody cancelled or interrupted the run."""
    side: str = ""
    """What it is called beside the others of its run: the model, and what was varied of its prompts."""

    @property
    def settings(self) -> Mapping[str, Any]:
        """What was set at the model beside its sampling options, an endpoint for example."""
        settings: Mapping[str, Any] = self.model_spec.get("settings", {})
        return settings

    @property
    def prompt_settings(self) -> dict[str, Any]:
        """What the plan said of how the samples are put."""
        return prompt_settings(self.benchmark_spec)

    @property
    def shots(self) -> int | None:
        """How many worked examples were asked for; None when the benchmark's own number was used."""
        shots: int | None = self.benchmark_spec.get("shots")
        return shots


_COLUMNS = (
    "id", "run_id", "model", "model_spec", "benchmark", "benchmark_spec", "version", "digest", "samples", "epochs",
    "options", "scorers", "metrics", "tags",
)  # fmt: skip


def _query(database: Database) -> Select[Any]:
    query = select(
        *(evaluations.c[name] for name in _COLUMNS),
        (evaluations.c.summary_revision == REVISION).label("has_summary"),
        runs.c.status,
        runs.c.created_at,
        json_text(runs.c.plan, "until").label("until"),
        and_(runs.c.status == RunStatus.CANCELLED.value, runs.c.error.in_(BY_HAND)).label("is_stopped_by_hand"),
    ).join(runs, runs.c.id == evaluations.c.run_id)
    return query.where(*in_scope(database, evaluations))


def evaluations_of(database: Database, run_id: str) -> list[EvaluationRow]:
    """A run's evaluations in the plan's order."""
    found = _rows(database, _query(database).where(evaluations.c.run_id == run_id).order_by(evaluations.c.position))
    names = side_names([EvaluationSide(row.model, row.benchmark, row.prompt_settings) for row in found])
    return [replace(row, side=name) for row, name in zip(found, names, strict=True)]


def find_evaluations(
    database: Database, *, benchmarks: Sequence[str] = (), versions: Sequence[str] = (), models: Sequence[str] = ()
) -> list[EvaluationRow]:
    """Evaluations of all runs, newest first; each filter that is empty lets everything through."""
    query = _query(database).order_by(runs.c.created_at.desc(), evaluations.c.id.desc())
    for column, wanted in (("benchmark", benchmarks), ("version", versions), ("model", models)):
        if wanted:
            query = query.where(evaluations.c[column].in_(wanted))
    return _rows(database, query)


def known_names(database: Database, column: str) -> list[str]:
    """What there is to filter by: every benchmark, version or model that has been evaluated."""
    with database.reading() as connection:
        query = select(evaluations.c[column]).where(*in_scope(database, evaluations)).distinct()
        return list(connection.execute(query).scalars())


def read_summaries(database: Database, ids: Sequence[int]) -> dict[int, dict[str, Any]]:
    """The kept numbers of these evaluations; one whose numbers are not kept is missing."""
    found: dict[int, dict[str, Any]] = {}
    with database.reading() as connection:
        for start in range(0, len(ids), ROWS_AT_A_TIME):
            part = ids[start : start + ROWS_AT_A_TIME]
            query = select(evaluations.c.id, evaluations.c.summary).where(
                evaluations.c.id.in_(part),
                evaluations.c.summary_revision == REVISION,
                *in_scope(database, evaluations),
            )
            for evaluation_id, summary in connection.execute(query):
                found[evaluation_id] = orjson.loads(summary)
    return found


def _rows(database: Database, query: Select[Any]) -> list[EvaluationRow]:
    with database.reading() as connection:
        return [_evaluation(row) for row in connection.execute(query)]


def _evaluation(row: Any) -> EvaluationRow:
    return EvaluationRow(
        id=row.id,
        run_id=row.run_id,
        run_status=RunStatus(row.status),
        created_at=datetime.fromisoformat(row.created_at),
        model=row.model,
        model_spec=orjson.loads(row.model_spec),
        benchmark=row.benchmark,
        benchmark_spec=orjson.loads(row.benchmark_spec),
        version=row.version,
        digest=row.digest,
        samples=row.samples,
        epochs=row.epochs,
        options=orjson.loads(row.options),
        scorers=orjson.loads(row.scorers),
        metrics=tuple(orjson.loads(row.metrics)),
        tags=orjson.loads(row.tags),
        has_summary=bool(row.has_summary),
        until=row.until,
        is_stopped_by_hand=bool(row.is_stopped_by_hand),
        side=row.model,
    )


BEFORE_CONTENT = "\x1f"
"""Stands between a sample's id and the digest of its content."""


class EvaluationMarks:
    """One evaluation's scores by one scorer, in the order of the samples' ids, epochs averaged.

    Each is (sample id, score, group, weight), with None for a sample that was asked but has no score. The database
    sorts in bounded memory and beyond that on disk, so however many samples there are, few are held here.

    With `by_content` a sample's content is part of its id, so that two samples of one id that say different things
    are not taken for the same.
    """

    def __init__(
        self,
        database: Database,
        evaluation: EvaluationRow,
        scorer: str,
        *,
        by_content: bool = False,
        unmeasured: Unmeasured = Unmeasured.LEFT_OUT,
    ) -> None:
        self._database, self._evaluation, self._scorer = database, evaluation, scorer
        self._by_content, self._unmeasured = by_content, unmeasured

    def __iter__(self) -> Iterator[tuple[str, float | None, str | None, int]]:
        return self._database.stream(self._query())

    def _query(self) -> Select[Any]:
        values = [counted_value(self._unmeasured)]
        return _sample_marks(self._database, self._evaluation, self._scorer, _key(self._by_content), values)


def marks_with_unreadable(
    database: Database, evaluation: EvaluationRow, scorer: str
) -> Iterator[tuple[str, float | None, float | None, str | None, int]]:
    """As `EvaluationMarks`, each mark followed by what it is with verdicts that cannot be read counted as wrong.

    Both are read at the same moment: of a run that goes on, two readings would have different samples.
    """
    values = [counted_value(how) for how in (Unmeasured.LEFT_OUT, Unmeasured.UNREADABLE_WRONG)]
    return database.stream(_sample_marks(database, evaluation, scorer, _key(by_content=False), values))


def _sample_marks(
    database: Database,
    evaluation: EvaluationRow,
    scorer: str,
    key: ColumnElement[str],
    values: Sequence[ColumnElement[float]],
) -> Select[Any]:
    """The samples in order, each with these values, its group and its weight."""
    cluster, weight = responses.c.cluster, mark_weight()
    columns = (*values, cluster, func.coalesce(weight, 1))
    merged = (*map(func.avg, values), func.min(cluster), func.coalesce(func.min(weight), 1))
    # One epoch has nothing to average, and grouping costs as much as reading.
    is_single = evaluation.epochs == 1
    query = (
        select(key, *(columns if is_single else merged))
        .outerjoin(scores, _marks_of(evaluation, scorer))
        .where(is_of_evaluation(database, evaluation.id), is_current())
        .order_by(key)
    )
    return query if is_single else query.group_by(key)


def covered_samples(
    database: Database, evaluation: EvaluationRow, scorer: str, *, by_content: bool = False
) -> dict[str, float]:
    """How much of the weights each sample's mark covers, epochs averaged; only of those that say so."""
    share = scores.c.covers
    key = _key(by_content)
    query = (
        select(key, func.avg(share))
        .join(scores, _marks_of(evaluation, scorer))
        .where(is_of_evaluation(database, evaluation.id), is_current(), share.is_not(None))
        .group_by(key)
    )
    with database.reading() as connection:
        return {name: float(found) for name, found in connection.execute(query)}


def _key(by_content: bool) -> ColumnElement[str]:
    key: ColumnElement[str] = responses.c.sample_id
    return key + BEFORE_CONTENT + responses.c.sample_digest if by_content else key


class SampleView(Struct, frozen=True):
    """What one evaluation made of one sample, epoch by epoch."""

    category: str | None
    input: str
    target: str | None
    values: tuple[float | None, ...]
    answers: tuple[str | None, ...]
    responses: tuple[str | None, ...]


def view_samples(
    database: Database, evaluation: EvaluationRow, scorer: str, sample_ids: Sequence[str]
) -> dict[str, SampleView]:
    """These samples with their texts; meant for a few, to be looked at."""
    query = (
        select(
            responses.c.sample_id, responses.c.category, samples.c.input, samples.c.target, scores.c.value,
            scores.c.answer, bodies.c.text,
        )
        .join(samples, samples.c.digest == responses.c.sample_digest)
        .outerjoin(bodies, is_body_of())
        .outerjoin(scores, _marks_of(evaluation, scorer))
        .where(is_of_evaluation(database, evaluation.id), responses.c.sample_id.in_(sample_ids), is_current())
        .order_by(responses.c.epoch)
    )  # fmt: skip
    ids = find_samples(database, evaluation.id, sample_ids)
    if ids is not None:
        query = query.where(responses.c.id.in_(ids))
    found: dict[str, SampleView] = {}
    with database.reading() as connection:
        for name, category, text, target, value, answer, response in connection.execute(query):
            seen = found.get(name, SampleView(category, text, target, (), (), ()))
            found[name] = replace(
                seen,
                values=(*seen.values, value),
                answers=(*seen.answers, answer),
                responses=(*seen.responses, response),
            )
    return found


def _marks_of(evaluation: EvaluationRow, scorer: str) -> ColumnElement[bool]:
    return is_of(scorer, evaluation.scorers[scorer])
