"""Filters and seeded choice."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from hashlib import blake2b

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.domain.benchmark import Fingerprint, Samples
from proctor.domain.errors import BenchmarkError
from proctor.domain.sample import Sample
from proctor.domain.sample_digest import SampleDigest
from proctor.planning.selection import rank, select


class Listed:
    """Samples in a list: all that a selection may rely on."""

    def __init__(self, samples: Sequence[Sample]) -> None:
        self.samples = samples

    def __iter__(self) -> Iterator[Sample]:
        return iter(self.samples)

    def at(self, positions: Sequence[int]) -> Iterator[Sample]:
        return (self.samples[position] for position in positions)

    def fingerprint(self) -> Fingerprint:
        made = SampleDigest()
        for sample in self.samples:
            made.add(sample)
        return made.fingerprint()


def numbered(count: int) -> Listed:
    return Listed(
        [
            Sample(
                f"s{i}",
                f"Question {i}",
                str(i),
                category=("even", "odd")[i % 2],
                tags={"level": str(i % 3)},
                metadata={"year": 2000 + i % 4, "source": {"site": f"site{i % 2}"}, "flags": ["a", f"f{i % 5}"]},
            )
            for i in range(count)
        ]
    )


def ids(samples: Samples) -> list[str]:
    return [sample.id for sample in samples]


def test_without_filter_and_limit_the_samples_are_the_samples() -> None:
    samples = numbered(5)
    assert select(samples, {}, None, 1) is samples


@given(st.integers(0, 60), st.integers(1, 60), st.integers(), st.integers(1, 50))
def test_a_smaller_limit_gives_the_beginning_of_a_larger_one(small: int, more: int, seed: int, count: int) -> None:
    samples = numbered(count + small + more)
    large = ids(select(samples, {}, small + more, seed))
    assert len(large) == small + more
    if small:
        assert ids(select(samples, {}, small, seed)) == large[:small]


@given(st.integers(1, 40), st.integers(0, 3), st.integers())
def test_a_limit_that_leaves_nothing_out_is_no_limit(count: int, spare: int, seed: int) -> None:
    samples = numbered(count)
    for where in ({}, {"category": ["even"]}):
        everything = select(samples, where, None, seed)
        limited = select(samples, where, len(ids(everything)) + spare, seed)
        assert ids(limited) == ids(everything)
        assert limited.fingerprint() == everything.fingerprint()


@given(st.integers(2, 40), st.integers(1, 50), st.integers())
def test_shuffled_samples_come_in_the_order_of_their_hashes_whatever_the_limit(
    count: int, limit: int, seed: int
) -> None:
    samples = numbered(count)
    in_order = sorted(ids(samples), key=lambda name: rank(seed, name))
    assert ids(select(samples, {}, None, seed, is_shuffled=True)) == in_order
    assert ids(select(samples, {}, limit, seed, is_shuffled=True)) == in_order[:limit]


def test_a_seed_chooses_the_same_samples_on_every_machine() -> None:
    assert ids(select(numbered(50), {}, 6, 42)) == ["s7", "s38", "s20", "s18", "s35", "s44"]
    assert rank(42, "é").hex() == blake2b(b"42\0\xc3\xa9", digest_size=16).hexdigest()
    assert ids(select(numbered(50), {}, 6, 43)) != ids(select(numbered(50), {}, 6, 42))


def test_the_choice_does_not_depend_on_the_order_of_the_file() -> None:
    samples = numbered(40)
    assert ids(select(Listed(samples.samples[::-1]), {}, 7, 3)) == ids(select(samples, {}, 7, 3))


def test_values_are_alternatives_and_keys_must_all_hold() -> None:
    samples = numbered(24)
    assert ids(select(samples, {"category": ["odd"]}, None, 1)) == [f"s{i}" for i in range(1, 24, 2)]
    assert ids(select(samples, {"tags.level": ["0", "1"], "category": ["even"]}, None, 1)) == [
        f"s{i}" for i in range(24) if i % 3 < 2 and i % 2 == 0
    ]
    assert ids(select(samples, {"id": ["s3", "s1"]}, None, 1)) == ["s1", "s3"]
    assert ids(select(samples, {"metadata.year": ["2003"]}, None, 1)) == [f"s{i}" for i in range(3, 24, 4)]
    assert ids(select(samples, {"metadata.source.site": ["site1"]}, 1000, 1))[:0] == []
    assert ids(select(samples, {"metadata.flags": ["f4"]}, None, 1)) == ["s4", "s9", "s14", "s19"]


def test_a_tag_or_a_field_may_be_named_alone() -> None:
    samples = numbered(24)
    for key in ("level", "flags"):
        full = "tags.level" if key == "level" else "metadata.flags"
        value = "1" if key == "level" else "f4"
        assert ids(select(samples, {key: [value]}, None, 1)) == ids(select(samples, {full: [value]}, None, 1))


def test_a_limit_comes_after_the_filter() -> None:
    chosen = ids(select(numbered(40), {"category": ["odd"]}, 5, 9))
    assert len(chosen) == 5
    assert all(int(name[1:]) % 2 for name in chosen)


@pytest.mark.parametrize(
    ("where", "message"),
    [
        ({"category": ["evne"]}, r"No sample has category 'evne'\. Did you mean 'even'\? Available: even, odd\."),
        ({"category": ["even", "x"]}, "No sample has category 'x'"),
        ({"tags.lvl": ["1"]}, r"No sample has 'tags\.lvl'.*Did you mean 'tags\.level'"),
        ({"metadata.source.url": ["1"]}, r"No sample has 'metadata\.source\.url'"),
        ({"categry": ["even"]}, r"cannot filter on 'categry'.*Did you mean 'category'"),
        ({"lvl": ["1"]}, r"No sample has 'lvl', which 'where' filters on"),
        ({"id": ["s1"], "category": ["even"]}, "No sample fulfils all of id=s1, category=even"),
    ],
)
def test_a_filter_that_matches_nothing_says_what_would(where: dict[str, list[str]], message: str) -> None:
    for limit in (None, 3):
        with pytest.raises(BenchmarkError, match=message):
            select(numbered(10), where, limit, 1)


def test_only_some_of_very_many_values_are_listed() -> None:
    with pytest.raises(BenchmarkError, match=r"\(1000 in all\)|… \(") as error:
        select(numbered(3000), {"id": ["nothing"]}, None, 1)
    assert len(str(error.value)) < 400


@pytest.mark.parametrize(("where", "limit"), [({}, 7), ({"category": ["odd"]}, None), ({"category": ["odd"]}, 4)])
def test_places_are_those_of_the_selection_and_the_fingerprint_is_of_what_is_selected(
    where: dict[str, list[str]], limit: int | None
) -> None:
    selection = select(numbered(20), where, limit, 5)
    order = ids(selection)
    assert order == ids(selection)
    assert [sample.id for sample in selection.at([3, 0, 3])] == [order[3], order[0], order[3]]
    assert selection.fingerprint() == Listed(list(selection)).fingerprint()
    assert selection.fingerprint() != select(numbered(20), {"category": ["even"]}, limit, 5).fingerprint()


def test_a_selection_proves_the_whole_before_its_part() -> None:
    class Broken(Listed):
        def fingerprint(self) -> Fingerprint:
            raise BenchmarkError("line 3 is bad")

    with pytest.raises(BenchmarkError, match="line 3"):
        select(Broken(numbered(9).samples), {}, 2, 1).fingerprint()
