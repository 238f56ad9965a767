"""Epochs: what several answers to one sample say together."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

import proctor
from commands import Cli, ended
from proctor import plugins
from proctor.cli.tables import print_results
from proctor.domain.benchmark import ScorerSpec
from proctor.metrics.labels import has_votes, repeat_labels
from proctor.scorers.registry import create_scorer
from proctor.stores.runs import REVISION
from runs.arithmetic import write_benchmark
from stores.parts import connected


def test_epochs_give_pass_at_k_majority_and_consistency(tmp_path: Path) -> None:
    """A model that is right on two of three tries at every even question, and always at odd ones."""
    (tmp_path / "moody.py").write_text(
        "from collections import Counter\n"
        "asked = Counter()\n"
        "async def answer(prompt: str) -> str:\n"
        "    words = prompt.split()\n"
        "    a, b = int(words[2]), int(words[4][:-1])\n"
        "    asked[prompt] += 1\n"
        "    return str(-1 if a % 2 == 0 and asked[prompt] == 2 else a + b)\n"
    )
    write_benchmark(tmp_path, 40)
    arguments = ("run", "sums.yaml", "-m", "python/moody:answer", "--epochs", "3", "--no-cache", "--concurrency", "1")
    code, out, err = ended(tmp_path / "home", tmp_path, *arguments, "--json")
    assert code == 0, err
    [evaluation] = json.loads(out)["evaluations"]
    values = {name: estimate["value"] for name, estimate in evaluation["metrics"].items()}
    assert values["accuracy"] == pytest.approx((20 + 20 * 2 / 3) / 40)
    assert values["pass@1"] == values["pass^1"] == pytest.approx(values["accuracy"])
    assert values["pass@2"] == values["pass@3"] == 1
    assert values["pass^2"] == pytest.approx((20 + 20 / 3) / 40)
    assert values["pass^3"] == 0.5
    assert values["majority@3"] == 1
    assert values["consistency"] == pytest.approx((20 + 20 / 3) / 40)
    assert values["consistency_of_words"] == pytest.approx((20 + 20 / 3) / 40)
    assert {estimate["n"] for estimate in evaluation["metrics"].values()} == {40}
    assert list(values) == ["accuracy", *repeat_labels("numeric", "3", 3)]
    assert evaluation["trials"] == 120


class Asked:
    """One question, asked once for each of these answers and marked by one scorer."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(folder)
        self.folder = folder
        self.home = folder / "home"

    def __call__(self, scorer: str, answers: list[str], target: Any = "Paris", **options: Any) -> proctor.Run:
        self.write(scorer, answers, target)
        given = {"epochs": len(answers), "cache": False, "concurrency": 1, "home": self.home, **options}
        return proctor.evaluate("one.yaml", models="python/saying_in_turn:answer", **given)

    def write(self, scorer: str, answers: list[str], target: Any = "Paris") -> None:
        (self.folder / "said.json").write_text(json.dumps(answers))
        (self.folder / "one.jsonl").write_text(json.dumps({"input": "What?", "target": target}) + "\n")
        (self.folder / "one.yaml").write_text(f"name: one\ndataset: {{source: one.jsonl}}\nscorers: [{scorer}]\n")
        (self.folder / "saying_in_turn.py").write_text(
            "import json\n"
            "from pathlib import Path\n"
            "async def answer(prompt: str) -> str:\n"
            "    first, *rest = json.loads(Path('said.json').read_text())\n"
            "    Path('said.json').write_text(json.dumps(rest))\n"
            "    return first\n"
        )
        (self.folder / "own_shares.py").write_text("def share(sample, response): return len(response.text) / 10\n")
        (self.folder / "own_verdicts.py").write_text("def same(sample, response): return response.text == 'Paris'\n")


def values(run: proctor.Run) -> dict[str, float | None]:
    [evaluation] = run.summary.evaluations
    return {name: estimate.value for name, estimate in evaluation.metrics.items()}


@pytest.fixture
def asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Asked:
    return Asked(tmp_path, monkeypatch)


def test_wrong_answers_that_a_scorer_reads_nothing_out_of_vote_as_well(asked: Asked) -> None:
    found = values(asked("includes", ["Rome", "Rome.", "rome", "Rome", "Rome", "It is Paris"]))
    assert found["majority@6"] == 0
    assert found["consistency"] == pytest.approx(10 / 15)
    assert found["accuracy"] == pytest.approx(1 / 6)


@pytest.mark.parametrize("scorer", ["numeric", "math"])
def test_numbers_agree_by_their_value_right_or_wrong(asked: Asked, scorer: str) -> None:
    if scorer == "math":
        pytest.importorskip("math_verify")
    said = [r"The answer is 1,000.", r"\boxed{1000}", r"\boxed{\$1000.00}", "The answer is 7.", "The answer is 7.0"]
    if scorer == "math":
        said = [r"\boxed{1,000}", r"\boxed{1000}", r"\boxed{\$1000.00}", r"\boxed{7}", r"\boxed{7.0}"]
    found = values(asked(scorer, said, target="1000"))
    assert found["accuracy"] == pytest.approx(3 / 5)
    assert found["majority@5"] == 1
    assert found["consistency"] == pytest.approx((3 + 1) / 10)


def test_expressions_equal_to_the_target_are_one_answer_however_they_are_written(asked: Asked) -> None:
    pytest.importorskip("math_verify")
    said = [r"\boxed{(x+1)^2}", r"\boxed{x^2+2x+1}", r"\boxed{x^{2} + 1}", r"\boxed{x^{2}+1}"]
    found = values(asked("math", said, target="$(x+1)^2$"))
    assert found["consistency"] == pytest.approx(2 / 6)
    assert found["majority@4"] == 0.5


def test_right_answers_that_meet_different_targets_are_different_answers(asked: Asked) -> None:
    found = values(asked("numeric", ["2", "3", "3.0"], target=["2", "3"]))
    assert found["accuracy"] == 1
    assert found["consistency"] == pytest.approx(1 / 3)


def test_answers_that_are_marked_differently_are_never_the_same(asked: Asked) -> None:
    found = values(asked("exact", ["Paris", "paris", "PARIS"]))
    assert found["majority@3"] == pytest.approx(1 / 3)
    assert found["consistency"] == 0


def test_an_unreadable_answer_is_a_vote_of_its_own_that_is_never_right(asked: Asked) -> None:
    found = values(asked("numeric", ["18", "I cannot say.", "I cannot say."], target="18"))
    assert found["majority@3"] == pytest.approx(1 / 3)
    assert found["consistency"] == 0


@pytest.mark.parametrize(
    "scorer",
    ["judge_rubric: {name: tone}", "judge_reference", "f1", "rouge", "python://own_shares:share"],
)
def test_marks_of_whole_texts_have_no_majority_and_only_words_are_compared(asked: Asked, scorer: str) -> None:
    written = f"{{{scorer}}}" if ": " in scorer else scorer
    (asked.folder / "lenient.py").write_text(
        "import re\n"
        "def judge(prompt: str) -> str:\n"
        "    code = re.findall(r'^VERDICT (\\w+): VALUE$', prompt, re.MULTILINE)[-1]\n"
        "    return f'VERDICT {code}: ' + ('CORRECT' if 'INCORRECT' in prompt else '5')\n"
    )
    judge = {"judge": "python/lenient:judge"} if scorer.startswith("judge") else {}
    found = values(asked(written, ["Paris"] * 3, **judge))
    assert "majority@3" not in found
    assert "consistency" not in found
    assert found["consistency_of_words"] == 1
    assert {"pass@1", "pass@2", "pass@3", "pass^1", "pass^2", "pass^3"} < set(found)


def test_a_long_response_does_not_stand_for_an_answer_that_was_not_read(asked: Asked) -> None:
    found = values(asked("includes", ["Paris", "Rome " * 60]))
    assert "majority@2" not in found
    assert found["pass@2"] == 1


def test_a_function_that_says_right_or_wrong_has_a_majority_of_the_responses(asked: Asked) -> None:
    found = values(asked("python://own_verdicts:same", ["Rome", "Paris", "Rome"]))
    assert found["majority@3"] == 0
    assert found["consistency"] == pytest.approx(1 / 3)


def test_numbers_kept_by_a_revision_that_computed_otherwise_are_computed_again(asked: Asked) -> None:
    run = asked("includes", ["Rome", "Rome", "Paris"])
    with connected(asked.home) as connection:
        [[text, revision]] = connection.execute("SELECT summary, summary_revision FROM evaluations").fetchall()
        assert revision == REVISION
        kept = json.loads(text)
        kept["metrics"] = {"accuracy": kept["metrics"]["accuracy"], "majority@3": {"value": 1.0, "n": 1}}
        connection.execute("UPDATE evaluations SET summary = ?, summary_revision = 'revision 1'", [json.dumps(kept)])
    code, out, err = ended(asked.home, asked.folder, "show", run.id, "--json")
    assert code == 0, err
    [shown] = json.loads(out)["evaluations"]
    assert shown["metrics"]["majority@3"]["value"] == 0


def test_every_scorer_with_or_without_votes_is_known_to_be_so() -> None:
    with_votes = {
        "choice", "exact", "includes", "json_schema", "likelihood", "lm_eval", "logprob", "math", "numeric", "puzzle",
        "regex", "tool_calls",
    }  # fmt: skip
    judges = {"judge_pairwise", "judge_reference", "judge_rubric"}
    assert with_votes == {name for name in plugins.BUILT_IN["scorers"] if has_votes(name, "1")} - judges
    for name in judges:
        options = {"against": "latest"} if name == "judge_pairwise" else {}
        scorer = create_scorer(ScorerSpec(name, {"name": "mine", **options}))
        assert not has_votes(scorer.name, scorer.version)


def gated(asked: Asked, *flags: str) -> tuple[int, str]:
    """The exit code and the errors of a run over what `asked` has written."""
    command = ("run", "one.yaml", "-m", "python/saying_in_turn:answer", "--no-cache", "--concurrency", "1", *flags)
    code, _, err = ended(asked.home, asked.folder, *command)
    return code, err


def test_what_repeats_measure_can_be_a_gate(asked: Asked) -> None:
    asked.write("includes", ["Rome", "Paris", "Rome"])
    gates = ("--fail-under", "pass@2=0.6", "--fail-under", "pass^2=0.1", "--fail-under", "consistency=0.5")
    code, err = gated(asked, "--epochs", "3", *gates)
    assert code == 1, err
    assert "pass@2 is" not in err
    assert "pass^2 is 0 (n=1), below 0.1" in err
    assert "consistency is 0.3333 (n=1), below 0.5" in err


def test_a_majority_that_could_not_be_counted_does_not_pass_a_gate(asked: Asked) -> None:
    asked.write("includes", ["Paris", "Rome " * 60])
    code, err = gated(asked, "--epochs", "2", "--fail-under", "majority@2=0")
    assert code == 1
    assert "majority@2 could not be measured" in err


@pytest.mark.parametrize(
    ("scorer", "flags"),
    [
        ("includes", ("--fail-under", "pass@2=0.5")),
        ("includes", ("--epochs", "3", "--fail-under", "pass@4=0.5")),
        ("f1", ("--epochs", "3", "--fail-under", "majority@3=0.5")),
    ],
)
def test_a_gate_that_nothing_will_measure_is_refused_before_anything_is_asked(
    asked: Asked, scorer: str, flags: tuple[str, ...]
) -> None:
    asked.write(scorer, [])
    code, err = gated(asked, *flags)
    assert code == 2
    assert "there is no metric" in err


@pytest.mark.usefixtures("home")
@pytest.mark.parametrize(("width", "rows"), [(100, 1), (60, 2)])
def test_repeats_have_a_table_of_their_own(cli: Cli, width: int, rows: int) -> None:
    run = proctor.evaluate("puzzles", models=["demo/weak", "demo/strong"], limit=4, epochs=5)
    out = Console(file=StringIO(), width=width)
    print_results(out, run.summary.evaluations)
    assert isinstance(out.file, StringIO)
    shown = out.file.getvalue().splitlines()
    for name in repeat_labels("puzzle", "1", 5):
        lines = [line for line in shown if line.split()[:1] == [name]]
        assert len(lines) == rows, name
        assert sum(line.count("n=4") for line in lines) == 2, name
    page = cli("report", run.id, "-f", "md").out
    summary, repeats = page.partition("## Repeated answers")[::2]
    assert "pass@1" not in summary
    assert repeats.count("| pass@4 |") == 1
    assert repeats.count("| pass^2 |") == 1
