"""The one ordered stream of what happens during a run; the live view is one of its readers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from proctor.domain.trial import Result


@dataclass(frozen=True, slots=True)
class TrialsSkipped:
    """Trials that an earlier execution of this run has finished."""

    evaluation_id: int
    count: int


@dataclass(frozen=True, slots=True)
class ResultsRecorded:
    """Results that are committed: a crash cannot lose them any more."""

    results: tuple[Result, ...]


@dataclass(frozen=True, slots=True)
class FaultSeen:
    """A request failed and will be tried again."""

    model: str
    message: str
    is_rate_limit: bool


@dataclass(frozen=True, slots=True)
class ConcurrencyChanged:
    model: str
    limit: int


@dataclass(frozen=True, slots=True)
class ModelGivenUp:
    """No further request is sent to this model in this run; what was recorded is kept."""

    model: str
    reason: str


@dataclass(frozen=True, slots=True)
class BatchSeen:
    """How far a batch is at its provider."""

    model: str
    remote_id: str
    state: str
    is_ended: bool
    done: int
    total: int


@dataclass(frozen=True, slots=True)
class BatchDelayed:
    """Why a model's batches get no further for the moment; holds until one of them is seen."""

    model: str
    reason: str


Event = TrialsSkipped | ResultsRecorded | FaultSeen | ConcurrencyChanged | ModelGivenUp | BatchSeen | BatchDelayed
Observer = Callable[[Event], None]
