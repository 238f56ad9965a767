"""From evidence to marks: pure, monotone, and never more than was earned."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from proctor.domain.errors import ScorerError
from proctor.domain.problem import (
    DEFAULT_WEIGHTS,
    CheckKind,
    Interface,
    InterfaceKind,
    Level,
    Problem,
    Requirement,
    Threshold,
)
from proctor.domain.scorecard import CheckResult, CheckStatus, Evidence, Phase, PhaseStatus, Scorecard
from proctor.programs.evidence import evidence_from_json, evidence_to_json, scorecard_to_json
from proctor.programs.marks import MEASURED_AS, scorecard_of

LEVELS = {"m": Level.MUST, "n": Level.MUST, "s": Level.SHOULD, "y": Level.MAY}
CLEAN: dict[str, Any] = {
    "ruff": {"status": "ran", "count": 0, "lines": 100},
    "black": {"status": "ran", "formatted": 2, "files": 2},
    "mypy": {"status": "ran", "count": 0, "lines": 100},
    "complexity": {"status": "ran", "simple": 5, "functions": 5},
    "docstrings": {"status": "ran", "documented": 4, "public": 5},
    "duplication": {"status": "ran", "repeated": 0, "lines": 100},
    "bandit": {"status": "ran", "findings": []},
    "place": {"status": "ran", "violations": {}, "egress": {}, "writes": {}},
}


def problem(*thresholds: Threshold, weights: Mapping[str, float] = DEFAULT_WEIGHTS) -> Problem:
    return Problem(
        id="p",
        title="",
        version="1",
        difficulty="basic",
        area="library",
        brief="",
        interface=Interface(InterfaceKind.COMMAND),
        requirements=(
            *(Requirement(name, level, "", (f"{name}1", f"{name}2")) for name, level in LEVELS.items()),
            Requirement("u", Level.SHOULD, "", ()),
        ),
        thresholds=thresholds,
        weights=weights,
        pass_score=0.7,
        limits={},
        dependencies=(),
        load=None,
        folder=Path(),
        digest="d",
        checks={f"{name}{number}": CheckKind.UNIT for name in LEVELS for number in (1, 2)},
    )


def taken(
    passed: str = "mnsy",
    *,
    measures: Mapping[str, float] | None = None,
    gold: Mapping[str, float] | None = None,
    findings: Mapping[str, Any] = CLEAN,
    load: PhaseStatus = PhaseStatus.DONE,
    extra: tuple[CheckResult, ...] = (),
) -> Evidence:
    checks = [
        CheckResult(f"{name}{number}", "unit", CheckStatus.PASSED if name in passed else CheckStatus.FAILED)
        for name in LEVELS
        for number in (1, 2)
    ]
    return Evidence(
        problem="p",
        problem_digest="d",
        runner={},
        phases=(Phase("load", load, 0.0, 0.0),),
        checks=(*checks, *extra),
        measures=measures or {},
        gold_measures=gold or {},
        findings=findings,
    )


def value(card: Scorecard, name: str) -> float | None:
    return next(one.value for one in card.dimensions if one.name == name)


AT_MOST = Threshold("p95_latency", 100.0, "ms", is_upper=True)
HALF_OF_GOLD = Threshold("throughput", 0.5, "gold", is_upper=False)
THREE_TIMES_GOLD = Threshold("work_seconds", 3.0, "gold", is_upper=True)


def test_everything_right_is_gold() -> None:
    card = scorecard_of(problem(AT_MOST), taken(measures={"p95_ms": 80.0}))
    assert (card.total, card.covers, card.passed, card.grade, card.reason) == (1.0, 1.0, True, "gold", "")


def test_requirements_weigh_by_their_level_and_untested_ones_weigh_nothing() -> None:
    card = scorecard_of(problem(), taken("m"))
    assert value(card, "functional") == pytest.approx(1 / 2.75)
    assert value(scorecard_of(problem(), taken("mns")), "functional") == pytest.approx(2.5 / 2.75)
    assert [str(one.status) for one in card.requirements] == ["verified", "failed", "failed", "failed", "untested"]


def test_every_must_is_needed() -> None:
    card = scorecard_of(problem(AT_MOST), taken("msy", measures={"p95_ms": 1.0}))
    assert card.total is not None
    assert card.total > 0.7
    assert (card.passed, card.grade) == (False, None)
    assert card.reason == "not every MUST requirement is verified: n"


def test_one_failed_check_fails_its_requirement() -> None:
    one = CheckResult("m1", "unit", CheckStatus.ERROR)
    evidence = taken()
    spoiled = Evidence(
        **{
            **{name: getattr(evidence, name) for name in evidence.__struct_fields__},
            "checks": (one, *evidence.checks[1:]),
        }
    )
    card = scorecard_of(problem(), spoiled)
    assert str(card.requirements[0].status) == "failed"
    assert value(card, "tests") == pytest.approx(7 / 8)


def test_a_check_nobody_reported_has_failed() -> None:
    evidence = taken()
    fewer = replace(evidence, checks=evidence.checks[1:])
    card = scorecard_of(problem(), fewer)
    assert str(card.requirements[0].status) == "failed"
    assert str(card.requirements[0].checks[0].status) == "not run"
    assert value(card, "tests") == pytest.approx(7 / 8)


def test_generated_tests_count_for_nothing() -> None:
    own = tuple(CheckResult(name, "own", CheckStatus.PASSED, is_generated=True) for name in ("m1", "x", "y"))
    bare = replace(taken(), checks=own)
    card = scorecard_of(problem(), bare)
    assert (card.total, value(card, "tests"), str(card.requirements[0].status)) == (0.0, 0.0, "failed")


@pytest.mark.parametrize("passed", ["", "s", "sy"])
def test_without_a_must_there_is_nothing_to_mark(passed: str) -> None:
    card = scorecard_of(problem(AT_MOST), taken(passed, measures={"p95_ms": 1.0}))
    assert (card.total, card.passed) == (0.0, False)
    assert [value(card, name) for name in ("performance", "quality", "security")] == [None] * 3


def test_what_was_not_measured_is_not_made_up_for() -> None:
    card = scorecard_of(problem(AT_MOST), taken(findings={}))
    assert (card.total, card.covers, card.grade) == (pytest.approx(0.6), pytest.approx(0.6), None)
    assert not card.passed
    assert card.reason == "the total is 0.600; 0.7 is needed"


def test_a_total_that_is_not_enough_is_not_shown_as_enough() -> None:
    weights = {"functional": 0.6996, "tests": 0.0, "performance": 0.0, "quality": 0.3004, "security": 0.0}
    card = scorecard_of(problem(weights=weights), taken(findings={}))
    assert (card.total, card.reason) == (pytest.approx(0.6996), "the total is 0.6996; 0.7 is needed")


def test_weights_are_the_problems_own_and_a_dimension_without_weight_is_not_shown() -> None:
    weights = {"functional": 0.5, "tests": 0.5, "performance": 0.0, "quality": 0.0, "security": 0.0}
    card = scorecard_of(problem(weights=weights), taken(findings={}))
    assert (card.total, card.covers, card.grade) == (1.0, 1.0, "gold")
    assert [one.name for one in card.dimensions] == ["functional", "tests"]


@pytest.mark.parametrize(
    ("threshold", "measures", "gold", "share"),
    [
        (AT_MOST, {"p95_ms": 100.0}, {}, 1.0),
        (AT_MOST, {"p95_ms": 400.0}, {}, 0.25),
        (AT_MOST, {}, {}, None),
        (AT_MOST, {"p95_ms": math.nan}, {}, None),
        (Threshold("throughput", 10.0, "requests/s", is_upper=False), {"throughput_rps": math.nan}, {}, None),
        (HALF_OF_GOLD, {"throughput_rps": math.nan}, {"throughput_rps": 100.0}, None),
        (HALF_OF_GOLD, {"throughput_rps": 100.0}, {"throughput_rps": math.nan}, None),
        (THREE_TIMES_GOLD, {"work_seconds": math.nan}, {"work_seconds": 2.0}, None),
        (HALF_OF_GOLD, {"throughput_rps": 300.0}, {"throughput_rps": 100.0}, 1.0),
        (HALF_OF_GOLD, {"throughput_rps": 80.0}, {"throughput_rps": 100.0}, 1.0),
        (HALF_OF_GOLD, {"throughput_rps": 62.5}, {"throughput_rps": 100.0}, 0.4 / 0.75),
        (HALF_OF_GOLD, {"throughput_rps": 50.0}, {"throughput_rps": 100.0}, 0.0),
        (HALF_OF_GOLD, {"throughput_rps": 0.0}, {"throughput_rps": 100.0}, 0.0),
        (THREE_TIMES_GOLD, {"work_seconds": 2.5}, {"work_seconds": 2.0}, 1.0),
        (THREE_TIMES_GOLD, {"work_seconds": 4.0}, {"work_seconds": 2.0}, 1 / 1.75),
        (THREE_TIMES_GOLD, {"work_seconds": 9.0}, {"work_seconds": 2.0}, 0.0),
        (HALF_OF_GOLD, {"throughput_rps": 10.0}, {}, None),
        (Threshold("error_rate", 1.0, "%", is_upper=True), {"error_rate": 0.01}, {}, 1.0),
        (Threshold("error_rate", 1.0, "%", is_upper=True), {"error_rate": 0.04}, {}, 0.25),
        (Threshold("error_rate", 0.0, "%", is_upper=True), {"error_rate": 0.04}, {}, 0.0),
        (Threshold("error_rate", 2.0, "gold", is_upper=True), {"error_rate": 0.04}, {"error_rate": 0.01}, 0.0),
        (Threshold("error_rate", 2.0, "gold", is_upper=True), {"error_rate": 0.0}, {"error_rate": 0.0}, 1.0),
        (Threshold("error_rate", 2.0, "gold", is_upper=True), {"error_rate": 0.04}, {"error_rate": 0.0}, 0.0),
        (Threshold("peak_memory", 64.0, "MiB", is_upper=True), {"peak_memory_mib": 128.0}, {}, 0.5),
    ],
)
def test_a_threshold_is_met_or_nearly_met(
    threshold: Threshold, measures: Mapping[str, float], gold: Mapping[str, float], share: float | None
) -> None:
    card = scorecard_of(problem(threshold), taken(measures=measures, gold=gold))
    assert value(card, "performance") == (None if share is None else pytest.approx(share))


def test_failing_under_load_is_not_the_same_as_not_being_measured() -> None:
    assert value(scorecard_of(problem(AT_MOST), taken(load=PhaseStatus.FAILED)), "performance") == 0.0
    assert value(scorecard_of(problem(AT_MOST), taken(load=PhaseStatus.NOT_MEASURED)), "performance") is None


def test_a_requirement_may_rest_on_a_threshold() -> None:
    on_it = Threshold("p95_latency", 100.0, "ms", is_upper=True, requirement="u")
    for measures, status in (({"p95_ms": 1.0}, "verified"), ({"p95_ms": 200.0}, "failed"), ({}, "untested")):
        card = scorecard_of(problem(on_it), taken(measures=measures))
        assert str(card.requirements[-1].status) == status


def test_a_requirement_rests_on_the_bound_and_the_mark_on_how_near_it_is() -> None:
    bound = Threshold("work_seconds", 3.0, "gold", is_upper=True, requirement="u")
    for seconds, status in ((2.9, "verified"), (3.1, "failed")):
        card = scorecard_of(problem(bound), taken(measures={"work_seconds": seconds}, gold={"work_seconds": 1.0}))
        assert str(card.requirements[-1].status) == status
        performance = value(card, "performance")
        assert performance is not None
        assert performance < 0.1


@given(st.floats(0.1, 100), st.floats(0.1, 100), st.floats(0.1, 100))
def test_slower_never_gets_more(gold: float, one: float, other: float) -> None:
    def mark(seconds: float) -> float:
        card = scorecard_of(
            problem(THREE_TIMES_GOLD), taken(measures={"work_seconds": seconds}, gold={"work_seconds": gold})
        )
        found = value(card, "performance")
        assert found is not None
        assert 0 <= found <= 1
        return found

    assert mark(max(one, other)) <= mark(min(one, other))
    assert mark(gold) == 1


def test_every_measure_a_problem_may_name_is_known() -> None:
    from proctor.benchmarks.problems.units import MEASURES

    assert set(MEASURES) == set(MEASURED_AS)


@given(
    st.integers(0, 50), st.integers(0, 50), st.integers(0, 3), st.integers(0, 3), st.integers(0, 5), st.integers(0, 5)
)
def test_more_findings_never_give_a_better_quality(
    lint: int, types: int, unformatted: int, hard: int, bare: int, repeated: int
) -> None:
    def mark(more: int) -> float:
        findings = {
            "ruff": {"status": "ran", "count": lint + more, "lines": 100},
            "black": {"status": "ran", "formatted": 4 - min(4, unformatted + more), "files": 4},
            "mypy": {"status": "ran", "count": types + more, "lines": 100},
            "complexity": {"status": "ran", "simple": 4 - min(4, hard + more), "functions": 4},
            "docstrings": {"status": "ran", "documented": 6 - min(6, bare + more), "public": 6},
            "duplication": {"status": "ran", "repeated": 10 * (repeated + more), "lines": 100},
        }
        found = value(scorecard_of(problem(), taken(findings=findings)), "quality")
        assert found is not None
        assert 0 <= found <= 1
        return found

    assert mark(1) <= mark(0)


SEVERITIES = st.sampled_from(["LOW", "MEDIUM", "HIGH", "CRITICAL"])


@given(st.lists(st.tuples(SEVERITIES, st.sampled_from(["LOW", "MEDIUM", "HIGH"])), max_size=30), SEVERITIES)
def test_more_findings_never_give_a_better_security(found: list[tuple[str, str]], another: str) -> None:
    def mark(findings: list[tuple[str, str]], violations: int) -> float:
        listed = [{"severity": severity, "confidence": sure} for severity, sure in findings]
        tools = {
            "bandit": {"status": "ran", "findings": listed},
            "place": {"status": "ran", "violations": {str(n): 1 for n in range(violations)}, "egress": {}},
        }
        marked = value(scorecard_of(problem(), taken(findings=tools)), "security")
        assert marked is not None
        assert 0 <= marked <= 1
        return marked

    assert mark([*found, (another, "HIGH")], 0) <= mark(found, 0)
    assert mark(found, 1) <= mark(found, 0)


def test_a_tool_that_did_not_run_is_named_and_counts_for_nothing() -> None:
    without = {**CLEAN, "mypy": {"status": "not run", "reason": "x"}, "black": {"status": "not applicable"}}
    card = scorecard_of(problem(), taken(findings=without))
    quality = next(one for one in card.dimensions if one.name == "quality")
    assert (quality.value, quality.reason) == (1.0, "not run: mypy")
    assert "mypy" not in quality.details


json_values: Any = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), st.text()),
    lambda inner: st.one_of(st.lists(inner, max_size=2), st.dictionaries(st.text(), inner, max_size=2)),
    max_leaves=4,
)
numbers = st.floats(allow_nan=False, allow_infinity=False)
phases = st.builds(
    Phase,
    st.text(),
    st.sampled_from(PhaseStatus),
    numbers,
    numbers,
    st.text(),
    st.dictionaries(st.text(), json_values, max_size=2),
    st.dictionaries(st.text(), st.text(), max_size=2),
)
check_results = st.builds(
    CheckResult, st.text(), st.text(), st.sampled_from(CheckStatus), st.text(), numbers, st.booleans()
)
kept = st.builds(
    Evidence,
    st.text(),
    st.text(),
    st.dictionaries(st.text(), json_values, max_size=2),
    st.lists(phases, max_size=3).map(tuple),
    st.lists(check_results, max_size=3).map(tuple),
    st.dictionaries(st.text(), numbers, max_size=3),
    st.dictionaries(st.text(), numbers, max_size=3),
    st.dictionaries(st.text(), json_values, max_size=2),
    st.one_of(st.none(), st.text()),
)


@given(kept)
def test_evidence_survives_being_stored(evidence: Evidence) -> None:
    stored = json.loads(json.dumps(evidence_to_json(evidence)))
    assert evidence_from_json(stored) == evidence


@pytest.mark.parametrize("data", [{}, {"problem": "p"}, {**evidence_to_json(taken()), "checks": [{"name": "x"}]}])
def test_something_else_is_no_evidence(data: dict[str, Any]) -> None:
    with pytest.raises(ScorerError, match="not the evidence"):
        evidence_from_json(data)


def test_a_scorecard_is_plain_json() -> None:
    card = scorecard_of(problem(AT_MOST), taken(measures={"p95_ms": 80.0}))
    data = json.loads(json.dumps(scorecard_to_json(card)))
    assert (data["total"], data["grade"], data["requirements"][0]["checks"]) == (1.0, "gold", ["m1", "m2"])
    assert evidence_from_json(data["evidence"]) == card.evidence


def test_the_page_says_what_the_formulas_are() -> None:
    from proctor.programs import quality_marks, security_marks
    from proctor.programs.tools import linting, reading

    root = Path(__file__).parents[2]
    page = (root / "docs" / "reference" / "scorecard.md").read_text(encoding="utf-8")
    for name, weight in DEFAULT_WEIGHTS.items():
        assert f"| {name} | {weight:.2f} |" in page
    assert f"findings per 100 lines ÷ {quality_marks.LINT_ZERO:g} " in page
    assert f"errors per 100 lines ÷ {quality_marks.TYPES_ZERO:g} " in page
    assert f"at most {linting.MAX_COMPLEXITY} |" in page
    assert ", ".join(linting.RULES.split(",")) in page
    free, zero = quality_marks.DUPLICATION_FREE, quality_marks.DUPLICATION_ZERO
    assert f"1 up to {free:.0%} repeated lines, 0 from {zero:.0%} on".replace("%", " %") in page
    assert f"a run of {reading.WINDOW} equal tokens" in page
    severities = {name.lower(): taken for name, taken in security_marks.SEVERITY.items()}
    assert f"Trivy: critical | {severities['critical']} |" in page
    assert f"| high | {severities['high']} |" in page
    assert f"| medium | {severities['medium']} |" in page
    assert f"| low | {severities['low']}, all together at most {security_marks.MAX_LOW} |" in page
    sure = security_marks.CONFIDENCE
    assert f"high {sure['HIGH']:g}, medium {sure['MEDIUM']:g}, low {sure['LOW']:g}" in page
    assert f"in packages where pip-audit found none) | {security_marks.VULNERABLE} each" in page
    assert f"tried | {security_marks.VIOLATION} each" in page
