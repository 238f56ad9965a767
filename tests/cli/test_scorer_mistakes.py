"""A benchmark that cannot be scored as written is refused before anything is asked, with the mistake's place."""

from __future__ import annotations

from pathlib import Path

import pytest

from commands import Cli
from fakes.provider import FakeProvider

pytestmark = pytest.mark.sqlite  # where results are kept makes no difference here

HEAD = "name: mine\ndataset: {source: data.jsonl}\n"


def refused(cli: Cli, provider: FakeProvider, model: str, benchmark: str) -> str:
    """What `run` and `check` both say of the benchmark, having asked and recorded nothing."""
    if not Path("data.jsonl").exists():
        Path("data.jsonl").write_text('{"input": "1 + 1", "target": "2"}\n')
    Path("mine.yaml").write_text(benchmark)
    run, check = cli("run", "mine.yaml", "-m", model, "--judge", model), cli("benchmarks", "check", "mine.yaml")
    assert (run.code, check.code) == (2, 2)
    assert (run.out, check.out) == ("", "")
    assert run.error == check.error
    assert provider.stats()["asked"] == 0
    assert cli("runs", "--json").json == []
    return run.error


@pytest.mark.parametrize(
    ("scorers", "place", "parts"),
    [
        ("[exact, {exact: {ignore_case: true}}]", "3: scorers[1]", ["called 'exact'", "keep one of them"]),
        ("\n  - instructions_loose\n  - instructions: {mode: loose}", "5: scorers[1]", ["'instructions_loose'"]),
        ("\n  - lm_eval\n  - lm_eval: {ignore_case: true}", "5: scorers[1]", ["'exact_match'", "option 'label'"]),
        ("\n  - judge_rubric\n  - judge_rubric: {scale: 3}", "5: scorers[1]", ["'judge_rubric'", "option 'name'"]),
        ("\n  - exact\n  - 'python://twin_marks:exact'", "5: scorers[1]", ["called 'exact'", "keep one of them"]),
    ],
)  # fmt: skip
def test_two_scorers_of_one_name_are_refused_and_not_merged(
    cli: Cli, asked_model: str, provider: FakeProvider, scorers: str, place: str, parts: list[str]
) -> None:
    Path("twin_marks.py").write_text("def exact(sample, response):\n    return True\n")
    error = refused(cli, provider, asked_model, f"{HEAD}scorers: {scorers}\n")
    assert error.startswith(f"Error: mine.yaml:{place}: Two scorers would")
    for part in parts:
        assert part in error


def test_two_scorers_of_a_kind_with_names_of_their_own_are_both_shown_and_both_used(cli: Cli) -> None:
    Path("data.jsonl").write_text('{"input": "1 + 1", "target": "2"}\n')
    scorers = "scorers: [{lm_eval: {label: strict}}, {lm_eval: {label: loose, ignore_case: true}}]\n"
    Path("mine.yaml").write_text(HEAD + scorers)
    assert list(cli("benchmarks", "check", "mine.yaml", "--json").json["scorers"]) == ["strict", "loose"]
    ended = cli("run", "mine.yaml", "-m", "demo/weak", "--dry-run", "--json")
    assert list(ended.json["evaluations"][0]["scorers"]) == ["strict", "loose"]


@pytest.mark.parametrize(
    ("scorers", "place", "parts"),
    [
        ("scorers:\n  - exact: {ignorecase: true}\n", "4: scorers[0]", ["'ignorecase'", "Did you mean 'ignore_case'?"]),
        ("scorers: [{json_schema: {schema: {type: objekt}}}]\n", "3: scorers[0]", ["schema cannot be used", "objekt"]),
        ("scorers:\n  - includes\n  - python://lone_marks:scoorer\n", "5: scorers[1]", ["no function 'scoorer'"]),
        ("scorers: ['python://no_such_module:f']\n", "3: scorers[0]", ["No module 'no_such_module'"]),
    ],
)  # fmt: skip
def test_a_mistake_in_a_scorers_options_is_named_with_its_place(
    cli: Cli, asked_model: str, provider: FakeProvider, scorers: str, place: str, parts: list[str]
) -> None:
    Path("lone_marks.py").write_text("def scorer(sample, response):\n    return True\n")
    error = refused(cli, provider, asked_model, HEAD + scorers)
    assert error.startswith(f"Error: mine.yaml:{place}: ")
    for part in parts:
        assert part in error


def test_a_mistake_in_a_variants_scorers_is_named_with_its_place_in_the_variant(cli: Cli) -> None:
    Path("data.jsonl").write_text('{"input": "1 + 1", "target": "2"}\n')
    odd = "variant: plain\nvariants:\n  odd:\n    scorers:\n      - regex: {pattern: '('}\n"
    Path("mine.yaml").write_text(f"{HEAD}scorers: [exact]\n{odd}")
    assert cli("benchmarks", "check", "mine.yaml?variant=plain").code == 0
    for command in (("check", "mine.yaml"), ("check", "mine.yaml?variant=odd")):
        ended = cli("benchmarks", *command)
        assert ended.code == 2
        assert ended.error.startswith("Error: mine.yaml:8: variants.odd.scorers[0]: '(' is not a regular expression")


CHECKED = '"test_list": ["assert f() == 1"]'


@pytest.mark.parametrize(
    ("scorer", "rows", "parts"),
    [
        ("choice", ['"target": "Paris"'] * 2, ["2 bad rows of 2", "lines 1, 2", "'choice'", "has no choices"]),
        ("choice", ['"target": "B"', '"target": "BC"'], ["1 bad row of 2: line 2: the scorer 'choice' cannot"]),
        ("likelihood", ['"target": "A"'], ["line 1", "has no choices"]),
        ("logprob", ['"target": "yes"'], ["line 1", "the target 'yes' is no letter"]),
        ("numeric", ['"target": "7"', '"target": "seven"'], ["line 2", "the target 'seven' is not a number"]),
        ("tool_calls", ['"target": "call f"'], ["line 1", "the expected calls cannot be read", '[{"name":']),
        ("tool_calls", ['"note": 1'], ["line 1", "no expected calls"]),
        ("instructions", ['"note": 1'], ["line 1", "no instruction_id_list"]),
        ("instructions", ['"instruction_id_list": ["punctuation:none"]'], ["line 1", "'punctuation:none'"]),
        ("json_schema", ['"target": "{}"', '"target": "{"'], ["1 bad row of 2", "line 2", "schema cannot be used"]),
        ("humaneval", ['"target": "x", "prompt": "p"'], ["line 1", "no text 'entry_point' and no 'test'"]),
        ("mbpp", ['"target": "x", "code": "c"'], ["line 1", "no list 'test_list'"]),
        ("mbpp", [f'"target": "x", {CHECKED}'], ["line 1", "no text 'code'"]),
        ("tests", ['"target": "x"'], ["line 1", "no tests in 'tests'"]),
        ("stdio", ['"target": "x"'], ["line 1", "no tests: input_output"]),
        ("evalplus", ['"target": "x"'], ["line 1", "no task_id, prompt"]),
    ],
)  # fmt: skip
def test_rows_that_cannot_be_scored_are_named_before_anything_is_asked(
    cli: Cli, asked_model: str, provider: FakeProvider, scorer: str, rows: list[str], parts: list[str]
) -> None:
    Path("data.jsonl").write_text("".join(f'{{"input": "Question {n}", {row}}}\n' for n, row in enumerate(rows)))
    error = refused(cli, provider, asked_model, f"{HEAD}scorers: [{scorer}]\n")
    assert error.startswith("Error: data.jsonl: ")
    for part in parts:
        assert part in error


def test_rows_of_several_sorts_are_accepted_when_each_can_be_scored_by_one_of_the_scorers(
    cli: Cli, asked_model: str, provider: FakeProvider
) -> None:
    Path("data.jsonl").write_text('{"input": "1 + 1", "target": "2"}\n{"input": "B or C?", "target": "B"}\n')
    Path("mine.yaml").write_text(f"{HEAD}scorers: [choice, numeric]\n")
    assert cli("benchmarks", "check", "mine.yaml").code == 0
    assert cli("run", "mine.yaml", "-m", asked_model).code == 0
    assert provider.stats()["asked"] == 2


def test_a_scorer_that_can_score_no_row_is_refused_though_another_could(
    cli: Cli, asked_model: str, provider: FakeProvider
) -> None:
    error = refused(cli, provider, asked_model, f"{HEAD}scorers: [exact, choice]\n")
    assert error.startswith(
        "Error: data.jsonl: the scorer 'choice' can score none of the samples; of the first it says"
    )
