"""Evaluations in an application's own tests: the fixture and the marker `proctor`. Unused, nothing of it is loaded."""

from __future__ import annotations

import sys
from contextlib import chdir
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from proctor.library.asserting import Evaluated, EvaluationResult

MARKER = "proctor(benchmarks, models, **options): what the fixture `proctor` evaluates, as proctor.evaluate() takes it."
PROPERTY = "proctor"
ASSERTING = "proctor.library.asserting"


class Evaluator:
    """Evaluates as `proctor.evaluate()` does; the same arguments give the same run for the whole session."""

    def __init__(self, root: Path, home: str | None) -> None:
        self._root, self._home = root, home
        self._evaluated: dict[str, Evaluated] = {}

    def evaluate(self, benchmarks: Any, models: Any, options: dict[str, Any]) -> Evaluated:
        import proctor
        from proctor.library.asserting import Evaluated

        key = repr((benchmarks, models, sorted(options.items())))
        if key not in self._evaluated:
            home = options.get("home", self._home)
            with chdir(self._root):
                run = proctor.evaluate(benchmarks, models, **{**options, "home": home})
            self._evaluated[key] = Evaluated(run, home)
        return self._evaluated[key]


class ProctorFixture:
    """Called with what to evaluate; what the marker names is evaluated beforehand and found in `result`."""

    def __init__(self, evaluator: Evaluator, node: pytest.Item) -> None:
        self._evaluator, self._node = evaluator, node
        self._marked: Evaluated | None = None

    def __call__(self, benchmarks: Any = None, models: Any = None, **options: Any) -> Evaluated:
        evaluated = self._evaluator.evaluate(benchmarks, models, options)
        for result in evaluated:
            line = (PROPERTY, f"{result!r}, run {evaluated.run.id}")
            if line not in self._node.user_properties:
                self._node.user_properties.append(line)
        return evaluated

    @property
    def results(self) -> Evaluated:
        """Everything that the marker names."""
        if self._marked is None:
            raise pytest.UsageError("This test is not marked @pytest.mark.proctor(…): call the fixture instead.")
        return self._marked

    @property
    def result(self) -> EvaluationResult:
        """The one result of what the marker names."""
        if len(self.results) != 1:
            raise pytest.UsageError(f"The marker names {len(self.results)} evaluations: take one of proctor.results.")
        return next(iter(self.results))

    def evaluate_marked(self, mark: pytest.Mark) -> None:
        self._marked = self(*mark.args, **mark.kwargs)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addini("proctor_home", "Where evaluations of tests are kept; PROCTOR_HOME if left out.", default=None)


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", MARKER)


def pytest_runtest_setup(item: pytest.Item) -> None:
    """A marker that nothing reads would be a test that cannot fail."""
    is_marked = any(mark.name == "proctor" for mark in item.own_markers)
    if is_marked and "proctor" not in getattr(item, "fixturenames", ()):
        pytest.fail(
            "This test is marked @pytest.mark.proctor(…), but does not take the fixture proctor.", pytrace=False
        )


def pytest_assertrepr_compare(op: str, left: object, right: object) -> list[str] | None:
    """What a bound is of, under an assertion that it failed."""
    asserting = sys.modules.get(ASSERTING)
    bound = next((side for side in (left, right) if asserting and isinstance(side, asserting.Bound)), None)
    if bound is None:
        return None
    return [f"{_figure(left)} {op} {_figure(right)}", *bound.measured.explain_briefly()]


def _figure(number: object) -> str:
    return f"{float(number):.4g}" if isinstance(number, float) else repr(number)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """A line for each evaluation, whether its tests passed or not."""
    reports = [one for kind in ("passed", "failed") for one in terminalreporter.stats.get(kind, ())]
    lines = {value: None for one in reports for name, value in getattr(one, "user_properties", ()) if name == PROPERTY}
    if lines:
        terminalreporter.section("evaluations", sep="-")
        for line in lines:
            terminalreporter.write_line(str(line))


@pytest.fixture(scope="session")
def _proctor_evaluator(request: pytest.FixtureRequest) -> Evaluator:
    home = request.config.getini("proctor_home")
    return Evaluator(request.config.rootpath, str(request.config.rootpath / home) if home else None)


@pytest.fixture
def proctor(request: pytest.FixtureRequest, _proctor_evaluator: Evaluator) -> ProctorFixture:
    """Evaluates models: `proctor("puzzles", models="demo/strong", limit=80).accuracy.lower >= 0.8`."""
    fixture = ProctorFixture(_proctor_evaluator, request.node)
    if (mark := request.node.get_closest_marker("proctor")) is not None:
        fixture.evaluate_marked(mark)
    return fixture
