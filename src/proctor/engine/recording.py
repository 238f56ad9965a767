"""Commits answers before they are scored, and scores before they are announced, in a few commits a second."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from proctor.domain.errors import ScorerError
from proctor.domain.event import Observer, ResultsRecorded
from proctor.domain.journal import Journal
from proctor.domain.score import Score
from proctor.domain.scorer import Scorer
from proctor.domain.trial import Answer, Result, outcome_of

BATCH_SECONDS = 0.05
BATCH_ROWS = 500
MOST_PENDING = 1_500
SCORING_TASKS = 64


class Recorder:
    """Takes answers, gives recorded results. Use as an async context manager; leaving it drains everything."""

    def __init__(self, journal: Journal, scorers: Mapping[int, Sequence[Scorer]], observe: Observer) -> None:
        self._journal = journal
        self._scorers = scorers
        self._observe = observe
        self._answers: list[Answer] = []
        self._results: list[Result] = []
        self._to_score: asyncio.Queue[Answer] = asyncio.Queue()
        self._pending = 0
        self._has_room = asyncio.Event()
        self._has_room.set()
        self._is_drained = asyncio.Event()
        self._is_drained.set()
        self._wake = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []
        self._failure: BaseException | None = None

    async def __aenter__(self) -> Recorder:
        self._tasks = [asyncio.create_task(self._write_batches())]
        self._tasks += [asyncio.create_task(self._score()) for _ in range(SCORING_TASKS)]
        for task in self._tasks:
            task.add_done_callback(self._note_failure)
        return self

    async def __aexit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None and self._failure is None:
            self._wake.set()
            await self._is_drained.wait()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        if self._failure is not None:
            raise self._failure

    def _note_failure(self, task: asyncio.Task[None]) -> None:
        """A store that cannot be written ends the run: nobody may wait for it any longer."""
        if not task.cancelled() and (error := task.exception()) is not None and self._failure is None:
            self._failure = error
            self._is_drained.set()
            self._has_room.set()

    async def answered(self, answer: Answer) -> None:
        """Take an answer that is not recorded yet; waits while too many are pending."""
        await self._take()
        self._answers.append(answer)
        self._nudge()

    async def recorded(self, answer: Answer) -> None:
        """Take an answer that an earlier execution recorded but did not score."""
        await self._take()
        self._to_score.put_nowait(answer)

    async def _take(self) -> None:
        await self._has_room.wait()
        if self._failure is not None:
            raise self._failure
        self._pending += 1
        self._is_drained.clear()
        if self._pending >= MOST_PENDING:
            self._has_room.clear()

    def _finished(self, count: int) -> None:
        self._pending -= count
        if self._pending < MOST_PENDING:
            self._has_room.set()
        if self._pending == 0:
            self._is_drained.set()

    def _nudge(self) -> None:
        if len(self._answers) + len(self._results) >= BATCH_ROWS:
            self._wake.set()

    async def _write_batches(self) -> None:
        while True:
            try:
                async with asyncio.timeout(BATCH_SECONDS):
                    await self._wake.wait()
            except TimeoutError:
                pass
            self._wake.clear()
            if self._answers or self._results:
                await self._write_batch()

    async def _write_batch(self) -> None:
        answers, self._answers = self._answers, []
        results, self._results = self._results, []
        row_ids = await self._journal.write(answers, results)
        for answer, row_id in zip(answers, row_ids, strict=True):
            self._to_score.put_nowait(replace(answer, response_id=row_id))
        if results:
            self._observe(ResultsRecorded(tuple(results)))
            self._finished(len(results))

    async def _score(self) -> None:
        while True:
            answer = await self._to_score.get()
            scores = await self._scores_of(answer)
            outcome = outcome_of(answer.response, scores)
            self._results.append(Result(answer, scores, outcome))
            self._nudge()

    async def _scores_of(self, answer: Answer) -> tuple[Score, ...]:
        if answer.response is None:
            return ()
        sample = answer.trial.sample
        scores = []
        for scorer in self._scorers[answer.trial.evaluation_id]:
            try:
                scores.append(await scorer.score(sample, answer.response))
            except ScorerError as error:
                scores.append(Score.unscored(scorer.name, str(error)))
            except Exception as error:  # noqa: BLE001 - the trial's boundary: a scorer's bug is a fault, not a zero
                scores.append(Score.unscored(scorer.name, f"the scorer failed: {type(error).__name__}: {error}"))
        return tuple(scores)
