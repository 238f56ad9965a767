"""Benchmarks that a project uploaded."""

from __future__ import annotations

from collections.abc import Sequence

from proctor.domain.documents.benchmark import BenchmarkDescription
from proctor.domain.documents.document import Document


class OwnBenchmark(Document, frozen=True, kw_only=True):
    """A version of a benchmark of the project's own."""

    benchmark_id: str
    name: str
    version: str
    reference: str
    """What a plan calls it: NAME@VERSION."""
    files: Sequence[str]
    author: str
    created_at: str
    archived_at: str | None
    """Since when it is offered no more; plans that name its version still get it."""
    description: BenchmarkDescription


class OwnBenchmarkPage(Document, frozen=True):
    """Benchmarks, newest first."""

    items: Sequence[OwnBenchmark]
    next: str | None


class OwnBenchmarkVersions(Document, frozen=True):
    """All versions of a benchmark, newest first."""

    name: str
    versions: Sequence[OwnBenchmark]
