"""Worked examples: where they come from, that they stay the same, and that they are not asked as well."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from proctor.benchmarks.registry import load_benchmark
from proctor.domain.benchmark import Benchmark
from proctor.domain.errors import BenchmarkError, NoDataError
from proctor.domain.plan import BenchmarkSpec
from proctor.offline import confined
from proctor.planning.selection import select

Write = Callable[..., Path]
TEST = [{"id": f"t{n}", "q": f"{n} + {n}?", "a": 2 * n, "kind": "even" if n % 2 == 0 else "odd"} for n in range(1, 13)]
DEV = [{"id": f"d{n}", "q": f"{n} + 1?", "a": n + 1, "kind": "even" if n % 2 == 0 else "odd"} for n in range(20, 30)]
FIELDS = {"id": "id", "input": "q", "target": "a", "category": "kind"}


class Maker:
    """Loads one benchmark file in many ways."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __call__(self, examples: dict[str, Any] | None, text: str = "x.yaml", seed: int = 0, **more: Any) -> Benchmark:
        shots = more.pop("shots", None)
        dataset = {"source": "test.jsonl", "fields": FIELDS, "examples": examples}
        dataset = {key: value for key, value in dataset.items() if value is not None}
        values = {"name": "x", "dataset": dataset, "scorers": ["numeric"], **more}
        (self.folder / "x.yaml").write_text(yaml.safe_dump(values))
        spec = {"benchmark": text, **({} if shots is None else {"shots": shots})}
        return load_benchmark(BenchmarkSpec.model_validate(spec), seed=seed, folder=self.folder)


@pytest.fixture
def make(tmp_path: Path, write: Write) -> Maker:
    write("test.jsonl", TEST)
    write("dev.jsonl", DEV)
    return Maker(tmp_path)


def shown(benchmark: Benchmark, place: int = 0) -> list[str]:
    sample = list(benchmark.samples)[place]
    return [message.text for message in benchmark.renderer.render(sample).messages[:-1]]


def test_examples_are_turns_before_the_question(make: Maker) -> None:
    benchmark = make({"source": "dev.jsonl", "pick": "first"}, shots=2, prompt={"answer": "It is {{ target }}."})
    assert shown(benchmark) == ["20 + 1?", "It is 21.", "21 + 1?", "It is 22."]
    assert benchmark.shots == 2
    assert benchmark.samples.fingerprint().count == 12
    roles = [message.role for message in benchmark.renderer.render(next(iter(benchmark.samples))).messages]
    assert roles == ["user", "assistant", "user", "assistant", "user"]


def test_examples_can_stand_in_the_same_message(make: Maker) -> None:
    prompt = {"user": "Q: {{ input }}\nA:", "answer": " {{ target }}", "examples": "text"}
    benchmark = make({"source": "dev.jsonl", "pick": "first"}, shots=2, prompt=prompt)
    (message,) = benchmark.renderer.render(next(iter(benchmark.samples))).messages
    assert message.text == "Q: 20 + 1?\nA:\n 21\n\nQ: 21 + 1?\nA:\n 22\n\nQ: 1 + 1?\nA:"


def test_the_files_default_can_be_overruled_by_the_plan(make: Maker) -> None:
    examples = {"source": "dev.jsonl"}
    assert shown(make(examples)) == []
    (make.folder / "y.yaml").write_text(
        yaml.safe_dump(
            {
                "name": "y",
                "dataset": {"source": "test.jsonl", "fields": FIELDS, "examples": examples},
                "scorers": ["numeric"],
                "shots": 3,
            }
        )
    )
    load = lambda **more: load_benchmark(  # noqa: E731
        BenchmarkSpec.model_validate({"benchmark": "y.yaml", **more}), seed=0, folder=make.folder
    )
    assert (load().shots, load(shots=1).shots, load(shots=0).shots) == (3, 1, 0)
    assert (len(shown(load())), len(shown(load(shots=1))), len(shown(load(shots=0)))) == (6, 2, 0)
    assert len({load(shots=n).renderer.digest for n in range(4)}) == 4


def test_a_seed_picks_the_same_examples_everywhere_and_fewer_are_the_first_of_more(make: Maker) -> None:
    examples = {"source": "dev.jsonl"}
    four = shown(make(examples, shots=4, seed=7))
    assert four == shown(make(examples, shots=4, seed=7))
    assert four[:4] == shown(make(examples, shots=2, seed=7))
    assert four[::2] == ["28 + 1?", "25 + 1?", "20 + 1?", "26 + 1?"], "the order of a seed is the same for ever"
    assert {tuple(shown(make(examples, shots=4, seed=seed))) for seed in range(8)} != {tuple(four)}
    assert len({make(examples, shots=4, seed=seed).renderer.digest for seed in (1, 2)}) == 2


def test_each_category_has_its_own_examples(make: Maker) -> None:
    benchmark = make({"source": "dev.jsonl", "by": "category", "pick": "first"}, shots=2)
    assert shown(benchmark, 0) == ["21 + 1?", "22", "23 + 1?", "24"]
    assert shown(benchmark, 1) == ["20 + 1?", "21", "22 + 1?", "23"]
    with pytest.raises(
        BenchmarkError, match=r"6 worked examples are to be shown, but dev\.jsonl has 5 of the category"
    ):
        make({"source": "dev.jsonl", "by": "category"}, shots=6).samples.fingerprint()


def test_examples_out_of_the_samples_are_not_asked(make: Maker) -> None:
    benchmark = make({}, shots=3)
    asked = [sample.id for sample in benchmark.samples]
    questions = shown(benchmark)[::2]
    assert len(asked) == 9 == benchmark.samples.fingerprint().count
    used = {row["id"] for row in TEST if row["q"] in questions}
    assert len(used) == 3
    assert used.isdisjoint(asked)
    assert [sample.id for sample in benchmark.samples.at([8, 0])] == [asked[8], asked[0]]
    with pytest.raises(BenchmarkError, match="no sample 10"):
        list(benchmark.samples.at([9]))
    few = select(benchmark.samples, {}, 4, 0)
    assert used.isdisjoint(sample.id for sample in few)
    assert few.fingerprint().count == 4
    by_kind = make({"by": "category"}, shots=2)
    assert by_kind.samples.fingerprint().count == 8


def test_without_a_pool_there_are_no_shots(make: Maker) -> None:
    with pytest.raises(BenchmarkError, match="has no examples to show, so 'shots' cannot be given"):
        make(None, shots=1)


def test_a_pool_with_a_fault_is_told_before_anything_is_asked(make: Maker, write: Write) -> None:
    write("bad.jsonl", [{"id": "b", "q": "1?", "kind": "odd", "a": None}])
    with pytest.raises(BenchmarkError, match="has no target"):
        make({"source": "bad.jsonl"}, shots=1).samples.fingerprint()
    with pytest.raises(BenchmarkError, match=r"There is no data file gone\.jsonl"):
        make({"source": "gone.jsonl"}, shots=1).samples.fingerprint()


def test_a_variant_is_laid_over_the_file_and_changes_the_prompt(make: Maker) -> None:
    variants = {"long": {"description": "In full.", "prompt": {"user": "{{ input }} Explain."}, "shots": 1}}
    more = {"variants": variants, "variant": "short", "prompt": {"system": "Be exact.", "user": "{{ input }}"}}
    plain = make({"source": "dev.jsonl"}, **more)
    named = make({"source": "dev.jsonl"}, "x.yaml?variant=short", **more)
    long = make({"source": "dev.jsonl"}, "x.yaml?variant=long", **more)
    sample = next(iter(plain.samples))
    assert plain.renderer.render(sample) == named.renderer.render(sample)
    assert long.shots == 1
    assert long.description == "In full."
    assert long.renderer.render(sample).messages[0].text == "Be exact."
    assert long.renderer.render(sample).messages[-1].text == "1 + 1? Explain."
    assert long.renderer.digest != plain.renderer.digest
    with pytest.raises(BenchmarkError, match=r"no variant 'lnog'\. Did you mean 'long'\? There are: short, long"):
        make({"source": "dev.jsonl"}, "x.yaml?variant=lnog", **more)
    with pytest.raises(BenchmarkError, match=r"x\.yaml:\d+: variants\.long: .*no field 'promt'.*Did you mean 'prompt'"):
        make(None, variants={"long": {"promt": {}}})
    with pytest.raises(BenchmarkError, match=r"variants\.long\.scorers\[0\]: there is no scorer 'numerc'"):
        make(None, variants={"long": {"scorers": ["numerc"]}})
    with pytest.raises(BenchmarkError, match="no parameter 'variant'"):
        make(None, "x.yaml?variant=long")


def test_the_layout_of_choices_can_be_asked_for(make: Maker, write: Write) -> None:
    write("test.jsonl", [{"id": "1", "q": "?", "a": "A", "kind": None, "choices": ["x", "y"]}])
    prompt = {"choices": "A."}
    assert "\nB. y" in make(None, prompt=prompt).renderer.render(next(iter(make(None, prompt=prompt).samples))).text
    other = make(None, "x.yaml?choices=(A)", prompt=prompt)
    assert "\n(B) y" in other.renderer.render(next(iter(other.samples))).text
    with pytest.raises(BenchmarkError, match=r"choices.*'\[A\]'"):
        make(None, "x.yaml?choices=[A]", prompt=prompt)


def test_a_pool_that_cannot_be_had_is_said_once_and_is_no_fault_of_the_rows(make: Maker) -> None:
    benchmark = make({"source": "hf://nobody/nothing?split=train"}, shots=2)
    with confined(True), pytest.raises(NoDataError, match=r"^hf://nobody/nothing: nothing is fetched offline"):
        benchmark.samples.fingerprint()


def test_a_bad_row_of_the_pool_is_named_where_it_stands_and_is_no_fault_of_the_rows(make: Maker) -> None:
    (make.folder / "read.txt").touch()
    (make.folder / "broken_pool.py").write_text(
        "from pathlib import Path\n"
        "def rows():\n"
        f"    with Path({str(make.folder / 'read.txt')!r}).open('a') as log:\n"
        "        log.write('.')\n"
        "    yield {'id': 'd1', 'q': None, 'a': 2, 'kind': 'odd'}\n"
    )
    benchmark = make({"source": "python://broken_pool:rows"}, shots=1)
    with pytest.raises(BenchmarkError, match=r"broken_pool.*1 bad row of 1"):
        benchmark.samples.fingerprint()
    # Met once, and read once more to say everything there is to say; never once for each of the twelve rows.
    assert len((make.folder / "read.txt").read_text()) == 2
