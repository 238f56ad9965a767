"""Right or wrong, by a reference answer."""

from __future__ import annotations

from dataclasses import dataclass

from proctor.domain.errors import BenchmarkError
from proctor.domain.message import Json
from proctor.domain.sample import Sample
from proctor.scorers.judging.judge import Opposition
from proctor.scorers.judging.kind import Combine, JudgeCase, Level, Verdict
from proctor.scorers.judging.material import question_parts, reference_parts, seen_files
from proctor.scorers.judging.panel import JudgeScorer
from proctor.scorers.judging.prompt import JudgeRequest, make_form
from proctor.scorers.options import build

NAME = "judge_reference"
CORRECT, INCORRECT = "CORRECT", "INCORRECT"

_TASK = """\
Decide whether the answer to the question below is correct. It is correct when it says what the reference answer says, \
in whatever words and at whatever length, and does not contradict it. It is incorrect when it says something else, \
gives several answers without deciding, or gives none. Rely on the reference answer, not on your own knowledge.\
{several}{criteria}"""
_SEVERAL = " There are several reference answers: agreeing with any one of them is enough."


def create(**options: Json) -> JudgeScorer:
    kind = build(ReferenceCheck, NAME, options)
    if not kind.name.strip():
        raise BenchmarkError(f"The option 'name' of the scorer '{NAME}' must not be empty.")
    return JudgeScorer(kind)


@dataclass(frozen=True, slots=True)
class ReferenceCheck:
    """1 when the judge finds that the response says what the target says, else 0."""

    name: str = NAME
    criteria: str | None = None
    """Further rules, for example how exact a number must be."""
    combine: Combine = "majority"

    @property
    def template(self) -> str:
        return "reference/1"

    @property
    def level(self) -> Level:
        return "nominal"

    @property
    def allowed(self) -> str:
        return f"{CORRECT} or {INCORRECT}"

    @property
    def opposition(self) -> Opposition | None:
        return None

    def obstacle(self, sample: Sample) -> str | None:
        return None if sample.targets else "the sample has no target"

    def foregone(self, case: JudgeCase) -> Verdict | None:  # noqa: ARG002
        return None

    def forms(self, case: JudgeCase) -> tuple[JudgeRequest, ...]:
        reference = reference_parts(case.sample)
        criteria = f"\n\nFurther criteria:\n{self.criteria.strip()}" if self.criteria else ""
        task = _TASK.format(several=_SEVERAL if len(reference) > 1 else "", criteria=criteria)
        material = {**question_parts(case.sample, case.response), **reference, "answer": case.text}
        return (make_form(self.template, task, material, f"VALUE is {self.allowed}.", seen_files(case.sample)),)

    def understand(self, word: str) -> Verdict | None:
        return word.upper() if word.upper() in (CORRECT, INCORRECT) else None

    def settle(self, verdicts: tuple[Verdict, ...]) -> Verdict:
        return verdicts[0]

    def value(self, verdict: Verdict) -> float:
        return float(verdict == CORRECT)

    def say(self, verdict: Verdict, verdicts: tuple[Verdict, ...]) -> str:  # noqa: ARG002
        return str(verdict).lower()
