"""Stored results as people and programs read them."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import islice

import orjson
from msgspec import UNSET, Struct

from proctor.domain.documents.effort import TokenCounts
from proctor.domain.documents.evaluation import ScorersInForce
from proctor.domain.documents.result import EXTRAS, ResultScore, TrialResult
from proctor.domain.documents.served import ResultPositions
from proctor.domain.errors import NotFoundError, did_you_mean
from proctor.domain.message import Json
from proctor.domain.price import basis_kind, basis_source
from proctor.domain.trial import Outcome
from proctor.reports.rows import RunCourse, RunRows, example_places
from proctor.runs.read import scorers_in_force
from proctor.stores.database import Database
from proctor.stores.result_ids import EvaluationPart
from proctor.stores.result_rows import ResultRow, ScoreRow, attempts_of, parts_of_run, response_part
from proctor.stores.results import ResultStore
from proctor.stores.runs import RunStore

BESIDE_TEXT = ("turns", "reasoning", "tool_calls", "logprobs", "left_out", "note")
"""What a model may give beside its text, and what is noted of it; files are apart."""


def read_rows(
    database: Database,
    reference: str,
    *,
    all_attempts: bool = False,
    extras: tuple[str, ...] = (),
    where: Mapping[str, str | None] | None = None,
) -> RunRows:
    """A run's results for an export, of a model or a benchmark or all; they are read while they are walked through."""
    run = RunStore(database).get(reference)
    run_id = run.id
    named = {name: value for name, value in (where or {}).items() if value is not None}
    parts = parts_of_run(database, run_id) or []
    _refuse_unknown(named, parts, run_id)

    def read() -> Iterator[TrialResult]:
        for row in ResultStore(database).results(run_id, all_attempts=all_attempts, where=named, parts=parts):
            yield trial_result(row, extras=extras)

    course = RunCourse(run.status, run.created_at, run.started_at, run.finished_at)
    return RunRows(run_id, read, extras, course, has_sides=any(part.side is not None for part in parts))


class FoundSamples(Struct, frozen=True):
    """Trials of a run that were asked for, as many as there is room for."""

    run_id: str
    rows: Sequence[ResultRow]
    has_more: bool
    scorers: Sequence[ScorersInForce]
    """Whose scores of each evaluation count."""


def find_samples(
    database: Database,
    reference: str,
    where: Mapping[str, str],
    *,
    limit: int,
    outcome: Outcome | None = None,
    is_wrong: bool = False,
) -> FoundSamples:
    """The trials that fit; `where` has a model, benchmark, sample or category, `is_wrong` wants a score below 1."""
    store = RunStore(database)
    run = store.get(reference)
    evaluations = store.evaluation_rows(run.id)
    parts = parts_of_run(database, run.id) or []
    _refuse_unknown(where, parts, run.id)
    rows = ResultStore(database).results(run.id, outcome=outcome, where=dict(where), parts=parts)
    found = list(islice((row for row in rows if not is_wrong or _is_wrong(row)), limit + 1))
    if not found:
        _refuse_unrecorded(where, run.id, ResultStore(database))
    return FoundSamples(run.id, found[:limit], len(found) > limit, scorers_in_force(database, run.id, evaluations))


def read_page(
    database: Database,
    reference: str,
    where: Mapping[str, str],
    *,
    limit: int,
    after: int = 0,
    outcome: Outcome | None = None,
    is_wrong: bool = False,
    characters: int | None = None,
) -> tuple[list[ResultRow], bool]:
    """The results after this id that fit, and whether there are more; `where` has what `result_filters` knows."""
    run_id, parts, wanted = _wanted(database, reference, where, is_wrong=is_wrong)
    rows = ResultStore(database).results(
        run_id,
        outcome=outcome,
        where=wanted,
        after=after,
        page_size=limit + 1,
        parts=parts,
        characters=characters,
    )
    found = list(islice(rows, limit + 1))
    return found[:limit], len(found) > limit


def read_positions(
    database: Database,
    reference: str,
    where: Mapping[str, str],
    *,
    every: int,
    outcome: Outcome | None = None,
    is_wrong: bool = False,
) -> ResultPositions:
    """How many results fit, and where each page of `every` begins: `after` for the page with that number."""
    run_id, _, wanted = _wanted(database, reference, where, is_wrong=is_wrong)
    total, ids = ResultStore(database).positions(run_id, every=every, outcome=outcome, where=wanted)
    return ResultPositions(total, every, ["0", *map(str, ids)])


def _wanted(
    database: Database, reference: str, where: Mapping[str, str], *, is_wrong: bool
) -> tuple[str, list[EvaluationPart], dict[str, str]]:
    """The run, its evaluations, and what its results are asked for; refuses what the run does not have."""
    run_id, parts = reference, parts_of_run(database, reference)
    if parts is None:  # a part of an id, `latest`, or nothing that there is
        run_id = RunStore(database).get(reference).id
        parts = parts_of_run(database, run_id) or []
    _refuse_unknown(where, parts, run_id)
    return run_id, parts, {**where, **({"below_full": "1"} if is_wrong else {})}


def read_attempts(
    database: Database, reference: str, result_id: int, *, characters: int | None = None
) -> list[ResultRow]:
    """The result with this id first, then every attempt at its trial in their order; raises NotFoundError."""
    attempts = attempts_of(database, reference, result_id, characters=characters)
    if not attempts:  # the run is named otherwise, or one of both is not there
        run_id = RunStore(database).get(reference).id
        attempts = attempts_of(database, run_id, result_id, characters=characters)
        if not attempts:
            raise NotFoundError(f"Run {run_id} has no result {result_id}.")
    return [next(row for row in attempts if row.id == result_id), *attempts]


PART_CHARACTERS = 4_000_000
"""Of a response at a time: one of any length needs little memory."""


def response_parts(database: Database, reference: str, result_id: int) -> Iterator[str]:
    """A response in parts, from its beginning; raises NotFoundError before the first where there is none."""
    run_id = RunStore(database).get(reference).id
    first = response_part(database, run_id, result_id, 0, PART_CHARACTERS)
    if first is None:
        raise NotFoundError(f"Run {run_id} has no result {result_id} with a response.")

    def read() -> Iterator[str]:
        part, start = first, 0
        while part:
            yield part
            start += len(part)
            part = "" if len(part) < PART_CHARACTERS else _part(start)

    def _part(start: int) -> str:
        return response_part(database, run_id, result_id, start, PART_CHARACTERS) or ""

    return read()


def _refuse_unknown(where: Mapping[str, str], parts: Sequence[EvaluationPart], run_id: str) -> None:
    sides = [one.side for one in parts if one.side is not None]
    models = [*(one.model for one in parts), *sides]
    for name, names in (("model", models), ("benchmark", [one.benchmark for one in parts])):
        known = list(dict.fromkeys(names))
        if name in where and where[name] not in known:
            hint = did_you_mean(where[name], known)
            raise NotFoundError(f"Run {run_id} has no {name} {where[name]!r}.{hint} It has: {', '.join(known)}.")


def _refuse_unrecorded(where: Mapping[str, str], run_id: str, results: ResultStore) -> None:
    """A name that no trial has is a mistake; one whose trials the other filters leave out is not."""
    for name in ("sample", "category"):
        if name in where and next(results.results(run_id, where={name: where[name]}), None) is None:
            raise NotFoundError(f"Run {run_id} has no trial with the {name} {where[name]!r}.")


def _is_wrong(row: ResultRow) -> bool:
    return any(score.value is not None and score.value < 1 for score in row.scores)


def trial_result(row: ResultRow, *, has_details: bool = True, extras: Collection[str] = ()) -> TrialResult:
    """One trial as `export -f jsonl` writes it; details are what a scorer noted, such as a judge's replies."""
    return TrialResult(
        run_id=row.run_id,
        model=row.model,
        side=row.side,
        benchmark=row.benchmark,
        sample_id=row.sample_id,
        epoch=row.epoch,
        attempt=row.attempt,
        category=row.category,
        input=row.input,
        target=row.target,
        response=row.response,
        scores={score.scorer: _score(score, has_details=has_details) for score in row.scores},
        outcome=row.outcome,
        cached=row.is_cached,
        finish_reason=row.finish_reason,
        latency_seconds=row.latency_seconds,
        first_token_seconds=row.first_token_seconds,
        usage=TokenCounts(row.input_tokens, row.output_tokens, row.reasoning_tokens, row.cached_tokens),
        cost_usd=None if row.cost_usd is None else float(row.cost_usd),
        cost_basis=basis_kind(row.cost_basis),
        price_source=basis_source(row.cost_basis),
        error=row.error,
        **_beside_text(row),
        **_extras(row, extras),
    )


def _score(score: ScoreRow, *, has_details: bool) -> ResultScore:
    details = orjson.loads(score.details) if has_details and score.details else UNSET
    return ResultScore(score.value, score.answer, score.reason, score.is_invalid, score.version, details)


def _beside_text(row: ResultRow) -> dict[str, Json]:
    """What the model gave beside its text; of files, names and sizes. Nothing where there was nothing."""
    if not row.more:
        return {}
    more = orjson.loads(row.more)
    found = {name: more[name] for name in BESIDE_TEXT if name in more}
    if "files" in more:
        found["files"] = {name: len(b64decode(body["base64"])) for name, body in more["files"].items()}
    return found


def _extras(row: ResultRow, extras: Collection[str]) -> dict[str, Json]:
    """The fields among EXTRAS that were asked for; None where the sample has none."""
    if not extras:
        return {}
    known = {**orjson.loads(row.sample_body), "prompt": orjson.loads(row.prompt)}
    return {name: known.get(name) for name in EXTRAS if name in extras}


def count_worked_examples(row: ResultRow) -> int:
    """How many worked examples (few-shot) stand as turns between the prompt's system messages and the sample's own."""
    own = len(orjson.loads(row.sample_body).get("messages", ())) or 1
    roles = [message["role"] for message in orjson.loads(row.prompt)["messages"]]
    turns = roles[example_places(roles, 0).start : -own]
    return len(turns) // 2 if turns == ["user", "assistant"] * (len(turns) // 2) else 0
