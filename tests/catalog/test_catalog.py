"""The catalogue on the published data: counts, gold answers, empty answers."""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from proctor.benchmarks.registry import list_benchmarks, load_benchmark
from proctor.domain.benchmark import Benchmark
from proctor.domain.plan import BenchmarkSpec
from proctor.domain.response import Response, TokenLogprob, ToolCall
from proctor.domain.sample import Sample
from proctor.domain.scorable import proven
from proctor.domain.score import Score
from proctor.domain.scorer import Scorer
from proctor.domain.trial import Outcome, outcome_of
from proctor.planning.selection import select
from proctor.prompts.render import TemplateRenderer
from proctor.scorers.registry import create_scorers

DATA = (Path(__file__).resolve().parents[2] / "../shared/data").resolve()
pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason="the published data sets are not on this machine")

COUNTS = {
    "agieval-logiqa-en": 651,
    "agieval-lsat-ar": 230,
    "agieval-sat-math": 220,
    "aime24": 30,
    "arc-challenge": 1172,
    "arc-easy": 2376,
    "bbh": 6511,
    "bfcl-multiple": 200,
    "bfcl-parallel": 200,
    "bfcl-simple": 400,
    "gsm8k": 1319,
    "hellaswag": 10042,
    "humaneval": 164,
    "humaneval-plus": 164,
    "ifeval": 541,
    "jmmlu": 7097,
    "kobest-boolq": 1404,
    "kobest-copa": 1000,
    "kobest-hellaswag": 500,
    "kobest-sentineg": 397,
    "kobest-wic": 1260,
    "math": 5000,
    "mbpp": 427,
    "mbpp-plus": 378,
    "mgsm": 2750,
    "mmlu": 14042,
    "mt-bench": 80,
    "openbookqa": 500,
    "piqa": 1838,
    "svamp": 1000,
    "truthfulqa-gen": 817,
    "truthfulqa-mc": 817,
    "winogrande": 1267,
}
CATEGORIES = {"mmlu": 57, "bbh": 27, "jmmlu": 53, "mgsm": 11, "mt-bench": 8, "math": 7, "truthfulqa-gen": 38}
CATALOGUE = [info.name for info in list_benchmarks() if (info.source or "").startswith(("hf://", "data://"))]
JUDGED = {"mt-bench", "truthfulqa-gen"}
"""What a judge thinks of a gold answer is the judge's affair, not the catalogue's."""
SANDBOXED = {"humaneval", "humaneval-plus", "mbpp", "mbpp-plus"}
"""Gold programs are run where the sandbox is tested."""
SOME = {"math": 150}
"""Symbolic comparison takes a tenth of a second a problem: a fixed draw of them."""


@cache
def loaded(text: str, shots: int | None = None) -> Benchmark:
    spec = BenchmarkSpec.model_validate({"benchmark": text, **({} if shots is None else {"shots": shots})})
    return load_benchmark(spec, seed=0, folder=Path(), data=DATA)


def variants() -> Iterator[str]:
    for info in list_benchmarks():
        if info.name in CATALOGUE:
            yield info.name
            yield from (f"{info.name}?variant={name}" for name in list(info.variants)[1:])


def test_the_catalogue_is_what_is_promised() -> None:
    assert set(CATALOGUE) <= COUNTS.keys()
    assert COUNTS.keys() - set(CATALOGUE) <= SANDBOXED


@pytest.mark.parametrize("name", CATALOGUE)
def test_a_benchmark_has_the_published_count(name: str) -> None:
    benchmark = loaded(name)
    fingerprint = proven(benchmark.samples, scorers_of(benchmark)).fingerprint()
    assert fingerprint.count == COUNTS[name]
    samples = list(benchmark.samples)
    assert len({sample.id for sample in samples}) == COUNTS[name]
    if name in CATEGORIES:
        assert len({sample.category for sample in samples}) == CATEGORIES[name]
    for sample in samples:
        assert set(sample.targets) <= set("ABCDEFGHIJKLMNOPQRSTUVWXYZ"[: len(sample.choices)]) or not sample.choices


def test_what_is_not_independent_is_one_group() -> None:
    by_problem: dict[str | None, set[str | None]] = {}
    for sample in loaded("mgsm").samples:
        by_problem.setdefault(sample.group, set()).add(sample.tags["language"])
    assert len(by_problem) == 250
    assert all(len(languages) == 11 for languages in by_problem.values())


@pytest.mark.parametrize("name", CATALOGUE)
def test_a_category_is_no_group(name: str) -> None:
    """The tasks of a benchmark are all there are of them, not a sample of tasks: errors are not clustered by them."""
    grouped = [sample for sample in loaded(name).samples if sample.group is not None]
    assert not any(sample.group == sample.category for sample in grouped)


def test_the_right_choice_is_at_no_favourite_place() -> None:
    """As published, TruthfulQA's true answer always stands first."""
    first = sum(sample.target == ("A",) for sample in loaded("truthfulqa-mc").samples)
    assert first < 817 / 3


def scorers_of(benchmark: Benchmark) -> list[Scorer]:
    return list(create_scorers(benchmark.scorers))


def calls(sample: Sample) -> tuple[ToolCall, ...]:
    made = []
    for call in sample.metadata["ground_truth"]:
        for name, arguments in call.items():
            given = {key: first_of(values) for key, values in arguments.items() if any(v != "" for v in values)}
            made.append(ToolCall(name.replace(".", "_"), given))
    return tuple(made)


def first_of(values: Any) -> Any:
    """The leaderboard lists allowed values at every level; the first of each is a right one."""
    value = next((one for one in values if one != ""), "")
    if isinstance(value, Mapping):
        return {key: first_of(inner) for key, inner in value.items() if any(one != "" for one in inner)}
    if isinstance(value, list):
        return [first_of([item]) if isinstance(item, Mapping) else item for item in value]
    return value


def likely(sample: Sample) -> Response:
    """All probability on the true choices, in equal shares."""
    share = math.log(1 / len(sample.targets))
    token = TokenLogprob(sample.targets[0], share, dict.fromkeys(sample.targets, share))
    return Response(sample.targets[0], logprobs=(token,))


def gold(benchmark: Benchmark, sample: Sample) -> Response:
    if benchmark.scorers[0].name == "logprob":
        return likely(sample)
    if "ground_truth" in sample.metadata:
        return Response("", tool_calls=calls(sample))
    renderer = benchmark.renderer
    assert isinstance(renderer, TemplateRenderer)
    return Response(renderer.written_answer(sample))


async def marks(scorer: Scorer, pairs: list[tuple[Sample, Response]]) -> list[Score]:
    return [await scorer.score(sample, response) for sample, response in pairs]


@pytest.mark.parametrize("name", [n for n in variants() if n.partition("?")[0] not in JUDGED | SANDBOXED | {"ifeval"}])
def test_a_gold_answer_scores_one_and_an_empty_one_is_invalid(name: str) -> None:
    benchmark = loaded(name, 0 if name != "bbh" else None)
    samples = list(select(benchmark.samples, {}, SOME.get(name.partition("?")[0]), 0))
    assert samples
    for scorer in scorers_of(benchmark):
        right = asyncio.run(marks(scorer, [(sample, gold(benchmark, sample)) for sample in samples]))
        wrong = [
            f"{s.id}: {m.reason} ({m.answer!r})"
            for s, m in zip(samples, right, strict=True)
            if (m.value or 0) < 1 - 1e-12
        ]
        assert not wrong, f"{len(wrong)} of {len(samples)}: {wrong[:5]}"
        empty = asyncio.run(marks(scorer, [(sample, Response("")) for sample in samples[:200]]))
        assert {(mark.value, mark.is_invalid) for mark in empty} == {(0.0, True)}
        assert outcome_of(Response(""), (empty[0],)) is Outcome.INVALID


def test_instructions_that_were_followed_score_one() -> None:
    """There are no gold answers: real ones that the authors' checker passes take their place."""
    benchmark = loaded("ifeval")
    by_prompt = {sample.input_text: sample for sample in benchmark.samples}
    rows = [json.loads(line) for line in (DATA / "golden/ifeval.jsonl").read_text().splitlines()]
    followed = [(by_prompt[row["prompt"]], Response(row["response"])) for row in rows if all(row["strict"])]
    assert len(followed) > 100
    scorers = scorers_of(benchmark)
    assert [scorer.name for scorer in scorers] == [
        "instructions", "instructions_loose", "instructions_each", "instructions_each_loose",
    ]  # fmt: skip
    for scorer in scorers:
        assert {mark.value for mark in asyncio.run(marks(scorer, followed))} == {1.0}
        empty = asyncio.run(marks(scorer, [(sample, Response("")) for sample in benchmark.samples]))
        assert {(mark.value, mark.is_invalid) for mark in empty} == {(0.0, True)}


def test_the_published_marks_of_real_answers_are_reproduced_item_by_item() -> None:
    """With the catalogue's own settings, not with settings chosen for this test."""
    benchmark = loaded("ifeval")
    by_prompt = {sample.input_text: sample for sample in benchmark.samples}
    rows = [json.loads(line) for line in (DATA / "golden/ifeval.jsonl").read_text().splitlines()]
    pairs = [(by_prompt[row["prompt"]], Response(row["response"])) for row in rows]
    strict, loose, each, each_loose = (asyncio.run(marks(scorer, pairs)) for scorer in scorers_of(benchmark))
    assert [mark.value for mark in strict] == [float(all(row["strict"])) for row in rows]
    assert [mark.value for mark in loose] == [float(all(row["loose"])) for row in rows]
    assert [mark.details["strict"] for mark in each] == [row["strict"] for row in rows]
    assert [mark.details["loose"] for mark in each_loose] == [row["loose"] for row in rows]


@pytest.mark.parametrize("name", list(variants()))
def test_no_prompt_gives_its_answer_away(name: str) -> None:
    """Of two samples that differ in the target alone, the prompts are the same."""
    from msgspec.structs import replace

    benchmark = loaded(name)
    for sample in list(benchmark.samples)[:50]:
        prompt = benchmark.renderer.render(sample)
        assert prompt.messages[-1].role == "user"
        assert prompt == benchmark.renderer.render(replace(sample, target="something else"))


def test_worked_examples_are_those_of_the_protocol() -> None:
    mmlu = loaded("mmlu")
    sample = next(s for s in mmlu.samples if s.category == "anatomy")
    messages = mmlu.renderer.render(sample).messages
    assert [message.role for message in messages] == ["user", "assistant"] * 5 + ["user"]
    dev = [json.loads(line) for line in (DATA / "mmlu.dev.jsonl").read_text().splitlines()]
    anatomy = [row for row in dev if row["subject"] == "anatomy"]
    assert [message.text for message in messages[1::2]] == ["ABCD"[row["answer"]] for row in anatomy]
    assert all(row["question"] in message.text for row, message in zip(anatomy, messages[::2], strict=False))
    bbh = loaded("bbh")
    sample = next(s for s in bbh.samples if s.category == "snarks")
    text = bbh.renderer.render(sample).messages[-1].text
    published = next(
        row["prompt"]
        for row in map(json.loads, (DATA / "bbh.cot.jsonl").read_text().splitlines())
        if row["task"] == "snarks"
    )
    body = published.split("-----\n", 1)[1].strip()
    assert " ".join(text.split()).startswith(" ".join(body.split())), "the examples are not the published ones"
    assert text.endswith(f"Q: {sample.input_text}\nA: Let's think step by step.")


@pytest.mark.parametrize(("name", "shots"), [("svamp", 4), ("jmmlu", 2), ("mgsm", 3)])
def test_examples_out_of_the_questions_themselves_are_not_asked(name: str, shots: int) -> None:
    benchmark = loaded(name, shots)
    sets = CATEGORIES.get(name, 1)
    assert benchmark.samples.fingerprint().count == COUNTS[name] - shots * sets
    asked = {sample.input_text for sample in benchmark.samples}
    for sample in list(benchmark.samples)[:: COUNTS[name] // 20]:
        for message in benchmark.renderer.render(sample).messages[:-1:2]:
            assert not any(message.text.startswith(f"{text}\n") for text in asked if len(text) > 40)
