"""Where data comes from: a folder in place of the hub, second mappings, joins, transforms, tags."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from proctor.benchmarks.jsonl import read_jsonl, read_python_jsonl
from proctor.benchmarks.registry import find_info, load_benchmark
from proctor.benchmarks.rows import BadRow
from proctor.domain.benchmark import Benchmark
from proctor.domain.errors import BenchmarkError, NoDataError
from proctor.domain.plan import BenchmarkSpec
from proctor.domain.taxonomy import TAXONOMY, refuse_foreign_words

Write = Callable[..., Path]
Load = Callable[..., Benchmark]


def from_folder(folder: Path, dataset: dict[str, Any], data: Path | None, **more: Any) -> Benchmark:
    values = {"name": "mine", "dataset": dataset, "scorers": ["exact"], **more}
    (folder / "mine.yaml").write_text(yaml.safe_dump(values))
    return load_benchmark(BenchmarkSpec(benchmark="mine.yaml"), seed=0, folder=folder, data=data)


def test_a_file_of_the_folder_takes_the_place_of_the_hub_in_its_own_fields(tmp_path: Path, write: Write) -> None:
    data = tmp_path / "data"
    data.mkdir()
    write("data/mine.jsonl", [{"frage": "x?", "antwort": "y"}])
    dataset = {
        "source": "hf://org/name",
        "fields": {"input": "question", "target": "answer"},
        "local": {"fields": {"input": "frage", "target": "antwort"}},
    }
    benchmark = from_folder(tmp_path, dataset, data)
    assert [(sample.input, sample.target) for sample in benchmark.samples] == [("x?", "y")]
    assert benchmark.source == "mine.jsonl"
    write("data/other.jsonl", [{"frage": "other?", "antwort": "y"}])
    dataset["local"] = {**dataset["local"], "file": "other.jsonl"}  # type: ignore[dict-item]
    assert next(iter(from_folder(tmp_path, dataset, data).samples)).input == "other?"


def test_a_file_of_ones_own_is_never_replaced(tmp_path: Path, write: Write) -> None:
    (tmp_path / "data").mkdir()
    write("data/mine.jsonl", [{"input": "theirs", "target": "y"}])
    write("rows.jsonl", [{"input": "mine", "target": "y"}])
    benchmark = from_folder(tmp_path, {"source": "rows.jsonl"}, tmp_path / "data")
    assert next(iter(benchmark.samples)).input == "mine"


def test_data_that_is_on_no_hub_says_so(tmp_path: Path, write: Write) -> None:
    benchmark = from_folder(tmp_path, {"source": "data://mine.jsonl"}, None)
    with pytest.raises(NoDataError, match=r"mine needs mine\.jsonl, which is on no hub: no folder is named.*--data"):
        benchmark.samples.fingerprint()
    with pytest.raises(NoDataError, match=r"the folder .* has none"):
        from_folder(tmp_path, {"source": "data://mine.jsonl"}, tmp_path).samples.fingerprint()
    write("mine.jsonl", [{"input": "a", "target": "b"}])
    assert from_folder(tmp_path, {"source": "data://mine.jsonl"}, tmp_path).samples.fingerprint().count == 1


def test_rows_are_joined_by_their_key(load: Load, write: Write) -> None:
    write("q.jsonl", [{"key": 1, "input": "a"}, {"key": 2, "input": "b", "target": "own"}])
    write("a.jsonl", [{"key": 1, "target": "x"}, {"key": 2, "target": "y"}, {"key": 3, "target": "z"}])
    benchmark = load("q.jsonl", {"id": "key"}, dataset={"join": {"source": "a.jsonl", "key": "key"}})
    assert [sample.target for sample in benchmark.samples] == ["x", "own"]
    assert [sample.target for sample in benchmark.samples.at([1, 0])] == ["own", "x"]
    write("a.jsonl", [{"target": "x"}])
    with pytest.raises(BenchmarkError, match=r"a\.jsonl, line 1: there is no field 'key'"):
        load("q.jsonl", dataset={"join": {"source": "a.jsonl", "key": "key"}}).samples.fingerprint()


TRANSFORM = """
def upper(row):
    return {**row, "input": row["input"].upper()}

def twice(row):
    return [{**row, "id": f"{row['id']}a"}, {**row, "id": f"{row['id']}b"}]
"""


def test_a_transform_may_be_ones_own_function(load: Load, write: Write) -> None:
    write("shouting.py", TRANSFORM)
    write("rows.jsonl", [{"id": 1, "input": "a", "target": "x"}, {"id": 2, "input": "b", "target": "y"}])
    upper = load("rows.jsonl", dataset={"transform": "python://shouting:upper"})
    assert [sample.input for sample in upper.samples] == ["A", "B"]
    twice = load("rows.jsonl", dataset={"transform": "python://shouting:twice"})
    assert [sample.id for sample in twice.samples] == ["1a", "1b", "2a", "2b"]
    assert [sample.id for sample in twice.samples.at([3, 0])] == ["2b", "1a"]
    with pytest.raises(BenchmarkError, match=r"no transform 'gsm8'\. Did you mean 'gsm8k'"):
        load("rows.jsonl", dataset={"transform": "gsm8"})
    with pytest.raises(
        BenchmarkError, match=r"lines 1, 2: the transform 'gsm8k' needs the field 'answer'; the row has: id, input"
    ):
        load("rows.jsonl", dataset={"transform": "gsm8k"}).samples.fingerprint()


@pytest.mark.parametrize(
    ("tags", "message"),
    [
        ({"task": "reasonning"}, r"the task 'reasonning' is not in the vocabulary\. Did you mean 'reasoning'"),
        ({"form": "essay"}, "the form 'essay' is not in the vocabulary.* Use binary, choice, short, open, code, tool"),
        ({"language": "english"}, "the language 'english' is not in the vocabulary.*ISO 639-1"),
        ({"langauge": "en"}, r"there is no tag 'langauge'\. Did you mean 'language'"),
    ],
)
def test_words_outside_the_vocabulary_are_refused_with_their_line(
    tags: dict[str, str], message: str, load: Load, write: Write
) -> None:
    write("rows.jsonl", [{"input": "a", "target": "x"}])
    with pytest.raises(BenchmarkError, match=rf"mine\.yaml:\d+: tags: {message}"):
        load("rows.jsonl", tags=tags)


def test_the_vocabulary_takes_itself_and_names_of_ones_own() -> None:
    for name, words in TAXONOMY.items():
        for word in words:
            refuse_foreign_words({name: word, "team": "anything"})
            with pytest.raises(ValueError, match="is not in the vocabulary"):
                refuse_foreign_words({name: f"{word}?", "team": "anything"})


def test_what_a_benchmark_is_can_be_told_without_its_data(tmp_path: Path) -> None:
    info = find_info(BenchmarkSpec.model_validate("gsm8k?variant=direct"), tmp_path)
    assert info is not None
    assert info.variants.keys() == {"cot", "direct"}
    assert (info.shots, info.source) == (8, "hf://openai/gsm8k/main?split=test")
    assert "at once" in info.protocol
    assert find_info(BenchmarkSpec(benchmark="python://a:b"), tmp_path) is None
    puzzles = find_info(BenchmarkSpec(benchmark="puzzles"), tmp_path)
    assert puzzles is not None
    assert puzzles.shots is None


def test_lines_as_python_writes_them_can_be_read_when_asked_for(tmp_path: Path, write: Write) -> None:
    write("rows.jsonl", b'{"input": "a\\u0000", "target": "x", "n": -Infinity}\n[1]\n')
    first, second = [row for _, row in read_python_jsonl("rows.jsonl", tmp_path)]
    assert (first["input"], first["n"]) == ("a\0", float("-inf"))
    assert isinstance(second, BadRow)
    strict = [row for _, row in read_jsonl("rows.jsonl", tmp_path)]
    assert all(isinstance(row, BadRow) for row in strict), "without being asked, such rows are refused"
