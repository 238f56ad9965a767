"""Rows in the hub's own field names: invented content, the published form. Needs neither data nor network."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from proctor.benchmarks.datasets import DataLocation
from proctor.benchmarks.definition import Asked, build, read_definition
from proctor.benchmarks.registry import list_benchmarks
from proctor.domain.benchmark import Benchmark
from proctor.domain.sample import Sample
from proctor.domain.taxonomy import TAXONOMY

CATALOG = Path(__file__).resolve().parents[2] / "src/proctor/catalog"
LABELLED = {"text": ["red", "green", "blue"], "label": ["1", "2", "3"]}
FUNCTION = {
    "name": "weather.get",
    "description": "The weather.",
    "parameters": {
        "type": "dict",
        "properties": {"city": {"type": "string"}, "days": {"type": "tuple", "items": {"type": "float"}}},
        "required": ["city"],
    },
}

ROWS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "gsm8k": (
        {"question": "Ann has 2 pens and buys 3.", "answer": "2+3=<<2+3=5>>5 pens\n#### 1,005"},
        {"target": "1005", "metadata": {"solution": "2+3=5 pens"}},
    ),
    "mmlu": (
        {"question": "Q?", "subject": "anatomy", "choices": ["a", "b", "c", "d"], "answer": 2},
        {"target": "C", "category": "anatomy", "choices": ("a", "b", "c", "d")},
    ),
    "truthfulqa-mc": (
        {
            "question": "Q?",
            "mc1_targets": {"choices": ["true", "false", "wrong"], "labels": [1, 0, 0]},
            "mc2_targets": {"choices": ["true", "right", "false"], "labels": [1, 1, 0]},
        },
        {"input": "Q?"},
    ),
    "truthfulqa-gen": (
        {
            "question": "Q?",
            "category": "Law",
            "best_answer": "x",
            "correct_answers": ["x", "y"],
            "incorrect_answers": [],
        },
        {"target": ("x", "y"), "category": "Law"},
    ),
    "ifeval": (
        {"key": 7, "prompt": "No commas.", "instruction_id_list": ["punctuation:no_comma"], "kwargs": [{}]},
        {"id": "7", "input": "No commas."},
    ),
    "bbh": (
        {"input": "True and False is", "target": "False", "config": "boolean_expressions", "row": 0},
        {"target": "False", "category": "boolean_expressions", "group": None},
    ),
    "math": (
        {"problem": "Half?", "level": "Level 1", "type": "Algebra", "solution": r"So $\boxed{\frac{1}{2}}$."},
        {"target": r"\frac{1}{2}", "category": "Algebra", "tags": {"level": "Level 1"}},
    ),
    "arc-challenge": (
        {"id": "M1", "question": "Colour?", "choices": LABELLED, "answerKey": "2"},
        {"id": "M1", "target": "B", "choices": ("red", "green", "blue")},
    ),
    "arc-easy": (
        {"id": "M2", "question": "Colour?", "choices": LABELLED, "answerKey": "3"},
        {"id": "M2", "target": "C"},
    ),
    "openbookqa": (
        {"id": "7-1", "question_stem": "Colour?", "choices": LABELLED, "answerKey": "1"},
        {"id": "7-1", "target": "A", "input": "Colour?"},
    ),
    "hellaswag": (
        {
            "ind": 4,
            "activity_label": "Cooking",
            "ctx_a": "A pan is hot. [header] Step [title] One",
            "ctx_b": "the cook",
            "endings": ["stirs. [substeps] It", "leaves."],
            "label": "1",
        },
        {"target": "B", "input": "Cooking: A pan is hot. Step. One the cook", "choices": ("stirs. It", "leaves.")},
    ),
    "winogrande": (
        {"sentence": "The _ was full.", "option1": "cup", "option2": "jug", "answer": "2"},
        {"target": "B", "choices": ("cup", "jug")},
    ),
    "piqa": ({"goal": "Open it", "sol1": "Pull", "sol2": "Push", "label": 0}, {"target": "A", "input": "Open it"}),
    "svamp": (
        {
            "ID": "chal-1",
            "Body": "He has 8.",
            "Question": "Half?",
            "Equation": "x",
            "Answer": "4.0",
            "Type": "Division",
        },
        {"id": "chal-1", "input": "He has 8. Half?", "target": "4.0", "category": "Division"},
    ),
    "mgsm": (
        {"question": "Zwei?", "answer_number": 1200, "config": "de", "row": 17, "equation_solution": None},
        {"id": "de-17", "target": "1200", "category": "de", "group": "17", "tags": {"language": "de"}},
    ),
    "jmmlu": (
        {"question": "問?", "choices": ["一", "二", "三", "四"], "answer": 3, "config": "anatomy", "row": 0},
        {"target": "D", "category": "anatomy"},
    ),
    "kobest-boolq": (
        {"paragraph": "글", "question": "예?", "label": 1},
        {"target": "B", "choices": ("아니요", "예")},
    ),
    "kobest-copa": (
        {"premise": "비", "question": "원인", "alternative_1": "가", "alternative_2": "나", "label": 1},
        {"target": "B", "input": "비"},
    ),
    "kobest-hellaswag": (
        {"context": "글", "ending_1": "가", "ending_2": "나", "ending_3": "다", "ending_4": "라", "label": 2},
        {"target": "C"},
    ),
    "kobest-sentineg": ({"sentence": "좋다", "label": 1}, {"target": "B", "choices": ("부정", "긍정")}),
    "kobest-wic": (
        {"word": "눈", "context_1": "[눈]이 온다", "context_2": "[눈]을 떴다", "label": 0},
        {"target": "A", "input": "[눈]이 온다\n[눈]을 떴다"},
    ),
    "aime24": (
        {"id": 60, "problem": "Find n.", "solution": "…", "answer": "204", "url": "u", "year": "2024"},
        {"id": "60", "target": "204"},
    ),
    "mt-bench": (
        {"prompt": ["Write.", "Again."], "reference": ["r1", "r2"], "category": "math", "prompt_id": 81},
        {"id": "81", "input": "Write.", "follow_ups": ("Again.",), "target": "r2", "category": "math"},
    ),
    "agieval-sat-math": (
        {"query": "Q: x? Answer Choices: (A)1 (B)2\nA: Among", "choices": ["(A)1", "(B)2"], "gold": [1]},
        {"target": "B", "input": "x?", "choices": ("1", "2")},
    ),
    "bfcl-simple": (
        {
            "id": "s0",
            "question": [[{"role": "user", "content": "Rain?"}]],
            "function": [FUNCTION],
            "ground_truth": [{"weather.get": {"city": ["Rome"]}}],
        },
        {"id": "s0"},
    ),
}


def from_hub(name: str, row: dict[str, Any], folder: Path, variant: str | None = None) -> Benchmark:
    """The catalogue's benchmark, its rows from a file in place of the hub."""
    asked = Asked(shots=0, variant=variant)
    definition, document = read_definition(CATALOG / f"{name}.yaml", asked=asked)
    (folder / "rows.jsonl").write_text(json.dumps(row) + "\n")
    dataset = definition.dataset.model_copy(update={"source": "rows.jsonl", "join": None})
    return build(definition.model_copy(update={"dataset": dataset}), document, DataLocation(name, folder), asked)


@pytest.mark.parametrize("name", ROWS)
def test_a_row_of_the_hub_becomes_the_sample_it_means(name: str, tmp_path: Path) -> None:
    row, expected = ROWS[name]
    benchmark = from_hub(name, row, tmp_path)
    assert benchmark.samples.fingerprint().count == 1
    (sample,) = benchmark.samples
    found = {field: getattr(sample, field) for field in expected}
    if "metadata" in expected:
        found["metadata"] = dict(sample.metadata)
    assert found == expected
    prompt = benchmark.renderer.render(sample)
    assert sample.input_text in prompt.text
    assert prompt == benchmark.renderer.render(replace(sample, target="other"))


def test_true_choices_keep_their_letters_whatever_their_order(tmp_path: Path) -> None:
    row = ROWS["truthfulqa-mc"][0]
    for variant, true in ((None, {"true"}), ("mc2", {"true", "right"})):
        (sample,) = from_hub("truthfulqa-mc", row, tmp_path, variant).samples
        assert {sample.choices["ABC".index(letter)] for letter in sample.targets} == true
    orders = set()
    for number in range(40):
        (sample,) = from_hub("truthfulqa-mc", {**row, "question": f"Q{number}?"}, tmp_path).samples
        orders.add(sample.targets)
    assert orders == {("A",), ("B",), ("C",)}


def test_functions_are_offered_as_endpoints_take_them(tmp_path: Path) -> None:
    benchmark = from_hub("bfcl-simple", ROWS["bfcl-simple"][0], tmp_path)
    (sample,) = benchmark.samples
    (tool,) = benchmark.renderer.render(sample).tools
    assert tool["function"]["name"] == "weather_get"
    parameters = tool["function"]["parameters"]
    assert parameters["type"] == "object"
    assert parameters["properties"]["days"] == {"type": "array", "items": {"type": "number"}}
    assert sample.metadata["function"][0]["name"] == "weather.get", "the scorer gets the published form"


def test_every_part_of_the_catalogue_says_what_it_is() -> None:
    listed = {info.name: info for info in list_benchmarks()}
    for path in CATALOG.glob("*.yaml"):
        info = listed[path.stem]
        assert info.description
        assert info.licence
        assert info.source
        assert {name: info.tags[name] in words for name, words in TAXONOMY.items()} == dict.fromkeys(TAXONOMY, True)
        if info.source.startswith("hf://"):
            assert len(info.protocol) > 40
            assert info.homepage
        assert all(len(text) > 20 for text in info.variants.values())


def sample_of(name: str, folder: Path) -> Sample:
    return next(iter(from_hub(name, ROWS[name][0], folder).samples))


@pytest.mark.parametrize("language", ["bn", "de", "en", "es", "fr", "ja", "ru", "sw", "te", "th", "zh"])
def test_each_language_is_asked_in_itself(language: str, tmp_path: Path) -> None:
    benchmark = from_hub("mgsm", {**ROWS["mgsm"][0], "config": language}, tmp_path)
    (sample,) = benchmark.samples
    text = benchmark.renderer.render(sample).text
    assert text.startswith("Zwei?\n\n")
    assert len(text) > 20
    if language != "en":
        assert "step by step" not in text
