"""Two evaluations on the samples that both answered."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

from msgspec import UNSET, UnsetType

from proctor.domain.documents.document import Document
from proctor.domain.documents.effort import Percentiles, TokenCounts
from proctor.domain.documents.estimate import MetricEstimate
from proctor.domain.message import Json


class ComparedSide(Document, frozen=True, kw_only=True):
    """One of the two: whose it is, what it cost, and its score on the shared samples."""

    name: str
    run_id: str
    model: str
    side: str
    settings: Mapping[str, Json]
    version: str
    digest: str
    options: Mapping[str, Json]
    trials: int
    scored: int
    invalid: int
    failed: int
    stopped: int
    pending: int
    cached: int
    unmeasured: int | None = None
    if_unmeasured_wrong: float | UnsetType | None = UNSET
    is_forgeable: bool
    usage: TokenCounts
    cost_usd: float | None
    cost_usd_per_answer: float | None
    cost_basis: str
    price_sources: Sequence[str]
    latency_seconds: Percentiles
    score: MetricEstimate


class LeftOutSamples(Document, frozen=True):
    """Samples that are in no number of a comparison, by what happened to them."""

    only_a_failed_in_b: int
    only_a_not_asked_in_b: int
    only_b_failed_in_a: int
    only_b_not_asked_in_a: int
    failed_in_both: int

    @property
    def counts(self) -> dict[str, int]:
        """How many there are of each kind, by its name."""
        return {name: getattr(self, name) for name in self.__struct_fields__}


VerdictCode = Literal[
    "nothing-shared",
    "better",
    "not-with-unreadable",
    "not-shown",
    "one-sample",
    "few-groups",
    "needs-one",
    "needs",
    "needs-one-in-groups",
    "needs-in-groups",
    "detectable",
]


class VerdictParts(Document, frozen=True):
    """What a verdict's sentence says, for who says it in another language."""

    code: VerdictCode
    values: Mapping[str, str]
    """The name and the figures of the sentence, as it writes them; `points` are those of the difference."""
    corrected_for: int | None
    """Of how many comparisons the sentence says that it was corrected for them; None where it says nothing of it."""


class UnreadableCountedWrong(Document, frozen=True):
    """What a comparison comes to with unreadable marks counted as wrong."""

    difference: MetricEstimate
    p_value: float | None
    better: str | None
    verdict: str
    verdict_parts: VerdictParts
    """The same sentence by a name and its figures."""


class FlippedAnswers(Document, frozen=True):
    """What one side answered to a sample, epoch by epoch."""

    values: Sequence[float | None]
    answers: Sequence[str | None]
    responses: Sequence[str | None]


class FlippedSample(Document, frozen=True):
    sample_id: str
    category: str | None
    input: str
    target: str | None
    a: FlippedAnswers
    b: FlippedAnswers


class FlippedSamples(Document, frozen=True):
    """All are counted, some are shown."""

    count: int
    samples: Sequence[FlippedSample]


class Flips(Document, frozen=True):
    """Samples that only one side got right."""

    gained: FlippedSamples
    """Right in B only."""
    lost: FlippedSamples
    """Right in A only."""

    @property
    def count(self) -> int:
        return self.gained.count + self.lost.count


class Comparison(Document, frozen=True):
    """Two evaluations on one metric; the difference is B minus A."""

    benchmark: str
    scorer: str
    metric: str
    a: ComparedSide
    b: ComparedSide
    n: int
    left_out: LeftOutSamples
    difference: MetricEstimate
    test: str
    p_value: float | None
    p_error: float
    p_adjusted: float | None
    """Corrected for the number of comparisons made together."""
    family: int
    effects: Mapping[str, float | None]
    detectable_difference: float | None
    better: str | None
    """The name of the better side; None when no difference could be shown."""
    warnings: Sequence[str]
    notes: Sequence[str]
    if_unreadable_wrong: UnreadableCountedWrong | None
    verdict: str
    verdict_parts: VerdictParts
    """The same sentence by a name and its figures."""
    flips: Flips


class Comparisons(Document, frozen=True):
    """Every pair that was compared, in order, and why others were not."""

    kind: Literal["comparison"]
    comparisons: Sequence[Comparison]
    not_compared: Sequence[str]
    target: float
    """The difference that a verdict counts samples for."""

    @property
    def pairs(self) -> tuple[Comparison, ...]:
        return tuple(self.comparisons)

    def __iter__(self) -> Iterator[Comparison]:
        return iter(self.comparisons)

    def __len__(self) -> int:
        return len(self.comparisons)

    def __getitem__(self, index: int) -> Comparison:
        return self.comparisons[index]
