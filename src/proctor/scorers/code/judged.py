"""What the code scorers share: a sandbox handed in, a check run in it, a score with the evidence."""

from __future__ import annotations

import copy
from dataclasses import dataclass, field
from typing import Any, Self

from proctor.domain.errors import SandboxError, ScorerError
from proctor.domain.response import Response
from proctor.domain.sample import Sample
from proctor.domain.sandbox import CaseResult, CaseStatus, Check, Sandbox, SandboxLimits, Verdict
from proctor.domain.score import Score
from proctor.domain.scorer import Control
from proctor.scorers.code.extraction import Extracted
from proctor.scorers.code.validation import source_problem

_SHOWN_CASES = 20
_SHOWN_TEXT = 600


@dataclass(frozen=True, kw_only=True)
class Sandboxed:
    """A scorer that runs code; it scores nothing until it has been given a sandbox."""

    timeout_seconds: float = 10.0
    """Processor time of the submission; the clock on the wall gets three times as much, for busy machines."""
    memory_mb: int = 512
    sandbox: Sandbox | None = field(default=None, init=False, compare=False, repr=False)

    @property
    def needs_sandbox(self) -> bool:
        return True

    def with_sandbox(self, sandbox: Sandbox) -> Self:
        """The same scorer, running code there."""
        made = copy.copy(self)
        object.__setattr__(made, "sandbox", sandbox)
        return made

    def golds(self, sample: Sample) -> tuple[str, str] | None:  # noqa: ARG002  most know none
        """An answer that must pass and one that must fail; None where the sample has no solution."""
        return None

    def for_golds(self) -> Self:
        """The scorer to try those with: as quick as can be, and otherwise the same."""
        return self

    def control(self, sample: Sample) -> Control:
        """What is run where an answer could not be judged: the reference solution, else a program that does nothing."""
        golds = self.golds(sample)
        if golds is not None:
            return Control(Response(golds[0]), "the reference solution", least=1.0)
        return Control(Response(fenced("pass")), "a program that does nothing")

    @property
    def is_forgeable(self) -> bool:
        """Whether an answer can have a hand in its own verdict."""
        return self.sandbox is not None and not self.sandbox.is_isolated

    @property
    def limits(self) -> SandboxLimits:
        return SandboxLimits(
            wall_seconds=3 * self.timeout_seconds, cpu_seconds=self.timeout_seconds, memory_bytes=self.memory_mb << 20
        )

    def _given_sandbox(self) -> Sandbox:
        if self.sandbox is None:
            raise ScorerError("This scorer runs code and was given no sandbox.")
        return self.sandbox


def lacking(sample: Sample, *names: str) -> str | None:
    """Which of these texts the sample's metadata does not have, in words; None when it has them all."""
    missing = [name for name in names if not isinstance(sample.metadata.get(name), str)]
    return f"its metadata has no text {' and no '.join(map(repr, missing))}" if missing else None


def fenced(code: str) -> str:
    return f"```python\n{code}\n```"


def doing_nothing(name: str) -> str:
    """An answer that has the function, and nothing in it."""
    return fenced(f"def {name}(*args, **kwargs):\n    return None")


def refusal(name: str, found: Extracted) -> Score | None:
    """The score of an answer without code, or with code nobody should run."""
    if not found.code.strip():
        return Score.invalid(name, f"no code could be read from the answer ({found.how})")
    problem = source_problem(found.code)
    return Score.invalid(name, f"the code was refused: {problem}", answer=found.code[:_SHOWN_TEXT]) if problem else None


async def judged(
    scorer: Sandboxed, name: str, check: Check, found: Extracted, limits: SandboxLimits | None = None
) -> Score:
    """Run the check; the sandbox's own faults are the scorer's, never the answer's."""
    refused = refusal(name, found)
    if refused is not None:
        return refused
    sandbox = scorer._given_sandbox()  # noqa: SLF001  ours
    try:
        verdict = await sandbox.check(check, limits or scorer.limits)
    except SandboxError as error:
        raise ScorerError(str(error)) from error
    evidence = details(verdict, found, is_forgeable=scorer.is_forgeable or verdict.is_forgeable)
    return Score(name, float(verdict.passed), answer=found.code, reason=_reason(verdict), details=evidence)


def _reason(verdict: Verdict) -> str:
    if verdict.passed:
        return f"all {len(verdict.cases)} tests passed" if len(verdict.cases) != 1 else "the test passed"
    failed = next((case for case in verdict.cases if case.status in (CaseStatus.FAILED, CaseStatus.ERROR)), None)
    where = f"{failed.name}: " if failed else ""
    what = verdict.message[:_SHOWN_TEXT]
    return f"{verdict.ending}: {where}{what}" if verdict.ending != "exited" else f"{where}{what}"


def details(verdict: Verdict, found: Extracted, *, is_forgeable: bool) -> dict[str, Any]:
    """The evidence: every failed test, how the run ended, what it tried, and in which sandbox."""
    passed = sum(case.status is CaseStatus.PASSED for case in verdict.cases)
    shown = [_shown(case) for case in verdict.cases if case.status is not CaseStatus.PASSED][:_SHOWN_CASES]
    return {
        "extraction": found.how,
        "ending": str(verdict.ending),
        "tests": len(verdict.cases),
        "tests_passed": passed,
        "not_passed": shown,
        "violations": dict(verdict.violations),
        "seconds": round(verdict.spent.seconds, 4),
        "cpu_seconds": verdict.spent.cpu_seconds,
        "is_forgeable": is_forgeable,
        "sandbox": dict(verdict.sandbox),
    }


def _shown(case: CaseResult) -> dict[str, str]:
    return {"test": case.name, "status": str(case.status), "message": case.message[:_SHOWN_TEXT]}
