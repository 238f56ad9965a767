"""The commands one by one, as somebody new would use them."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import orjson
import pytest

from commands import Cli
from fakes.absence import hide_packages
from fakes.faults import Faults
from fakes.provider import FakeProvider
from stores.parts import new_database


def stored_in(home: Path) -> str:
    """How messages name the database."""
    database = new_database(home)
    database.dispose()
    return database.label


@pytest.fixture
def ran(cli: Cli) -> str:
    """A run of two models, some answers of which are wrong or invalid."""
    ended = cli("run", "puzzles", "-m", "demo/strong", "-m", "demo/weak", "--limit", 60, "--json", "--name", "first")
    run_id: str = ended.json["run_id"]
    return run_id


def test_a_run_says_where_results_are_kept_and_what_to_type_next(cli: Cli, home: Path) -> None:
    ended = cli("run", "puzzles", "-m", "demo/weak", "--limit", 20)
    assert ended.code == 0
    run_id = cli("runs", "--json").json[0]["run_id"]
    assert f"Stored in {stored_in(home)}" in ended.out
    assert f"proctor samples {run_id} --wrong" in ended.out
    assert f"proctor export {run_id} -f csv" in ended.out
    assert "resume" not in ended.out


def test_an_empty_home_says_how_to_begin(cli: Cli) -> None:
    assert "proctor run puzzles" in cli("runs").out
    assert cli("runs", "--status", "failed").out == "No run matches these filters.\n"


def test_show_has_intervals_n_and_categories(cli: Cli, ran: str) -> None:
    out = cli("show", ran[:8]).out
    assert f"Run {ran} (first): completed" in out
    assert "n=60" in out
    assert "Category" in out
    assert "arithmetic" in out
    assert "Go on with" not in out


def test_samples_show_prompt_response_answer_target_and_verdict(cli: Cli, ran: str) -> None:
    out = cli("samples", ran, "--wrong", "-n", 1).out
    for name in ("user: ", "response: ", "target: ", "puzzle: 0", "outcome: "):
        assert name in out


def test_samples_can_be_narrowed_down(cli: Cli, ran: str) -> None:
    wrong = cli("samples", ran, "--wrong", "-n", 500, "--json").json
    assert wrong
    assert all(row["scores"]["puzzle"]["value"] < 1 for row in wrong)
    weak = cli("samples", ran, "--model", "demo/weak", "--category", "dates", "-n", 500, "--json").json
    assert {(row["model"], row["category"]) for row in weak} == {("demo/weak", "dates")}
    invalid = cli("samples", ran, "--outcome", "invalid", "-n", 500, "--json").json
    assert {row["outcome"] for row in invalid} == {"invalid"}
    one = cli("samples", ran, "--sample", weak[0]["sample_id"], "--benchmark", "puzzles", "--json").json
    assert {row["sample_id"] for row in one} == {weak[0]["sample_id"]}
    assert len(one) == 2
    assert "matches." in cli("samples", ran, "--outcome", "failed").out
    unknown = cli("samples", ran, "--model", "demo/wek")
    assert unknown.code == 2
    assert "has no model 'demo/wek'. Did you mean 'demo/weak'?" in unknown.error
    assert "There are more" in cli("samples", ran, "-n", 1).err
    assert one[0]["prompt"]["messages"][-1]["role"] == "user"


def test_a_long_response_is_shortened_unless_asked_for(cli: Cli) -> None:
    Path("long.jsonl").write_text('{"input": "' + "word " * 1000 + '1 + 1", "target": "2"}\n')
    Path("long.yaml").write_text("name: long\ndataset: {source: long.jsonl}\nscorers: [numeric]\n")
    cli("run", "long.yaml", "-m", "demo/perfect")
    short, full = cli("samples").out, cli("samples", "--full").out
    assert "more characters, --full shows them" in short
    assert full.count("word") == 1000


def test_failed_trials_are_shown_with_their_fault_and_can_be_tried_again(cli: Cli) -> None:
    with FakeProvider(Faults(rates={"400": 0.4})) as provider:
        ended = cli("run", "puzzles", "-m", f"openai/x?base_url={provider.url}/v1", "--limit", 20)
        assert ended.code == 0
        assert "proctor resume" in ended.out
        assert "--outcome failed" in ended.out
        shown = cli("samples", "--outcome", "failed", "-n", 1).out
        assert "outcome: failed: " in shown
        assert "HTTP 400" in shown
        assert "Resume: proctor resume" in cli("show").out


def test_resuming_a_finished_run_asks_nothing(cli: Cli, asked_model: str, provider: FakeProvider) -> None:
    first = cli("run", "dates", "-m", asked_model, "--limit", 6, "--json").json
    again = cli("resume", first["run_id"], "--json")
    assert again.code == 0
    assert provider.stats()["asked"] == 6
    assert again.json["evaluations"][0]["metrics"] == first["evaluations"][0]["metrics"]


def test_resuming_a_run_whose_benchmark_has_changed_is_refused(cli: Cli, asked_model: str) -> None:
    Path("data.jsonl").write_text('{"input": "1 + 1", "target": "2"}\n')
    Path("mine.yaml").write_text("name: mine\ndataset: {source: data.jsonl}\nscorers: [numeric]\n")
    cli("run", "mine.yaml", "-m", asked_model)
    Path("data.jsonl").write_text('{"input": "1 + 2", "target": "3"}\n')
    ended = cli("resume", "latest")
    assert ended.code == 2
    assert "has changed" in ended.error


def test_a_recorded_run_can_be_replayed_without_its_provider(
    cli: Cli, asked_model: str, provider: FakeProvider
) -> None:
    first = cli("run", "dates", "-m", asked_model, "--limit", 6, "--json").json
    replayed = cli("run", "dates", "-m", f"replay/{first['run_id']}", "--limit", 6, "--json")
    assert replayed.code == 0, replayed.err
    assert provider.stats()["asked"] == 6
    assert replayed.json["evaluations"][0]["metrics"] == first["evaluations"][0]["metrics"]


def test_benchmarks_are_listed_shown_and_checked(cli: Cli) -> None:
    assert "puzzles" in cli("benchmarks").out
    shown = cli("benchmarks", "show", "puzzles").out
    assert "First prompt:" in shown
    assert "categories: arithmetic" in shown
    checked = cli("benchmarks", "check", "dates")
    assert checked.code == 0
    assert "Valid: all" in checked.out
    Path("data.jsonl").write_text('{"input": "1 + 1", "target": "2"}\n{"input": "1 + 1", "target": "2"}\n')
    Path("mine.yaml").write_text("name: mine\ndataset: {source: data.jsonl}\nscorers: [numeric]\n")
    warned = cli("benchmarks", "check", "mine.yaml")
    assert warned.code == 1
    assert "Warning: " in warned.out
    assert cli("benchmarks", "show", "mine.yaml").code == 0


def test_a_list_can_be_asked_for_by_name(cli: Cli) -> None:
    for command, word in (("benchmarks", ("--form", "tool")), ("problems", ("--difficulty", "basic"))):
        assert cli(command, "list", *word).out == cli(command, *word).out != cli(command).out
        assert cli(command, "list", *word, "--json").json == cli(command, *word, "--json").json


def test_data_that_is_named_as_a_benchmark_is_refused_with_the_way_to_use_it(cli: Cli) -> None:
    ended = cli("run", "hf://org/name?split=test", "-m", "demo/weak")
    assert ended.code == 2
    assert "is data, not a benchmark" in ended.error


def test_a_run_of_many_categories_ends_on_its_totals(cli: Cli) -> None:
    rows = [{"id": str(n), "input": "?", "target": "1", "category": f"field {n % 50}"} for n in range(100)]
    Path("wide.jsonl").write_text("".join(orjson.dumps(row).decode() + "\n" for row in rows))
    Path("wide.yaml").write_text(
        "name: wide\ndataset: {source: wide.jsonl}\nprompt: {user: '{{ input }}'}\nscorers: [exact]\n"
    )
    ended = cli("run", "wide.yaml", "-m", "demo/weak")
    assert "The scores of all 50 categories: proctor show " in ended.out
    assert "field 49" not in ended.out
    assert "field 49" in cli("show").out


def test_shares_are_of_the_trials_that_were_asked(cli: Cli) -> None:
    """A rule that stops early leaves most of a plan unasked; what was not asked cannot have failed."""
    rule = ("--until", "ci<0.3", "--concurrency", 1)
    cli("run", "puzzles", "-m", "demo/silent?delay_ms=5", *rule)
    [item] = cli("show", "--json").json["evaluations"]
    assert 0 < item["invalid"] < item["trials"]
    assert f"{item['invalid']:,} (100.0 %)" in cli("show").out


def test_resuming_finds_the_data_again(cli: Cli) -> None:
    Path("data").mkdir()
    rows = [{"question": f"{n} + 1?", "answer": f"#### {n + 1}"} for n in range(6)]
    Path("data/gsm8k.jsonl").write_text("".join(orjson.dumps(row).decode() + "\n" for row in rows))
    Path("mine.py").write_text(
        "from pathlib import Path\n\n\ndef answer(text: str) -> str:\n"
        "    if not Path('open').exists():\n        raise OSError('closed')\n    return '1'\n"
    )
    cli("run", "gsm8k?shots=0", "-m", "python/mine:answer", "--data", "data", "--retries", 0)
    Path("open").touch()
    ended = cli("resume", "latest", "--json")
    assert ended.code == 0, ended.err
    assert ended.json["evaluations"][0]["scored"] == 6


def test_flags_win_over_what_a_plan_says_of_its_benchmarks(cli: Cli) -> None:
    Path("plan.yaml").write_text(
        "models: [demo/weak]\nbenchmarks:\n  - puzzles\n  - {benchmark: arithmetic, limit: 9, where: {tags.level: 1}}\n"
    )
    ended = cli("run", "plan.yaml", "--limit", 3, "--json")
    assert ended.code == 0, ended.err
    assert [item["trials"] for item in ended.json["evaluations"]] == [3, 3]
    assert ended.json["evaluations"][1]["selection"] == {"limit": 3, "where": {"tags.level": ["1"]}}


def test_models_are_listed_and_one_can_be_looked_at(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "OPENAI_API_KEY is not set" in cli("models").out
    monkeypatch.setenv("OPENAI_API_KEY", "a-key")
    assert "OPENAI_API_KEY is set" in cli("models").out
    shown = cli("models", "openai/gpt-5-mini?temperature=0").out
    assert "endpoint: https://api.openai.com" in shown
    assert "options: temperature=0" in shown


def test_the_doctor_finds_everything_well_and_a_full_house_counted(cli: Cli, ran: str, home: Path) -> None:
    kept = sorted((home / "artifacts").rglob("*"))
    ended = cli("doctor")
    assert ended.code == 0
    assert not any(line.startswith("problem") for line in ended.out.splitlines())
    assert f"{stored_in(home)}, 1 run\n" in ended.out
    assert f"ok       artifacts: {home / 'artifacts'}, a probe was written, read and deleted\n" in ended.out
    assert sorted((home / "artifacts").rglob("*")) == kept


def test_the_doctor_finds_a_place_for_artifacts_that_cannot_be_used(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    for url, said in (("/dev/null", "Proctor cannot write in /dev/null: "), ("s3//x", "is no whole path")):
        monkeypatch.setenv("PROCTOR_ARTIFACTS_URL", url)
        ended = cli("doctor")
        (line,) = [line for line in ended.out.splitlines() if line.startswith("problem")]
        assert (ended.code, said in line) == (1, True), line


def test_the_doctor_names_every_extra_and_what_it_is_for(cli: Cli) -> None:
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
    extras = set(project["optional-dependencies"]) - {"all", "dev"}
    found = {item["name"]: item for item in cli("doctor", "--json").json}
    assert {name for name in found if name.startswith("proctor[")} == {f"proctor[{extra}]" for extra in extras}
    assert found["proctor[text]"]["state"] == "ok"
    assert re.fullmatch(r"sacrebleu [\d.]+, for the scorers bleu and chrf", found["proctor[text]"]["detail"])


def test_the_doctor_says_how_to_install_what_is_missing(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    hide_packages(monkeypatch, "protobuf")
    ended = cli("doctor")
    assert ended.code == 0
    expected = "protobuf not installed; needed for agents that speak gRPC (grpc/…): pip install 'proctor[grpc]'"
    assert f"note     proctor[grpc]: {expected}\n" in ended.out


def test_the_database_can_be_upgraded_at_any_time(cli: Cli, home: Path) -> None:
    for _ in range(2):
        ended = cli("db", "upgrade")
        assert ended.code == 0
        assert stored_in(home) in ended.out


def test_without_arguments_the_help_is_shown(cli: Cli) -> None:
    ended = cli()
    assert ended.code == 2
    assert "proctor run puzzles" in ended.err


def test_two_versions_of_a_benchmark_in_one_run_are_told_apart(cli: Cli) -> None:
    Path("plans").mkdir()
    for name, version in (("sums.yaml", "2"), ("sums@1.yaml", "1")):
        Path(f"plans/{version}.jsonl").write_text(f'{{"input": "1 + 1?", "target": "{version}"}}\n')
        Path(f"plans/{name}").write_text(
            f"name: sums\nversion: '{version}'\ndataset: {{source: {version}.jsonl}}\nscorers: [numeric]\n"
        )
    Path("plans/plan.yaml").write_text("models: [demo/average]\nbenchmarks: [sums.yaml, sums.yaml@1]\n")
    ended = cli("run", "plans/plan.yaml", "--json")
    assert [(one["benchmark"], one["version"]) for one in ended.json["evaluations"]] == [("sums", "2"), ("sums", "1")]
    shown = cli("show", "latest").out
    assert "sums@1" in shown
    assert "sums@2" in shown
    assert "Results on sums@2, sums@1" in cli("report", "latest", "-f", "md").out
    assert cli("resume", "latest").code == 0
    alone = cli("run", "plans/sums.yaml@1", "-m", "demo/average")
    assert alone.code == 0, alone.err
    assert "sums@" not in cli("show", "latest").out
    assert "There is no version '3'" in cli("run", "plans/sums.yaml@3", "-m", "demo/average").error
    assert cli("benchmarks", "show", "plans/sums.yaml@1", "--json").json["version"] == "1"
