"""Commits answers before they are scored, and scores before they are announced, in a few commits a second."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Coroutine, Iterable, Mapping, Sequence
from typing import Any

from proctor.domain.event import Observer, ResultsRecorded
from proctor.domain.journal import Journal
from proctor.domain.response import Response
from proctor.domain.sample import Sample
from proctor.domain.score import Score
from proctor.domain.scorer import Scorer, SlowScorer
from proctor.domain.tracing import NOTHING, TraceSpan, is_traced, span
from proctor.domain.trial import Answer, Result, outcome_of
from proctor.engine.scoring import score_answer
from proctor.engine.slow_scoring import ScoringProcess

BATCH_SECONDS = 0.05
BATCH_ROWS = 2_000
MANY_ROWS = 250
LONGER_BATCH_SECONDS = 0.2
"""After a batch of many rows: each touches every page of the indexes, so a quarter as many cost that much less."""
MAX_PENDING = 4_000
CHARACTERS_OF_ONE = 4_096
"""A longer answer counts as several: memory is bounded by the texts that wait, too."""
SCORING_TASKS = 64
SCORED_AT_ONCE = 4
"""Answers scored one after another before what has come in from the network is looked at: it is timed when it is."""


class Recorder:
    """Takes answers, gives recorded results. Use as an async context manager; leaving it drains everything."""

    def __init__(self, journal: Journal, scorers: Mapping[int, Sequence[Scorer]], observe: Observer) -> None:
        self._journal = journal
        self._scorers = scorers
        # Looked up once: asking a protocol takes as long as marking a short answer.
        self._slow = {id(one): one for some in scorers.values() for one in some if isinstance(one, SlowScorer)}
        self._observe = observe
        self._answers: list[Answer] = []
        self._results: list[Result] = []
        self._written: deque[Answer] = deque()
        """Recorded, and not yet being scored."""
        self._has_written = asyncio.Event()
        self._free_scorers = asyncio.Semaphore(SCORING_TASKS)
        self._pending = 0
        """Answers that were taken and have no recorded result yet."""
        self._load = 0
        """The same, with long answers counted as several."""
        self._further: dict[tuple[int, str], int] = {}
        """What those count beyond one: a store may replace their texts."""
        self._is_draining = False
        self._has_room = asyncio.Event()
        self._has_room.set()
        self._is_drained = asyncio.Event()
        self._wake = asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()
        self._failure: BaseException | None = None
        self._process = ScoringProcess()
        self._spans: dict[tuple[int, str], TraceSpan] = {}

    async def __aenter__(self) -> Recorder:
        self._begin(self._write_batches())
        self._begin(self._pace())
        return self

    def _begin(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._note_end)

    async def __aexit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None and self._failure is None and self._pending:
            self._is_draining = True
            self._wake.set()
            self._is_drained.clear()
            await self._is_drained.wait()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._process.close()
        for tracing in self._spans.values():  # recorded, and not scored: the run goes on some other time
            tracing.end()
        if self._failure is not None:
            raise self._failure

    def _note_end(self, task: asyncio.Task[None]) -> None:
        """A store that cannot be written ends the run: nobody may wait for it any longer."""
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None and self._failure is None:
            self._failure = error
            self._is_drained.set()
            self._has_room.set()

    async def answered(self, answer: Answer, tracing: TraceSpan = NOTHING) -> None:
        """Take an answer that is not recorded yet; waits while too many are pending.

        Its span ends when it is scored.
        """
        # All who wait are woken at once, and the first of them may fill it again.
        while self._load >= MAX_PENDING and self._failure is None:
            await self._has_room.wait()
        self._take(answer)
        if tracing is not NOTHING:
            self._spans[_key_of(answer)] = tracing
        self._answers.append(answer)
        self._nudge()

    async def recorded(self, answer: Answer) -> None:
        """Take an answer that an earlier execution recorded but did not score."""
        while self._load >= MAX_PENDING and self._failure is None:
            await self._has_room.wait()
        self._take(answer)
        self._hand_over([answer])

    def _take(self, answer: Answer) -> None:
        if self._failure is not None:
            raise self._failure
        self._pending += 1
        self._load += 1
        if answer.response is not None and len(answer.response.text) >= CHARACTERS_OF_ONE:
            further = self._further[_key_of(answer)] = len(answer.response.text) // CHARACTERS_OF_ONE
            self._load += further
        if self._load >= MAX_PENDING:
            self._has_room.clear()
            self._wake.set()

    def _finished(self, results: Sequence[Result]) -> None:
        self._pending -= len(results)
        self._load -= len(results)
        if self._further:
            self._load -= sum(self._further.pop(_key_of(result.answer), 0) for result in results)
        if self._load < MAX_PENDING:
            self._has_room.set()
        if self._pending == 0:
            self._is_drained.set()

    def _nudge(self) -> None:
        waiting = len(self._answers) + len(self._results)
        # The last ones of a run wait for nobody.
        if waiting >= BATCH_ROWS or (self._is_draining and waiting == self._pending):
            self._wake.set()

    async def _write_batches(self) -> None:
        seconds = BATCH_SECONDS
        while True:
            try:
                async with asyncio.timeout(seconds):
                    await self._wake.wait()
            except TimeoutError:
                pass
            self._wake.clear()
            if rows := len(self._answers) + len(self._results):
                await self._write_batch()
            seconds = LONGER_BATCH_SECONDS if rows >= MANY_ROWS else BATCH_SECONDS

    async def _write_batch(self) -> None:
        answers, self._answers = self._answers, []
        results, self._results = self._results, []
        written = await self._journal.write(answers, results)
        self._hand_over(written.answers)
        if results:
            self._observe(ResultsRecorded(written.results))
            self._finished(results)

    def _hand_over(self, answers: Iterable[Answer]) -> None:
        self._written.extend(answers)
        self._has_written.set()

    async def _pace(self) -> None:
        """Begin with a few answers in each turn of the event loop: a batch would hold up what is being timed."""
        while True:
            await self._has_written.wait()
            while self._written:
                await self._free_scorers.acquire()
                self._begin(self._score_few())
                await asyncio.sleep(0)
            self._has_written.clear()

    async def _score_few(self) -> None:
        try:
            for _ in range(SCORED_AT_ONCE):
                if not self._written:
                    break
                await self._score(self._written.popleft())
        finally:
            self._free_scorers.release()
        self._nudge()

    async def _score(self, answer: Answer) -> None:
        tracing = self._spans.pop(_key_of(answer), NOTHING) if self._spans else NOTHING
        with tracing.current():
            scores = await self._scores_of(answer)
        outcome = outcome_of(answer.response, scores)
        tracing.set({"proctor.outcome": outcome.value})
        tracing.end()
        self._results.append(Result(answer, scores, outcome))

    async def _scores_of(self, answer: Answer) -> tuple[Score, ...]:
        if answer.response is None:
            return ()
        sample = answer.trial.sample
        scorers = self._scorers[answer.trial.evaluation_id]
        return tuple([await score_answer(scorer, sample, answer.response, self._mark) for scorer in scorers])

    def _mark(self, scorer: Scorer, sample: Sample, response: Response) -> Awaitable[Score]:
        """Answers are timed here, so what takes long is done elsewhere."""
        slow = self._slow.get(id(scorer))
        is_slow = slow is not None and slow.is_slow_for(response)
        score = self._process.score(scorer, sample, response) if is_slow else scorer.score(sample, response)
        return _traced(scorer, score) if is_traced() else score


def _key_of(answer: Answer) -> tuple[int, str]:
    return answer.trial.evaluation_id, answer.trial.id


async def _traced(scorer: Scorer, score: Awaitable[Score]) -> Score:
    with span("score", {"proctor.scorer": scorer.name}):
        return await score
