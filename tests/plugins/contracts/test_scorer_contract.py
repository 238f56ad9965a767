"""What every scorer keeps; those that need no judge and no sandbox score hostile texts in `tests/scorers`."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from plugins.example import names
from proctor import plugins
from proctor.domain.benchmark import ScorerSpec
from proctor.domain.errors import UserError
from proctor.domain.response import Response
from proctor.domain.sample import Sample
from proctor.domain.scorer import ScorerTraits, traits_of
from proctor.scorers.registry import create_scorer

NEEDED: dict[str, dict[str, Any]] = {"judge_pairwise": {"against": "latest"}}
TEXTS = ["18", " 18.\n", "", "\0\ufffe", "(((" * 500, "word " * 20_000, "I cannot help with that."]


@pytest.mark.parametrize("name", names("scorers"))
def test_a_scorer_has_a_name_and_a_version_that_does_not_change_by_itself(name: str) -> None:
    first, second = (create_scorer(ScorerSpec(name, NEEDED.get(name, {}))) for _ in range(2))
    assert first.name == second.name != ""
    assert first.version == second.version != ""


@pytest.mark.parametrize("name", names("scorers"))
def test_an_option_that_there_is_not_is_refused(name: str) -> None:
    with pytest.raises(UserError, match="no_such_option"):
        create_scorer(ScorerSpec(name, {**NEEDED.get(name, {}), "no_such_option": 1}))


@pytest.mark.parametrize("name", names("scorers"))
def test_the_traits_are_those_of_the_factory(name: str) -> None:
    assert isinstance(traits_of(plugins.load("scorers", name)), ScorerTraits)


@pytest.mark.parametrize("name", [plugin for plugin in names("scorers") if plugin not in plugins.BUILT_IN["scorers"]])
def test_any_text_gets_a_mark_in_range_and_a_reason(name: str) -> None:
    scorer = create_scorer(ScorerSpec(name))
    for text in TEXTS:
        for sample in (Sample("1", "?", target="18"), Sample("2", "?", target=("17", "18")), Sample("3", "?")):
            score = asyncio.run(scorer.score(sample, Response(text)))
            assert score.name == scorer.name
            assert score.reason
            assert score.value is None or 0 <= score.value <= 1
            assert score.value is not None or sample.target is None
    right = asyncio.run(scorer.score(Sample("1", "?", target="18"), Response("18")))
    assert right.value == 1, "the target itself is right"


def test_the_example_marks_by_what_an_answer_begins_with() -> None:
    scorer = create_scorer(ScorerSpec("starts_with", {"ignore_case": True}))
    marks = [
        asyncio.run(scorer.score(Sample("1", "?", target="Cold"), Response(text))).value
        for text in ("cold.", "COLDER", "not cold")
    ]
    assert marks == [1, 1, 0]
    assert scorer.version != create_scorer(ScorerSpec("starts_with")).version
    assert not traits_of(plugins.load("scorers", "starts_with")).has_votes
