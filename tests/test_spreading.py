"""Tests that share something costly go to the same worker."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("xdist")

from spreading import TOGETHER, Spreading


def unit(nodeid: str) -> str:
    return Spreading._split_scope(None, nodeid)  # type: ignore[arg-type]


def test_tests_of_one_backend_go_together_and_others_go_alone() -> None:
    hostile = "tests/sandboxes/test_hostile.py::"
    assert unit(f"{hostile}test_a[firejail-forks]") == unit(f"{hostile}test_nothing_is_left_behind[firejail]")
    assert unit(f"{hostile}test_a[firejail-forks]") != unit(f"{hostile}test_a[bubblewrap-forks]")
    for alone in (f"{hostile}test_a", "tests/sandboxes/workspaces/test_contract.py::test_a[none-cpu]"):
        assert unit(alone) == alone


def test_every_rule_speaks_of_tests_that_are_there(request: pytest.FixtureRequest) -> None:
    names = [item.nodeid for item in request.session.items]
    areas = {name.split("/")[1] for name in names}
    if not {"sandboxes", "scorers", "catalog", "reports"} <= areas or len(names) < 4_000:
        pytest.skip("only a part of the tests is collected")
    for pattern in TOGETHER:
        assert sum(pattern.match(name) is not None for name in names) > 1, pattern.pattern


CHEAP = (
    "tests/models/test_trust.py",
    "tests/sandboxes/workspaces/test_looking.py",
    "tests/scorers_code/test_extraction.py",
)
"""Each worker may make what these share for itself: it takes milliseconds."""


def test_what_is_made_once_for_a_file_is_made_on_one_worker(request: pytest.FixtureRequest) -> None:
    root = request.config.rootpath
    sharing = [path for path in (root / "tests").rglob("test_*.py") if '(scope="module"' in _fixtures_of(path)]
    names = [str(path.relative_to(root)) for path in sharing]
    assert len(names) > len(CHEAP)
    backends = ("", "[namespaces]")
    apart = [name for name in names if all(unit(f"{name}::test_a{one}") == f"{name}::test_a{one}" for one in backends)]
    assert sorted(apart) == sorted(CHEAP)


def _fixtures_of(path: Path) -> str:
    return "".join(line for line in path.read_text(encoding="utf-8").splitlines() if line.startswith("@pytest.fixture"))
