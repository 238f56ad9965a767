"""Benchmarks by name, file, plugin and function."""

from __future__ import annotations

from pathlib import Path

import pytest

from proctor.benchmarks.registry import list_benchmarks, load_benchmark
from proctor.domain.benchmark import Benchmark
from proctor.domain.errors import BenchmarkError, NotFoundError
from proctor.domain.plan import BenchmarkSpec
from proctor.puzzles.family import KINDS, check, solve


def loaded(text: str, folder: Path, seed: int = 1, **more: object) -> Benchmark:
    return load_benchmark(BenchmarkSpec.model_validate({"benchmark": text, **more}), seed=seed, folder=folder)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("puzles", r"No benchmark 'puzles'\. Did you mean 'puzzles'\? Run 'proctor benchmarks'\."),
        ("mine.yaml", r"There is no benchmark file mine\.yaml\. Did you mean 'mime\.yaml'\?"),
        ("no/such/folder.yaml", "There is no benchmark file no/such/folder.yaml"),
    ],
)
def test_what_is_not_there_gets_a_suggestion(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "mime.yaml").write_text("")
    with pytest.raises(NotFoundError, match=message):
        loaded(text, tmp_path)


def test_data_is_not_taken_for_a_benchmark(tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl").write_text("{}")
    with pytest.raises(BenchmarkError, match="not a benchmark file"):
        loaded("rows.jsonl", tmp_path)
    (tmp_path / "x.yaml").mkdir()
    with pytest.raises(BenchmarkError, match="is a folder"):
        loaded("x.yaml", tmp_path)


def test_every_listed_benchmark_can_be_loaded_and_says_what_it_is(tmp_path: Path) -> None:
    listed = list_benchmarks()
    assert {"puzzles", *KINDS} <= {info.name for info in listed}
    for info in listed:
        assert info.description
        assert info.licence
        assert info.form
        assert info.source
    assert {info.name: info.parameters for info in listed}["puzzles"] == {"count": "200", "level": "1-5", "kind": "all"}


@pytest.mark.parametrize("name", ["puzzles", *KINDS])
def test_puzzles_are_benchmarks_with_kinds_as_categories(name: str, tmp_path: Path) -> None:
    benchmark = loaded(name, tmp_path, seed=5)
    samples = list(benchmark.samples)
    assert len(samples) == 200 == benchmark.samples.fingerprint().count
    assert {sample.category for sample in samples} == (set(KINDS) if name == "puzzles" else {name})
    assert {sample.tags["level"] for sample in samples} == set("12345")
    assert len({sample.id for sample in samples}) == 200
    for sample in samples:
        assert sample.target == solve(benchmark.renderer.render(sample).text)
        assert check(sample.input_text, str(sample.target))
    assert list(benchmark.samples.at([199, 0])) == [samples[199], samples[0]]
    with pytest.raises(BenchmarkError, match="no puzzle 201"):
        list(benchmark.samples.at([200]))


def test_equal_ids_are_equal_puzzles_and_another_seed_gives_others(tmp_path: Path) -> None:
    few = {sample.id: sample for sample in loaded("puzzles?count=30", tmp_path).samples}
    many = {sample.id: sample for sample in loaded("puzzles?count=60", tmp_path).samples}
    alone = {sample.id: sample for sample in loaded("logic?count=60", tmp_path).samples}
    assert few.items() <= many.items()
    assert all(many[key] == alone[key] for key in many.keys() & alone.keys())
    assert many.keys() & alone.keys()
    other = {sample.id: sample for sample in loaded("puzzles?count=60", tmp_path, seed=2).samples}
    assert not other.keys() & many.keys()


@pytest.mark.parametrize(
    ("parameters", "levels", "kinds"),
    [
        ({"level": 2}, {"2"}, set(KINDS)),
        ({"level": "2-4", "kind": "logic"}, {"2", "3", "4"}, {"logic"}),
        ({"level": [1, 5], "kind": "dates, sorting"}, {"1", "5"}, {"dates", "sorting"}),
        ({"level": "1,3", "kind": ["dates"]}, {"1", "3"}, {"dates"}),
    ],
)
def test_levels_and_kinds_can_be_chosen(
    parameters: dict[str, object], levels: set[str], kinds: set[str], tmp_path: Path
) -> None:
    samples = list(loaded("puzzles", tmp_path, count=60, **parameters).samples)
    assert {sample.tags["level"] for sample in samples} == levels
    assert {sample.category for sample in samples} == kinds


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "puzzles?cuont=5",
            r"The benchmark 'puzzles' has no parameter 'cuont'\. Did you mean 'count'\? It takes: count,",
        ),
        ("logic?kind=dates", "'logic' has no parameter 'kind'"),
        ("puzzles?count=many", "'count' of the benchmark 'puzzles' is 'many'; it must be a whole number"),
        ("puzzles?count=0", "it must be 1 or more"),
        ("puzzles?count=1000000000", "'count' of 'puzzles' is 1,000,000,000; it must be 100,000 or less"),
        ("dates?count=100001", "it must be 100,000 or less"),
        ("puzzles?level=6", "it must be a level from 1 to 5"),
        ("puzzles?level=4-2", "it must be a level from 1 to 5"),
        ("puzzles?level=x", "it must be a level from 1 to 5"),
        ("puzzles?kind=datse", r"no kind of puzzle 'datse'\. Did you mean 'dates'"),
    ],
)
def test_parameters_that_are_not_understood_are_refused(text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(BenchmarkError, match=message):
        loaded(text, tmp_path)


FUNCTION = """
from proctor.benchmarks.puzzles import puzzles

def few(*, seed: int, count: int = 3, easy: bool = False, share: float = 1.0):
    return puzzles(seed=seed, count=count, level="1" if easy else "5")

def wrong():
    return 5

def needs(size: int):
    return puzzles(seed=0, count=size)

def anything(**options):
    return puzzles(seed=0, count=len(options))
"""


def test_a_function_may_give_a_benchmark(tmp_path: Path) -> None:
    (tmp_path / "functions_of_test.py").write_text(FUNCTION)
    head = "python://functions_of_test"
    assert len(list(loaded(f"{head}:few", tmp_path).samples)) == 3
    easy = loaded(f"{head}:few", tmp_path, count="4", easy="true", share=1, seed=9)
    assert [sample.tags["level"] for sample in easy.samples] == ["1"] * 4
    assert all("-9-" in sample.id for sample in easy.samples)
    assert len(list(loaded(f"{head}:anything", tmp_path, a=1, b=2).samples)) == 2
    for name, parameters, message in (
        ("wrong", {}, "must give a Benchmark, or a mapping as in a benchmark file, not int"),
        ("needs", {}, "needs the parameter 'size'"),
        ("few", {"easy": "perhaps"}, "must be true or false"),
        ("few", {"count": True}, "must be a whole number"),
        ("few", {"size": 1}, "no parameter 'size'"),
        ("fw", {}, "Did you mean 'few'"),
    ):
        with pytest.raises(BenchmarkError, match=message):
            loaded(f"{head}:{name}", tmp_path, **parameters)


def test_a_file_takes_no_parameters_and_examples_cannot_be_invented(tmp_path: Path) -> None:
    (tmp_path / "my.yaml").write_text("name: x\ndataset: {source: a.jsonl}\nscorers: [exact]\n")
    with pytest.raises(BenchmarkError, match=r"has no parameter 'count'.*It takes: choices"):
        loaded("my.yaml", tmp_path, count=3)
    with pytest.raises(BenchmarkError, match="'shots' cannot be given"):
        loaded("my.yaml", tmp_path, shots=3)
    assert loaded("my.yaml", tmp_path, shots=0).name == "x"


def versioned(folder: Path, name: str, version: str) -> None:
    rows = f"sums-{version}.jsonl"
    (folder / rows).write_text(f'{{"input": "{version}?", "target": "{version}"}}\n')
    (folder / name).write_text(f"name: sums\nversion: '{version}'\ndataset: {{source: {rows}}}\nscorers: [exact]\n")


def test_a_version_is_named_after_the_benchmark_and_is_the_one_it_declares(tmp_path: Path) -> None:
    versioned(tmp_path, "sums.yaml", "2")
    versioned(tmp_path, "sums@1.yaml", "1")
    for text, version in (("sums.yaml", "2"), ("sums.yaml@2", "2"), ("sums.yaml@1", "1"), ("sums@1.yaml", "1")):
        found = loaded(text, tmp_path)
        assert (found.name, found.version, next(iter(found.samples)).target) == ("sums", version, version)
    with pytest.raises(NotFoundError, match=r"no version '3' of the benchmark 'sums\.yaml'\. There are: 1, 2\."):
        loaded("sums.yaml@3", tmp_path)
    current = loaded("mmlu", tmp_path).version
    assert loaded(f"mmlu@{current}", tmp_path).name == "mmlu"
    assert loaded("puzzles@1", tmp_path).name == "puzzles"
    with pytest.raises(NotFoundError, match=rf"no version '0' of the benchmark 'mmlu'\. There are: {current}\."):
        loaded("mmlu@0", tmp_path)


FUNCTIONS = """
def fixed():
    return {"name": "sums", "version": "2", "rows": [{"input": "?", "target": "2"}], "scorers": ["exact"]}

def several(version="3", more=""):
    return {**fixed(), "version": version, "rows": [{"input": "?", "target": version + more}]}
"""


def test_a_function_is_named_by_version_and_makes_the_one_that_is_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "versioned_sums.py").write_text(FUNCTIONS)
    monkeypatch.syspath_prepend(tmp_path)
    assert loaded("python://versioned_sums:fixed@2", tmp_path).version == "2"
    with pytest.raises(NotFoundError, match=r"no version '1' of the benchmark 'python://.*fixed'\. There are: 2\."):
        loaded("python://versioned_sums:fixed@1", tmp_path)
    for text, version, target in (("several", "3", "3"), ("several@1", "1", "1"), ("several@1?more=x", "1", "1x")):
        found = loaded(f"python://versioned_sums:{text}", tmp_path)
        assert (found.version, next(iter(found.samples)).target) == (version, target)


def test_a_file_that_calls_itself_another_version_is_not_taken_for_the_one_in_its_name(tmp_path: Path) -> None:
    versioned(tmp_path, "sums.yaml", "2")
    versioned(tmp_path, "sums@1.yaml", "4")
    with pytest.raises(NotFoundError, match=r"There are: 2, 4\."):
        loaded("sums.yaml@1", tmp_path)


def test_an_at_sign_in_a_file_or_folder_name_is_no_version(tmp_path: Path) -> None:
    (tmp_path / "a@b").mkdir()
    versioned(tmp_path / "a@b", "sums@new.yaml", "1")
    assert loaded("a@b/sums@new.yaml", tmp_path).version == "1"
    assert loaded("a@b/sums@new.yaml@1", tmp_path).version == "1"
