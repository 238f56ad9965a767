"""A trial that was alone with worker after worker when they were lost: it fails, and its run goes on."""

from __future__ import annotations

from proctor.domain.chunk import Chunk
from proctor.domain.evaluation import Evaluation
from proctor.domain.event import Observer, ResultsRecorded, TrialsSkipped
from proctor.domain.score import Score
from proctor.domain.trial import Answer, Outcome, Result
from proctor.runs.chunks.slices import trials_of_slice
from proctor.stores.journal import DatabaseJournal


async def fail_trial(chunk: Chunk, evaluation: Evaluation, journal: DatabaseJournal, observe: Observer) -> None:
    """Record that the chunk's only trial failed, and why; one that is recorded and scored is left alone."""
    [trial] = trials_of_slice(evaluation, chunk.position, chunk.count)
    known = (await journal.recorded(evaluation.id, [trial.id])).get(trial.id)
    if known is not None and (known.is_scored or known.is_failed):
        observe(TrialsSkipped(evaluation.id, 1))
        return
    reason = f"{chunk.lost_leases} workers in a row were lost while they worked on this trial"
    if known is None:
        answer = Answer(trial, None, error=f"WorkerLostError: {reason}")
        await journal.write([answer], [])
        observe(ResultsRecorded((Result(answer, (), Outcome.FAILED),)))
        return
    # It is answered; what ended the workers was scoring it.
    response = (await journal.responses([known.response_id]))[known.response_id]
    scores = tuple(Score.unscored(scorer.name, f"{reason}, in scoring") for scorer in evaluation.scorers)
    result = Result(Answer(trial, response, response_id=known.response_id), scores, Outcome.FAILED)
    await journal.write([], [result])
    observe(ResultsRecorded((result,)))
