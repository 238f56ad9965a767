"""What older services of this kind answer under names that are still served."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from proctor.domain.documents.document import Document
from proctor.domain.message import Json

TaskStatus = Literal["PENDING", "STARTED", "SUCCESS", "FAILURE"]


class SubmittedTask(Document, frozen=True):
    """A run that was drafted from words and accepted."""

    task_id: str
    """The run's id."""
    status: TaskStatus
    plan: Mapping[str, Json]
    not_understood: Sequence[str]
    """Words that changed nothing."""


class ModelResult(Document, frozen=True):
    model_name: str
    benchmark: str
    average_score: float | None
    """The benchmark's first metric; null where nothing was measured."""
    total_samples: int


class TaskResult(Document, frozen=True):
    model_results: Sequence[ModelResult]


class TaskState(Document, frozen=True):
    task_id: str
    status: TaskStatus
    progress: float
    """From 0 to 1."""
    result: TaskResult | None
    error_message: str | None
