"""Proves a problem: its gold solution passes, nothing gets nothing, every mutant fails exactly what it breaks."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct, field
from msgspec.structs import asdict, replace

from proctor.benchmarks.problems.folder import entry_files
from proctor.benchmarks.problems.lint import Lint, lint_problem
from proctor.domain.artifacts import Artifacts
from proctor.domain.documents.proof import LintRemark, LintResult, ProbeResult, ProblemCheck
from proctor.domain.errors import SandboxError, ScorerError
from proctor.domain.problem import Mutant, Problem
from proctor.domain.scorecard import RequirementStatus, Scorecard
from proctor.domain.workspace import Runner
from proctor.metrics.rounding import decimal_text, figure_text
from proctor.programs.marking import mark
from proctor.programs.marks import scorecard_of
from proctor.programs.options import MarkOptions

GOLD_SHARE = 0.95
"""What the gold solution gets at least, of what could be measured."""
QUICK_MUTANTS = 2
GOLD, EMPTY, NOTHING = "gold", "empty", "does nothing"

Progress = Callable[[str, "Probe"], None]
"""Is told of each probe when it is done, with the problem's id."""


def _ignore(*_: object) -> None:
    return


class Probe(Struct, frozen=True):
    """One program marked for the proof, and whether it fared as it should."""

    name: str
    repeat: int
    total: float | None
    covers: float
    passed: bool
    failed: tuple[str, ...]
    """The requirements it failed."""
    fault: str
    """Why this is not as it should be; empty when it is."""
    seconds: float
    checks: Mapping[str, str] = field(default_factory=dict)
    not_measured: Mapping[str, str] = field(default_factory=dict)
    """Of the gold solution: dimensions without a mark, and why."""


class ProblemProof(Struct, frozen=True):
    problem: str
    digest: str
    lint: Lint
    probes: tuple[Probe, ...]
    seconds: float

    @property
    def flaky(self) -> dict[str, dict[str, list[str]]]:
        """Checks that went differently for the same program: by program, then by check."""
        found: dict[str, dict[str, list[str]]] = {}
        for name in dict.fromkeys(probe.name for probe in self.probes):
            same = [probe.checks for probe in self.probes if probe.name == name]
            for check in dict.fromkeys(check for checks in same for check in checks):
                ends = [checks.get(check, "not run") for checks in same]
                if len(set(ends)) > 1:
                    found.setdefault(name, {})[check] = ends
        return found

    @property
    def faults(self) -> list[str]:
        """Everything that keeps the problem from counting, a line each."""
        lint = [f"{one.where}: {one.message}" for one in self.lint.findings if one.severity == "error"]
        probes = [f"{probe.name}: {probe.fault}" for probe in self.probes if probe.fault]
        flaky = [
            f"{name}: test_{check} is flaky ({', '.join(ends)})"
            for name, checks in self.flaky.items()
            for check, ends in checks.items()
        ]
        return list(dict.fromkeys([*lint, *probes, *flaky]))

    @property
    def holds(self) -> bool:
        return not self.faults

    @property
    def result(self) -> ProblemCheck:
        """What `proctor problems check --json` prints of it."""
        return ProblemCheck(
            problem=self.problem,
            digest=self.digest,
            holds=self.holds,
            seconds=round(self.seconds, 3),
            faults=self.faults,
            flaky=self.flaky,
            lint=lint_result(self.lint),
            probes=[
                ProbeResult(
                    name=one.name,
                    repeat=one.repeat,
                    total=one.total,
                    covers=one.covers,
                    passed=one.passed,
                    failed=one.failed,
                    fault=one.fault,
                    seconds=one.seconds,
                    not_measured=one.not_measured,
                )
                for one in self.probes
            ],
        )


def lint_result(lint: Lint) -> LintResult:
    """What was found of a problem's wording."""
    return LintResult([LintRemark(**asdict(one)) for one in lint.findings], lint.patterns, lint.untested)


async def check_problem(
    problem: Problem,
    runner: Runner,
    *,
    repeats: int = 1,
    is_quick: bool = False,
    has_all_mutants: bool = False,
    jobs: int = 2,
    options: MarkOptions = MarkOptions(),  # noqa: B008  frozen
    artifacts: Artifacts | None = None,
    on_probe: Progress = _ignore,
) -> ProblemProof:
    """Mark the gold solution, two that do nothing, and the mutants, each `repeats` times, `jobs` at once.

    Quick, nothing is loaded or read and a few mutants stand for all, unless all are asked for.
    """
    began = time.monotonic()
    turns = asyncio.Semaphore(jobs)
    mutants = problem.mutants if has_all_mutants or not is_quick else problem.mutants[:QUICK_MUTANTS]
    whole = options.checks_only() if is_quick else options

    async def probe(name: str, repeat: int) -> Probe:
        async with turns:
            found = await _probe(problem, name, repeat, runner, whole, artifacts)
        on_probe(problem.id, found)
        return found

    names = [GOLD, EMPTY, NOTHING, *(mutant.name for mutant in mutants)]
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(probe(name, repeat)) for repeat in range(repeats) for name in names]
    probes = tuple(task.result() for task in tasks)
    return ProblemProof(problem.id, problem.digest, lint_problem(problem), probes, time.monotonic() - began)


async def _probe(
    problem: Problem, name: str, repeat: int, runner: Runner, options: MarkOptions, artifacts: Artifacts | None
) -> Probe:
    began = time.monotonic()
    mutant = next((one for one in problem.mutants if one.name == name), None)
    files, options = _program(problem, name, mutant, options)
    try:
        card = scorecard_of(problem, await mark(problem, files, runner, options=options, artifacts=artifacts))
    except (ScorerError, SandboxError) as fault:
        reason = f"it could not be marked: {' '.join(str(fault).split())}"
        return Probe(name, repeat, None, 0.0, passed=False, failed=(), fault=reason, seconds=_since(began))
    failed = tuple(one.id for one in card.requirements if one.status is RequirementStatus.FAILED)
    return Probe(
        name=name,
        repeat=repeat,
        total=card.total,
        covers=card.covers,
        passed=card.passed,
        failed=failed,
        fault=_fault(name, mutant, card, failed),
        seconds=_since(began),
        checks={one.name: str(one.status) for one in card.evidence.checks if not one.is_generated},
        not_measured={
            one.name: one.reason for one in card.dimensions if name == GOLD and one.value is None and one.weight > 0
        },
    )


def _since(began: float) -> float:
    return round(time.monotonic() - began, 3)


def _program(
    problem: Problem, name: str, mutant: Mutant | None, options: MarkOptions
) -> tuple[Mapping[str, bytes], MarkOptions]:
    """The files, and what is measured of them: mutants and idlers are only checked, unless a measure is what breaks."""
    if mutant is not None:
        measured = {one.requirement for one in problem.thresholds} & set(mutant.breaks)
        return mutant.files, replace(options.checks_only(), is_measuring=bool(measured))
    if name == GOLD:
        return problem.solution, options
    return ({} if name == EMPTY else {entry_files(problem.interface)[0]: b""}), options.checks_only()


def _fault(name: str, mutant: Mutant | None, card: Scorecard, failed: Sequence[str]) -> str:
    if mutant is not None:
        return "" if set(failed) == set(mutant.breaks) else _wrongly_broken(mutant, failed)
    if name == GOLD:
        return _gold_fault(card, failed)
    if card.passed:
        return "it passes, though it does nothing"
    return f"it gets {decimal_text(card.total)}, though it does nothing" if card.total else ""


def _gold_fault(card: Scorecard, failed: Sequence[str]) -> str:
    if failed:
        return f"it fails {', '.join(failed)}: {_first_message(card)}"
    if card.total is None or card.total < GOLD_SHARE * card.covers:
        weak = [
            f"{one.name} {decimal_text(one.value)}"
            for one in card.dimensions
            if one.value is not None and one.value < 1
        ]
        shown = "nothing" if card.total is None else f"{decimal_text(card.total)} of {figure_text(card.covers)}"
        return f"it gets {shown}; {GOLD_SHARE:g} of it is needed ({', '.join(weak)})"
    # Where little is measured, the pass mark may be out of reach; what was measured has just been judged.
    return card.reason if not card.passed and card.covers >= 1 else ""


def _first_message(card: Scorecard) -> str:
    phase = next((one for one in card.evidence.phases if one.status == "failed" and one.log), None)
    if phase is not None:
        return f"{phase.name}: {phase.log.strip().splitlines()[-1][:300]}"
    bad = next((one for one in card.evidence.checks if one.status in ("failed", "error")), None)
    return f"test_{bad.name}: {' '.join(bad.message.split())[:300]}" if bad is not None else "no check says why"


def _wrongly_broken(mutant: Mutant, failed: Sequence[str]) -> str:
    missed = [one for one in mutant.breaks if one not in failed]
    extra = [one for one in failed if one not in mutant.breaks]
    parts = [f"{', '.join(missed)} should fail and does not"] if missed else []
    parts += [f"{', '.join(extra)} fails besides"] if extra else []
    return "; ".join(parts)
