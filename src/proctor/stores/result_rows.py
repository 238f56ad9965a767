"""Results as rows with everything that a person may want to see of them: two plain queries for a page.

They are asked for more often than anything else, so they are written out: to build the same queries takes longer than
the database takes to answer them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal

import orjson
from msgspec import Struct

from proctor.domain.side import EvaluationSide, prompt_settings, side_names
from proctor.domain.trial import Outcome
from proctor.stores.codec import from_pico
from proctor.stores.connection import Connection, Row
from proctor.stores.database import Database
from proctor.stores.result_ids import EvaluationPart
from proctor.stores.scoping import Condition, of_evaluation, scope_filter
from proctor.stores.scores import CURRENT
from proctor.stores.statements import places

_RESPONSE = ", ".join(
    f"responses.{name}"
    for name in (
        "id", "evaluation_id", "trial_id", "attempt", "sample_id", "sample_digest", "epoch", "category", "is_cached",
        "error", "finish_reason", "input_tokens", "output_tokens", "reasoning_tokens", "cached_tokens",
        "cost_pico_usd", "cost_basis", "latency_seconds", "first_token_seconds", "month",
    )
)  # fmt: skip
_SHOWN = "page.*, run_id, model, benchmark, scorers, input, target, prompt, samples.body AS sample_body, more"
_BESIDE = (
    "JOIN evaluations ON evaluations.id = page.evaluation_id JOIN samples ON samples.digest = page.sample_digest "
    "LEFT JOIN bodies ON bodies.response_id = page.id AND bodies.month = page.month"
)


class ScoreRow(Struct, frozen=True):
    scorer: str
    value: float | None
    answer: str | None
    reason: str
    is_invalid: bool
    details: str | None
    version: str


class ResultRow(Struct, frozen=True):
    """One attempt at one trial with everything a person may want to see of it."""

    id: int
    run_id: str
    model: str
    side: str | None
    """What its evaluation is called beside the others, where the run varies how its samples are put."""
    benchmark: str
    sample_id: str
    epoch: int
    attempt: int
    category: str | None
    input: str
    target: str | None
    prompt: str
    response: str | None
    outcome: Outcome
    is_cached: bool
    error: str | None
    latency_seconds: float | None
    first_token_seconds: float | None
    input_tokens: int | None
    output_tokens: int | None
    reasoning_tokens: int | None
    cached_tokens: int | None
    cost_usd: Decimal | None
    cost_basis: str | None
    finish_reason: str | None
    scores: tuple[ScoreRow, ...]
    more: str | None = None
    """What came beside the text, as JSON: calls of tools, reasoning, files, earlier turns, log-probabilities."""
    sample_body: str = "{}"
    """What of the sample has no field here, as JSON: choices, metadata, tags, messages of its own."""
    response_characters: int | None = None
    """How many the response has, where it was asked for up to a limit."""


def parts_of_run(database: Database, run_id: str) -> list[EvaluationPart] | None:
    """The evaluations of a run that is named by its whole id; None where there is no such run."""
    scope = scope_filter(database)
    query = (
        "SELECT evaluations.id, runs.id AS run_id, model, benchmark, scorers, benchmark_spec FROM runs "  # noqa: S608 - our own words
        f"LEFT JOIN evaluations ON run_id = runs.id WHERE runs.id = ?{scope.sql} ORDER BY position"
    )
    with database.connection(is_reading=True) as connection:
        rows = connection.execute(query, [run_id, *scope.values]).fetchall()
    return _parts([row for row in rows if row["id"] is not None]) if rows else None


def _parts(rows: Sequence[Row]) -> list[EvaluationPart]:
    names = side_names(
        [
            EvaluationSide(row["model"], row["benchmark"], prompt_settings(orjson.loads(row["benchmark_spec"])))
            for row in rows
        ]
    )
    return [
        EvaluationPart(
            row["id"],
            row["run_id"],
            row["model"],
            row["benchmark"],
            row["scorers"],
            None if side == row["model"] else side,
        )
        for row, side in zip(rows, names, strict=True)
    ]


def rows_after(
    database: Database,
    part: EvaluationPart,
    after: int,
    limit: int,
    *,
    all_attempts: bool,
    characters: int | None = None,
) -> list[ResultRow]:
    """The next results of an evaluation, in the order they were recorded."""
    wanted = query_after(database, part.id, after, limit, all_attempts=all_attempts, characters=characters)
    return _read(database, wanted.sql, wanted.values, [part])


def query_after(
    database: Database,
    evaluation_id: int,
    after: int,
    limit: int,
    *,
    all_attempts: bool = False,
    characters: int | None = None,
) -> Condition:
    """The query of a page, and its values."""
    mine, which = of_evaluation(database, evaluation_id), "" if all_attempts else f"AND {CURRENT} "
    page = (
        f"SELECT {_RESPONSE} FROM responses WHERE {mine.sql} AND responses.id > ? {which}"  # noqa: S608 - our own words
        "ORDER BY responses.id LIMIT ?"
    )
    return Condition(_with_texts(page, characters), (*mine.values, after, limit))


def rows_of_ids(
    database: Database, part: EvaluationPart, ids: Sequence[int], *, characters: int | None = None
) -> list[ResultRow]:
    """These results of an evaluation, in the order they were recorded."""
    mine = of_evaluation(database, part.id)
    page = f"SELECT {_RESPONSE} FROM responses WHERE {mine.sql} AND responses.id IN ({places(len(ids))})"  # noqa: S608
    return _read(database, _with_texts(page, characters), [*mine.values, *ids], [part])


def attempts_of(database: Database, run_id: str, result_id: int, *, characters: int | None = None) -> list[ResultRow]:
    """Every attempt at the trial of this result, in their order; none where the run has no such result."""
    scope = scope_filter(database, "mine")
    # All evaluations of a run have its month: the server looks into one partition.
    month = "(SELECT min(month) FROM evaluations WHERE run_id = ?)"
    # What an evaluation is called beside others is another query, and only where the run varies its benchmark.
    varied = (
        "EXISTS (SELECT 1 FROM evaluations AS others WHERE others.run_id = mine.run_id "
        "AND others.benchmark = mine.benchmark AND others.benchmark_spec != mine.benchmark_spec) AS is_varied"
    )
    page = (
        f"SELECT {_RESPONSE}, {varied} FROM responses AS asked "  # noqa: S608
        "JOIN evaluations AS mine ON mine.id = asked.evaluation_id "
        "JOIN responses ON responses.evaluation_id = asked.evaluation_id AND responses.trial_id = asked.trial_id "
        f"WHERE asked.id = ? AND asked.month = {month} AND responses.month = {month} AND mine.run_id = ?{scope.sql}"
    )
    values = [result_id, run_id, run_id, run_id, *scope.values]
    rows, marks = _read_rows(database, _with_texts(page, characters), values)
    parts = parts_of_run(database, run_id) if rows and rows[0]["is_varied"] else None
    return _result_rows(rows, marks, parts or ())


def response_part(database: Database, run_id: str, result_id: int, start: int, characters: int) -> str | None:
    """A part of a response, from a character on (the first is 0); None where the run has no such result, or no text."""
    scope = scope_filter(database, "mine")
    query = (
        "SELECT substr(bodies.text, ?, ?) FROM responses JOIN evaluations AS mine ON mine.id = evaluation_id "  # noqa: S608
        "JOIN bodies ON bodies.response_id = responses.id AND bodies.month = responses.month "
        "WHERE responses.id = ? AND responses.month = (SELECT min(month) FROM evaluations WHERE run_id = ?) "
        f"AND mine.run_id = ?{scope.sql}"
    )
    with database.connection(is_reading=True) as connection:
        row = connection.execute(query, [start + 1, characters, result_id, run_id, run_id, *scope.values]).fetchone()
    return None if row is None else row[0]


def _with_texts(page: str, characters: int | None = None) -> str:
    # The page is chosen before anything is joined: else PostgreSQL reads all earlier bodies of the month in order.
    text = (
        "bodies.text, NULL AS response_characters"
        if characters is None
        else f"substr(bodies.text, 1, {characters:d}) AS text, length(bodies.text) AS response_characters"
    )
    return f"SELECT {_SHOWN}, {text} FROM ({page}) AS page {_BESIDE}"  # noqa: S608 - our own words


def _read(
    database: Database, query: str, values: Sequence[str | int], parts: Sequence[EvaluationPart]
) -> list[ResultRow]:
    """The rows with their scores in force, in the order of their ids; `parts` are the evaluations they can be of."""
    return _result_rows(*_read_rows(database, query, values), parts)


def _read_rows(
    database: Database, query: str, values: Sequence[str | int]
) -> tuple[list[Row], Mapping[int, Sequence[ScoreRow]]]:
    # Put in order here: for the sake of an order, SQLite takes an index that goes through the whole evaluation.
    with database.connection(is_reading=True) as connection:
        rows = sorted(connection.execute(query, values).fetchall(), key=lambda row: row["id"])
        return rows, _scores_of(connection, rows) if rows else {}


def _result_rows(
    rows: Sequence[Row], marks: Mapping[int, Sequence[ScoreRow]], parts: Sequence[EvaluationPart]
) -> list[ResultRow]:
    sides = {part.id: part.side for part in parts}
    return [_result_row(row, tuple(marks.get(row["id"], ())), sides.get(row["evaluation_id"])) for row in rows]


def _scores_of(connection: Connection, rows: Sequence[Row]) -> dict[int, list[ScoreRow]]:
    """The scores in force, in the order of the benchmark's scorers: the first is the one that counts."""
    versions: Mapping[int, Mapping[str, str]] = {row["evaluation_id"]: orjson.loads(row["scorers"]) for row in rows}
    in_force = {row["id"]: versions[row["evaluation_id"]] for row in rows}
    query = (
        "SELECT response_id, scorer, value, answer, reason, is_invalid, details, version FROM scores "  # noqa: S608
        f"WHERE month = ? AND response_id IN ({places(len(rows))})"
    )
    found: dict[int, list[ScoreRow]] = {}
    for row in connection.execute(query, [rows[0]["month"], *in_force]):
        if in_force[row["response_id"]].get(row["scorer"]) == row["version"]:
            score = ScoreRow(
                row["scorer"], row["value"], row["answer"], row["reason"], bool(row["is_invalid"]), row["details"],
                row["version"],
            )  # fmt: skip
            found.setdefault(row["response_id"], []).append(score)
    for response_id, marks in found.items():
        if len(marks) > 1:
            places_of = {scorer: place for place, scorer in enumerate(in_force[response_id])}
            marks.sort(key=lambda mark: places_of[mark.scorer])
    return found


def _outcome_of(error: str | None, marks: Sequence[ScoreRow]) -> Outcome:
    """What `outcome_sql` says in SQL, for a row whose scores are at hand."""
    if error is not None or all(mark.value is None for mark in marks):
        return Outcome.FAILED
    return Outcome.INVALID if any(mark.is_invalid for mark in marks) else Outcome.SCORED


def _result_row(row: Row, marks: tuple[ScoreRow, ...], side: str | None) -> ResultRow:
    return ResultRow(
        id=row["id"],
        run_id=row["run_id"],
        model=row["model"],
        side=side,
        benchmark=row["benchmark"],
        sample_id=row["sample_id"],
        epoch=row["epoch"],
        attempt=row["attempt"],
        category=row["category"],
        input=row["input"],
        target=row["target"],
        prompt=row["prompt"],
        response=row["text"],
        outcome=_outcome_of(row["error"], marks),
        is_cached=bool(row["is_cached"]),
        error=row["error"],
        latency_seconds=row["latency_seconds"],
        first_token_seconds=row["first_token_seconds"],
        input_tokens=row["input_tokens"],
        output_tokens=row["output_tokens"],
        reasoning_tokens=row["reasoning_tokens"],
        cached_tokens=row["cached_tokens"],
        cost_usd=from_pico(row["cost_pico_usd"]),
        cost_basis=row["cost_basis"],
        finish_reason=row["finish_reason"],
        more=row["more"],
        response_characters=row["response_characters"],
        scores=marks,
        sample_body=row["sample_body"],
    )
