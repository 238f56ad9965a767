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
from proctor.domain.documents.interim import UnknownCode
from proctor.metrics import rounding
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
    file = tmp_path / "figures.json"
    file.write_text(json.dumps(cases))
    ended = run_node("node_modules/vitest/vitest.mjs", "run", "--reporter=dot", PROCTOR_FIGURES=str(file))
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
