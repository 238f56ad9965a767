"""A named, versioned set of samples with a way to prompt and a way to score."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Protocol

from msgspec import Struct, field

from proctor.domain.message import Json, Prompt
from proctor.domain.sample import Sample


class Fingerprint(Struct, frozen=True):
    """What was really there: a hash of the samples' content, and how many."""

    digest: str
    count: int


class Samples(Protocol):
    """Samples that can be walked through again and again, always in the same order."""

    def __iter__(self) -> Iterator[Sample]: ...

    def at(self, positions: Sequence[int]) -> Iterator[Sample]:
        """The samples at these places of the iteration, in the order asked for."""
        ...

    def fingerprint(self) -> Fingerprint:
        """Read everything once; raises BenchmarkError with the line of the first bad rows."""
        ...


class Renderer(Protocol):
    """Turns a sample into a prompt."""

    def render(self, sample: Sample) -> Prompt: ...

    @property
    def digest(self) -> str:
        """Changes when any rendered prompt could change."""
        ...


class ScorerSpec(Struct, frozen=True):
    name: str
    options: Mapping[str, Json] = field(default_factory=dict)
    where: str = ""
    """File, line and path of what was written, for messages; empty when it was written in no file."""


class Benchmark(Struct, frozen=True):
    name: str
    samples: Samples
    renderer: Renderer
    scorers: tuple[ScorerSpec, ...]
    metrics: tuple[str, ...] = ("accuracy",)
    version: str = "1"
    """The author's version; the fingerprint says what was really used."""
    options: Mapping[str, Json] = field(default_factory=dict)
    """Sampling options the benchmark asks for; a model's own options win."""
    description: str = ""
    licence: str | None = None
    source: str | None = None
    tags: Mapping[str, str] = field(default_factory=dict)
    needs_sandbox: bool = False
    input_kind: str = ""
    """What inputs are, for people; empty where they are text or messages."""
    shots: int | None = None
    """Worked examples in each prompt; None where the benchmark knows no such thing."""
    revisions: Mapping[str, str] = field(default_factory=dict)
    """The commit of each source on a hub; those that the plan does not name are here once the data was read."""
