"""One model on one benchmark within a run, with everything fixed that the plan left open."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from proctor.domain.benchmark import Benchmark, Fingerprint, Samples
from proctor.domain.message import Json
from proctor.domain.model import Model
from proctor.domain.plan import BenchmarkSpec, ModelSpec
from proctor.domain.price import Price
from proctor.domain.scorer import Scorer


class Evaluation(Struct, frozen=True):
    label: str
    model_spec: ModelSpec
    benchmark_spec: BenchmarkSpec
    model: Model
    benchmark: Benchmark
    samples: Samples
    fingerprint: Fingerprint
    scorers: tuple[Scorer, ...]
    options: Mapping[str, Json]
    """Sampling options: the benchmark's, overridden by the model's."""
    epochs: int
    use_cache: bool = True
    price: Price | None = None
    """None when nobody knows it."""
    id: int = 0
    """Its row in the store; 0 until it is recorded."""

    @property
    def trials(self) -> int:
        return self.fingerprint.count * self.epochs

    @property
    def benchmark_identity(self) -> str:
        """The benchmark as really used: the samples' content and the way they are put."""
        return f"{self.benchmark.name}@{self.fingerprint.digest}/{self.benchmark.renderer.digest}"
