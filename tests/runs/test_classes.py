"""`metrics: [accuracy, macro_f1]`: answers as classes, from a benchmark file to the numbers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import proctor
from commands import Cli

LABELLED = [
    # expected, what the model says
    ("positive", "Positive."), ("positive", "positive"), ("positive", "negative"), ("positive", "no idea"),
    ("negative", "negative"), ("negative", "NEGATIVE"), ("negative", "positive"), ("neutral", "negative"),
    ("neutral", "neutral"), ("neutral", "neutral"), ("neutral", "positive"),
]  # fmt: skip
METRICS = "[accuracy, macro_f1, macro_precision, macro_recall]"


def write(folder: Path, scorer: str, rows: list[dict[str, Any]], said: list[str], metrics: str = METRICS) -> str:
    """A benchmark of these rows and a model that gives these answers; the benchmark's file."""
    asked = [{"id": str(place), "input": f"Q{place}", **row} for place, row in enumerate(rows)]
    (folder / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in asked))
    (folder / "said.json").write_text(json.dumps({row["input"]: text for row, text in zip(asked, said, strict=True)}))
    (folder / "saying_by_question.py").write_text(
        "import json\n"
        "from pathlib import Path\n"
        "async def answer(prompt: str) -> str:\n"
        "    said = json.loads(Path('said.json').read_text())\n"
        "    return said[prompt.split()[0]]\n"
    )
    (folder / "moods.yaml").write_text(
        "name: moods\ndataset: {source: rows.jsonl}\nprompt: {user: '{{ input }}'}\n"
        f"scorers: [{scorer}]\nmetrics: {metrics}\n"
    )
    return "moods.yaml"


def measured(path: str, home: Path, **options: Any) -> dict[str, Any]:
    run = proctor.evaluate(path, models="python/saying_by_question:answer", cache=False, home=home, **options)
    [evaluation] = run.summary.evaluations
    metrics: dict[str, Any] = evaluation.metrics
    return metrics


def check_against_scikit_learn(found: dict[str, Any], targets: list[str], answers: list[str]) -> None:
    sklearn = pytest.importorskip("sklearn.metrics")
    labels = sorted(set(targets))
    every = sklearn.precision_recall_fscore_support(targets, answers, labels=labels, average="macro", zero_division=0)
    names = ("macro_precision", "macro_recall", "macro_f1")
    assert [found[name].value for name in names] == pytest.approx(list(every[:3]), abs=1e-9)
    assert {found[name].n for name in names} == {len(targets)}


@pytest.mark.parametrize("scorer", ["exact: {ignore_case: true, ignore_punctuation: true}", "includes"])
def test_classes_by_name_are_scored_as_scikit_learn_does(home: Path, scorer: str) -> None:
    folder = Path.cwd()
    written = f"{{{scorer}}}" if ": " in scorer else scorer
    path = write(folder, written, [{"target": t} for t, _ in LABELLED], [said for _, said in LABELLED])
    found = measured(path, home)
    targets, answers = [t for t, _ in LABELLED], [said.lower().strip(".") for _, said in LABELLED]
    check_against_scikit_learn(found, targets, answers)
    assert found["accuracy"].value == pytest.approx(sum(map(str.__eq__, targets, answers)) / len(targets))
    assert found["macro_f1"].method == "delta"
    assert list(found["macro_f1"].classes) == ["negative", "neutral", "positive"]
    assert found["macro_f1"].classes["positive"] == {
        "precision": 2 / 4, "recall": 2 / 4, "f1": 0.5, "support": 4,
    }  # fmt: skip


@pytest.mark.parametrize("form", ["letter", "index", "text", "shuffled"])
def test_options_are_classes_however_the_target_names_them(home: Path, form: str) -> None:
    names = ["negative", "neutral", "positive"]
    rows, said = [], []
    for place, (target, answer) in enumerate(LABELLED):
        turn = place % 3 if form == "shuffled" else 0
        choices = names[turn:] + names[:turn]
        right = choices.index(target)
        rows.append({"choices": choices, "target": {"letter": "ABC"[right], "index": right}.get(form, target)})
        name = answer.lower().strip(".")
        said.append("ABC"[choices.index(name)] if name in names else "I cannot tell.")
    found = measured(write(Path.cwd(), "choice", rows, said), home)
    check_against_scikit_learn(found, [t for t, _ in LABELLED], [a.lower().strip(".") for _, a in LABELLED])
    assert list(found["macro_f1"].classes) == names


def test_options_that_differ_from_sample_to_sample_are_classes_by_their_letters(home: Path) -> None:
    pairs = [("A", "B"), ("A", "A"), ("B", "B"), ("B", "C"), ("C", "C"), ("C", "A"), ("C", "C")]
    rows = [{"choices": [f"{place}{n}" for n in range(3)], "target": t} for place, (t, _) in enumerate(pairs)]
    found = measured(write(Path.cwd(), "choice", rows, [f"The answer is {said}." for _, said in pairs]), home)
    check_against_scikit_learn(found, [t for t, _ in pairs], [said for _, said in pairs])
    assert list(found["macro_f1"].classes) == ["a", "b", "c"]


def test_another_name_for_a_class_is_known_from_where_it_was_right(home: Path) -> None:
    rows = [{"target": ["yes", "true"]}, {"target": ["no", "false"]}, {"target": ["no", "false"]}]
    found = measured(write(Path.cwd(), "exact", rows, ["true", "true", "no"]), home)
    check_against_scikit_learn(found, ["yes", "no", "no"], ["yes", "yes", "no"])


def test_what_the_scorer_did_not_accept_or_could_not_read_is_an_answer_of_no_class(home: Path) -> None:
    rows = [{"target": "yes"}, {"target": "yes"}, {"target": "no"}, {"target": "no"}]
    said = ["Answer: yes", "Answer: YES", "Answer: no", "yes"]
    found = measured(write(Path.cwd(), "{regex: {pattern: 'Answer: (\\w+)'}}", rows, said), home)
    check_against_scikit_learn(found, ["yes", "yes", "no", "no"], ["yes", "-", "no", "-"])


def test_epochs_share_the_vote_of_their_sample(home: Path) -> None:
    path = write(Path.cwd(), "includes", [{"target": t} for t, _ in LABELLED], [said for _, said in LABELLED])
    once, twice = measured(path, home), measured(path, home, epochs=2)
    for name in ("macro_f1", "macro_precision", "macro_recall"):
        assert twice[name].value == pytest.approx(once[name].value)
        assert twice[name].stderr == pytest.approx(once[name].stderr)
        assert twice[name].n == once[name].n == len(LABELLED)


def test_a_scorer_of_whole_texts_measures_no_classes(home: Path) -> None:
    found = measured(write(Path.cwd(), "f1", [{"target": "a b"}], ["a b"]), home)
    assert found["accuracy"].value == 1
    assert (found["macro_f1"].value, found["macro_f1"].n) == (None, 0)


def test_an_average_over_classes_is_shown_gated_and_explained(home: Path, cli: Cli) -> None:
    rows = [{"target": t} for t, _ in LABELLED]
    write(Path.cwd(), "includes", rows, [said for _, said in LABELLED], "[macro_f1, accuracy]")
    command = ("run", "moods.yaml", "-m", "python/saying_by_question:answer")
    ended = cli(*command, "--fail-under", "macro_f1=0.99")
    assert ended.code == 1
    assert "macro_f1" in ended.out
    assert "macro_f1 is 0.5" in ended.err
    assert cli(*command, "--fail-under", "macro_f1=0.1").code == 0
    assert "macro_f1" in cli("report", "latest", "-f", "html").out


def test_a_perfect_score_has_no_interval_and_says_so(home: Path, cli: Cli) -> None:
    write(Path.cwd(), "includes", [{"target": "a"}, {"target": "b"}], ["a", "b"], "[macro_f1]")
    ended = cli("run", "moods.yaml", "-m", "python/saying_by_question:answer", "--json")
    estimate = ended.json["evaluations"][0]["metrics"]["macro_f1"]
    assert (estimate["value"], estimate["ci95"], estimate["method"]) == (1, None, "no interval: no spread")
    for form in ("md", "html"):
        assert cli("report", "latest", "-f", form, "-o", f"page.{form}").code == 0
    assert cli("show", "latest").code == 0
    assert cli("leaderboard").code == 0
