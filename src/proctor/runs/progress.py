"""Counts what has happened so far, for anyone who watches."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from decimal import Decimal

from msgspec import Struct, field

from proctor.domain.evaluation import Evaluation
from proctor.domain.event import (
    BatchDelayed,
    BatchSeen,
    ConcurrencyChanged,
    Event,
    FaultSeen,
    ModelGivenUp,
    ResultsRecorded,
    TrialsSkipped,
)
from proctor.domain.price import REPORTED
from proctor.domain.trial import Outcome, Result
from proctor.runs.sides import sides_of


class EvaluationProgress(Struct):
    label: str
    side: str
    """The model, and what is varied of its prompts."""
    benchmark: str
    trials: int
    skipped: int = 0
    outcomes: Counter[Outcome] = field(default_factory=Counter)
    cached: int = 0
    score_sum: float = 0.0
    score_count: int = 0
    cost_usd: Decimal | None = Decimal(0)
    is_cost_reported: bool = True
    """Whether all of the cost is what the provider said; otherwise some was computed."""
    first_fault: str | None = None
    """Why the first failed trial failed."""

    @property
    def done(self) -> int:
        return self.skipped + self.outcomes.total()

    @property
    def mean_score(self) -> float | None:
        """Of the trials finished in this execution."""
        return self.score_sum / self.score_count if self.score_count else None

    def add(self, result: Result) -> None:
        self.outcomes[result.outcome] += 1
        if result.outcome is Outcome.FAILED and self.first_fault is None:
            reasons = (score.reason for score in result.scores)
            self.first_fault = result.answer.error or next(reasons, "no scorer could measure an answer")
        self.cached += result.answer.is_cached
        if result.scores and (value := result.scores[0].value) is not None:
            self.score_sum += value
            self.score_count += 1
        response = result.answer.response
        if response is not None and not result.answer.is_cached:
            known = self.cost_usd is not None and response.cost_usd is not None
            self.cost_usd = self.cost_usd + response.cost_usd if known else None  # type: ignore[operator]
            self.is_cost_reported &= response.cost_basis == REPORTED


class Progress:
    """Reads the event stream; safe to look at from another thread, because it only ever counts up."""

    def __init__(self, evaluations: Sequence[Evaluation]) -> None:
        self.evaluations = {
            evaluation.id: EvaluationProgress(evaluation.label, side, evaluation.benchmark.name, evaluation.trials)
            for evaluation, (side, _) in zip(evaluations, sides_of(evaluations), strict=True)
        }
        self.started = time.monotonic()
        self.faults = 0
        self.rate_limits = 0
        self.last_fault: str | None = None
        self.concurrency: dict[str, int] = {}
        self.given_up: dict[str, str] = {}
        self.is_stopping = False
        self.batches: dict[str, BatchSeen] = {}
        self.delays: dict[str, str] = {}
        """Why the batches of a model get no further."""

    def __call__(self, event: Event) -> None:
        match event:
            case ResultsRecorded(results):
                for result in results:
                    self.evaluations[result.answer.trial.evaluation_id].add(result)
            case TrialsSkipped(evaluation_id, count):
                self.evaluations[evaluation_id].skipped += count
            case FaultSeen(model, message, is_rate_limit):
                self.faults += 1
                self.rate_limits += is_rate_limit
                self.last_fault = f"{model}: {message}"
            case ConcurrencyChanged(model, limit):
                self.concurrency[model] = limit
            case ModelGivenUp(model, reason):
                self.given_up[model] = reason
                self.delays.pop(model, None)
            case BatchSeen():
                self.batches[event.remote_id] = event
                self.delays.pop(event.model, None)
            case BatchDelayed(model, reason):
                self.delays[model] = reason

    @property
    def trials(self) -> int:
        return sum(item.trials for item in self.evaluations.values())

    @property
    def done(self) -> int:
        return sum(item.done for item in self.evaluations.values())

    @property
    def skipped(self) -> int:
        return sum(item.skipped for item in self.evaluations.values())

    @property
    def recorded(self) -> int:
        """Trials that this execution has finished."""
        return self.done - self.skipped

    @property
    def fraction(self) -> float:
        return self.done / self.trials if self.trials else 1.0

    @property
    def cost_usd(self) -> Decimal | None:
        costs = [item.cost_usd for item in self.evaluations.values()]
        return None if any(cost is None for cost in costs) else sum(filter(None, costs), Decimal(0))

    @property
    def cost_basis(self) -> str:
        is_reported = all(item.is_cost_reported for item in self.evaluations.values())
        return REPORTED if is_reported else "computed"

    @property
    def batch_text(self) -> str | None:
        """How far the batches are and what keeps them, in words; None when there is nothing to say."""
        batches, parts = list(self.batches.values()), []
        if batches:
            ended, done = sum(batch.is_ended for batch in batches), sum(batch.done for batch in batches)
            total = sum(batch.total for batch in batches)
            parts.append(
                f"{ended} of {len(batches)} batches ended, {done:,} of {total:,} requests done at the provider"
            )
        parts += [f"{model}: {reason}" for model, reason in list(self.delays.items())]
        return "; ".join(parts) or None

    @property
    def seconds(self) -> float:
        return time.monotonic() - self.started

    @property
    def rate(self) -> float:
        """Trials a second, those left out not counted."""
        return self.recorded / self.seconds if self.seconds > 0 else 0.0

    @property
    def seconds_left(self) -> float | None:
        """Of the slowest model, because models run side by side; None while one of them has no pace to go by."""
        longest = 0.0
        for label in {item.label for item in self.evaluations.values()} - self.given_up.keys():
            items = [item for item in self.evaluations.values() if item.label == label]
            left = sum(item.trials - item.done for item in items)
            # What was left out or came from the cache took no time of the model's.
            asked = sum(item.outcomes.total() - item.cached for item in items)
            if left and not asked:
                return None
            longest = max(longest, left * self.seconds / asked) if left else longest
        return longest

    def snapshot(self) -> dict[str, object]:
        outcomes: Counter[Outcome] = Counter()
        for item in self.evaluations.values():
            outcomes.update(item.outcomes)
        return {
            "progress": round(self.fraction, 6),
            "done": self.done,
            "trials": self.trials,
            "outcomes": {str(name): count for name, count in outcomes.items()},
            "faults": self.faults,
            "rate_limits": self.rate_limits,
            "concurrency": dict(self.concurrency),
        }
