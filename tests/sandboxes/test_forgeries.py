"""Wrong solutions that try every way to be judged right."""

from __future__ import annotations

import pytest

from proctor.domain.sandbox import Verdict
from sandboxes.conftest import within
from sandboxes.forgeries import FORGERIES
from sandboxes.suites import CASES, forged, judge_all

BACKENDS = ("namespaces", "bubblewrap", "firejail", "nsjail")
pytestmark = pytest.mark.timeout(600)


@pytest.fixture(scope="module", params=BACKENDS)
def verdicts(request: pytest.FixtureRequest) -> dict[str, Verdict | Exception]:
    found: dict[str, Verdict | Exception] = within(request.param, judge_all)
    return found


@pytest.mark.parametrize("name", FORGERIES)
def test_a_wrong_solution_is_never_judged_right(verdicts: dict[str, Verdict | Exception], name: str) -> None:
    assert forged(name, verdicts[name]) is None


@pytest.mark.parametrize("name", ["right before", "right after"])
def test_the_right_solution_passes_before_and_after_all_of_them(
    verdicts: dict[str, Verdict | Exception], name: str
) -> None:
    verdict = verdicts[name]
    assert isinstance(verdict, Verdict), verdict
    assert verdict.passed, verdict
    assert [case.status for case in verdict.cases] == ["passed"] * len(CASES)
