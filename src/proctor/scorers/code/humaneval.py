"""HumanEval by its published protocol: prompt and answer make a program; `check` decides, in another process."""

from __future__ import annotations

from dataclasses import dataclass

from proctor.domain.errors import ScorerError
from proctor.domain.message import Json
from proctor.domain.response import Response
from proctor.domain.sample import Sample
from proctor.domain.sandbox import Case, Check
from proctor.domain.score import Score
from proctor.domain.scorer import traits
from proctor.scorers.code.extraction import extract_function
from proctor.scorers.code.judged import Sandboxed, doing_nothing, fenced, judged, lacking
from proctor.scorers.options import build, version_of

NAME = "humaneval"
REVISION = "2"


@traits(has_votes=False)
def create(**options: Json) -> HumanEval:
    return build(HumanEval, NAME, options)


def field_of(sample: Sample, name: str) -> str:
    value = sample.metadata.get(name)
    if not isinstance(value, str):
        raise ScorerError(f"The sample {sample.id} has no field {name!r}, which the scorer needs in its metadata.")
    return value


def humaneval_check(code: str, prompt: str, test: str, entry_point: str) -> Check:
    """The prompt's own helpers serve the judge, so that a submission cannot bring its own."""
    return Check(
        submission=code,
        cases=(Case("check", f"{test}\n\ncheck(candidate)\n"),),
        prelude=prompt,
        remote={"candidate": entry_point, entry_point: entry_point},
        is_closed=True,
    )


@dataclass(frozen=True, kw_only=True)
class HumanEval(Sandboxed):
    """1 when the dataset's `check` runs to its end; needs prompt, entry_point and test in the sample's metadata."""

    @property
    def name(self) -> str:
        return NAME

    @property
    def version(self) -> str:
        return version_of(self, REVISION)

    def golds(self, sample: Sample) -> tuple[str, str] | None:
        prompt, gold, name = (sample.metadata.get(key) for key in ("prompt", "canonical_solution", "entry_point"))
        if not (isinstance(prompt, str) and isinstance(gold, str) and isinstance(name, str)):
            return None
        return fenced(prompt + gold), doing_nothing(name)

    def obstacle(self, sample: Sample) -> str | None:
        return lacking(sample, "prompt", "entry_point", "test")

    async def score(self, sample: Sample, response: Response) -> Score:
        prompt, entry_point = field_of(sample, "prompt"), field_of(sample, "entry_point")
        found = extract_function(response.text, entry_point, prompt)
        return await judged(
            self, NAME, humaneval_check(found.code, prompt, field_of(sample, "test"), entry_point), found
        )
