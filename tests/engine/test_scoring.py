"""Whose doing it is that a scorer fails on an answer: a known-good answer in the same place tells."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field

from proctor.domain.errors import ScorerError
from proctor.domain.response import Response
from proctor.domain.sample import Sample
from proctor.domain.score import Score
from proctor.domain.scorer import Control
from proctor.engine.scoring import score_answer

SAMPLE = Sample("s", "What is it?", target="good")


@dataclass
class Breakable:
    """1 for the target; breaks where `breaks` says so, told the answer and how many were scored before."""

    breaks: Callable[[str, int], bool]
    error: Exception = field(default_factory=lambda: ZeroDivisionError("bug"))
    name: str = "breakable"
    version: str = "1"
    seen: list[str] = field(default_factory=list)

    async def score(self, sample: Sample, response: Response) -> Score:
        self.seen.append(response.text)
        if self.breaks(response.text, len(self.seen) - 1):
            raise self.error
        return Score(self.name, float(response.text in sample.targets))


class Proven(Breakable):
    def control(self, sample: Sample) -> Control:
        return Control(Response(f"gold of {sample.id}"), "the gold", least=1.0)


class Careless(Breakable):
    def control(self, sample: Sample) -> Control:
        return Control(Response(str(sample.metadata["gold"])), "the gold")


class Asking(Breakable):
    def control(self, sample: Sample) -> None:
        del sample


def scored(scorer: Breakable, text: str = "bad", sample: Sample = SAMPLE) -> Score:
    return asyncio.run(score_answer(scorer, sample, Response(text)))


def test_an_answer_that_breaks_its_scorer_is_invalid_and_counts_as_zero() -> None:
    score = scored(Breakable(lambda text, _: text == "bad"))
    assert (score.value, score.is_invalid) == (0.0, True)
    assert score.reason == "this answer cannot be scored, the target can: the scorer failed: ZeroDivisionError: bug"


def test_an_answer_of_which_nothing_could_be_taken_is_invalid_whatever_the_scorer() -> None:
    scorer = Breakable(lambda *_: False)
    score = asyncio.run(score_answer(scorer, Sample("s", "?", target=""), Response.unusable("it has 2 GB")))
    assert (score.value, score.is_invalid, score.reason, scorer.seen) == (0.0, True, "it has 2 GB", [])


def test_what_breaks_with_a_known_good_answer_too_is_a_fault_and_no_zero() -> None:
    scorer = Breakable(lambda *_: True, ScorerError("the weights are missing"))
    score = scored(scorer)
    assert (score.value, score.reason) == (None, "the weights are missing")
    assert scorer.seen == ["bad", "good", "bad", "good"]


def test_a_fault_that_passes_costs_the_answer_nothing() -> None:
    assert scored(Breakable(lambda _, count: count < 1), "good").value == 1.0
    assert scored(Breakable(lambda _, count: count < 2), "good").value == 1.0


def test_a_sample_without_a_target_is_tried_with_an_empty_answer() -> None:
    scorer = Breakable(lambda text, _: text == "bad")
    assert scored(scorer, sample=Sample("s", "?")).is_invalid
    assert scorer.seen == ["bad", "", "bad"]


def test_a_gold_that_does_not_pass_here_proves_nothing_against_the_answer() -> None:
    assert scored(Proven(lambda text, _: text == "bad")).value is None
    passing = Proven(lambda text, _: text == "bad")
    assert scored(passing, sample=Sample("s", "?", target="gold of s")).is_invalid


def test_a_sample_whose_control_cannot_be_made_is_a_fault_of_that_sample_alone() -> None:
    score = scored(Careless(lambda *_: True, ScorerError("the sample names no problem")))
    assert (score.value, score.reason) == (None, "the sample names no problem")


def test_a_judge_that_cannot_be_reached_is_never_the_answers_fault() -> None:
    scorer = Asking(lambda text, _: text == "bad", ScorerError("no reply"))
    assert scored(scorer).value is None
    assert scorer.seen == ["bad"]


def test_an_error_whose_text_cannot_be_made_or_stored_is_told_all_the_same() -> None:
    for error in (ValueError(10**5000), ValueError("\ud800 half")):
        score = scored(Breakable(lambda text, _: text == "bad", error))
        assert score.is_invalid
        score.reason.encode()
