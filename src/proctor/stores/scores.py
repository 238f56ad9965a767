"""Sets of scores: several scorers, or several versions of one, may have marked the same responses."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any

import orjson
from msgspec import Struct

from proctor.domain.errors import NotFoundError
from proctor.domain.message import Json, Prompt
from proctor.domain.sample import Sample
from proctor.domain.trial import Answer, Trial
from proctor.stores import codec
from proctor.stores.connection import Row
from proctor.stores.database import Database
from proctor.stores.events import add_event
from proctor.stores.leases import Hold
from proctor.stores.packed.packing import forget_columns
from proctor.stores.scoping import of_evaluation, of_run, scope_filter

RESCORED = "rescored"
CURRENT = """
    NOT EXISTS (SELECT 1 FROM responses AS later WHERE later.evaluation_id = responses.evaluation_id
                AND later.trial_id = responses.trial_id AND later.month = responses.month
                AND later.attempt > responses.attempt AND later.attempt > 0)
"""
HAS_SCORE = "response_id = responses.id AND scores.month = responses.month"
_ANSWER = """
    SELECT responses.id, evaluation_id, trial_id, attempt, responses.sample_id, epoch, category, cluster, is_cached,
           finish_reason, input_tokens, output_tokens, reasoning_tokens, cached_tokens, cost_pico_usd, latency_seconds,
           first_token_seconds, cache_write_tokens, cost_basis, text, more, input, target, body,
           CASE WHEN body LIKE '%"files":%' THEN prompt END AS prompt
    FROM responses JOIN bodies ON bodies.response_id = responses.id AND bodies.month = responses.month
    JOIN samples ON samples.digest = sample_digest
"""


class ScoreSet(Struct, frozen=True):
    """How one version of one scorer has marked an evaluation's current responses."""

    scorer: str
    version: str
    scored: int
    invalid: int
    unscored: int


class RescoredResult(Struct, frozen=True):
    """When a rescore put the scores in force, and whose scores counted before."""

    at: str
    replaced: Mapping[str, str]


class Changes(Struct, frozen=True):
    """Two sets of scores, response by response."""

    compared: int
    higher: int
    lower: int

    @property
    def changed(self) -> int:
        return self.higher + self.lower


class ScoreStore:
    def __init__(self, database: Database) -> None:
        self._database = database

    def answered(self, evaluation_id: int) -> int:
        """How many trials have a response that can be scored."""
        mine = of_evaluation(self._database, evaluation_id)
        query = f"SELECT count(*) FROM responses WHERE {mine.sql} AND error IS NULL AND {CURRENT}"  # noqa: S608
        return int(self._rows(query, mine.values)[0][0])

    def unscored(self, evaluation_id: int, versions: Mapping[str, str], *, after: int, limit: int) -> list[Answer]:
        """Responses that some of these scorers have not measured, by id from `after` on; prompts are left out."""
        wanted = " OR ".join(["(scorer = ? AND version = ?)"] * len(versions))
        mine = of_evaluation(self._database, evaluation_id)
        query = f"""{_ANSWER}
            WHERE {mine.sql} AND responses.id > ? AND error IS NULL AND {CURRENT}
            AND (SELECT count(value) FROM scores WHERE {HAS_SCORE} AND ({wanted})) < ?
            ORDER BY responses.id LIMIT ?
        """  # noqa: S608 - only placeholders are put in
        pairs = [text for pair in versions.items() for text in pair]
        return [_answer(row) for row in self._rows(query, [*mine.values, after, *pairs, len(versions), limit])]

    def sets(self, evaluation_id: int) -> list[ScoreSet]:
        """Every set of scores there is of this evaluation's current responses."""
        mine = of_evaluation(self._database, evaluation_id)
        query = f"""
            SELECT scorer, scores.version, count(value) FILTER (WHERE NOT is_invalid) AS scored,
                   count(*) FILTER (WHERE is_invalid) AS invalid, count(*) - count(value) AS unscored
            FROM responses JOIN scores ON {HAS_SCORE}
            WHERE {mine.sql} AND {CURRENT} GROUP BY scorer, scores.version ORDER BY scorer, scores.version
        """  # noqa: S608 - only our own text is put in
        return [ScoreSet(*row) for row in self._rows(query, mine.values)]

    def some_reason(self, evaluation_id: int, scorer: str, version: str) -> str:
        """Why one of the responses that this scorer did not measure was not."""
        mine = of_evaluation(self._database, evaluation_id)
        query = f"""
            SELECT reason FROM responses JOIN scores ON {HAS_SCORE}
            WHERE {mine.sql} AND scorer = ? AND scores.version = ? AND value IS NULL AND {CURRENT} LIMIT 1
        """  # noqa: S608 - only our own text is put in
        return str(self._rows(query, [*mine.values, scorer, version])[0][0])

    def changes(self, evaluation_id: int, old: tuple[str, str], new: tuple[str, str]) -> Changes:
        """How the second set (scorer, version) differs from the first, where both measured something."""
        mine = of_evaluation(self._database, evaluation_id)
        query = f"""
            SELECT count(*), count(*) FILTER (WHERE new.value > old.value),
                   count(*) FILTER (WHERE new.value < old.value)
            FROM responses JOIN scores AS old ON old.response_id = responses.id AND old.month = responses.month
            JOIN scores AS new ON new.response_id = responses.id AND new.month = responses.month
            WHERE {mine.sql} AND old.scorer = ? AND old.version = ? AND new.scorer = ? AND new.version = ?
            AND old.value IS NOT NULL AND new.value IS NOT NULL AND {CURRENT}
        """  # noqa: S608 - only our own text is put in
        return Changes(*self._rows(query, [*mine.values, *old, *new])[0])

    def details(self, evaluation_id: int, scorer: str, version: str) -> Iterator[Mapping[str, Json]]:
        """What the scorer noted beside its scores, one response at a time."""
        mine = of_evaluation(self._database, evaluation_id)
        query = f"""
            SELECT details FROM responses JOIN scores ON {HAS_SCORE}
            WHERE {mine.sql} AND scorer = ? AND scores.version = ? AND details IS NOT NULL AND {CURRENT}
        """  # noqa: S608 - only our own text is put in
        with self._database.connection() as connection:
            for row in connection.execute(query, [*mine.values, scorer, version]):
                yield orjson.loads(row[0])

    def spent_on_judges(self, run_id: str) -> Decimal:
        """What the replies behind this run's scores cost, whichever run paid for a cached one: rather too much."""
        scope = scope_filter(self._database, "evaluations")
        query = f"""
            SELECT details FROM evaluations
            JOIN responses ON evaluation_id = evaluations.id AND responses.month = evaluations.month
            JOIN scores ON response_id = responses.id AND scores.month = responses.month
            WHERE run_id = ? AND details IS NOT NULL{scope.sql}
        """  # noqa: S608 - only our own text is put in
        total = Decimal(0)
        with self._database.connection() as connection:
            for row in connection.execute(query, [run_id, *scope.values]):
                costs = (reply["cost_usd"] for reply in _replies(orjson.loads(row[0])))
                total += sum((Decimal(cost) for cost in costs if cost is not None), Decimal(0))
        return total

    def put_in_force(self, versions: Mapping[int, Mapping[str, str]], hold: Hold | None = None) -> None:
        """Name the scorer versions that count, for several evaluations at once; scores of others are kept.

        With a hold, only while it is this process's.
        """
        scope = scope_filter(self._database, "evaluations")
        query = f"SELECT run_id, scorers FROM evaluations WHERE id = ?{scope.sql}"  # noqa: S608 - our own
        with self._database.connection() as connection, connection.transaction():
            if hold is not None:
                hold.check(connection, self._database.dialect)
            for evaluation_id, named in versions.items():
                row = connection.execute(query, [evaluation_id, *scope.values]).fetchone()
                if row is None:
                    raise NotFoundError(f"There is no evaluation {evaluation_id}.")
                connection.execute(
                    "UPDATE evaluations SET scorers = ?, summary = NULL, summary_revision = NULL WHERE id = ?",
                    [codec.to_json(named), evaluation_id],
                )
                forget_columns(connection, evaluation_id)
                change = {"evaluation_id": evaluation_id, "from": orjson.loads(row["scorers"]), "to": dict(named)}
                if change["from"] != change["to"]:
                    add_event(connection, row["run_id"], RESCORED, change)

    def forget_packed(self, evaluation_ids: Iterable[int]) -> None:
        """Let what these evaluations' scores were packed as go: some of them change."""
        scope = scope_filter(self._database, "evaluations")
        query = f"SELECT 1 FROM evaluations WHERE id = ?{scope.sql}"  # noqa: S608 - our own
        with self._database.connection() as connection:
            for evaluation_id in evaluation_ids:
                if connection.execute(query, [evaluation_id, *scope.values]).fetchone() is not None:
                    forget_columns(connection, evaluation_id)

    def rescored(self, run_id: str) -> dict[int, RescoredResult]:
        """The evaluations whose scores in force are not those of the run itself, but of a rescore."""
        mine = of_run(self._database, run_id)
        events = f"SELECT at, data FROM events WHERE {mine.sql} AND kind = ? ORDER BY number"  # noqa: S608 - our own
        named = self._rows(f"SELECT id, scorers FROM evaluations WHERE {mine.sql}", mine.values)  # noqa: S608 - our own
        scorers = {row["id"]: orjson.loads(row["scorers"]) for row in named}
        found: dict[int, RescoredResult] = {}
        own: dict[int, Json] = {}
        for row in self._rows(events, [*mine.values, RESCORED]):
            change = orjson.loads(row["data"])
            evaluation_id = change["evaluation_id"]
            in_force = scorers[evaluation_id]
            own.setdefault(evaluation_id, change["from"])
            found.pop(evaluation_id, None)
            # A resumed run has put its own scorers in force again, and so may a later rescore.
            if in_force == change["to"] and in_force != own[evaluation_id]:
                found[evaluation_id] = RescoredResult(row["at"], change["from"])
        return found

    def _rows(self, query: str, values: Sequence[Any]) -> list[Row]:
        with self._database.connection() as connection:
            return connection.execute(query, list(values)).fetchall()


class SampleAnswers:
    """One evaluation's answers by sample; one number a sample is kept in memory, the texts stay in the database."""

    def __init__(self, database: Database, evaluation_id: int) -> None:
        self._database = database
        mine = of_evaluation(self._database, evaluation_id)
        query = f"""
            SELECT sample_id, id FROM responses WHERE {mine.sql} AND error IS NULL AND {CURRENT}
            ORDER BY epoch DESC, id
        """  # noqa: S608 - only our own text is put in
        with database.connection() as connection:
            rows = connection.execute(query, mine.values)
            self._ids: dict[str, int] = {row["sample_id"]: row["id"] for row in rows}

    def find(self, sample: Sample) -> str | None:
        """The text of the first epoch's answer; None when this very question was not answered."""
        row_id = self._ids.get(sample.id)
        if row_id is None:
            return None
        query = (
            "SELECT input, text FROM responses JOIN bodies ON response_id = id AND bodies.month = responses.month "
            "JOIN samples ON digest = sample_digest WHERE id = ?"
        )
        with self._database.connection() as connection:
            asked, text = connection.execute(query, [row_id]).fetchone()
        return str(text) if asked == sample.input_text else None


def _replies(details: Mapping[str, Json]) -> Iterator[Mapping[str, Json]]:
    """Every reply behind a score, once: one that was paid for earlier may be among the later ones, from the cache."""
    paid = set()
    for ruling in details.get("earlier", ()):
        for reply in ruling["hearings"]:
            if not reply["cached"]:
                paid.add((ruling["judge"], reply["prompt"]))
                yield reply
    for ruling in details.get("judges", ()):
        for reply in ruling["hearings"]:
            if not reply["cached"] or (ruling["judge"], reply["prompt"]) not in paid:
                yield reply


def _answer(row: Row) -> Answer:
    trial = Trial(
        id=row["trial_id"],
        evaluation_id=row["evaluation_id"],
        sample=codec.read_sample(row),
        epoch=row["epoch"],
        prompt=Prompt(()),
        options={},
        cache_key=None,
        attempt=row["attempt"],
    )
    return Answer(trial, codec.read_response(row), is_cached=bool(row["is_cached"]), response_id=row["id"])
