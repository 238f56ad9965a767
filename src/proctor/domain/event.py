"""The one ordered stream of what happens during a run; the live view is one of its readers."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from proctor.domain.trial import Result


class TrialsSkipped(Struct, frozen=True):
    """Trials that an earlier execution of this run has finished."""

    evaluation_id: int
    count: int


class ResultsRecorded(Struct, frozen=True):
    """Results that are committed: a crash cannot lose them any more."""

    results: tuple[Result, ...]


class FaultSeen(Struct, frozen=True):
    """A request failed and will be tried again."""

    model: str
    message: str
    is_rate_limit: bool


class ConcurrencyChanged(Struct, frozen=True):
    model: str
    limit: int


class ModelGivenUp(Struct, frozen=True):
    """No further request is sent to this model in this run; what was recorded is kept."""

    model: str
    reason: str


class BatchSeen(Struct, frozen=True):
    """How far a batch is at its provider."""

    model: str
    remote_id: str
    state: str
    is_ended: bool
    done: int
    total: int


class BatchDelayed(Struct, frozen=True):
    """Why a model's batches get no further for the moment; holds until one of them is seen."""

    model: str
    reason: str


class NoticeGiven(Struct, frozen=True):
    """Something that whoever watches the run should read, as a sentence; a warning is about a danger."""

    text: str
    is_warning: bool = False


Event = (
    TrialsSkipped
    | ResultsRecorded
    | FaultSeen
    | ConcurrencyChanged
    | ModelGivenUp
    | BatchSeen
    | BatchDelayed
    | NoticeGiven
)
Observer = Callable[[Event], None]
