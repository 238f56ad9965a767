"""Marks of DeepEval's ready-made benchmarks, for those that are run here as `deepeval:…`."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from proctor import deepeval_benchmarks
from proctor.domain.errors import ScorerError
from proctor.domain.identity import digest
from proctor.domain.message import Json
from proctor.domain.response import Response
from proctor.domain.sample import Sample
from proctor.domain.score import Score
from proctor.domain.scorer import traits
from proctor.scorers.options import build

NAME = "deepeval_benchmark"
REVISION = "1"


@traits(needs_target=False, has_votes=False)
def create(**options: Json) -> DeepEvalBenchmarkScorer:
    return build(DeepEvalBenchmarkScorer, NAME, options)


@dataclass(frozen=True, slots=True)
class DeepEvalBenchmarkScorer:
    """What a benchmark of DeepEval says of an answer; benchmarks `deepeval:…` name it, nobody else needs to."""

    benchmark: str = ""
    arguments: Mapping[str, Json] | None = None
    data: str = ""
    label: str = "deepeval"
    digest: str = ""
    """Of DeepEval's version, the arguments and the data, which decide what a mark is."""

    @property
    def name(self) -> str:
        return self.label

    @property
    def version(self) -> str:
        return f"{REVISION}+{digest([self.benchmark, self.digest])[:8]}" if self.benchmark else REVISION

    def obstacle(self, sample: Sample) -> str | None:  # noqa: ARG002 - it is the benchmark that names it
        return None if self.benchmark else "the scorer 'deepeval_benchmark' belongs to benchmarks named deepeval:…"

    async def score(self, sample: Sample, response: Response) -> Score:
        return await asyncio.to_thread(self._mark, sample.id, response.text)

    def _mark(self, identity: str, text: str) -> Score:
        if not self.benchmark:
            raise ScorerError("Only a sample of a benchmark of DeepEval can be marked by its scorer.")
        data = Path(self.data) if self.data else None
        found = deepeval_benchmarks.load(self.benchmark, dict(self.arguments or {}), data)
        if self.digest and found.digest != self.digest:
            raise ScorerError(
                f"deepeval:{self.benchmark}, or its data, has changed since the run began: start a new run."
            )
        value, answer = found.mark(identity, text)
        return Score(self.name, value, answer=answer, reason=f"DeepEval's mark is {value:g}")
