"""People mark answers: which are shown to them, and what their marks say of the scorers and of the score."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from hashlib import blake2b
from statistics import fmean
from typing import Any

import orjson
from msgspec import Struct

from proctor.domain.documents.estimate import MetricEstimate
from proctor.domain.documents.review import Kappa, ReviewItem, ReviewQueue, RunReview, ScorerReview
from proctor.domain.errors import NotFoundError, did_you_mean
from proctor.metrics.agreement import cohen_kappa, kappa_interval
from proctor.metrics.intervals import MeanAccumulator
from proctor.metrics.labels import JUDGES
from proctor.metrics.prediction_powered import MIN_MARKED, prediction_powered_mean
from proctor.runs.sides import sides_of_rows
from proctor.stores.annotations import AnnotationStore
from proctor.stores.database import Database
from proctor.stores.reviewing import ReviewStore, ScorableAnswer
from proctor.stores.runs import RunStore

HALF = 0.5
MARKED_SHARE = 0.9
"""Of the draw's beginning so much must be marked: were it less, what was marked might be no random draw any more."""

Labels = Mapping[int, Mapping[str, float]]


class _Evaluation(Struct, frozen=True):
    model: str
    side: str
    benchmark: str
    scorers: Mapping[str, str]
    answers: Sequence[ScorableAnswer]

    @property
    def first(self) -> str:
        return next(iter(self.scorers))

    @property
    def judges(self) -> list[str]:
        return [name for name, version in self.scorers.items() if version.startswith(JUDGES)]


def review_run(
    database: Database,
    reference: str,
    *,
    queue: ReviewQueue,
    limit: int,
    model: str | None = None,
    benchmark: str | None = None,
) -> RunReview:
    """The first answers of a queue, and how people's marks so far compare with the scorers'."""
    run = RunStore(database).get(reference)
    evaluations = _evaluations(database, run.id, {"model": model, "benchmark": benchmark})
    labels = _labels(database, run.id)
    found = [
        (one, answer) for one in evaluations for answer in one.answers if _is_queued(queue, one, answer, labels)
    ]  # fmt: skip
    found.sort(key=lambda pair: _place(run.id, pair[1]))
    return RunReview(
        run_id=run.id,
        queue=queue,
        items=[_item(one, answer, labels) for one, answer in found[:limit]],
        total=len(found),
        scorers=[
            _scorer_review(run.id, one, scorer, labels)
            for one in evaluations
            if any(answer.response_id in labels for answer in one.answers)
            for scorer in one.scorers
        ],
    )


def _evaluations(database: Database, run_id: str, wanted: Mapping[str, str | None]) -> list[_Evaluation]:
    rows = RunStore(database).evaluation_rows(run_id)
    for name, value in wanted.items():
        known = list(dict.fromkeys(str(row[name]) for row in rows))
        if value is not None and value not in known:
            raise NotFoundError(f"Run {run_id} has no {name} {value!r}.{did_you_mean(value, known)}")
    sides = [side for side, _ in sides_of_rows(rows)]
    chosen = [
        (row, side)
        for row, side in zip(rows, sides, strict=True)
        if all(value is None or row[name] == value for name, value in wanted.items())
    ]
    return [_evaluation(database, row, side) for row, side in chosen]


def _evaluation(database: Database, row: Mapping[str, Any], side: str) -> _Evaluation:
    scorers: dict[str, str] = orjson.loads(row["scorers"])
    answers = list(ReviewStore(database).answers(row["id"], scorers))
    return _Evaluation(row["model"], side, row["benchmark"], scorers, answers)


def _labels(database: Database, run_id: str) -> Labels:
    found: dict[int, dict[str, float]] = defaultdict(dict)
    for row in AnnotationStore(database).labels(run_id):
        found[row.response_id][row.author] = row.value
    return found


def _place(run_id: str, answer: ScorableAnswer) -> bytes:
    """The same random order for everybody and every queue: a sample's place says nothing of its answer."""
    key = f"{run_id}\0{answer.sample_id}\0{answer.epoch}"
    return blake2b(key.encode("utf-8", "surrogatepass"), digest_size=12).digest()


def _is_queued(queue: ReviewQueue, evaluation: _Evaluation, answer: ScorableAnswer, labels: Labels) -> bool:
    if queue is ReviewQueue.RANDOM:
        return True
    if queue is ReviewQueue.JUDGED:
        return any(answer.values.get(judge) is not None for judge in evaluation.judges)
    if queue is ReviewQueue.WRONG:
        value = answer.values.get(evaluation.first)
        return value is not None and value < 1
    said = [value for value in answer.values.values() if value is not None]
    said += labels.get(answer.response_id, {}).values()
    return len({value >= HALF for value in said}) > 1


def _item(evaluation: _Evaluation, answer: ScorableAnswer, labels: Labels) -> ReviewItem:
    return ReviewItem(
        str(answer.response_id),
        evaluation.model,
        evaluation.benchmark,
        answer.sample_id,
        answer.epoch,
        {name: answer.values.get(name) for name in evaluation.scorers},
        labels.get(answer.response_id, {}),
    )


def _scorer_review(run_id: str, evaluation: _Evaluation, scorer: str, labels: Labels) -> ScorerReview:
    pairs = [
        (fmean(labels[answer.response_id].values()) >= HALF, value >= HALF)
        for answer in evaluation.answers
        if answer.response_id in labels and (value := answer.values.get(scorer)) is not None
    ]
    cells = [pairs.count(cell) for cell in ((True, True), (True, False), (False, True), (False, False))]
    people, marks = [person for person, _ in pairs], [mark for _, mark in pairs]
    samples = _samples(run_id, evaluation.answers, scorer)
    marked, skipped, rest = _random_draw(samples, labels)
    return ScorerReview(
        model=evaluation.model,
        side=evaluation.side,
        benchmark=evaluation.benchmark,
        scorer=scorer,
        version=evaluation.scorers[scorer],
        counts=scorer == evaluation.first,
        both_right=cells[0],
        only_people=cells[1],
        only_scorer=cells[2],
        both_wrong=cells[3],
        kappa=Kappa(cohen_kappa(people, marks), kappa_interval(*cells), len(pairs)),
        scored=MetricEstimate.of(_mean(value for sample in samples for value in [_value(sample)])),
        drawn=len(marked),
        skipped=skipped,
        needed=MIN_MARKED,
        corrected=MetricEstimate.of(prediction_powered_mean(marked, rest)),
    )


_Sample = list[tuple[int, float]]
"""A sample's answers, each with the scorer's value."""


def _samples(run_id: str, answers: Iterable[ScorableAnswer], scorer: str) -> list[_Sample]:
    """What the scorer measured, by sample, in the random order."""
    found: dict[str, _Sample] = defaultdict(list)
    for answer in sorted(answers, key=lambda one: _place(run_id, one)):
        if (value := answer.values.get(scorer)) is not None:
            found[answer.sample_id].append((answer.response_id, value))
    return list(found.values())


def _value(sample: _Sample) -> float:
    return fmean(value for _, value in sample)


def _mean(values: Iterable[float]) -> Any:
    mean = MeanAccumulator()
    for value in values:
        mean.add_value(value)
    return mean.estimate()


def _random_draw(samples: Sequence[_Sample], labels: Labels) -> tuple[list[tuple[float, float]], int, list[float]]:
    """The draw's marked samples as (scorer, people), how many in it nobody marked, and the scorer's other values.

    The draw ends where marks become sparse: those beyond were made for another reason, because an answer looked wrong
    perhaps, and would bend the estimate.
    """
    is_marked = [any(response in labels for response, _ in sample) for sample in samples]
    end = marks = 0
    for place, marked in enumerate(is_marked, 1):
        marks += marked
        if marked and marks >= MARKED_SHARE * place:
            end = place
    drawn = [sample for sample, marked in zip(samples[:end], is_marked, strict=False) if marked]
    rest = [sample for sample, marked in zip(samples[:end], is_marked, strict=False) if not marked] + [*samples[end:]]
    return [_pair(sample, labels) for sample in drawn], end - len(drawn), [_value(sample) for sample in rest]


def _pair(sample: _Sample, labels: Labels) -> tuple[float, float]:
    """The scorer's and the people's mean of the answers that people marked."""
    both = [(value, fmean(labels[response].values())) for response, value in sample if response in labels]
    return fmean(value for value, _ in both), fmean(person for _, person in both)
