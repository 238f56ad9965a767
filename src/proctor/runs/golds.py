"""Before a benchmark that runs code counts: its own solutions pass here and now, and answers that do nothing fail."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Sequence

from msgspec import Struct

from proctor.domain.errors import BenchmarkError, SandboxError, ScorerError
from proctor.domain.evaluation import Evaluation
from proctor.domain.response import Response
from proctor.domain.sample import Sample
from proctor.domain.sandbox import Sandbox
from proctor.domain.scorer import HasGolds, Scorer, give_sandbox

SAMPLES = 3
"""Of each benchmark: a sandbox that fails one kind of program fails the first; the tests judge all of them."""


class CheckedGolds(Struct, frozen=True):
    """The samples of a benchmark on which a scorer judged its own solutions as it must."""

    benchmark: str
    scorer: str
    sandbox: str
    samples: tuple[str, ...]
    seconds: float


async def prove(evaluations: Sequence[Evaluation], sandbox: Sandbox, seed: int) -> list[CheckedGolds]:
    """What was checked, a row per benchmark and scorer; raises BenchmarkError when one is not judged as it must be."""
    rows, seen = [], set()
    for item in evaluations:
        for scorer in item.scorers:
            key = (item.benchmark_identity, scorer.name, scorer.version)
            if key not in seen and isinstance(scorer, HasGolds):
                seen.add(key)
                rows.append(await _proved(item, scorer, sandbox, seed))
    return rows


async def _proved(item: Evaluation, known: HasGolds, sandbox: Sandbox, seed: int) -> CheckedGolds:
    scorer = give_sandbox(known.for_golds(), sandbox)
    started = time.monotonic()
    count = item.fingerprint.count
    positions = random.Random(f"gold {seed}").sample(range(count), min(SAMPLES, count))
    samples = list(item.samples.at(sorted(positions)))
    pairs = [(sample, answers) for sample in samples if (answers := known.golds(sample)) is not None]
    async with asyncio.TaskGroup() as group:
        asked = [
            (sample, is_gold, group.create_task(_value(scorer, sample, answer)))
            for sample, answers in pairs
            for answer, is_gold in zip(answers, (True, False), strict=True)
        ]
    for sample, is_gold, task in asked:
        value, reason = task.result()
        if isinstance(reason, ScorerError):
            raise SandboxError(f"{item.benchmark.name} cannot be judged in the sandbox {sandbox.name!r}: {reason}")
        if value != float(is_gold):
            what = "the benchmark's own solution does not pass" if is_gold else "an answer that does nothing passes"
            raise BenchmarkError(
                f"{item.benchmark.name}, sample {sample.id}: {what} in the sandbox {sandbox.name!r} ({reason}), so no "
                "score would mean anything and nothing was asked. Check the data, or try another --sandbox."
            )
    return CheckedGolds(
        benchmark=item.benchmark.name,
        scorer=scorer.name,
        sandbox=sandbox.name,
        samples=tuple(sample.id for sample, _ in pairs),
        seconds=round(time.monotonic() - started, 3),
    )


async def _value(scorer: Scorer, sample: Sample, answer: str) -> tuple[float | None, str | ScorerError | None]:
    try:
        score = await scorer.score(sample, Response(answer))
    except ScorerError as error:
        return None, error
    return score.value, score.reason
