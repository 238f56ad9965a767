"""Commits answers before they are scored, and scores before they are announced, in a few commits a second."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

from proctor.domain.event import Observer, ResultsRecorded
from proctor.domain.journal import Journal
from proctor.domain.response import Response
from proctor.domain.sample import Sample
from proctor.domain.score import Score
from proctor.domain.scorer import Scorer, SlowScorer
from proctor.domain.tracing import NOTHING, TraceSpan, span
from proctor.domain.trial import Answer, Result, outcome_of
from proctor.engine.scoring import score_answer
from proctor.engine.slow_scoring import ScoringProcess

BATCH_SECONDS = 0.05
BATCH_ROWS = 500
MAX_PENDING = 1_500
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
        self._written: asyncio.Queue[Answer] = asyncio.Queue()
        self._to_score: asyncio.Queue[Answer] = asyncio.Queue()
        self._pending = 0
        self._has_room = asyncio.Event()
        self._has_room.set()
        self._is_drained = asyncio.Event()
        self._is_drained.set()
        self._wake = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []
        self._failure: BaseException | None = None
        self._process = ScoringProcess()
        self._spans: dict[tuple[int, str], TraceSpan] = {}

    async def __aenter__(self) -> Recorder:
        self._tasks = [asyncio.create_task(self._write_batches()), asyncio.create_task(self._pace())]
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
        await self._process.close()
        for tracing in self._spans.values():  # recorded, and not scored: the run goes on some other time
            tracing.end()
        if self._failure is not None:
            raise self._failure

    def _note_failure(self, task: asyncio.Task[None]) -> None:
        """A store that cannot be written ends the run: nobody may wait for it any longer."""
        if not task.cancelled() and (error := task.exception()) is not None and self._failure is None:
            self._failure = error
            self._is_drained.set()
            self._has_room.set()

    async def answered(self, answer: Answer, tracing: TraceSpan = NOTHING) -> None:
        """Take an answer that is not recorded yet; waits while too many are pending.

        Its span ends when it is scored.
        """
        await self._take()
        if tracing is not NOTHING:
            self._spans[answer.trial.evaluation_id, answer.trial.id] = tracing
        self._answers.append(answer)
        self._nudge()

    async def recorded(self, answer: Answer) -> None:
        """Take an answer that an earlier execution recorded but did not score."""
        await self._take()
        self._written.put_nowait(answer)

    async def _take(self) -> None:
        await self._has_room.wait()
        if self._failure is not None:
            raise self._failure
        self._pending += 1
        self._is_drained.clear()
        if self._pending >= MAX_PENDING:
            self._has_room.clear()

    def _finished(self, count: int) -> None:
        self._pending -= count
        if self._pending < MAX_PENDING:
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
        written = await self._journal.write(answers, results)
        for answer in written.answers:
            self._written.put_nowait(answer)
        if results:
            self._observe(ResultsRecorded(written.results))
            self._finished(len(results))

    async def _pace(self) -> None:
        """Hand over a few answers in each turn of the event loop: a whole batch would hold up what is being timed."""
        while True:
            self._to_score.put_nowait(await self._written.get())
            for _ in range(min(SCORED_AT_ONCE - 1, self._written.qsize())):
                self._to_score.put_nowait(self._written.get_nowait())
            await asyncio.sleep(0)

    async def _score(self) -> None:
        while True:
            answer = await self._to_score.get()
            tracing = self._spans.pop((answer.trial.evaluation_id, answer.trial.id), NOTHING)
            with tracing.current():
                scores = await self._scores_of(answer)
            outcome = outcome_of(answer.response, scores)
            tracing.set({"proctor.outcome": str(outcome)})
            tracing.end()
            self._results.append(Result(answer, scores, outcome))
            self._nudge()

    async def _scores_of(self, answer: Answer) -> tuple[Score, ...]:
        if answer.response is None:
            return ()
        sample = answer.trial.sample
        scorers = self._scorers[answer.trial.evaluation_id]
        return tuple([await score_answer(scorer, sample, answer.response, self._mark) for scorer in scorers])

    async def _mark(self, scorer: Scorer, sample: Sample, response: Response) -> Score:
        """Answers are timed here, so what takes long is done elsewhere."""
        with span("score", {"proctor.scorer": scorer.name}):
            slow = self._slow.get(id(scorer))
            if slow is not None and slow.is_slow_for(response):
                return await self._process.score(scorer, sample, response)
            return await scorer.score(sample, response)
