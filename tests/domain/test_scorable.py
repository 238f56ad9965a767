"""Samples of any make are proven: those that no scorer can score are named."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pytest

from proctor.domain.benchmark import Fingerprint
from proctor.domain.errors import BenchmarkError
from proctor.domain.response import Response
from proctor.domain.sample import Sample
from proctor.domain.scorable import proven
from proctor.domain.score import Score
from proctor.domain.scorer import Scorer


@dataclass(frozen=True)
class Listed:
    """Samples that know nothing of scorers, as a package may bring them."""

    samples: tuple[Sample, ...]

    def __iter__(self) -> Iterator[Sample]:
        return iter(self.samples)

    def at(self, positions: Sequence[int]) -> Iterator[Sample]:
        return (self.samples[position] for position in positions)

    def fingerprint(self) -> Fingerprint:
        return Fingerprint("listed", len(self.samples))


@dataclass(frozen=True)
class Anything:
    name: str = "anything"
    version: str = "1"

    async def score(self, sample: Sample, response: Response) -> Score:
        return Score(self.name, float(sample.target == response.text))


@dataclass(frozen=True)
class Only(Anything):
    """Scores samples whose input has this letter."""

    letter: str = "a"

    def obstacle(self, sample: Sample) -> str | None:
        return None if self.letter in sample.input_text else f"there is no {self.letter}"


def listed(*inputs: str) -> Listed:
    return Listed(tuple(Sample(f"s{n}", text) for n, text in enumerate(inputs)))


def test_samples_are_left_alone_where_no_scorer_is_particular() -> None:
    samples = listed("x")
    assert proven(samples, [Anything()]) is samples


def test_samples_that_no_scorer_can_score_are_named_by_their_ids() -> None:
    scorers: list[Scorer] = [Only("first", letter="a"), Only("second", letter="b")]
    samples = proven(listed("a", "c", "b", "d"), scorers)
    with pytest.raises(BenchmarkError) as refusal:
        samples.fingerprint()
    assert str(refusal.value) == (
        "2 samples cannot be scored: s1, s3: the scorer 'first' cannot score it: there is no a."
    )


def test_only_the_first_samples_are_listed_and_all_are_counted() -> None:
    with pytest.raises(BenchmarkError, match=r"^13 samples .*s9: the scorer .*; and 3 more\.$"):
        proven(listed(*"bcdefghijklmn"), [Only()]).fingerprint()


def test_a_scorer_that_can_score_none_of_the_samples_is_refused() -> None:
    with pytest.raises(BenchmarkError, match="'only' can score none of the samples; of the first it says: there is no"):
        proven(listed("b", "c"), [Anything(), Only("only")]).fingerprint()


def test_samples_that_can_be_scored_stay_what_they_are() -> None:
    samples = listed("a", "b", "ab")
    checked = proven(samples, [Only("first", letter="a"), Only("second", letter="b")])
    assert checked.fingerprint() == samples.fingerprint()
    assert list(checked) == list(samples)
    assert [sample.id for sample in checked.at([2, 0])] == ["s2", "s0"]
