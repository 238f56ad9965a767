"""A trial that was alone with worker after worker when they were lost: its run goes on without it.

It fails where nothing was answered. An answer that ends whoever scores it must not leave the score by that: a
known-good answer is scored in its place, and only where that ends the worker, too, is it a fault.
"""

from __future__ import annotations

from proctor.domain.chunk import Chunk
from proctor.domain.evaluation import Evaluation
from proctor.domain.event import Observer, ResultsRecorded, TrialsSkipped
from proctor.domain.score import Score
from proctor.domain.trial import Answer, Outcome, Result, outcome_of
from proctor.engine.scoring import score_unscorable
from proctor.runs.chunks.slices import trials_of_slice
from proctor.stores.journal import DatabaseJournal
from proctor.stores.lost_chunks import LOSSES_OF_ONE_TRIAL


async def end_trial(chunk: Chunk, evaluation: Evaluation, journal: DatabaseJournal, observe: Observer) -> None:
    """Record what the chunk's only trial came to, and why; one that is recorded and scored is left alone."""
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
    # It is answered; what ended the workers was scoring it, and the last of them perhaps a known-good answer.
    response = (await journal.responses([known.response_id]))[known.response_id]
    said, is_tried = f"{reason}, in scoring", chunk.lost_leases > LOSSES_OF_ONE_TRIAL
    scores = tuple(
        [
            Score.unscored(one.name, said) if is_tried else await score_unscorable(one, trial.sample, said)
            for one in evaluation.scorers
        ]
    )
    answer = Answer(trial, response, response_id=known.response_id)
    result = Result(answer, scores, outcome_of(response, scores))
    await journal.write([], [result])
    observe(ResultsRecorded((result,)))
