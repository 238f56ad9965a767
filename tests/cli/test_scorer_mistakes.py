"""A benchmark that cannot be scored as written is refused before anything is asked, with the mistake's place."""

from __future__ import annotations

from pathlib import Path

import pytest

from commands import Cli
from fakes.provider import FakeProvider

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
    assert cli("benchmarks", "check", "mine.yaml").code == 0
    ended = cli("benchmarks", "check", "mine.yaml?variant=odd")
    assert ended.code == 2
    assert ended.error.startswith("Error: mine.yaml:8: variants.odd.scorers[0]: '(' is not a regular expression")
