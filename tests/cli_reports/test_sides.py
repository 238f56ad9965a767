"""One run with several prompts, shots or options: its sides are named, and compared where that says something."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path

import pytest

import proctor
from commands import Cli
from proctor.cli.live import LiveView
from proctor.runs.progress import EvaluationProgress, Progress

PLAN = """
models: [{models}]
benchmarks: [sums.yaml]
matrix:
  prompt:
    - {{name: plain, user: "{{{{ input }}}}"}}
    - {{name: terse, system: "Be terse.", user: "{{{{ input }}}} Number only."}}
{more}"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    rows = [{"id": str(one), "q": f"What is {one} + 7?", "a": str(one + 7)} for one in range(40)]
    (tmp_path / "sums.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    (tmp_path / "sums.yaml").write_text(
        "name: sums\n"
        "dataset: {source: sums.jsonl, fields: {id: id, input: q, target: a}, examples: {pick: first}}\n"
        "prompt: {user: '{{ input }}'}\nscorers: [numeric]\n",
        encoding="utf-8",
    )
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(folder: Path, models: str = "demo/strong", more: str = "") -> str:
    (folder / "plan.yaml").write_text(PLAN.format(models=models, more=more), encoding="utf-8")
    return "plan.yaml"


def test_two_prompts_of_one_model_are_compared_on_the_same_samples(cli: Cli, folder: Path) -> None:
    ran = cli("run", write(folder), "--json").json
    assert [item["side"] for item in ran["evaluations"]] == ["demo/strong · prompt plain", "demo/strong · prompt terse"]
    assert [item["settings"] for item in ran["evaluations"]] == [{"prompt": "plain"}, {"prompt": "terse"}]
    document = cli("compare", "latest", "--json").json
    [item] = document["comparisons"]
    assert (item["a"]["side"], item["b"]["side"]) == ("demo/strong · prompt plain", "demo/strong · prompt terse")
    assert (item["a"]["model"], item["n"], item["warnings"]) == ("demo/strong", 40, [])
    assert document["not_compared"] == []
    assert "demo/strong · prompt plain (A) and demo/strong · prompt terse (B) on sums" in cli("compare", "latest").out


def test_of_several_models_and_prompts_only_what_differs_in_one_is_compared(cli: Cli, folder: Path) -> None:
    cli("run", write(folder, "demo/strong, demo/weak"))
    document = cli("compare", "latest", "--json").json
    sides = {(item["a"]["name"], item["b"]["name"]) for item in document["comparisons"]}
    assert sides == {
        ("demo/strong · prompt plain", "demo/strong · prompt terse"),
        ("demo/weak · prompt plain", "demo/weak · prompt terse"),
        ("demo/strong · prompt plain", "demo/weak · prompt plain"),
        ("demo/strong · prompt terse", "demo/weak · prompt terse"),
    }
    assert {item["family"] for item in document["comparisons"]} == {4}
    assert document["not_compared"] == ["2 pairs that differ in more than one of model, options and prompt."]
    one = cli("compare", "latest", "--model", "demo/weak", "--json").json
    assert [item["b"]["name"] for item in one["comparisons"]] == ["demo/weak · prompt terse"]
    chosen = cli("compare", "latest", "--model", "demo/weak · prompt terse", "--model", "demo/strong · prompt terse")
    assert "demo/weak · prompt terse (A) and demo/strong · prompt terse (B)" in " ".join(chosen.out.split())


def test_worked_examples_from_the_samples_themselves_are_left_out_of_both_sides(cli: Cli, folder: Path) -> None:
    cli("run", "sums.yaml", "-m", "demo/strong", "--vary", "shots=0,5")
    [item] = cli("compare", "latest", "--json").json["comparisons"]
    assert (item["a"]["name"], item["b"]["name"]) == ("demo/strong · 0 shots", "demo/strong · 5 shots")
    assert (item["n"], item["left_out"]["only_a_not_asked_in_b"]) == (35, 5)
    assert item["warnings"] == ["Samples that are worked examples of one side are left out."]


def test_varied_options_are_compared_within_a_model_and_across_models(cli: Cli, folder: Path) -> None:
    cli("run", "sums.yaml", "-m", "demo/strong", "-m", "demo/weak", "--vary", "temperature=0,1")
    document = cli("compare", "latest", "--json").json
    assert len(document["comparisons"]) == 4
    assert document["comparisons"][0]["a"]["settings"] == {"temperature": 0}


def test_other_samples_are_not_taken_for_another_prompt(cli: Cli, folder: Path) -> None:
    (folder / "plan.yaml").write_text(
        "models: [demo/strong]\nbenchmarks:\n"
        "  - {benchmark: sums.yaml, limit: 20, shots: 0}\n  - {benchmark: sums.yaml, limit: 10, shots: 5}\n",
        encoding="utf-8",
    )
    cli("run", "plan.yaml")
    ended = cli("compare", "latest")
    assert ended.code == 2
    assert "name a second run" in ended.error


def test_a_dry_run_counts_every_combination_and_a_mistake_has_its_place(cli: Cli, folder: Path) -> None:
    dry = cli("run", write(folder, more="  temperature: [0, 1]\n"), "--dry-run", "--json").json
    assert (len(dry["evaluations"]), dry["trials"]) == (4, 160)
    assert dry["evaluations"][1]["side"] == "demo/strong?temperature=0 · prompt terse"
    wrong = cli("run", write(folder, more="  variant: [cot]\n"), "--dry-run")
    assert wrong.error.startswith(
        "Error: plan.yaml:8: matrix.variant[0]: The benchmark 'sums' has no parameter 'variant'"
    )
    assert "Did you mean 'shots'?" in cli("run", "sums.yaml", "-m", "demo/strong", "--vary", "shot=0,5").error
    assert "takes NAME=VALUE,VALUE" in cli("run", "sums.yaml", "-m", "demo/strong", "--vary", "shots").error


def test_reports_and_leaderboards_name_the_sides(cli: Cli, folder: Path) -> None:
    cli("run", write(folder))
    for form in ("md", "html"):
        text = cli("report", "latest", "-f", form).out
        assert "demo/strong · prompt plain" in text
        assert "Comparison" in text
    [table] = cli("leaderboard", "--json").json["tables"]
    assert {row["side"] for row in table["rows"]} == {"demo/strong · prompt plain", "demo/strong · prompt terse"}
    assert {row["model"] for row in table["rows"]} == {"demo/strong"}
    assert (table["ranks"], table["shots"], len({row["digest"] for row in table["rows"]})) == ("paired", None, 2)
    out = cli("leaderboard").out
    assert "prompt terse" in out
    assert ", 2 prompts;" in " ".join(out.split())


def test_a_run_that_asked_like_one_of_the_sides_joins_their_table(cli: Cli, folder: Path) -> None:
    cli("run", write(folder, "demo/strong, demo/weak"))
    cli("run", "sums.yaml", "-m", "demo/average")  # its prompt is the plain one
    cli("run", "sums.yaml", "-m", "demo/average", "--where", "id=1")  # other samples
    tables = cli("leaderboard", "--json").json["tables"]
    by_size = sorted(tables, key=lambda table: table["samples"])
    assert [row["side"] for row in by_size[0]["rows"]] == ["demo/average"]
    assert {row["side"] for row in by_size[1]["rows"]} == {
        "demo/strong · prompt plain", "demo/strong · prompt terse", "demo/weak · prompt plain",
        "demo/weak · prompt terse", "demo/average · prompt plain",
    }  # fmt: skip
    cli("run", "sums.yaml", "-m", "demo/strong")
    again = cli("leaderboard", "--json").json["tables"]
    found = {row["side"]: row["chosen_from"] for table in again for row in table["rows"]}
    assert found["demo/strong · prompt plain"] == 2, "the same model asked in the same words"


def test_two_prompts_of_one_name_are_two_rows(cli: Cli, folder: Path) -> None:
    cli("run", write(folder))
    path = folder / write(folder)
    path.write_text(path.read_text().replace("Number only.", "A number."))
    cli("run", "plan.yaml")
    [table] = cli("leaderboard", "--json").json["tables"]
    sides = [row["side"] for row in table["rows"]]
    assert len(set(sides)) == 3
    assert sum(side.startswith("demo/strong · prompt terse · ") for side in sides) == 2


def test_rows_say_which_side_they_are_of(cli: Cli, folder: Path) -> None:
    cli("run", write(folder))
    plain, terse = "demo/strong · prompt plain", "demo/strong · prompt terse"
    rows = [json.loads(line) for line in cli("export", "-f", "jsonl").out.splitlines()]
    assert [sum(row["side"] == side for row in rows) for side in (plain, terse)] == [40, 40]
    table = list(csv.DictReader(cli("export", "-f", "csv").out.splitlines()))
    assert {(row["model"], row["side"]) for row in table} == {("demo/strong", plain), ("demo/strong", terse)}
    assert len(set(re.findall(r'classname="([^"]*)"', cli("export", "-f", "junit").out))) == 2
    assert "has 2: " in cli("export", "-f", "inspect").error
    log = json.loads(cli("export", "-f", "inspect", "--model", terse).out)
    assert len(log["samples"]) == len({one["id"] for one in log["samples"]}) == 40
    [shown] = cli("samples", "latest", "--model", terse, "--sample", "3", "--json").json
    assert shown["side"] == terse
    assert f"3  {terse}  sums" in cli("samples", "latest", "--sample", "3").out
    assert f"Did you mean {terse!r}?" in cli("samples", "latest", "--model", terse[:-1]).error
    sql = "SELECT side, count(*) FROM results GROUP BY side ORDER BY side"
    assert [row["side"] for row in cli("sql", sql, "--json").json] == [plain, terse]
    assert f"| wrong | {plain} | sums |" in cli("report", "latest", "-f", "md").out


def test_rows_of_a_run_that_varies_nothing_have_no_side(cli: Cli, folder: Path) -> None:
    cli("run", "sums.yaml", "-m", "demo/strong", "--limit", "2")
    assert "side" not in json.loads(cli("export", "-f", "jsonl").out.splitlines()[0])
    assert "side" not in cli("export", "-f", "csv").out.splitlines()[0].split(",")


def test_rescoring_names_the_sides(cli: Cli, folder: Path) -> None:
    cli("run", write(folder))
    sides = ["demo/strong · prompt plain", "demo/strong · prompt terse"]
    ended = cli("rescore", "latest", "--scorer", "includes", "--json")
    assert [item["side"] for item in ended.json["evaluations"]] == sides
    assert [item["model"] for item in ended.json["evaluations"]] == ["demo/strong", "demo/strong"]
    out = " ".join(cli("rescore", "latest", "--scorer", "exact").out.split())
    assert all(f"{side} on sums" in out for side in sides)


def test_metrics_of_a_run_in_python_go_by_side_where_prompts_vary(cli: Cli, folder: Path) -> None:
    run = proctor.evaluate(write(folder))
    assert {side: list(found) for side, found in run.metrics.items()} == {
        "demo/strong · prompt plain": ["sums"],
        "demo/strong · prompt terse": ["sums"],
    }
    [table] = proctor.leaderboard().tables
    assert {row.side for row in table.rows} == set(run.metrics)
    assert [item.side for item in proctor.rescore(run.id, "includes").evaluations] == list(run.metrics)
    assert list(proctor.evaluate("sums.yaml", models="demo/strong").metrics) == ["demo/strong"]


def test_the_live_view_names_the_sides_and_keeps_what_differs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    progress = Progress([])
    long = "openai/a-model-with-a-long-name"
    sides = ("prompt terse", "prompt plain")
    progress.evaluations = {
        number: EvaluationProgress(long, f"{long} · {side}", "sums", 10) for number, side in enumerate(sides)
    }
    view = LiveView(progress, "r")
    view._console.width = 100
    with view._console.capture() as captured:
        view._console.print(view._draw())
    lines = captured.get().splitlines()
    assert lines[0].startswith("openai/")
    assert [side in line for side, line in zip(sides, lines, strict=False)] == [True, True]


VARIANTS = "variant: direct\nvariants:\n  cot: {prompt: {user: 'Think. {{ input }}'}, scorers: [includes]}\n"


PLAIN = "{name: a, user: '{{ input }}'}"


@pytest.mark.parametrize(
    ("plan", "place"),
    [
        ("matrix:\n  variant: [direct, cott]\n", "plan.yaml:4: matrix.variant[1]: The benchmark 'sums' has no variant"),
        ("matrix:\n  shots: [0, 3]\n", "plan.yaml:4: matrix.shots[1]: The benchmark 'sums' has no examples"),
        (f"matrix:\n  prompt:\n    - {PLAIN}\n    - nothing.yaml\n", "plan.yaml:6: matrix.prompt[1]: "),
        (
            f"matrix:\n  variant: [direct, cot]\n  prompt: [{PLAIN},\n    {{name: b, user: '{{{{ inptu }}}}'}}]\n",
            "plan.yaml:6: matrix.prompt[1]: sums.jsonl: 40 bad rows of 40: ",
        ),
        (
            f"matrix:\n  prompt: [{PLAIN}, {{name: b, user: '{{% if %}}'}}]\n",
            "plan.yaml:4: matrix.prompt[1]: prompt.user: the template has a mistake",
        ),
        (
            f"matrix:\n  prompt: [{PLAIN}, {{name: b, user: '{{{{ a }}}}'}}]\n",
            "plan.yaml:4: matrix.prompt[1]: a prompt may not use {{ a }}: that is the expected answer",
        ),
        ("matrix:\n  temperature: [" + ", ".join(map(str, range(1001))) + "]\n", "plan.yaml:3: matrix: 1,001 models"),
    ],
)  # fmt: skip
def test_a_mistake_in_a_matrix_is_placed_there(cli: Cli, folder: Path, plan: str, place: str) -> None:
    text = (folder / "sums.yaml").read_text().replace(", examples: {pick: first}", "")
    (folder / "sums.yaml").write_text(text + VARIANTS)
    (folder / "plan.yaml").write_text(f"models: [demo/strong]\nbenchmarks: [sums.yaml]\n{plan}")
    assert place in cli("run", "plan.yaml", "--dry-run").error


def test_a_mistake_in_the_matrix_of_a_benchmark_is_placed_there_and_one_of_a_flag_in_no_file(
    cli: Cli, folder: Path
) -> None:
    (folder / "plan.yaml").write_text(
        "models: [demo/strong]\nbenchmarks:\n  - sums.yaml\n  - benchmark: sums.yaml\n    limit: 5\n"
        "    matrix:\n      variant: [cot]\n"
    )
    found = cli("run", "plan.yaml", "--dry-run").error
    assert found.startswith(
        "Error: plan.yaml:7: benchmarks[1].matrix.variant[0]: The benchmark 'sums' has no parameter"
    )
    (folder / "plan.yaml").write_text("models: [demo/strong]\nbenchmarks: [sums.yaml]\n")
    flagged = cli("run", "plan.yaml", "--vary", "variant=a,b", "--dry-run").error
    assert flagged.startswith("Error: The benchmark 'sums' has no parameter 'variant'")


def test_variants_with_other_scorers_are_run_each_with_its_own_and_not_compared(cli: Cli, folder: Path) -> None:
    (folder / "sums.yaml").write_text((folder / "sums.yaml").read_text() + VARIANTS)
    ran = cli("run", "sums.yaml", "-m", "demo/strong", "--vary", "variant=direct,cot", "--json").json
    assert [(item["side"], list(item["scorers"])) for item in ran["evaluations"]] == [
        ("demo/strong · variant direct", ["numeric"]),
        ("demo/strong · variant cot", ["includes"]),
    ]
    tables = cli("leaderboard", "--json").json["tables"]
    assert {tuple(table["scorers"]): len(table["rows"]) for table in tables} == {("numeric",): 1, ("includes",): 1}
    ended = cli("compare", "latest")
    assert ended.code == 2
    assert "scor" in ended.error
