"""Inputs of the kind `json`: checked against a schema when the benchmark is read, and used by templates."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from commands import Cli
from proctor.benchmarks.check import check_benchmark
from proctor.domain.benchmark import Benchmark
from proctor.domain.errors import BenchmarkError

Write = Callable[..., Path]
Load = Callable[..., Benchmark]
SCHEMA: dict[str, Any] = {
    "type": "object",
    "required": ["customer", "items"],
    "properties": {
        "customer": {"type": "object", "properties": {"age": {"type": "integer", "minimum": 0}}},
        "items": {"type": "array", "items": {"type": "string"}},
        "note": {"type": "string", "pattern": "^[a-z]+$"},
    },
}
ORDER: dict[str, Any] = {"customer": {"name": "Ada", "age": 36}, "items": ["pen", "ink"]}
JSON = {"kind": "json", "schema": SCHEMA}


def only_prompt(benchmark: Benchmark) -> str:
    benchmark.samples.fingerprint()
    return benchmark.renderer.render(next(iter(benchmark.samples))).messages[-1].text


def refused(benchmark: Benchmark) -> str:
    with pytest.raises(BenchmarkError) as caught:
        benchmark.samples.fingerprint()
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_an_object_is_written_as_indented_json_unless_a_template_says_otherwise(write: Write, load: Load) -> None:
    write("d.jsonl", [{"input": {"name": "Zoë", "n": 1}, "target": "x"}])
    assert only_prompt(load("d.jsonl", input={"kind": "json"})) == '{\n  "name": "Zoë",\n  "n": 1\n}'


def test_templates_use_the_fields_of_the_object_by_the_data_s_name_too(write: Write, load: Load) -> None:
    write("d.jsonl", [{"order": ORDER, "target": "x"}])
    user = "{{ input.customer.name }} ({{ order.customer.age }}) wants {{ input.items | join(' and ') }}."
    found = load("d.jsonl", {"input": "order"}, input=JSON, prompt={"user": user})
    assert only_prompt(found) == "Ada (36) wants pen and ink."


def test_a_field_goes_before_a_method_of_its_name_and_parts_are_written_as_json(write: Write, load: Load) -> None:
    write("d.jsonl", [{"input": ORDER, "target": "x"}])
    user = "{{ input.items }} {{ input.customer }} {% for key in input.keys() %}{{ key }};{% endfor %}"
    assert only_prompt(load("d.jsonl", input=JSON, prompt={"user": user})) == (
        '[\n  "pen",\n  "ink"\n] {\n  "name": "Ada",\n  "age": 36\n} customer;items;'
    )


def test_templates_with_logic_see_the_same_fields(write: Write, load: Load) -> None:
    write("d.jsonl", [{"input": ORDER, "target": "x"}])
    user = "{{ input.items | sort | first }}{{ '!' * input.customer.age // 12 if false else '!' * 3 }}{{ input.items }}"
    assert only_prompt(load("d.jsonl", input=JSON, prompt={"user": user})).startswith('ink!!![\n  "pen"')


def test_a_field_that_is_not_there_names_the_sample_and_what_is(write: Write, load: Load) -> None:
    write("d.jsonl", [{"id": "a1", "input": ORDER, "target": "x"}])
    said = refused(load("d.jsonl", input=JSON, prompt={"user": "{{ input.price }}"}))
    assert "the object has no field 'price'; it has: customer, items" in said
    assert "'a1'" in said


def test_a_broken_rule_names_the_sample_the_path_and_the_rule(write: Write, load: Load) -> None:
    bad = {"customer": {"age": -3}, "items": ["pen", 7]}
    write("d.jsonl", [{"id": "a1", "input": ORDER, "target": "x"}, {"id": "a2", "input": bad, "target": "x"}])
    assert refused(load("d.jsonl", input=JSON)) == (
        "d.jsonl: 1 bad row of 2: line 2: the input of the sample 'a2': "
        "at customer/age: -3 is less than the minimum of 0 (rule properties/customer/properties/age/minimum); "
        'at items/1: 7 is not of type "string" (rule properties/items/items/type).'
    )


def test_a_missing_field_is_a_mistake_of_the_whole_input(write: Write, load: Load) -> None:
    write("d.jsonl", [{"input": {"items": []}, "target": "x"}])
    assert 'the whole of it: "customer" is a required property (rule required)' in refused(load("d.jsonl", input=JSON))


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (7, "it must be an object or a list"),
        ("plain text", "it is not JSON"),
        ('"a JSON text"', "it must be an object or a list"),
    ],
)
def test_what_is_no_json_object_is_a_bad_row(write: Write, load: Load, given: Any, said: str) -> None:
    write("d.jsonl", [{"input": given, "target": "x"}])
    assert said in refused(load("d.jsonl", input={"kind": "json", "schema": {}}))


def test_a_table_has_json_as_text(write: Write, load: Load) -> None:
    write("d.csv", 'input,target\n"{""n"": 1}",x\n')
    assert only_prompt(load("d.csv", input={"kind": "json"}, prompt={"user": "{{ input.n + 1 }}"})) == "2"


def test_a_target_inside_the_input_is_refused_since_the_prompt_would_show_it(write: Write, load: Load) -> None:
    write("d.jsonl", [{"input": {"q": "?", "answer": "x"}}])
    with pytest.raises(BenchmarkError, match=r"'input\.answer' is in the input 'input', which the prompt shows"):
        load("d.jsonl", {"target": "input.answer"}, input={"kind": "json"})


def doubling(depth: int) -> dict[str, Any]:
    """Few lines, 2**depth steps."""
    steps = {f"d{n}": {"allOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 2} for n in range(depth)}
    return {"$defs": {**steps, f"d{depth}": {}}, "$ref": "#/$defs/d0"}


def nested(depth: int) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for _ in range(depth):
        made = {"not": made}
    return made


@pytest.mark.parametrize(
    ("schema", "said"),
    [
        (doubling(60), "takes more than 5 s"),
        ({"type": "objekt"}, "The schema cannot be used"),
        ({"$ref": "file:///etc/passwd"}, "nothing is fetched for a schema"),
        ({"$ref": "http://127.0.0.1:9/schema"}, "nothing is fetched for a schema"),
        ({"pattern": "(x{1000}){1000}"}, "The schema cannot be used"),
        ({"pattern": "(?<!x)y"}, "The schema cannot be used"),
        ({"enum": ["x" * 1_100_000]}, "at most 1,000,000 are allowed"),
        (nested(100), "nested more than 60 levels deep"),
    ],
    ids=["doubling", "type", "file", "address", "size of a pattern", "backtracking", "size", "depth"],
)
def test_a_hostile_schema_is_a_mistake_of_the_file_in_little_time(
    write: Write, load: Load, schema: dict[str, Any], said: str
) -> None:
    write("d.jsonl", [{"input": {}, "target": "x"}])
    with pytest.raises(BenchmarkError) as caught:
        load("d.jsonl", input={"kind": "json", "schema": schema}).samples.fingerprint()
    assert said in str(caught.value)
    assert str(caught.value).startswith("mine.yaml:")


def test_a_schema_that_refers_to_itself_is_one_like_others(write: Write, load: Load) -> None:
    schema = {"type": "object", "properties": {"next": {"$ref": "#"}}}
    write("d.jsonl", [{"input": {"next": {"next": 1}}, "target": "x"}])
    assert "at next/next: 1 is not of type" in refused(load("d.jsonl", input={"kind": "json", "schema": schema}))


def test_the_schema_is_part_of_no_digest_but_the_input_s_kind_is(write: Write, load: Load) -> None:
    write("d.jsonl", [{"input": '{"n": 1}', "target": "x"}])
    as_text, as_json = load("d.jsonl"), load("d.jsonl", input={"kind": "json"})
    with_schema = load("d.jsonl", input={"kind": "json", "schema": {"type": "object"}})
    assert as_text.renderer.digest != as_json.renderer.digest
    assert as_json.renderer.digest == with_schema.renderer.digest
    assert check_benchmark(as_json).digest == check_benchmark(with_schema).digest


def test_check_shows_the_kind_and_places_a_mistake(write: Write, load: Load, cli: Cli, tmp_path: Path) -> None:
    write("d.jsonl", [{"input": ORDER, "target": "x"}])
    load("d.jsonl", input=JSON)
    assert "input: JSON, checked against a schema" in cli("benchmarks", "check", tmp_path / "mine.yaml").out
    write("d.jsonl", [{"input": {**ORDER, "note": "A"}, "target": "x"}])
    done = cli("benchmarks", "check", tmp_path / "mine.yaml")
    assert done.code == 2
    assert "line 1: the input of the sample '1': at note:" in done.err
