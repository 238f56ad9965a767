"""A scorer: 1 when the answer begins with the target."""

from __future__ import annotations

from dataclasses import dataclass

from proctor.domain.response import Response
from proctor.domain.sample import Sample
from proctor.domain.score import Score
from proctor.domain.scorer import traits


@dataclass(frozen=True)
class StartsWith:
    ignore_case: bool = False
    name: str = "starts_with"

    @property
    def version(self) -> str:
        """Whatever can change a score is part of it, so that scores made otherwise are never mixed with these."""
        return f"1;ignore_case={self.ignore_case}"

    async def score(self, sample: Sample, response: Response) -> Score:
        if not sample.targets:
            return Score.unscored(self.name, "the sample has no target")
        answer = self._read(response.text)
        is_right = any(answer.startswith(self._read(target)) for target in sample.targets)
        reason = f"begins {'as' if is_right else 'otherwise than'} expected"
        return Score(self.name, float(is_right), answer=answer[:80], reason=reason)

    def _read(self, text: str) -> str:
        return text.strip().casefold() if self.ignore_case else text.strip()


@traits(has_votes=False)  # two answers that begin alike need not be the same answer
def create(ignore_case: bool = False) -> StartsWith:
    return StartsWith(ignore_case)
