"""How far a run is, and how long it will take."""

from __future__ import annotations

from typing import Any

import pytest

from engine.parts import trials
from proctor.domain.event import ModelGivenUp, ResultsRecorded, TrialsSkipped
from proctor.domain.response import Response
from proctor.domain.trial import Answer, Outcome, Result
from proctor.runs.progress import EvaluationProgress, Progress


class FixedProgress(Progress):
    """Ten seconds have passed."""

    seconds = 10.0


def progress(**counts: int) -> FixedProgress:
    made = FixedProgress([])
    made.evaluations = {
        number: EvaluationProgress(label, label, "sums", count)
        for number, (label, count) in enumerate(counts.items(), start=1)
    }
    return made


def record(made: Progress, evaluation_id: int, count: int, **more: Any) -> None:
    results = [
        Result(Answer(trial, Response("x"), **more), (), Outcome.SCORED) for trial in trials(count, evaluation_id)
    ]
    made(ResultsRecorded(tuple(results)))


def test_the_time_left_is_that_of_the_slowest_model() -> None:
    made = progress(quick=100, slow=100)
    record(made, 1, 99)
    record(made, 2, 10)
    assert made.seconds_left == pytest.approx(90)


def test_answers_from_the_cache_and_of_earlier_executions_are_no_pace() -> None:
    made = progress(one=100)
    record(made, 1, 20, is_cached=True)
    made(TrialsSkipped(1, 20))
    assert made.seconds_left is None
    record(made, 1, 10)
    assert made.seconds_left == pytest.approx(50)


def test_a_model_that_was_given_up_is_not_waited_for() -> None:
    made = progress(gone=100, here=100)
    record(made, 2, 50)
    assert made.seconds_left is None
    made(ModelGivenUp("gone", "it is gone"))
    assert made.seconds_left == pytest.approx(10)
