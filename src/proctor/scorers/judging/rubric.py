"""A mark from 1 to n by criteria, with reasons."""

from __future__ import annotations

import re
from dataclasses import dataclass

from proctor.domain.errors import BenchmarkError
from proctor.domain.message import Json
from proctor.domain.sample import Sample
from proctor.domain.scorer import traits
from proctor.scorers.judging.judge import Opposition
from proctor.scorers.judging.kind import Combine, JudgeCase, Level, Verdict
from proctor.scorers.judging.material import question_parts, reference_parts, seen_files
from proctor.scorers.judging.panel import JudgeScorer
from proctor.scorers.judging.prompt import JudgeRequest, make_form
from proctor.scorers.options import build

NAME = "judge_rubric"
MAX_MARKS = 100
CRITERIA = "Does the answer do what the question asks: correctly, completely, and without anything that misleads?"
_MARK = re.compile(
    r"([0-9]{1,3})(?:\s*(?:/|\b(?:out\s)?of\b)\s*([0-9]{1,3}))?(?:\s+(?:points?|Punkte|stars?))?", re.IGNORECASE
)

_TASK = """\
Mark the answer to the question below with a whole number from 1 to {scale}.

Criteria:
{criteria}

1 means that the criteria are not met at all, {scale} that they are fully met.{reference}"""
_WITH_REFERENCE = (
    " A reference answer is given for guidance: an answer that differs from it in words, but not in what the criteria "
    "ask for, loses nothing."
)


@traits(needs_target=False)
def create(**options: Json) -> JudgeScorer:
    rubric = build(Rubric, NAME, options)
    if not 2 <= rubric.scale <= MAX_MARKS:
        raise BenchmarkError(
            f"The option 'scale' of the scorer '{NAME}' is {rubric.scale}; it must be a number from 2 to {MAX_MARKS}."
        )
    if not rubric.criteria.strip() or not rubric.name.strip():
        raise BenchmarkError(f"The options 'criteria' and 'name' of the scorer '{NAME}' must not be empty.")
    return JudgeScorer(rubric)


@dataclass(frozen=True, slots=True)
class Rubric:
    """Marks 1 to `scale`, worth 0 to 1 in equal steps."""

    name: str = NAME
    """What the score is called; give names when one benchmark uses several rubrics."""
    criteria: str = CRITERIA
    scale: int = 5
    use_reference: bool = True
    """Show the judge the sample's target, where there is one."""
    combine: Combine = "mean"

    @property
    def template(self) -> str:
        return "rubric/1"

    @property
    def level(self) -> Level:
        return "ordinal"

    @property
    def allowed(self) -> str:
        return f"a whole number from 1 to {self.scale}"

    @property
    def opposition(self) -> Opposition | None:
        return None

    def obstacle(self, sample: Sample) -> str | None:  # noqa: ARG002
        return None

    def foregone(self, case: JudgeCase) -> Verdict | None:  # noqa: ARG002
        return None

    def forms(self, case: JudgeCase) -> tuple[JudgeRequest, ...]:
        reference = reference_parts(case.sample) if self.use_reference else {}
        hint = _WITH_REFERENCE if reference else ""
        task = _TASK.format(scale=self.scale, criteria=self.criteria.strip(), reference=hint)
        material = {**question_parts(case.sample, case.response), **reference, "answer": case.text}
        return (make_form(self.template, task, material, f"VALUE is {self.allowed}.", seen_files(case.sample)),)

    def understand(self, word: str) -> Verdict | None:
        found = _MARK.fullmatch(word)
        if found is None or (found[2] is not None and int(found[2]) != self.scale):
            return None
        mark = int(found[1])
        return mark if 1 <= mark <= self.scale else None

    def settle(self, verdicts: tuple[Verdict, ...]) -> Verdict:
        return verdicts[0]

    def value(self, verdict: Verdict) -> float:
        return (int(verdict) - 1) / (self.scale - 1)

    def say(self, verdict: Verdict, verdicts: tuple[Verdict, ...]) -> str:  # noqa: ARG002
        return f"{verdict} of {self.scale}"
