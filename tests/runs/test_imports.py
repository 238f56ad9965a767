"""Logs of other tools, which these tools made: see data/imported/making for how."""

from __future__ import annotations

import shutil
import zipfile
from contextlib import suppress
from pathlib import Path
from typing import Any

import orjson
import pytest

import proctor
from commands import Cli
from proctor.domain.score import Score
from proctor.runs.imports.inspect_log import read_inspect
from proctor.runs.imports.log import LogError, score_of
from proctor.runs.imports.reading import read_log

DATA = Path(__file__).parent / "data" / "imported"


def imported(cli: Cli, path: Path) -> dict[str, Any]:
    ended = cli("import", path, "--json")
    assert ended.code == 0, ended.err
    [run] = ended.json
    return dict(run)


def test_a_log_of_inspect_shows_what_inspect_says(cli: Cli) -> None:
    pytest.importorskip("zstandard")
    run = imported(cli, DATA / "inspect-good.eval")
    assert (run["tool"], run["tool_version"], run["is_new"]) == ("inspect", "0.3.285", True)
    [shown] = cli("show", run["run_id"], "--json").json["evaluations"]
    assert (shown["model"], shown["benchmark"], shown["trials"]) == ("imported/mockllm/model", "capitals", 10)
    # `results` of the log: match 0.8, includes 0.8, four of five capitals in each of two epochs.
    assert shown["metrics"]["accuracy"]["value"] == 0.8
    assert (shown["usage"]["input_tokens"], shown["usage"]["output_tokens"]) == (120, 40)
    assert set(shown["categories"]) == {"asia", "other"}
    rows = cli("samples", run["run_id"], "--json", "-n", "10").json
    [canada] = [row for row in rows if (row["sample_id"], row["epoch"]) == ("canada", 1)]
    assert (canada["input"], canada["target"], canada["response"]) == ("Capital of Canada?", "Ottawa", "It is Rome")
    assert canada["scores"]["match"]["value"] == 0.0


@pytest.mark.sqlite
def test_what_failed_at_its_provider_is_no_wrong_answer(cli: Cli) -> None:
    run = imported(cli, DATA / "inspect-weak.json")
    [shown] = cli("show", run["run_id"], "--json").json["evaluations"]
    assert (shown["trials"], shown["scored"], shown["failed"]) == (4, 2, 2)
    assert shown["metrics"]["accuracy"] | {"stderr": 0, "ci95": 0} == shown["metrics"]["accuracy"] | {
        "value": 1.0, "n": 1, "stderr": 0, "ci95": 0,
    }  # fmt: skip
    assert "the provider is down" in cli("samples", run["run_id"], "--outcome", "failed").out


def test_two_imported_runs_are_compared_sample_by_sample(cli: Cli) -> None:
    pytest.importorskip("zstandard")
    good, weak = (imported(cli, DATA / f"inspect-{name}.eval")["run_id"] for name in ("good", "weak"))
    [pair] = cli("compare", weak, good, "--json").json["comparisons"]
    assert (pair["a"]["score"]["value"], pair["b"]["score"]["value"], pair["n"]) == (0.4, 0.8, 5)
    assert pair["difference"]["value"] == pytest.approx(0.4)


def test_a_log_of_lm_eval_shows_what_lm_eval_says(cli: Cli) -> None:
    run = imported(cli, DATA / "lm-eval")
    results = orjson.loads(next((DATA / "lm-eval").glob("results_*.json")).read_bytes())["results"]
    shown = {one["benchmark"]: one for one in cli("show", run["run_id"], "--json").json["evaluations"]}
    assert shown["capitals_gen"]["metrics"]["accuracy"]["value"] == results["capitals_gen"]["exact_match,none"]
    assert shown["capitals_mc"]["metrics"]["accuracy"]["value"] == results["capitals_mc"]["acc,none"]
    rows = cli("samples", run["run_id"], "--benchmark", "capitals_mc", "--json").json
    assert rows[0]["response"] == "Paris"
    assert rows[0]["scores"]["acc"]["value"] == 1.0


def test_results_of_promptfoo_are_an_evaluation_for_each_provider_and_prompt(cli: Cli) -> None:
    run = imported(cli, DATA / "promptfoo.json")
    shown = cli("show", run["run_id"], "--json").json["evaluations"]
    found = {(one["model"], one["benchmark"]): (one["metrics"]["accuracy"]["value"], one["failed"]) for one in shown}
    assert found == {
        ("imported/capitals-good", "capitals (prompt 1)"): (1.0, 0),
        ("imported/capitals-good", "capitals (prompt 2)"): (1.0, 0),
        ("imported/capitals-weak", "capitals (prompt 1)"): (pytest.approx(1 / 3), 1),
        ("imported/capitals-weak", "capitals (prompt 2)"): (pytest.approx(1 / 3), 1),
    }
    assert sum(one["cost_usd"] for one in shown) == pytest.approx(14 * 0.00001)
    weak = cli("samples", run["run_id"], "--model", "imported/capitals-weak", "--wrong", "--json").json
    assert weak[0]["scores"]["pass"]["reason"].startswith('icontains: Expected output to contain "Berlin"')


def test_no_leaderboard_ranks_what_was_imported(cli: Cli) -> None:
    own = proctor.evaluate("puzzles", models="demo/strong", limit=3)
    imported(cli, DATA / "promptfoo.json")
    board = cli("leaderboard", "--json").json
    assert [row["model"] for table in board["tables"] for row in table["rows"]] == ["demo/strong"]
    assert board["left_out"]["imported"] == 4
    assert "4 evaluations imported from elsewhere" in cli("leaderboard").out
    assert own.id in cli("runs").out


def test_what_was_imported_before_is_named_and_not_imported_again(cli: Cli, tmp_path: Path) -> None:
    first = imported(cli, DATA / "promptfoo.json")
    copy = tmp_path / "renamed.json"
    shutil.copy(DATA / "promptfoo.json", copy)
    again = imported(cli, copy)
    assert (again["run_id"], again["is_new"]) == (first["run_id"], False)
    assert cli("import", copy).out.startswith(f"Imported before: run {first['run_id']}")
    cli("delete", first["run_id"], "--yes")
    assert imported(cli, copy)["is_new"]


def test_an_imported_run_can_be_exported_scored_again_and_is_not_asked_again(cli: Cli) -> None:
    run = imported(cli, DATA / "lm-eval")["run_id"]
    assert len(cli("export", run, "-f", "jsonl").out.splitlines()) == 8
    assert cli("rescore", run, "--scorer", "exact").code == 0
    replayed = cli("run", "puzzles", "-m", "imported/dummy")
    assert (replayed.code, "imported" in replayed.error) == (2, True)


@pytest.mark.sqlite
def test_what_is_no_log_is_said_in_one_line_and_nothing_is_written(cli: Cli, home: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    wrong = {
        "text.txt": b"hello",
        "list.json": b"[]",
        "half.json": b'{"eval": {',
        "other.json": b'{"a": 1}',
        "no.eval": b"PK",
        "deep.json": b"[" * 100_000,
        "unnamed.json": b'{"eval": {"task": "t"}, "samples": [{"id": 1, "epoch": 1}]}',
        "nothing.json": b'{"eval": {"task": "t", "model": "m"}, "samples": []}',
        "odd.json": b'{"eval": {"task": "t", "model": "m"}, "samples": {"id": 1}}',
        "results.json": b'{"evalId": "x", "results": {"results": [7]}}',
        "none.json": b'{"evalId": "x", "results": {"results": []}}',
        "choices.json": b'{"eval": {"task": "t", "model": "m"}, "samples": [{"id": 1, "choices": 5}]}',
        "task.json": b'{"eval": {"task": "", "model": "m"}, "samples": [{"id": 1, "input": "q"}]}',
        "nested.json": b'{"eval": {"task": "t", "model": "m"}, "samples": [{"id": 1, "input": "q", "metadata": {"a": '
        + b"[" * 900
        + b"]" * 900
        + b"}}]}",
        "results_2026-01-01T00-00-00.json": b"{}",
        "samples_t_2026-02-01T00-00-00.jsonl": b"{}",
    }
    for name, content in wrong.items():
        (tmp_path / name).write_bytes(content)
    with zipfile.ZipFile(tmp_path / "cut.eval", "w") as archive:
        archive.writestr("header.json", b"{}")
    for path in (tmp_path / "empty", tmp_path / "missing", *(tmp_path / name for name in [*wrong, "cut.eval"])):
        ended = cli("import", path)
        assert (ended.code, ended.out) == (2, ""), path
        assert ended.error.startswith("Error: "), path
    assert cli("import", DATA / "promptfoo.json", tmp_path / "text.txt").code == 2
    assert not home.exists()


@pytest.mark.sqlite
def test_an_archive_that_says_too_little_or_is_changed_is_refused(tmp_path: Path) -> None:
    pytest.importorskip("zstandard")
    whole = (DATA / "inspect-good.eval").read_bytes()
    for place in (60, 200, len(whole) // 2):
        path = tmp_path / "changed.eval"
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 0xFF]) + whole[place + 1 :])
        with suppress(LogError):  # or it was a byte that nothing depends on
            assert len(read_inspect(path).evaluations[0].trials) == 10


@pytest.mark.sqlite
def test_an_archive_that_is_damaged_or_unpacks_to_too_much_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "log.eval"
    head, sample = b'{"eval": {"task": "t", "model": "m"}}', b'{"id": 1, "epoch": 1, "input": "q"}'
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", head)
        archive.writestr("samples/1.json", sample)
    whole = path.read_bytes()
    assert len(read_inspect(path).evaluations[0].trials) == 1
    monkeypatch.setattr("proctor.runs.imports.zstandard_zip.MAX_TOTAL_BYTES", len(head) + len(sample) - 1)
    with pytest.raises(LogError, match="unpacks to more"):
        read_inspect(path)
    monkeypatch.undo()
    packed = whole.find(b"samples/1.json") + len(b"samples/1.json")
    path.write_bytes(whole[:packed] + bytes(byte ^ 0xFF for byte in whole[packed : packed + 2]) + whole[packed + 2 :])
    with pytest.raises(LogError, match="cannot be unpacked"):
        read_inspect(path)
    encrypted = bytearray(whole)
    encrypted[whole.rfind(b"PK\x01\x02") + 8] |= 1
    encrypted[whole.rfind(b"PK\x03\x04") + 6] |= 1
    path.write_bytes(encrypted)
    with pytest.raises(LogError, match="cannot be unpacked"):
        read_inspect(path)


@pytest.mark.sqlite
def test_numbers_and_texts_that_nothing_can_keep_are_no_fault_of_the_log(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "odd.json"
    path.write_text(
        '{"eval": {"task": "t", "model": "m"}, "samples": [{"id": "a\\ud800", "epoch": 9223372036854775808, '
        '"input": "q", "working_time": NaN, "metadata": {"large": 99999999999999999999}, '
        '"output": {"completion": "\\ud800", "usage": {"input_tokens": 1e999}}, "scores": {"s": {"value": "C"}}}]}'
    )
    run = imported(cli, path)
    (row,) = cli("samples", run["run_id"], "--json").json
    assert (row["sample_id"], row["response"], row["scores"]["s"]["value"]) == ("a?", "?", 1.0)


@pytest.mark.sqlite
def test_a_log_of_lm_eval_may_have_nan_in_it(tmp_path: Path) -> None:
    for name in ("results_2024-08-07T10-55-58.1.json", "samples_t_2024-08-07T10-55-58.1.jsonl"):
        is_head = name.startswith("results")
        head = '{"config": {"model": "hf", "model_args": ["x"]}, "results": {"t": {"bleu": NaN}}}'
        (tmp_path / name).write_text(
            head if is_head else '{"doc_id": 0, "doc": {}, "resps": [["a"]], "metrics": ["acc"], "acc": NaN}'
        )
    (trial,) = read_log(tmp_path / "results_2024-08-07T10-55-58.1.json").evaluations[0].trials
    assert [score.value for score in trial.scores] == [None]


@pytest.mark.sqlite
@pytest.mark.parametrize(
    ("value", "kept"),
    [(True, 1.0), (0.25, 0.25), (0, 0.0), (7.5, None), (-1, None), (float("nan"), None), (None, None), ("C?", None)],
)
def test_a_mark_outside_0_and_1_is_kept_and_measures_nothing(value: object, kept: float | None) -> None:
    found = score_of("mark", value)
    assert found.value == kept
    assert isinstance(found, Score)
    assert found.details["imported"] == (value if value == value else "nan")  # NaN is not itself


@pytest.mark.sqlite
def test_a_sample_that_is_there_twice_is_refused(cli: Cli, tmp_path: Path) -> None:
    log = orjson.loads((DATA / "inspect-weak.json").read_bytes())
    log["samples"].append(log["samples"][0])
    (tmp_path / "twice.json").write_bytes(orjson.dumps(log))
    assert "is there twice" in cli("import", tmp_path / "twice.json").error
    assert len(read_log(tmp_path / "twice.json").evaluations[0].trials) == 5
