"""The better of two answers: the response against the target, or against what another run answered."""

from __future__ import annotations

from dataclasses import dataclass

from proctor.domain.errors import BenchmarkError
from proctor.domain.message import Json
from proctor.domain.sample import Sample
from proctor.scorers.judging.judge import Opposition
from proctor.scorers.judging.kind import Combine, JudgeCase, Level, Verdict
from proctor.scorers.judging.material import question_parts, seen_files
from proctor.scorers.judging.panel import JudgeScorer
from proctor.scorers.judging.prompt import JudgeRequest, make_form
from proctor.scorers.options import build

NAME = "judge_pairwise"
CRITERIA = "Which answer does better what the question asks: more correct, more complete, more useful, less misleading?"
TARGET = "target"
WIN, TIE, LOSS = "win", "tie", "loss"
VALUES = {WIN: 1.0, TIE: 0.5, LOSS: 0.0}

_TASK = """\
Compare the two answers to the question below.

Criteria:
{criteria}

The order of the answers and the letters A and B mean nothing. When neither is clearly better, it is a tie."""


def create(**options: Json) -> JudgeScorer:
    kind = build(Pairwise, NAME, options)
    if not (kind.criteria.strip() and kind.name.strip() and kind.against.strip()):
        raise BenchmarkError(f"The options of the scorer '{NAME}' must not be empty.")
    if kind.model is not None and kind.against == TARGET:
        raise BenchmarkError(
            f"The option 'model' of the scorer '{NAME}' names a model of another run: give that run in 'against'."
        )
    return JudgeScorer(kind)


@dataclass(frozen=True, slots=True)
class Pairwise:
    """1 when the response is better, 0.5 for a tie, 0 when it is worse.

    Each judge sees both orders; one that does not prefer the same answer both times has not decided, which is a tie.
    """

    name: str = NAME
    against: str = TARGET
    """'target' for the sample's target, or a run whose answers to the same samples are the other side."""
    model: str | None = None
    """Which model of that run, where it has several."""
    criteria: str = CRITERIA
    combine: Combine = "majority"

    @property
    def template(self) -> str:
        return "pairwise/1"

    @property
    def level(self) -> Level:
        return "nominal"

    @property
    def allowed(self) -> str:
        return "A, B or TIE"

    @property
    def opposition(self) -> Opposition | None:
        return None if self.against == TARGET else Opposition(self.against, self.model)

    def obstacle(self, sample: Sample) -> str | None:
        return "the sample has no target" if self.against == TARGET and not sample.targets else None

    def foregone(self, case: JudgeCase) -> Verdict | None:
        return TIE if case.text == _other_side(case) else None

    def forms(self, case: JudgeCase) -> tuple[JudgeRequest, ...]:
        other = _other_side(case)
        return (self._form(case, case.text, other), self._form(case, other, case.text))

    def _form(self, case: JudgeCase, first: str, second: str) -> JudgeRequest:
        material = {**question_parts(case.sample, case.response), "answer A": first, "answer B": second}
        task = _TASK.format(criteria=self.criteria.strip())
        return make_form(self.template, task, material, "VALUE is A, B or TIE.", seen_files(case.sample))

    def understand(self, word: str) -> Verdict | None:
        said = word.upper().removeprefix("ANSWER ")
        return said if said in ("A", "B", "TIE") else None

    def settle(self, verdicts: tuple[Verdict, ...]) -> Verdict:
        if verdicts == ("A", "B"):
            return WIN
        return LOSS if verdicts == ("B", "A") else TIE

    def value(self, verdict: Verdict) -> float:
        return VALUES[str(verdict)]

    def say(self, verdict: Verdict, verdicts: tuple[Verdict, ...]) -> str:
        if verdict != TIE or set(verdicts) <= {TIE.upper()}:
            return str(verdict)
        if len(set(verdicts)) > 1:
            return f"{verdict} (undecided: it changed its mind with the order)"
        return (
            f"{verdict} (undecided: it preferred the {'first' if 'A' in verdicts else 'second'} answer in both orders)"
        )


def _other_side(case: JudgeCase) -> str:
    return case.opponent if case.opponent is not None else case.sample.targets[0]
