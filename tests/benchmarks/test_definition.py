"""Benchmark files: what they say, and what their mistakes look like."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from proctor.benchmarks.check import check_benchmark
from proctor.benchmarks.registry import load_benchmark
from proctor.domain.benchmark import Benchmark, ScorerSpec
from proctor.domain.errors import BenchmarkError
from proctor.domain.message import Message
from proctor.domain.plan import BenchmarkSpec
from proctor.planning.selection import select

Write = Callable[..., Path]
Load = Callable[..., Benchmark]

CITIES = """\
name: capital-cities
version: "1"
licence: CC0-1.0
tags: {language: en, subject: geography, task: knowledge, form: short}
dataset:
  source: cities.jsonl
  fields: {id: key, input: question, target: answer, category: region}
prompt:
  system: Answer with the city only.
  user: "{{ input }}"
scorers:
  - exact: {ignore_case: true}
metrics: [accuracy]
"""
ROWS = [
    {"key": "fr", "question": "Capital of France?", "answer": "Paris", "region": "Europe"},
    {"key": "jp", "question": "Capital of Japan?", "answer": "Tokyo", "region": "Asia"},
    {"key": "de", "question": "Capital of Germany?", "answer": "Berlin", "region": "Europe"},
]


def from_text(text: str, folder: Path, data: list[dict[str, Any]] = ROWS) -> Benchmark:
    (folder / "my.yaml").write_text(text)
    (folder / "cities.jsonl").write_text("".join(json.dumps(row) + "\n" for row in data))
    return load_benchmark(BenchmarkSpec(benchmark="my.yaml"), seed=0, folder=folder)


def test_the_file_of_the_design_document_is_a_benchmark(tmp_path: Path) -> None:
    benchmark = from_text(CITIES, tmp_path)
    assert (benchmark.name, benchmark.version, benchmark.licence) == ("capital-cities", "1", "CC0-1.0")
    assert benchmark.scorers == (ScorerSpec("exact", {"ignore_case": True}, "my.yaml:12: scorers[0]"),)
    assert benchmark.metrics == ("accuracy",)
    assert benchmark.tags["form"] == "short"
    assert benchmark.source == "cities.jsonl"
    first = next(iter(benchmark.samples))
    assert benchmark.renderer.render(first).messages == (
        Message("system", "Answer with the city only."),
        Message("user", "Capital of France?"),
    )


def test_metrics_may_have_options(tmp_path: Path) -> None:
    text = CITIES.replace("[accuracy]", "[{accuracy: {threshold: 0.5}}, {mean: {interval: bootstrap}}, mean]")
    assert from_text(text, tmp_path).metrics == ("accuracy?threshold=0.5", "mean?interval=bootstrap", "mean")


def test_options_are_kept_as_they_are_written(tmp_path: Path) -> None:
    benchmark = from_text(CITIES + "options: {temperature: 0, max_tokens: 64, stop: END}\n", tmp_path)
    assert benchmark.options == {"temperature": 0, "max_tokens": 64, "stop": ["END"]}
    assert from_text(CITIES, tmp_path).options == {}


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("licence:", "license:", "my.yaml:3: license: there is no field 'license'. Did you mean 'licence'?"),
        ("  fields:", "  feilds:", "my.yaml:7: dataset.feilds: there is no field 'feilds'. Did you mean 'fields'?"),
        ("target: answer", "targt: answer", "my.yaml:7: dataset.fields.targt: there is no field 'targt'."),
        ("- exact:", "- exat:", "my.yaml:12: scorers[0]: there is no scorer 'exat'. Did you mean 'exact'? There are:"),
        ("[accuracy]", "[acuracy]", "my.yaml:13: metrics[0]: there is no metric 'acuracy'. Did you mean 'accuracy'?"),
        ("[accuracy]", "[{mean: {intervall: t}}]", "my.yaml:13: metrics[0]: mean: there is no option 'intervall'. Did"),
        ("[accuracy]", "[{mean: {resamples: 5}}]", "my.yaml:13: metrics[0]: mean: resamples must be at least 200"),
        ("[accuracy]", "[{mean: {}, accuracy: {}}]", "my.yaml:13: metrics[0]: a metric is a name, or one name with"),
        ("name: capital-cities\n", "", "my.yaml:1: name: the field 'name' is missing."),
        ('version: "1"', "version: 1.10", "my.yaml:2: version: put it in quotes"),
        ("name: capital-cities", "name: capital cities", "my.yaml:1: name: 'capital cities' cannot be used"),
        ("  source: cities.jsonl", "  source: [1]", "my.yaml:6: dataset.source: [1] cannot be used"),
        ("  user:", "  choices: A;\n  user:", "my.yaml:10: prompt.choices: 'A;' is not one of A., A), (A), A:."),
        ("{{ input }}", "{{ answer }}", "my.yaml:8: a prompt may not use {{ answer }}: that is the expected answer"),
        ("{{ input }}", "{% if %}", "my.yaml:8: prompt.user: the template has a mistake on its line 1"),
        ("cities.jsonl", "cities.xls", "my.yaml:5: The data file 'cities.xls' ends in none of"),
        ("scorers:\n  - exact: {ignore_case: true}", "scorers: []", "my.yaml:11: scorers: [] cannot be used"),
        ("- exact: {ignore_case: true}", "- {exact: {}, regex: {}}", "my.yaml:12: scorers[0]: a scorer is a name, or"),
        ("target: answer", "target: {field: answer, kind: letr}", "'letr' is not one of auto, index, position, letter"),
        ("target: answer", "target: {field: answer, pattern: '('}", "pattern is not a regular expression"),
        ("id: key", "choices: {fields: [a], keys: b}", "give either 'fields'"),
    ],
)  # fmt: skip
def test_a_mistake_names_its_line_its_field_and_what_was_meant(
    old: str, new: str, message: str, tmp_path: Path
) -> None:
    assert old in CITIES
    with pytest.raises(BenchmarkError) as error:
        from_text(CITIES.replace(old, new), tmp_path)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_a_prompt_that_cannot_be_filled_in_is_found_before_anything_is_asked(tmp_path: Path) -> None:
    text = CITIES.replace("{{ input }}", "{{ input }} {{ hint }}")
    rows = [{**row, "hint": "h"} for row in ROWS]
    assert from_text(text, tmp_path, rows).samples.fingerprint().count == 3
    del rows[1]["hint"]
    samples = from_text(text, tmp_path, rows).samples
    with pytest.raises(BenchmarkError, match=r"1 bad row of 3: line 2: prompt\.user: there is no 'hint'"):
        samples.fingerprint()
    with pytest.raises(BenchmarkError, match="line 2"):
        select(samples, {"category": ["Asia"]}, 1, 0).fingerprint()


def test_a_missing_target_is_an_error_only_for_scorers_that_need_one(tmp_path: Path) -> None:
    rows = [*ROWS, {**ROWS[0], "key": "xx", "answer": None}]
    with pytest.raises(BenchmarkError, match="line 4: there is no target, and the scorer 'exact' needs one"):
        check_benchmark(from_text(CITIES, tmp_path, rows))
    report = check_benchmark(from_text(CITIES.replace("exact: {ignore_case: true}", "puzzle"), tmp_path, rows))
    assert report.missing_targets == 1
    assert "1 sample has no target: xx" in report.warnings


def test_a_check_says_what_is_there(tmp_path: Path) -> None:
    rows = [*ROWS, {"key": "twin", "question": ROWS[0]["question"], "answer": "Paris", "region": None}]
    benchmark = from_text(CITIES, tmp_path, rows)
    report = check_benchmark(benchmark)
    assert (report.count, report.categories, report.missing_targets) == (4, {"Asia": 1, "Europe": 2}, 0)
    assert report.digest == benchmark.samples.fingerprint().digest
    assert report.first_prompt.messages[1].content == "Capital of France?"
    assert report.first_target == ("Paris",)
    assert report.warnings == (
        "1 sample asks what another already asks: twin",
        "1 sample has no category, though others do: twin",
    )


def test_choices_are_laid_out_as_the_file_says(load: Load, write: Write) -> None:
    write("c.jsonl", [{"q": "2 + 2?", "options": ["3", "4"], "answer": 1}])
    fields = {"input": "q", "choices": "options", "target": "answer"}
    benchmark = load("c.jsonl", fields, prompt={"choices": "(A)"}, scorers=["choice"])
    report = check_benchmark(benchmark)
    assert report.first_target == ("B",)
    assert report.first_prompt.text.startswith("2 + 2?\n\n(A) 3\n(B) 4\n\n")


SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"], "additionalProperties": False}


@pytest.mark.parametrize("given", [SCHEMA, "form"])
def test_the_schema_of_answers_is_sent_with_every_question(
    write: Write, load: Load, given: dict[str, object] | str
) -> None:
    write("data.jsonl", [{"input": "3 + 4", "target": "7", "form": SCHEMA}])
    benchmark = load("data.jsonl", prompt={"schema": given})
    assert benchmark.samples.fingerprint().count == 1
    [sample] = benchmark.samples
    assert benchmark.renderer.render(sample).schema == SCHEMA
    assert benchmark.renderer.digest != load("data.jsonl").renderer.digest


def test_a_sample_without_the_schema_that_is_asked_for_is_a_bad_row(write: Write, load: Load) -> None:
    write("data.jsonl", [{"input": "3 + 4", "target": "7", "form": SCHEMA}, {"input": "1 + 1", "target": "2"}])
    with pytest.raises(BenchmarkError, match=r"line 2: prompt.schema: 'form' of the sample '2' is not a JSON schema"):
        load("data.jsonl", prompt={"schema": "form"}).samples.fingerprint()


def test_the_layout_of_choices_can_be_asked_for_whether_or_not_the_file_names_one(tmp_path: Path, write: Write) -> None:
    write("data.jsonl", [{"input": "Which?", "choices": ["this", "that"], "target": "A"}])
    write("mine.yaml", "name: mine\ndataset: {source: data.jsonl}\nscorers: [choice]\n")
    spec = BenchmarkSpec.model_validate("mine.yaml?choices=(A)")
    benchmark = load_benchmark(spec, seed=0, folder=tmp_path)
    [sample] = benchmark.samples
    assert "(A) this\n(B) that" in benchmark.renderer.render(sample).text


def test_tools_may_stand_in_the_file_itself(write: Write, load: Load) -> None:
    tool = {"name": "add", "description": "Adds.", "parameters": {"type": "object", "properties": {}}}
    write("data.jsonl", [{"input": "3 + 4", "target": "7"}])
    benchmark = load("data.jsonl", prompt={"tools": [tool]})
    [sample] = benchmark.samples
    assert benchmark.renderer.render(sample).tools == (tool,)


def test_a_function_says_what_a_file_would_say(tmp_path: Path) -> None:
    (tmp_path / "doubles.py").write_text(
        "def create(count=2, seed=0):\n"
        "    rows = ({'id': n, 'input': f'Twice {n}?', 'target': str(2 * n)} for n in range(int(count)))\n"
        "    return {'name': 'doubles', 'rows': rows, 'scorers': ['numeric'], 'prompt': {'system': 'Be quick.'}}\n\n\n"
        "def wrong():\n    return {'name': 'x', 'rows': [], 'scorrers': ['numeric']}\n\n\n"
        "def odd():\n    return {'name': 'x', 'rows': [7], 'scorers': ['numeric']}\n"
    )

    def loaded(text: str) -> Benchmark:
        return load_benchmark(BenchmarkSpec.model_validate(text), seed=0, folder=tmp_path)

    benchmark = loaded("python://doubles:create?count=3")
    assert benchmark.samples.fingerprint().count == 3
    assert [sample.target for sample in benchmark.samples] == ["0", "2", "4"]
    assert benchmark.renderer.render(next(iter(benchmark.samples))).messages[0] == Message("system", "Be quick.")
    with pytest.raises(BenchmarkError, match="scorrers"):
        loaded("python://doubles:wrong")
    with pytest.raises(BenchmarkError, match="row 1: a row is a mapping or a Sample, not int"):
        loaded("python://doubles:odd").samples.fingerprint()
