"""From evidence to marks: pure, so that a stored marking can be computed again at any time.

The formulas are written out in docs/reference/scorecard.md.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from proctor.domain.message import Json
from proctor.domain.problem import Level, Problem, Requirement, Threshold
from proctor.domain.scorecard import (
    GRADES,
    CheckResult,
    CheckStatus,
    DimensionMark,
    Evidence,
    Phase,
    PhaseStatus,
    RequirementMark,
    RequirementStatus,
    Scorecard,
)
from proctor.metrics.rounding import decimal_text
from proctor.programs.quality_marks import quality_mark
from proctor.programs.security_marks import security_mark

LEVEL_WEIGHTS: Mapping[str, float] = {Level.MUST: 1.0, Level.SHOULD: 0.5, Level.MAY: 0.25}
MEASURED_AS: Mapping[str, tuple[str, float]] = {
    "throughput": ("throughput_rps", 1.0),
    "p50_latency": ("p50_ms", 1.0),
    "p95_latency": ("p95_ms", 1.0),
    "p99_latency": ("p99_ms", 1.0),
    "error_rate": ("error_rate", 100.0),
    "peak_memory": ("peak_memory_mib", 1.0),
    "cpu_seconds": ("cpu_seconds", 1.0),
    "start_seconds": ("start_seconds", 1.0),
    "work_seconds": ("work_seconds", 1.0),
}
"""Under which name a threshold's measure is kept in the evidence, and what makes it the threshold's own unit."""
NOISE = 1.25
"""So many times worse than gold is no worse: as much as the gold solution may differ from itself."""
_NOTHING = (
    "no MUST requirement is verified: a program that does nothing asked for has no performance, quality or security"
)
_BEFORE_CHECKS = ("validate", "build", "start", "readiness")
_CLOSE = 1e-9


def scorecard_of(problem: Problem, evidence: Evidence) -> Scorecard:
    """Every mark, from the evidence alone; what was not measured has no value, and nothing makes up for it."""
    requirements = tuple(_requirement(problem, one, evidence) for one in problem.requirements)
    does_something = any(one.level == Level.MUST and one.status is RequirementStatus.VERIFIED for one in requirements)
    dimensions = tuple(
        mark
        for mark in (
            _functional(problem, requirements, is_earned=does_something),
            _tests(problem, evidence, is_earned=does_something),
            *_others(problem, evidence, is_earned=does_something),
        )
        if mark.weight > 0
    )
    measured = [mark for mark in dimensions if mark.value is not None]
    total = sum(mark.weight * mark.value for mark in measured if mark.value is not None) if measured else None
    covers = sum(mark.weight for mark in measured)
    reason = _why_not(problem, requirements, total, evidence.phases)
    return Scorecard(
        evidence=evidence,
        requirements=requirements,
        dimensions=dimensions,
        total=None if total is None else min(1.0, round(total, 6)),
        covers=round(covers, 6),
        passed=not reason,
        reason=reason,
        grade=_grade(total) if len(measured) == len(dimensions) and not reason else None,
    )


def _requirement(problem: Problem, requirement: Requirement, evidence: Evidence) -> RequirementMark:
    by_name = {check.name: check for check in evidence.checks if not check.is_generated}
    checks = tuple(
        by_name.get(name) or CheckResult(name, str(problem.checks.get(name, "")), CheckStatus.NOT_RUN, "not reported")
        for name in requirement.checks
    )
    met = [is_met(one, evidence) for one in problem.thresholds if one.requirement == requirement.id]
    if any(check.status is not CheckStatus.PASSED for check in checks) or False in met:
        status = RequirementStatus.FAILED
    elif (checks or met) and None not in met:
        status = RequirementStatus.VERIFIED
    else:
        status = RequirementStatus.UNTESTED
    return RequirementMark(requirement.id, str(requirement.level), requirement.text, status, checks)


def _functional(problem: Problem, requirements: Sequence[RequirementMark], *, is_earned: bool) -> DimensionMark:
    tested = [one for one in requirements if one.status is not RequirementStatus.UNTESTED]
    verified = [one for one in tested if one.status is RequirementStatus.VERIFIED]
    details: dict[str, Json] = {
        "verified": len(verified),
        "failed": len(tested) - len(verified),
        "untested": len(requirements) - len(tested),
    }
    whole = sum(LEVEL_WEIGHTS[one.level] for one in tested)
    weight = problem.weights.get("functional", 0.0)
    if not whole:
        return DimensionMark("functional", None, weight, "no requirement was tested", details)
    share = sum(LEVEL_WEIGHTS[one.level] for one in verified) / whole
    reason = "" if is_earned else "no MUST requirement is verified"
    return DimensionMark("functional", share if is_earned else 0.0, weight, reason, details)


def _tests(problem: Problem, evidence: Evidence, *, is_earned: bool) -> DimensionMark:
    authoritative = [check for check in evidence.checks if not check.is_generated]
    known = {check.name for check in authoritative} | set(problem.checks)
    passed = sum(check.status is CheckStatus.PASSED for check in authoritative)
    weight = problem.weights.get("tests", 0.0)
    details: dict[str, Json] = {"passed": passed, "checks": len(known)}
    if not known:
        return DimensionMark("tests", None, weight, "the problem has no checks", details)
    reason = "" if is_earned else "no MUST requirement is verified"
    return DimensionMark("tests", passed / len(known) if is_earned else 0.0, weight, reason, details)


def _others(problem: Problem, evidence: Evidence, *, is_earned: bool) -> list[DimensionMark]:
    weights = problem.weights
    if not is_earned:
        return [
            DimensionMark(name, None, weights.get(name, 0.0), _NOTHING)
            for name in ("performance", "quality", "security")
        ]
    return [
        _performance(problem, evidence),
        quality_mark(evidence, weights.get("quality", 0.0)),
        security_mark(evidence, weights.get("security", 0.0)),
    ]


def _performance(problem: Problem, evidence: Evidence) -> DimensionMark:
    """The mean over the thresholds' own marks; one that was not measured takes its part of the weight along."""
    weight = problem.weights.get("performance", 0.0)
    shares = {_label(one): threshold_share(one, evidence) for one in problem.thresholds}
    known = [share for share in shares.values() if share is not None]
    missing = [label for label, share in shares.items() if share is None]
    details: dict[str, Json] = {"thresholds": shares}
    if not known:
        log = next((phase.log for phase in evidence.phases if phase.name == "load" and phase.log), "")
        why = f"nothing was measured: {log}".removesuffix(": ") if shares else "the problem sets no thresholds"
        return DimensionMark("performance", None, weight, why[:500], details)
    reason = f"not measured: {', '.join(missing)}" if missing else ""
    measured = weight * len(known) / len(shares)
    return DimensionMark("performance", sum(known) / len(known), measured, reason, details)


def threshold_share(threshold: Threshold, evidence: Evidence) -> float | None:
    """The threshold's mark; None when it was not measured."""
    found = _measured(threshold, evidence)
    if found is None:
        return None
    value, bound = found
    if threshold.unit == "gold":
        return _share(*_times_worse(threshold, value, bound))
    if _is_within(threshold, value, bound):
        return 1.0
    return max(0.0, min(1.0, bound / value if threshold.is_upper else value / bound))


def gold_share(threshold: Threshold, ratio: float) -> float:
    """The mark of a threshold in gold for a program with so many times the gold solution's value."""
    return _share(*_times_worse(threshold, ratio, threshold.value))


def is_within_gold(threshold: Threshold, ratio: float) -> bool:
    """Whether so many times the gold solution's value is within the bound of a threshold in gold."""
    return _is_within(threshold, ratio, threshold.value)


def is_met(threshold: Threshold, evidence: Evidence) -> bool | None:
    """Whether the value is within the bound itself; None when it was not measured."""
    found = _measured(threshold, evidence)
    return None if found is None else _is_within(threshold, *found)


def _measured(threshold: Threshold, evidence: Evidence) -> tuple[float, float] | None:
    """What was measured and what it is held against; a program that failed under load measures as badly as can be."""
    name, factor = MEASURED_AS[threshold.measure]
    value, gold = _known(evidence.measures.get(name)), _known(evidence.gold_measures.get(name))
    bound = threshold.value if threshold.unit != "gold" else None if gold is None else threshold.value * gold * factor
    if value is None and _failed_under_load(evidence.phases):
        return (math.inf if threshold.is_upper else 0.0), threshold.value if bound is None else bound
    return None if value is None or bound is None else (value * factor, bound)


def _known(value: float | None) -> float | None:
    """What is not a number was not measured."""
    return None if value is None or math.isnan(value) else value


def _is_within(threshold: Threshold, value: float, bound: float) -> bool:
    return value <= bound + _CLOSE if threshold.is_upper else value >= bound - _CLOSE


def _times_worse(threshold: Threshold, value: float, bound: float) -> tuple[float, float]:
    """How many times worse than gold it is, and how many times worse the bound is."""
    better, worse = (bound / threshold.value, value) if threshold.is_upper else (value, bound / threshold.value)
    times = worse / better if better else 1.0 if worse <= _CLOSE else math.inf
    return times, threshold.value if threshold.is_upper else 1 / threshold.value


def _share(times: float, limit: float) -> float:
    """Full as far as noise reaches, nothing at the bound, a straight line between: no mark flips with the machine."""
    if times <= min(NOISE, limit) + _CLOSE:
        return 1.0
    return max(0.0, (limit - times) / (limit - NOISE)) if limit > NOISE else 0.0


def _failed_under_load(phases: Sequence[Phase]) -> bool:
    """It could not do the work at all: its own doing, and no reason to be left out of the mean."""
    return any(phase.name == "load" and phase.status is PhaseStatus.FAILED for phase in phases)


def _label(threshold: Threshold) -> str:
    sign = "at most" if threshold.is_upper else "at least"
    return f"{threshold.measure} {sign} {threshold.value:g} {threshold.unit}"


def _why_not(
    problem: Problem, requirements: Sequence[RequirementMark], total: float | None, phases: Sequence[Phase]
) -> str:
    missing = [
        one.id for one in requirements if one.level == Level.MUST and one.status is not RequirementStatus.VERIFIED
    ]
    if missing:
        return f"{_never_ran(phases)}not every MUST requirement is verified: {', '.join(missing)}"
    if total is None or total + _CLOSE < problem.pass_score:
        shown = "nothing was measured"
        if total is not None:
            shown = f"the total is {decimal_text(total, limits=(0.0, problem.pass_score, 1.0))}"
        return f"{shown}; {problem.pass_score:g} is needed"
    return ""


def _never_ran(phases: Sequence[Phase]) -> str:
    """Why no check was run at all: the cause, before the long list of what follows from it."""
    failed = next((one for one in phases if one.name in _BEFORE_CHECKS and one.status is PhaseStatus.FAILED), None)
    if failed is None:
        return ""
    lines = failed.log.strip().splitlines() or ["it says no more"]
    return f"the phase '{failed.name}' failed: {lines[-1].strip()[:300].rstrip('.')}; "


def _grade(total: float | None) -> str | None:
    return next((name for name, least in GRADES if total is not None and total + _CLOSE >= least), None)
