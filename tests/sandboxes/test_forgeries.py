"""Wrong solutions that try every way to be judged right."""

from __future__ import annotations

import asyncio

import pytest

from proctor.domain.sandbox import Case, Check, Verdict
from proctor.sandboxes.pool import Pool
from sandboxes.conftest import SMALL, within
from sandboxes.forgeries import FORGERIES, PARTLY_RIGHT, RIGHT, TESTS

BACKENDS = ("namespaces", "bubblewrap", "firejail", "nsjail")
CASES = tuple(Case(f"test {number}", source) for number, source in enumerate(TESTS, 1))
pytestmark = pytest.mark.timeout(600)


async def _judge_all(sandbox: Pool) -> dict[str, Verdict | Exception]:
    async def one(name: str, source: str) -> tuple[str, Verdict | Exception]:
        try:
            return name, await sandbox.check(Check(source, CASES), SMALL)
        except Exception as error:  # noqa: BLE001  shown by the test of that forgery
            return name, error

    first = dict([await one("right before", RIGHT)])
    forged = dict(await asyncio.gather(*(one(*item) for item in FORGERIES.items())))
    return first | forged | dict([await one("right after", RIGHT)])


@pytest.fixture(scope="module", params=BACKENDS)
def verdicts(request: pytest.FixtureRequest) -> dict[str, Verdict | Exception]:
    found: dict[str, Verdict | Exception] = within(request.param, _judge_all)
    return found


@pytest.mark.parametrize("name", FORGERIES)
def test_a_wrong_solution_is_never_judged_right(verdicts: dict[str, Verdict | Exception], name: str) -> None:
    verdict = verdicts[name]
    # An exception would take the answer out of the score: as good as a forgery for a wrong one.
    assert isinstance(verdict, Verdict), verdict
    assert not verdict.passed
    if name not in PARTLY_RIGHT:
        assert [case.name for case in verdict.cases if case.status == "passed"] == []
    assert verdict.message
    assert len(verdict.cases) == len(CASES)


@pytest.mark.parametrize("name", ["right before", "right after"])
def test_the_right_solution_passes_before_and_after_all_of_them(
    verdicts: dict[str, Verdict | Exception], name: str
) -> None:
    verdict = verdicts[name]
    assert isinstance(verdict, Verdict), verdict
    assert verdict.passed, verdict
    assert [case.status for case in verdict.cases] == ["passed"] * len(CASES)
