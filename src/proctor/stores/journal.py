"""The store as the engine sees it: one commit per batch, and reading that does not wait for it."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from hashlib import blake2b
from typing import Any

from msgspec.structs import replace

from proctor.domain.journal import Recorded, Written
from proctor.domain.price import REPORTED
from proctor.domain.response import Response
from proctor.domain.trial import Answer, Result
from proctor.stores import codec
from proctor.stores.connection import Connection, Row
from proctor.stores.connection_thread import ConnectionThread
from proctor.stores.database import Database
from proctor.stores.leases import Hold
from proctor.stores.packed.packing import forget_columns
from proctor.stores.scoping import owned, project_of, scope_filter
from proctor.stores.score_rows import ScoreMark, earlier_replies
from proctor.stores.statements import BODY_COLUMNS, RESPONSE_COLUMNS, SAMPLE_COLUMNS, SCORE_COLUMNS, places
from proctor.stores.unstorable import failed_result, unusable_answer

ID_BLOCK = 10_000

_READABLE = """
    responses.id, cache_key, finish_reason, input_tokens, output_tokens, reasoning_tokens, cached_tokens, cost_pico_usd,
    latency_seconds, first_token_seconds, cache_write_tokens, cost_basis, text, more
"""


class DatabaseJournal:
    """Implements the engine's Journal; closing it twice is harmless.

    A commit waits for the disk. Looking up what is recorded must not wait behind it, or nothing is left to be asked.
    Writing the same batch twice is harmless: a connection may be lost when it is not known whether it was committed.
    """

    def __init__(
        self,
        database: Database,
        scorer_versions: Mapping[int, Mapping[str, str]],
        month: int,
        cost_bases: Mapping[int, str] | None = None,
        lease: Hold | None = None,
        *,
        has_ended: bool | None = None,
    ) -> None:
        """`cost_bases` says, for each evaluation with a price, what the costs of answers rest on otherwise.

        With a `lease` nothing is written once another process has taken the run, or the chunk, over. Without one, or
        where it is said so, the run has ended, and what its scores are packed as goes with the first that changes.
        """
        # Workers carry out runs of every project; what is written and taken from the cache is the run's own.
        database = database.within(project_of(database, scorer_versions))
        self._database, self._month, self._lease = database, month, lease
        self._has_ended = lease is None if has_ended is None else has_ended
        self._cost_bases = cost_bases or {}
        self._versions = scorer_versions
        self._writing = ConnectionThread(database, "journal", is_writer=True)
        self._reading = ConnectionThread(database, "reading")
        self._ids: Iterator[int] = iter(())

    async def close(self) -> None:
        await self._reading.close()
        await self._writing.close()

    async def recorded(self, evaluation_id: int, trial_ids: Sequence[str]) -> Mapping[str, Recorded]:
        return await self._reading.do(lambda connection: self._recorded(connection, evaluation_id, trial_ids))

    async def responses(self, response_ids: Sequence[int]) -> Mapping[int, Response]:
        def read(connection: Connection) -> dict[int, Response]:
            rows = self._read(connection, "responses.month = ? AND responses.id", [self._month, *response_ids])
            return {row["id"]: codec.read_response(row) for row in rows}

        return await self._reading.do(read)

    async def cached(self, keys: Sequence[str]) -> Mapping[str, Response]:
        def read(connection: Connection) -> dict[str, Response]:
            return {row["cache_key"]: codec.read_response(row) for row in self._read(connection, "cache_key", keys)}

        return await self._reading.do(read)

    async def write(self, answers: Sequence[Answer], results: Sequence[Result]) -> Written:
        ids = await self._writing.do(lambda connection: self._next_ids(connection, len(answers)))
        return await self._writing.do(lambda connection: self._write(connection, answers, ids, results))

    def _recorded(self, connection: Connection, evaluation_id: int, trial_ids: Sequence[str]) -> dict[str, Recorded]:
        scope = scope_filter(self._database, "responses")
        versions = [pair for item in self._versions[evaluation_id].items() for pair in item]
        wanted = " OR ".join(["(scorer = ? AND version = ?)"] * (len(versions) // 2))
        rows = connection.execute(
            f"""
            SELECT trial_id, id, attempt, error IS NOT NULL AS is_failed,
                   (SELECT count(value) FROM scores
                    WHERE response_id = responses.id AND scores.month = responses.month AND ({wanted})) AS marks
            FROM responses
            WHERE evaluation_id = ? AND month = ? AND trial_id IN ({places(len(trial_ids))}){scope.sql} ORDER BY attempt
            """,  # noqa: S608 - only placeholders are put in
            [*versions, evaluation_id, self._month, *trial_ids, *scope.values],
        )
        needed = len(versions) // 2
        return {
            row["trial_id"]: Recorded(row["id"], row["attempt"], bool(row["is_failed"]), row["marks"] == needed)
            for row in rows
        }

    def _read(self, connection: Connection, column: str, values: Sequence[Any]) -> Iterator[Row]:
        count, scope = len(values) - column.count("?"), scope_filter(self._database, "responses")
        yield from connection.execute(
            f"SELECT {_READABLE} FROM responses "  # noqa: S608 - only placeholders are put in
            "JOIN bodies ON bodies.response_id = responses.id AND bodies.month = responses.month "
            f"WHERE {column} IN ({places(count)}){scope.sql} ORDER BY responses.id DESC",
            [*values, *scope.values],
        )

    def _write(
        self, connection: Connection, answers: Sequence[Answer], ids: Sequence[int], results: Sequence[Result]
    ) -> Written:
        refused = self._database.unstorable
        try:
            return self._write_together(connection, answers, ids, results)
        except refused:
            # One row spoils the batch: each is written on its own, and only those that cannot be are replaced.
            pairs = zip(answers, ids, strict=True)
            kept = tuple(self._write_answer(connection, answer, row_id) for answer, row_id in pairs)
            return Written(kept, tuple(self._write_result(connection, result) for result in results))

    def _write_answer(self, connection: Connection, answer: Answer, row_id: int) -> Answer:
        try:
            return self._write_together(connection, [answer], [row_id], []).answers[0]
        except self._database.unstorable as error:
            unusable = unusable_answer(answer, error)
            return self._write_together(connection, [unusable], [row_id], []).answers[0]

    def _write_result(self, connection: Connection, result: Result) -> Result:
        try:
            return self._write_together(connection, [], [], [result]).results[0]
        except self._database.unstorable as error:
            scorers = self._versions[result.answer.trial.evaluation_id]
            return self._write_together(connection, [], [], [failed_result(result, scorers, error)]).results[0]

    def _write_together(
        self, connection: Connection, answers: Sequence[Answer], ids: Sequence[int], results: Sequence[Result]
    ) -> Written:
        samples, responses, bodies = _answer_rows(answers, ids, self._cost_bases, self._month)
        marks = [ScoreMark(result, score) for result in results for score in result.scores]
        with connection.transaction(is_short=True):
            if self._lease is not None:
                self._lease.check(connection, self._database.dialect)
            connection.insert("samples", SAMPLE_COLUMNS, samples, "ON CONFLICT DO NOTHING")
            connection.insert(
                "responses", *owned(self._database, RESPONSE_COLUMNS, responses), "ON CONFLICT DO NOTHING"
            )
            connection.insert("bodies", *owned(self._database, BODY_COLUMNS, bodies), "ON CONFLICT DO NOTHING")
            earlier = earlier_replies(connection, marks, self._month)
            rows = [mark.row(self._versions, earlier, self._month) for mark in marks]
            connection.insert("scores", *owned(self._database, SCORE_COLUMNS, rows), self._database.replace_score)
            if self._has_ended:
                for evaluation_id in sorted({result.answer.trial.evaluation_id for result in results}):
                    forget_columns(connection, evaluation_id)
        kept = tuple(replace(answer, response_id=row_id) for answer, row_id in zip(answers, ids, strict=True))
        return Written(kept, tuple(results))

    def _next_ids(self, connection: Connection, count: int) -> list[int]:
        """Ids from blocks that this process owns: no round trip a row, and no clash with other processes."""
        ids: list[int] = []
        while len(ids) < count:
            number = next(self._ids, None)
            if number is None:
                row = connection.execute(
                    "INSERT INTO id_blocks (name, next) VALUES ('responses', ?) "
                    "ON CONFLICT (name) DO UPDATE SET next = id_blocks.next + excluded.next RETURNING next",
                    [ID_BLOCK],
                ).fetchone()
                self._ids = iter(range(row[0] - ID_BLOCK + 1, row[0] + 1))
            else:
                ids.append(number)
        return ids


def _answer_rows(
    answers: Sequence[Answer], ids: Sequence[int], cost_bases: Mapping[int, str], month: int
) -> tuple[list[tuple[Any, ...]], list[tuple[Any, ...]], list[tuple[Any, ...]]]:
    now = time.time()
    samples: dict[str, tuple[Any, ...]] = {}
    responses, bodies = [], []
    for answer, row_id in zip(answers, ids, strict=True):
        row = _sample_row(answer)
        samples[row[0]] = row
        basis = cost_bases.get(answer.trial.evaluation_id, REPORTED)
        responses.append((*_response_row(answer, row_id, row[0], now, basis), month))
        if answer.response is not None:
            bodies.append((row_id, answer.response.text, codec.response_more(answer.response), month))
    # In one order everywhere: two processes that insert the same samples would wait for each other in a circle.
    return sorted(samples.values()), responses, bodies


def _sample_row(answer: Answer) -> tuple[Any, ...]:
    """The sample as it was put; equal ones of all models, epochs and runs share one row."""
    sample = answer.trial.sample
    content = (
        sample.id,
        sample.input_text,
        codec.target_text(sample),
        codec.prompt_text(answer.trial.prompt),
        codec.sample_body(sample),
    )
    return (sample_digest(content), *content)


def sample_digest(content: Sequence[str | None]) -> str:
    """What a sample's row is called, by all its other columns."""
    joined = "\x1f".join(["\x00" if text is None else text for text in content])
    return blake2b(joined.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def _response_row(answer: Answer, row_id: int, sample_digest: str, now: float, basis: str) -> tuple[Any, ...]:
    trial, response = answer.trial, answer.response
    sample = trial.sample
    head = (
        row_id, trial.evaluation_id, trial.id, trial.attempt, sample.id, sample_digest, trial.epoch, sample.category,
        sample.group,
    )  # fmt: skip
    if response is None:
        return (*head, None, False, answer.error or "unknown", answer.retries, *[None] * 8, now, None, None)
    is_kept = response.is_cacheable and not answer.is_cached
    usage = response.usage
    return (
        *head,
        trial.cache_key if is_kept else None,
        answer.is_cached,
        None,
        answer.retries,
        response.finish_reason.value,
        usage.input_tokens,
        usage.output_tokens,
        usage.reasoning_tokens,
        usage.cached_tokens,
        codec.to_pico(response.cost_usd),
        response.latency_seconds,
        response.first_token_seconds,
        now,
        usage.cache_write_tokens,
        None if response.cost_usd is None else response.cost_basis or basis,
    )
