"""Tests that share something costly go to the same worker."""

from __future__ import annotations

import pytest

pytest.importorskip("xdist")

from spreading import CHEAP, ROOT, TOGETHER, Spreading


def unit(nodeid: str) -> str:
    return Spreading._split_scope(None, nodeid)  # type: ignore[arg-type]


def test_tests_of_one_backend_go_together_and_others_go_alone() -> None:
    hostile = "tests/sandboxes/test_hostile.py::"
    assert unit(f"{hostile}test_a[firejail-forks]") == unit(f"{hostile}test_nothing_is_left_behind[firejail]")
    assert unit(f"{hostile}test_a[firejail-forks]") != unit(f"{hostile}test_a[bubblewrap-forks]")
    for alone in (
        "tests/engine/test_limiter.py::test_a",
        "tests/sandboxes/workspaces/test_contract.py::test_a[none-cpu]",
    ):
        assert unit(alone) == alone


def test_every_rule_speaks_of_tests_that_are_there(request: pytest.FixtureRequest) -> None:
    names = [item.nodeid for item in request.session.items]
    areas = {name.split("/")[1] for name in names}
    if not {"sandboxes", "scorers", "catalog", "reports"} <= areas or len(names) < 4_000:
        pytest.skip("only a part of the tests is collected")
    for pattern in TOGETHER:
        assert sum(pattern.match(name) is not None for name in names) > 1, pattern.pattern


def test_what_is_made_once_for_a_file_is_made_on_one_worker() -> None:
    file = "tests/reports/test_browser.py"
    assert unit(f"{file}::test_a") == unit(f"{file}::test_b[gsm8k]") == file
    for cheap in CHEAP:
        assert '(scope="module"' in (ROOT / cheap).read_text(encoding="utf-8"), f"{cheap} shares nothing any more"
        assert unit(f"{cheap}::test_a") == f"{cheap}::test_a"
