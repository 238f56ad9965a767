"""The store as the engine sees it: one commit per batch, and reading that does not wait for it."""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from hashlib import blake2b
from typing import Any, TypeVar

from msgspec.structs import replace

from proctor.domain.journal import Recorded, Written
from proctor.domain.price import REPORTED
from proctor.domain.response import Response
from proctor.domain.trial import Answer, Result
from proctor.stores import codec
from proctor.stores.database import Database, explained
from proctor.stores.statements import (
    BODY_COLUMNS,
    RESPONSE_COLUMNS,
    SAMPLE_COLUMNS,
    SCORE_COLUMNS,
    insert,
    places,
)
from proctor.stores.unstorable import UNSTORABLE, failed_result, unusable_answer

T = TypeVar("T")
ID_BLOCK = 10_000

_READABLE = """
    responses.id, cache_key, finish_reason, input_tokens, output_tokens, reasoning_tokens, cached_tokens, cost_pico_usd,
    latency_seconds, first_token_seconds, cache_write_tokens, cost_basis, text, more
"""


class ConnectionThread:
    """One thread with one connection: what it is given is done in turn. Closing it twice is harmless."""

    def __init__(self, database: Database, name: str) -> None:
        self._path = database.path
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix=name)
        self.connection = database.connect()
        self.connection.row_factory = sqlite3.Row
        self._is_closed = False

    async def do(self, work: Callable[[], T]) -> T:
        def explain() -> T:
            with explained(self._path):
                return work()

        return await asyncio.get_running_loop().run_in_executor(self._thread, explain)

    async def close(self) -> None:
        if not self._is_closed:
            self._is_closed = True
            await asyncio.get_running_loop().run_in_executor(self._thread, self.connection.close)
            self._thread.shutdown()


class SqliteJournal:
    """Implements the engine's Journal; closing it twice is harmless.

    A commit waits for the disk. Looking up what is recorded must not wait behind it, or nothing is left to be asked.
    """

    def __init__(
        self,
        database: Database,
        scorer_versions: Mapping[int, Mapping[str, str]],
        cost_bases: Mapping[int, str] | None = None,
    ) -> None:
        """`cost_bases` says, for each evaluation with a price, what the costs of answers rest on otherwise."""
        self._cost_bases = cost_bases or {}
        self._versions = scorer_versions
        self._writing = ConnectionThread(database, "journal")
        self._reading = ConnectionThread(database, "reading")
        self._ids: Iterator[int] = iter(())

    async def close(self) -> None:
        await self._reading.close()
        await self._writing.close()

    async def recorded(self, evaluation_id: int, trial_ids: Sequence[str]) -> Mapping[str, Recorded]:
        return await self._reading.do(lambda: self._recorded(evaluation_id, trial_ids))

    async def responses(self, response_ids: Sequence[int]) -> Mapping[int, Response]:
        return await self._reading.do(
            lambda: {row["id"]: codec.read_response(row) for row in self._read("responses.id", response_ids)}
        )

    async def cached(self, keys: Sequence[str]) -> Mapping[str, Response]:
        return await self._reading.do(
            lambda: {row["cache_key"]: codec.read_response(row) for row in self._read("cache_key", keys)}
        )

    async def write(self, answers: Sequence[Answer], results: Sequence[Result]) -> Written:
        return await self._writing.do(lambda: self._write(answers, results))

    def _recorded(self, evaluation_id: int, trial_ids: Sequence[str]) -> dict[str, Recorded]:
        versions = [pair for item in self._versions[evaluation_id].items() for pair in item]
        wanted = " OR ".join(["(scorer = ? AND version = ?)"] * (len(versions) // 2))
        rows = self._reading.connection.execute(
            f"""
            SELECT trial_id, id, attempt, error IS NOT NULL AS is_failed,
                   (SELECT count(value) FROM scores WHERE response_id = responses.id AND ({wanted})) AS marks
            FROM responses WHERE evaluation_id = ? AND trial_id IN ({places(len(trial_ids))}) ORDER BY attempt
            """,  # noqa: S608 - only placeholders are put in
            [*versions, evaluation_id, *trial_ids],
        )
        needed = len(versions) // 2
        return {
            row["trial_id"]: Recorded(row["id"], row["attempt"], bool(row["is_failed"]), row["marks"] == needed)
            for row in rows
        }

    def _read(self, column: str, values: Sequence[Any]) -> Iterator[sqlite3.Row]:
        return self._reading.connection.execute(
            f"SELECT {_READABLE} FROM responses JOIN bodies ON bodies.response_id = responses.id "  # noqa: S608
            f"WHERE {column} IN ({places(len(values))}) ORDER BY responses.id DESC",
            list(values),
        )

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        # IMMEDIATE: wait for other writers at the start, where waiting is harmless, not at the first write.
        self._writing.connection.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._writing.connection.execute("COMMIT")
        except BaseException:
            if self._writing.connection.in_transaction:
                self._writing.connection.execute("ROLLBACK")
            raise

    def _write(self, answers: Sequence[Answer], results: Sequence[Result]) -> Written:
        try:
            return self._write_together(answers, results)
        except UNSTORABLE:
            # One row spoils the batch: each is written on its own, and only those that cannot be are replaced.
            kept = tuple(self._write_answer(answer) for answer in answers)
            return Written(kept, tuple(self._write_result(result) for result in results))

    def _write_answer(self, answer: Answer) -> Answer:
        try:
            return self._write_together([answer], []).answers[0]
        except UNSTORABLE as error:
            return self._write_together([unusable_answer(answer, error)], []).answers[0]

    def _write_result(self, result: Result) -> Result:
        try:
            return self._write_together([], [result]).results[0]
        except UNSTORABLE as error:
            scorers = self._versions[result.answer.trial.evaluation_id]
            return self._write_together([], [failed_result(result, scorers, error)]).results[0]

    def _write_together(self, answers: Sequence[Answer], results: Sequence[Result]) -> Written:
        with self._transaction():
            ids = self._next_ids(len(answers))
            samples, responses, bodies = _answer_rows(answers, ids, self._cost_bases)
            self._insert("samples", SAMPLE_COLUMNS, list(samples.values()), "ON CONFLICT DO NOTHING")
            self._insert("responses", RESPONSE_COLUMNS, responses, "")
            self._insert("bodies", BODY_COLUMNS, bodies, "")
            self._insert("scores", SCORE_COLUMNS, self._score_rows(results), _REPLACE_SCORE)
        kept = tuple(replace(answer, response_id=row_id) for answer, row_id in zip(answers, ids, strict=True))
        return Written(kept, tuple(results))

    def _insert(self, table: str, columns: Sequence[str], rows: Sequence[tuple[Any, ...]], on_conflict: str) -> None:
        for statement, parameters in insert(table, columns, rows, on_conflict):
            self._writing.connection.execute(statement, parameters)

    def _next_ids(self, count: int) -> list[int]:
        """Ids from blocks that this process owns: no round trip a row, and no clash with other processes."""
        ids: list[int] = []
        while len(ids) < count:
            number = next(self._ids, None)
            if number is None:
                row = self._writing.connection.execute(
                    "INSERT INTO id_blocks (name, next) VALUES ('responses', ?) "
                    "ON CONFLICT (name) DO UPDATE SET next = id_blocks.next + excluded.next RETURNING next",
                    [ID_BLOCK],
                ).fetchone()
                self._ids = iter(range(row[0] - ID_BLOCK + 1, row[0] + 1))
            else:
                ids.append(number)
        return ids

    def _score_rows(self, results: Sequence[Result]) -> list[tuple[Any, ...]]:
        return [
            (
                result.answer.response_id,
                score.name,
                self._versions[result.answer.trial.evaluation_id][score.name],
                score.value,
                score.is_invalid,
                score.answer,
                score.reason,
                codec.to_json(score.details) if score.details else None,
            )
            for result in results
            for score in result.scores
        ]


# Replies of judges that were paid for stay beside those that take their place: asked again, or now from the cache.
_EARLIER = (
    "SELECT value FROM json_each(scores.details, '$.earlier') "
    "UNION ALL SELECT ruling.value FROM json_each(scores.details, '$.judges') AS ruling WHERE EXISTS "
    "(SELECT 1 FROM json_each(ruling.value, '$.hearings') AS one WHERE NOT json_extract(one.value, '$.cached'))"
)
_DETAILS = (
    f"CASE WHEN EXISTS ({_EARLIER}) THEN json_set(coalesce(excluded.details, '{{}}'), '$.earlier', "  # noqa: S608 - ours
    f"(SELECT json_group_array(json(value)) FROM ({_EARLIER}))) ELSE excluded.details END"
)
# A scorer that fails the second time (a judge that is down, say) must not take back what it measured the first time,
# nor that the answer made its judge unreadable.
_IS_NEWS = (
    "excluded.value IS NOT NULL OR (scores.value IS NULL AND "
    "(json_extract(excluded.details, '$.verdict') = 'unreadable' "
    "OR json_extract(scores.details, '$.verdict') IS NOT 'unreadable'))"
)
_REPLACE_SCORE = (
    "ON CONFLICT (response_id, scorer, version) DO UPDATE SET value = excluded.value, "
    "is_invalid = excluded.is_invalid, answer = excluded.answer, reason = excluded.reason, "
    f"details = {_DETAILS} WHERE {_IS_NEWS}"
)


def _answer_rows(
    answers: Sequence[Answer], ids: Sequence[int], cost_bases: Mapping[int, str]
) -> tuple[dict[str, tuple[Any, ...]], list[tuple[Any, ...]], list[tuple[Any, ...]]]:
    now = time.time()
    samples: dict[str, tuple[Any, ...]] = {}
    responses, bodies = [], []
    for answer, row_id in zip(answers, ids, strict=True):
        row = _sample_row(answer)
        samples[row[0]] = row
        basis = cost_bases.get(answer.trial.evaluation_id, REPORTED)
        responses.append(_response_row(answer, row_id, row[0], now, basis))
        if answer.response is not None:
            bodies.append((row_id, answer.response.text, codec.response_more(answer.response)))
    return samples, responses, bodies


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
    joined = "\x1f".join("\x00" if text is None else text for text in content)
    return (blake2b(joined.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest(), *content)


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
