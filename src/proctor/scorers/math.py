"""The mathematical expression a response arrives at equals the target's, symbolically.

math-verify compares them in a process of its own: an expression that hangs or eats memory costs that process, never
the run. The process is kept for the next comparison and replaced when it had to be killed.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from importlib.util import find_spec

from proctor.domain.errors import BenchmarkError
from proctor.domain.message import Json
from proctor.domain.response import Response
from proctor.domain.sample import Sample
from proctor.domain.score import Score
from proctor.domain.scorer import traits
from proctor.scorers.lazy_pattern import lazy_pattern
from proctor.scorers.math_process import compare
from proctor.scorers.options import build, version_of
from proctor.scorers.reading import final_text, last_boxed

NAME = "math"
REVISION = "3"
MAX_LENGTH = 20_000
_LABEL = lazy_pattern(r"\s*\\text\s*\{[^{}]*[A-Za-z][^{}]*\}\s*(?=[^\s,])")
"""Words in front of a boxed expression: \\boxed{\\text{The answer is } 14}."""


@traits(compares_values=True, reads_numbers=True)
def create(**options: Json) -> MathMatch:
    scorer = build(MathMatch, NAME, options)
    if not 0 < scorer.timeout_seconds <= 60:
        raise BenchmarkError(f"The option 'timeout_seconds' of the scorer 'math' is {scorer.timeout_seconds}; 0 to 60.")
    if find_spec("math_verify") is None:
        raise BenchmarkError("The scorer 'math' needs the package math-verify: pip install 'proctor[math]'.")
    return scorer


@dataclass(frozen=True, slots=True)
class MathMatch:
    """1 when the response's last boxed or stated expression is symbolically equal to a target."""

    timeout_seconds: float = 5.0

    @property
    def name(self) -> str:
        return NAME

    @property
    def version(self) -> str:
        return version_of(self, REVISION)

    async def score(self, sample: Sample, response: Response) -> Score:
        if sample.target is None:
            return Score.unscored(NAME, reason="the sample has no target")
        text = final_text(response.text)[-MAX_LENGTH:]
        if not text:
            return Score.invalid(NAME, reason="the response is empty")
        boxed = last_boxed(text)
        answer = f"\\boxed{{{_without_label(boxed[1])}}}" if boxed else text
        said = await asyncio.to_thread(compare, answer, sample.targets, self.timeout_seconds)
        shown = boxed[1] if boxed else said.answer
        if said.problem == "target":
            return Score.unscored(NAME, reason=f"the target {sample.target!r} is not an expression")
        if said.problem == "time":
            return Score.invalid(NAME, reason=f"could not be compared within {self.timeout_seconds} s", answer=shown)
        if said.problem == "crash":
            return Score.invalid(NAME, reason="the comparison broke off on this answer", answer=shown)
        if said.problem == "answer":
            return Score.invalid(NAME, reason="no expression in the response", answer=shown)
        reason = "equal to the target" if said.is_equal else "not equal to the target"
        return Score(NAME, float(said.is_equal), answer=shown, reason=reason)


def _without_label(expression: str) -> str:
    label = _LABEL.match(expression)
    return expression[label.end() :] if label else expression
