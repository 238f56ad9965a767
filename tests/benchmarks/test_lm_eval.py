"""Tasks of the Language Model Evaluation Harness, run as benchmarks or refused by name."""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.benchmarks.registry import load_benchmark
from proctor.domain.benchmark import Benchmark
from proctor.domain.errors import BenchmarkError, NotFoundError
from proctor.domain.plan import BenchmarkSpec
from proctor.domain.response import Response
from proctor.domain.sample import Sample
from proctor.domain.score import Score
from proctor.scorers.lm_eval import create
from proctor.scorers.registry import create_scorer

SUMS = r"""
tag: [math_word_problems]
task: sums
dataset_path: json
dataset_kwargs: {data_files: {test: test.jsonl, train: train.jsonl}}
output_type: generate_until
training_split: train
fewshot_split: train
test_split: test
description: "Sums.\n\n"
doc_to_text: "Question: {{question}}\nAnswer:"
doc_to_target: "{{answer}}"
metric_list:
  - metric: exact_match
    aggregation: mean
    higher_is_better: true
    ignore_case: true
    ignore_punctuation: false
    regexes_to_ignore: [",", "\\$", "(?s).*#### ", "\\.$"]
generation_kwargs:
  until: ["Question:", "</s>"]
  do_sample: false
  temperature: 0.0
  max_gen_toks: 128
repeats: 1
num_fewshot: 2
fewshot_config: {sampler: first_n}
filter_list:
  - name: strict-match
    filter:
      - {function: regex, regex_pattern: "#### (\\-?[0-9\\.\\,]+)"}
      - {function: take_first}
  - name: flexible-extract
    filter:
      - {function: regex, group_select: -1, regex_pattern: "(-?[$0-9.,]{2,})|(-?[0-9]+)"}
      - {function: take_first}
metadata: {version: 3.0}
"""
CHOICE = """
task: letters
dataset_path: json
dataset_kwargs: {data_files: {test: test.jsonl}}
output_type: multiple_choice
test_split: test
doc_to_text: "{{question.strip()}}\\nA. {{choices[0]}}\\nB. {{choices[1]}}\\nAnswer:"
doc_to_choice: [A, B]
doc_to_target: answer
metric_list: [{metric: acc, aggregation: mean, higher_is_better: true}]
"""
YES_NO = """
task: boolean
dataset_path: rows.jsonl
output_type: multiple_choice
validation_split: validation
doc_to_text: "{{passage}}\\nQuestion: {{question}}?\\nAnswer:"
doc_to_target: label
doc_to_choice: ["no", "yes"]
should_decontaminate: true
doc_to_decontamination_query: passage
metric_list: [{metric: acc}]
"""
TEST = [{"question": "2 + 2?", "answer": "2 and 2 is 4.\n#### 4"}, {"question": "600 * 2?", "answer": "#### 1,200"}]
TRAIN = [{"question": f"{n} + 1?", "answer": f"#### {n + 1}"} for n in range(5)]


class Harness:
    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def write(self, name: str, content: str | list[dict[str, Any]]) -> None:
        lines = content if isinstance(content, str) else "".join(json.dumps(row) + "\n" for row in content)
        (self.folder / name).write_text(lines)

    def load(self, text: str, data: Path | None = None, **more: Any) -> Benchmark:
        self.write("task.yaml", text)
        spec = BenchmarkSpec.model_validate({"benchmark": "lm-eval:task.yaml", **more})
        return load_benchmark(spec, seed=0, folder=self.folder, data=data)


@pytest.fixture
def harness(tmp_path: Path) -> Harness:
    made = Harness(tmp_path)
    made.write("test.jsonl", TEST)
    made.write("train.jsonl", TRAIN)
    return made


def scores(benchmark: Benchmark, sample: Sample, text: str) -> dict[str, Score]:
    made = [create_scorer(spec) for spec in benchmark.scorers]
    return {scorer.name: asyncio.run(scorer.score(sample, Response(text))) for scorer in made}


def test_a_generation_task_asks_and_marks_as_the_harness_does(harness: Harness) -> None:
    benchmark = harness.load(SUMS)
    assert (benchmark.name, benchmark.version, benchmark.shots) == ("sums", "3.0", 2)
    assert benchmark.options == {"stop": ["Question:", "</s>"], "max_tokens": 128, "temperature": 0.0}
    assert benchmark.samples.fingerprint().count == 2
    first, second = benchmark.samples
    assert benchmark.renderer.render(first).text == (
        "Sums.\n\nQuestion: 0 + 1?\nAnswer: #### 1\n\nQuestion: 1 + 1?\nAnswer: #### 2\n\nQuestion: 2 + 2?\nAnswer:"
    )
    exact = scores(benchmark, second, "It is twice 600.\n#### 1,200")
    assert {name: score.value for name, score in exact.items()} == {"strict-match": 1.0, "flexible-extract": 1.0}
    loose = scores(benchmark, second, "The answer is $1200.")
    assert loose["strict-match"].is_invalid
    assert (loose["flexible-extract"].value, loose["flexible-extract"].answer) == (1.0, "$1200.")
    assert {score.value for score in scores(benchmark, second, "#### 1201").values()} == {0.0}
    assert all(score.is_invalid for score in scores(benchmark, second, "").values())


def test_shots_of_the_plan_win_and_change_the_identity(harness: Harness) -> None:
    digests = {harness.load(SUMS, shots=shots).renderer.digest for shots in (0, 1, 2)}
    assert len(digests) == 3
    assert (
        harness.load(SUMS, shots=0)
        .renderer.render(next(iter(harness.load(SUMS).samples)))
        .text.startswith("Sums.\n\nQuestion: 2 + 2?")
    )


def test_choices_that_are_letters_are_asked_as_they_stand(harness: Harness) -> None:
    harness.write("test.jsonl", [{"question": " Which? ", "choices": ["x", "y"], "answer": 1}])
    benchmark = harness.load(CHOICE)
    (sample,) = benchmark.samples
    assert benchmark.renderer.render(sample).text == "Which?\nA. x\nB. y\nAnswer:"
    assert scores(benchmark, sample, "B")["choice"].value == 1.0
    assert scores(benchmark, sample, "A")["choice"].value == 0.0


def test_other_choices_are_lettered(harness: Harness) -> None:
    rows = [{"passage": "Sky.", "question": "is it blue", "label": 1}, {"passage": "x", "question": "y", "label": 0}]
    harness.write("rows.jsonl", rows)
    benchmark = harness.load(YES_NO, shots=1)
    assert benchmark.samples.fingerprint().count == 1, "the example comes from the only split, and is not asked"
    (sample,) = benchmark.samples
    assert benchmark.renderer.render(sample).text.endswith(
        "?\nAnswer:\n\nA. no\nB. yes\n\nAnswer with the letter of the right choice."
    )
    assert benchmark.scorers[0].name == "choice"


def test_fixed_examples_and_included_files(harness: Harness) -> None:
    harness.write("base.yaml", SUMS)
    text = """
include: base.yaml
task: more_sums
fewshot_config: {sampler: first_n, samples: [{question: 5 + 5?, answer: ten}]}
num_fewshot: 1
fewshot_delimiter: "\\n---\\n"
target_delimiter: "\\n"
generation_kwargs: null
"""
    benchmark = harness.load(text)
    assert benchmark.name == "more_sums"
    assert benchmark.options == {"stop": ["\n---\n"]}
    text = benchmark.renderer.render(next(iter(benchmark.samples))).text
    assert text == "Sums.\n\nQuestion: 5 + 5?\nAnswer:\nten\n---\nQuestion: 2 + 2?\nAnswer:"


def test_data_of_a_hub_task_may_come_from_a_folder(harness: Harness, tmp_path: Path) -> None:
    text = SUMS.replace("dataset_path: json", "dataset_path: gsm8k").replace(
        "dataset_kwargs: {data_files: {test: test.jsonl, train: train.jsonl}}", ""
    )
    with pytest.raises(BenchmarkError, match=r"'gsm8k' names no owner.*PROCTOR_DATA"):
        harness.load(text)
    data = tmp_path / "data"
    data.mkdir()
    (data / "sums.jsonl").write_text(json.dumps(TEST[0]))
    (data / "sums.dev.jsonl").write_text("".join(json.dumps(row) + "\n" for row in TRAIN))
    assert harness.load(text, data=data).samples.fingerprint().count == 1


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("repeats: 1", "repeats: 5"), "repeats"),
        (("repeats: 1", "process_docs: !function utils.docs"), "process_docs is the Python function utils.docs"),
        (("repeats: 1", '"process_docs": !function utils.docs'), "process_docs is the Python function utils.docs"),
        (("metric: exact_match", "metric: bleu"), r"the metric 'bleu' cannot be honoured.*\?without=bleu"),
        (("metric: exact_match", "metric: !function utils.f"), r"metric_list\[0\]\.metric is the Python function"),
        (("function: take_first", "function: majority_vote"), "majority_vote"),
        (("generate_until", "loglikelihood_rolling"), "output_type 'loglikelihood_rolling' cannot be honoured"),
        (("repeats: 1", "gen_prefix: x"), r"the key 'gen_prefix' cannot be honoured.*\?without=gen_prefix"),
        (("test_split: test", ""), "neither test_split nor validation_split"),
        (("do_sample: false", "num_beams: 4"), "num_beams"),
        (("sampler: first_n", "sampler: balanced"), "balanced"),
        (("task: sums", "task: [a, b]"), "is a group of tasks"),
        (("test: test.jsonl", "tset: test.jsonl"), "no file for the split 'test'"),
        (("{{question}}\\n", "{{ question }\\n"), "has a mistake"),
    ],
)
def test_what_cannot_be_honoured_is_refused_by_name(harness: Harness, change: tuple[str, str], message: str) -> None:
    assert change[0] in SUMS
    with pytest.raises(BenchmarkError, match=message):
        harness.load(SUMS.replace(*change)).samples.fingerprint()


def test_a_key_may_be_left_out_on_purpose(harness: Harness) -> None:
    text = SUMS.replace("repeats: 1", "gen_prefix: x")
    assert harness.load(text, without="gen_prefix").name == "sums"
    both = SUMS.replace("metric_list:\n", "metric_list:\n  - metric: bleu\n")
    assert harness.load(both, without="bleu").name == "sums"
    with pytest.raises(BenchmarkError, match="has no 'blue' to leave out"):
        harness.load(SUMS, without="blue")
    with pytest.raises(BenchmarkError, match=r"has no parameter 'withuot'\. Did you mean 'without'"):
        harness.load(SUMS, withuot="x")


def test_a_file_that_is_not_there_and_rows_that_do_not_fit(harness: Harness) -> None:
    with pytest.raises(NotFoundError, match=r"no task file gone\.yaml"):
        load_benchmark(BenchmarkSpec(benchmark="lm-eval:gone.yaml"), seed=0, folder=harness.folder)
    harness.write("test.jsonl", [{"qestion": "2 + 2?", "answer": "4"}])
    with pytest.raises(BenchmarkError, match=r"line 1.*'question' is undefined"):
        harness.load(SUMS).samples.fingerprint()
    harness.write("test.jsonl", [{"question": "?", "choices": ["x", "y"], "answer": 7}])
    with pytest.raises(BenchmarkError, match="7, which is none of the choices"):
        harness.load(CHOICE).samples.fingerprint()


def test_a_template_cannot_reach_out_of_its_sandbox(harness: Harness) -> None:
    text = SUMS.replace("{{question}}", "{{ question.__class__.__mro__[1].__subclasses__() }}")
    with pytest.raises(BenchmarkError, match="cannot be filled in"):
        harness.load(text).samples.fingerprint()


def reference(pattern: str, text: str, select: int) -> str:
    """The harness' filter, in the words of its documentation."""
    found: list[Any] = re.findall(pattern, text)
    if not found:
        return "[invalid]"
    match = found[select]
    if isinstance(match, tuple):
        groups = [group for group in match if group]
        match = groups[0] if groups else "[invalid]"
    return str(match).strip()


@given(
    text=st.text(alphabet="abc 0123.,$#-\n", min_size=1, max_size=40).filter(str.strip),
    pattern=st.sampled_from([r"#### (\-?[0-9\.\,]+)", r"(-?[$0-9.,]{2,})|(-?[0-9]+)", r"[ab]+", r"(a)(b)?"]),
    select=st.sampled_from([0, -1]),
)
def test_the_regex_filter_finds_what_the_harness_finds(text: str, pattern: str, select: int) -> None:
    step = {"function": "regex", "regex_pattern": pattern, "group_select": select}
    scorer = create(filters={"steps": [step]})
    said = asyncio.run(scorer.score(Sample("1", "?", "target"), Response(text)))
    expected = reference(pattern, text.strip(), select)
    assert (said.answer if not said.is_invalid else "[invalid]") == expected
