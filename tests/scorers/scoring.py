"""A sample, a response and a scorer in one call."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import orjson
import pytest

from proctor.domain.response import FinishReason, Response
from proctor.domain.sample import Sample, Target
from proctor.domain.score import Score
from proctor.domain.scorer import Scorer

HERE = Path(__file__).resolve().parent
SHARED = HERE.parents[1] / ".." / "shared" / "data"


def score(
    scorer: Scorer,
    text: str,
    target: Target | None,
    choices: tuple[str, ...] = (),
    *,
    question: str = "?",
    is_cut: bool = False,
) -> Score:
    reason = FinishReason.LENGTH if is_cut else FinishReason.STOP
    return asyncio.run(scorer.score(Sample("1", question, target, choices), Response(text, finish_reason=reason)))


def rows(path: Path) -> Iterator[dict]:
    for line in path.read_bytes().splitlines():
        if line.strip():
            yield orjson.loads(line)


def shared(name: str) -> Path:
    """A file of real data, or a visible skip."""
    path = SHARED / name
    if not path.exists():
        pytest.skip(f"the real data is not here: {name}")
    return path
