"""What of security and quality was measured: nothing that did not happen counts as good."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.domain.scorecard import DimensionMark, Evidence
from proctor.programs.quality_marks import quality_mark
from proctor.programs.security_marks import security_mark
from proctor.programs.tools.running import MAX_FINDINGS, found
from proctor.programs.tools.scanning import read_audit

NOT_RUN = {"status": "not run", "reason": "x"}
NOT_APPLICABLE = {"status": "not applicable", "reason": "x"}
WORKSPACE = {"status": "ran", "violations": {}, "egress": {}, "writes": {}}
SCANNED = {"status": "ran", "findings": []}
CLEAN_PACKAGE: dict[str, Any] = {"name": "attrs", "version": "25.1.0", "vulns": []}
SKIPPED: dict[str, Any] = {"name": "home-made", "skip_reason": "Dependency not found on PyPI: home-made (1.0)"}
READ: dict[str, Any] = {
    "ruff": {"status": "ran", "count": 0, "lines": 100},
    "black": {"status": "ran", "formatted": 1, "files": 2},
    "mypy": {"status": "ran", "count": 0, "lines": 100},
    "complexity": {"status": "ran", "simple": 5, "functions": 5},
    "docstrings": {"status": "ran", "documented": 4, "public": 5},
    "duplication": {"status": "ran", "repeated": 0, "lines": 100},
}


def evidence(findings: Mapping[str, Any]) -> Evidence:
    return Evidence("p", "d", {}, (), (), {}, {}, findings)


def security(**findings: Any) -> DimensionMark:
    return security_mark(evidence(findings), 0.1)


def quality(**findings: Any) -> DimensionMark:
    return quality_mark(evidence({**READ, **findings}), 0.15)


def test_security_is_not_measured_where_nothing_read_the_source() -> None:
    watched = security(bandit=NOT_APPLICABLE, dangers=NOT_APPLICABLE, place=WORKSPACE)
    assert (watched.value, watched.reason) == (None, "the source was not scanned")
    failed = security(bandit=NOT_RUN, dangers=NOT_APPLICABLE, place=WORKSPACE)
    assert (failed.value, failed.reason) == (None, "the source was not scanned; not run: bandit")
    half = security(bandit=SCANNED, dangers=NOT_RUN, place=WORKSPACE)
    assert half.value is None, "a program in two languages of which one was read"


def test_each_language_has_its_scanner() -> None:
    assert security(bandit=SCANNED, dangers=NOT_APPLICABLE, place=WORKSPACE).value == 1.0
    danger = {"status": "ran", "findings": [{"severity": "HIGH", "confidence": "HIGH"}]}
    assert security(bandit=NOT_APPLICABLE, dangers=danger, place=WORKSPACE).value == pytest.approx(0.6)


def test_each_file_outside_that_was_to_be_changed_takes_as_much_as_an_address() -> None:
    address = security(bandit=SCANNED, place={**WORKSPACE, "egress": {"10.0.0.1:80": 9}})
    write = security(bandit=SCANNED, place={**WORKSPACE, "writes": {"/etc/passwd": 9}})
    assert address.value == write.value == pytest.approx(0.8)
    many = {**WORKSPACE, "egress": {"10.0.0.1:80": 1}, "writes": {"/etc/passwd": 1, "/etc/x": 1}}
    assert security(bandit=SCANNED, place=many).value == pytest.approx(0.4)
    assert security(bandit=SCANNED, place={**WORKSPACE, "writes": dict.fromkeys("abcdefgh", 1)}).value == 0.0


def test_where_writes_were_not_seen_the_mark_says_so() -> None:
    unseen = {**WORKSPACE, "writes": None}
    mark = security(bandit=SCANNED, trivy=NOT_RUN, place=unseen)
    assert (mark.value, mark.reason) == (1.0, "not run: trivy; not seen: attempts to write outside")
    assert security(bandit=SCANNED, place=WORKSPACE).reason == ""


def test_other_tools_that_did_not_run_are_named() -> None:
    mark = security(**{"bandit": SCANNED, "place": WORKSPACE, "trivy": NOT_RUN, "pip-audit": NOT_RUN})
    assert (mark.value, mark.reason) == (1.0, "not run: pip-audit, trivy")


@pytest.mark.parametrize("auditor", ["pip-audit", "npm-audit"])
def test_packages_that_nobody_looked_up_take_their_part_of_the_weight_along(auditor: str) -> None:
    read = {"bandit": SCANNED, "place": WORKSPACE}
    looked_up = security(**read, **{auditor: {"status": "ran", "count": 0}})
    assert (looked_up.value, looked_up.weight) == (1.0, pytest.approx(0.1))
    absent = security(**read, **{auditor: NOT_RUN})
    assert (absent.value, absent.weight) == (1.0, pytest.approx(0.1 * 2 / 3))


def test_packages_that_the_audit_skipped_are_named_and_take_their_share_of_the_weight_along() -> None:
    audit = read_audit([CLEAN_PACKAGE, SKIPPED, SKIPPED | {"name": "own"}, SKIPPED | {"name": "third"}], 4, "2.9")
    assert (audit["status"], audit["count"], audit["share"]) == ("ran", 0, 0.25)
    mark = security(bandit=SCANNED, place=WORKSPACE, **{"pip-audit": audit})
    assert mark.weight == pytest.approx(0.1 * 2.25 / 3)
    assert mark.reason == "pip-audit skipped home-made, own, third"
    found = read_audit([CLEAN_PACKAGE | {"vulns": [{"id": "CVE-1"}]}, SKIPPED], 2, "2.9")
    assert security(bandit=SCANNED, place=WORKSPACE, **{"pip-audit": found}).value == pytest.approx(0.7)


@pytest.mark.parametrize("packages", [[SKIPPED], []])
def test_an_audit_that_skipped_every_package_did_not_run(packages: list[dict[str, Any]]) -> None:
    audit = read_audit(packages, 1, "2.9")
    assert audit["status"] == "not run"
    assert "no package could be audited" in audit["reason"]
    assert "count" not in audit
    mark = security(bandit=SCANNED, place=WORKSPACE, **{"pip-audit": audit})
    assert (mark.weight, mark.reason) == (pytest.approx(0.1 * 2 / 3), "not run: pip-audit")


def test_without_packages_and_without_a_second_opinion_nothing_is_missing() -> None:
    none = {"pip-audit": NOT_APPLICABLE, "npm-audit": NOT_APPLICABLE, "trivy": NOT_RUN}
    assert security(bandit=SCANNED, place=WORKSPACE, **none).weight == pytest.approx(0.1)


def test_a_place_that_nobody_watched_takes_its_part_of_the_weight_along() -> None:
    mark = security(bandit=SCANNED, place=NOT_RUN)
    assert (mark.value, mark.weight, mark.reason) == (1.0, pytest.approx(0.05), "not run: place")


SEVERITIES = st.sampled_from(["LOW", "MEDIUM", "HIGH", "CRITICAL", "UNKNOWN"])
FINDINGS = st.tuples(SEVERITIES, st.sampled_from(["LOW", "MEDIUM", "HIGH"]), st.integers(1, MAX_FINDINGS * 2))


@given(st.lists(FINDINGS, max_size=6))
def test_cutting_a_list_of_findings_never_changes_the_mark(groups: list[tuple[str, str, int]]) -> None:
    listed = [
        {"file": f"{position}.py", "line": number, "severity": severity, "confidence": confidence}
        for position, (severity, confidence, count) in enumerate(groups)
        for number in range(count)
    ]
    whole = security(bandit={"status": "ran", "count": len(listed), "findings": listed})
    cut = security(bandit={"status": "ran", **found(listed)})
    assert whole.value is not None
    assert cut.value == pytest.approx(whole.value)


@pytest.mark.parametrize(
    ("name", "empty"),
    [
        ("complexity", {"simple": 0, "functions": 0}),
        ("docstrings", {"documented": 0, "public": 0}),
        ("duplication", {"repeated": 0, "lines": 0}),
    ],
)
def test_where_there_is_nothing_to_judge_there_is_no_mark_for_it(name: str, empty: Mapping[str, int]) -> None:
    mark = quality(**{name: {"status": "ran", **empty}})
    assert name not in mark.details
    assert mark.weight == 0.15, "nothing that applies is missing"
    assert mark.value == pytest.approx(4.5 / 5)


def test_a_tool_that_failed_takes_its_part_of_the_weight_along() -> None:
    whole, without = quality(), quality(mypy=NOT_RUN)
    assert (without.weight, without.reason) == (pytest.approx(0.15 * 5 / 6), "not run: mypy")
    assert whole.value is not None
    assert without.value is not None
    assert without.weight * without.value < whole.weight * whole.value
    assert quality(mypy=NOT_APPLICABLE).weight == 0.15


def test_quality_without_anything_read_is_not_measured() -> None:
    nothing = quality(**dict.fromkeys(READ, NOT_APPLICABLE))
    assert (nothing.value, nothing.reason) == (None, "there was nothing to read")
    assert quality(**dict.fromkeys(READ, NOT_RUN)).value is None
