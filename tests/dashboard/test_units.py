"""What the dashboard computes and draws by itself, and the checks of its sources."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import get_args

import pytest

from dashboard.node import SOURCES, missing, run_node, script
from proctor.domain.documents.comparison import VerdictCode, VerdictParts
from proctor.domain.documents.document import json_bytes
from proctor.domain.documents.interim import UnknownCode
from proctor.domain.estimate import Estimate
from proctor.metrics import rounding
from proctor.metrics.compare import PairedComparison
from proctor.metrics.verdicts import NOT_WITH_UNREADABLE, say, verdict_parts
from proctor.reports import figures
from proctor.runs.interim import SENTENCES

pytestmark = pytest.mark.skipif(missing() is not None, reason=missing() or "")


def _values() -> Iterator[float]:
    yield from (0.0, 1.0, 0.5, 0.0625, 0.8125, 0.1875, 2999 / 3000, 1e-9, 1 - 1e-7, 0.05, 0.0499999, 0.9995)
    drawn = random.Random(3)
    yield from (drawn.random() for _ in range(200))
    yield from (
        numerator / denominator for denominator in (3, 16, 32, 64, 200, 1319) for numerator in range(denominator)
    )


def _amounts() -> Iterator[float]:
    drawn = random.Random(4)
    yield from (0.0, 0.00001234, 0.9995, 119.99, 120.0, 3599.0, 3600.0, 90_061.0, 1234.5, 0.0009995)
    yield from (10 ** drawn.uniform(-7, 6) for _ in range(300))


def _verdicts() -> Iterator[VerdictParts]:
    """Of drawn comparisons: few and many samples and groups, alone and in a family."""
    yield NOT_WITH_UNREADABLE
    drawn = random.Random(5)
    for _ in range(600):
        value = drawn.choice((None, drawn.uniform(-1, 1), drawn.uniform(-0.05, 0.05)))
        half = 10 ** drawn.uniform(-4, 0)
        n = drawn.choice((1, 2, 5, 40, 2_000, 60_000))
        ends = (None, None) if value is None or n == 1 or drawn.random() < 0.05 else (value - half, value + half)
        p_value = 10 ** drawn.uniform(-5, 0)
        family = drawn.choice((1, 1, 6, 1_770))
        comparison = PairedComparison(
            ("{points} A", "組 B"),
            n,
            Estimate(0.5, n),
            Estimate(0.5, n),
            Estimate(value, n, half / 2, *ends),
            p_value,
            detectable=drawn.choice((0.01, 0.041, 0.5)),
            groups=min(n, drawn.choice((0, 3, 2_000))),
            p_adjusted=min(1.0, p_value * family),
            family=family,
        )
        yield verdict_parts(comparison, target=drawn.choice((0.01, 0.02, 0.1)))
    # One sample more than there are is seldom needed.
    for groups in (0, 40):
        yield next(parts for n in range(40, 10_000) if (parts := _nearly(n, groups)).values.get("more") == "1")


def _nearly(n: int, groups: int) -> VerdictParts:
    """Of so many samples with one spread: the more of them, the fewer are still needed."""
    half = 3.0 / n**0.5
    found = Estimate(0.0, n, half / 1.96, -half, half)
    sides = Estimate(0.5, n), Estimate(0.5, n)
    return verdict_parts(PairedComparison(("A", "B"), n, *sides, found, 0.5, groups=groups, p_adjusted=0.5), target=0.1)


FORMS: dict[str, tuple[Callable[[float], str], Callable[[], Iterator[float]]]] = {
    "decimal_text": (rounding.decimal_text, _values),
    "difference_text": (rounding.difference_text, _values),
    "figure_text": (rounding.figure_text, _values),
    "percent_text": (rounding.percent_text, _values),
    "p_text": (rounding.p_text, _values),
    "seconds_text": (figures.seconds_text, _amounts),
    "cost_text": (lambda usd: figures.cost_text(usd, "computed"), _amounts),
    "small_cost_text": (figures.small_cost_text, _amounts),
}


def test_logic_and_components_and_every_figure_as_the_command_line_writes_it(tmp_path: Path) -> None:
    cases = {name: [(value, form(value)) for value in values()] for name, (form, values) in FORMS.items()}
    figures_file, verdicts_file = tmp_path / "figures.json", tmp_path / "verdicts.json"
    figures_file.write_text(json.dumps(cases))
    drawn = [*_verdicts()]
    assert {parts.code for parts in drawn} == set(get_args(VerdictCode)), "not every verdict was drawn"
    verdicts_file.write_bytes(json_bytes([{"verdict": say(parts), "verdict_parts": parts} for parts in drawn]))
    ended = run_node(
        "node_modules/vitest/vitest.mjs",
        "run",
        "--reporter=dot",
        PROCTOR_FIGURES=str(figures_file),
        PROCTOR_VERDICTS=str(verdicts_file),
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr


def test_the_types_of_the_documents_are_those_of_the_api() -> None:
    types = script("dashboard_types")
    said = "the API has changed: python scripts/dashboard_types.py"
    assert types.generate() == (SOURCES / "src/api/schema.d.ts").read_text(encoding="utf-8"), said


def test_the_sources_are_typed_strictly() -> None:
    ended = run_node("node_modules/typescript/bin/tsc", "--noEmit")
    assert ended.returncode == 0, ended.stdout


def test_the_sources_have_one_format_and_no_lint() -> None:
    formatted = run_node("node_modules/prettier/bin/prettier.cjs", "--check", ".", "--log-level", "warn")
    assert formatted.returncode == 0, formatted.stderr
    linted = run_node("node_modules/eslint/bin/eslint.js", ".")
    assert linted.returncode == 0, linted.stdout


def test_no_source_turns_text_into_markup_or_runs_it() -> None:
    banned = (
        "dangerouslySetInnerHTML",
        "innerHTML",
        "outerHTML",
        "insertAdjacentHTML",
        "document.write",
        "eval(",
        "new Function",
    )
    for path in (SOURCES / "src").rglob("*.ts*"):
        text = path.read_text(encoding="utf-8")
        assert not [word for word in banned if word in text], path


def test_lockfile_and_sources_name_no_registry() -> None:
    lock = (SOURCES / "package-lock.json").read_text()
    assert '"resolved"' not in lock
    assert lock.count('"integrity"') > 100


@pytest.mark.parametrize("code", get_args(UnknownCode))
def test_why_a_figure_is_not_there_has_words_that_say_what_the_api_says(code: UnknownCode) -> None:
    texts = (SOURCES / "src/text/en.ts").read_text(encoding="utf-8")
    found = re.search(rf"^  'unknown\.{code}':\s+'(.+)',$", texts, re.MULTILINE)
    assert found, f"the dashboard has no words for {code}"
    plain = SENTENCES[code].replace("'until'", "“until”").replace(":,}", "}")
    assert found[1] == plain
