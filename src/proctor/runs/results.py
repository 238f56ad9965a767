"""Stored results as people and programs read them."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Collection, Iterator

import orjson
from msgspec import UNSET

from proctor.domain.documents.effort import TokenCounts
from proctor.domain.documents.result import EXTRAS, ResultScore, TrialResult
from proctor.domain.message import Json
from proctor.domain.price import basis_kind, basis_source
from proctor.reports.rows import RunRows, example_places
from proctor.stores.database import Database
from proctor.stores.results import ResultRow, ResultStore, ScoreRow
from proctor.stores.runs import RunStore

BESIDE_TEXT = ("turns", "reasoning", "tool_calls", "logprobs", "left_out", "note")
"""What a model may give beside its text, and what is noted of it; files are apart."""


def read_rows(
    database: Database, reference: str, *, all_attempts: bool = False, extras: tuple[str, ...] = ()
) -> RunRows:
    """A run's results for an export; they are read while they are walked through."""
    run_id = RunStore(database).get(reference).id

    def read() -> Iterator[TrialResult]:
        for row in ResultStore(database).results(run_id, all_attempts=all_attempts):
            yield trial_result(row, extras=extras)

    return RunRows(run_id, read, extras)


def trial_result(row: ResultRow, *, has_details: bool = True, extras: Collection[str] = ()) -> TrialResult:
    """One trial as `export -f jsonl` writes it; details are what a scorer noted, such as a judge's replies."""
    return TrialResult(
        run_id=row.run_id,
        model=row.model,
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
