"""A user's mistake gives one clear line, exit code 2, and nothing is asked."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from commands import Cli
from fakes.faults import Faults
from fakes.provider import FakeProvider

pytestmark = pytest.mark.sqlite  # where results are kept makes no difference here

RUN = ("run", "puzzles", "-m", "demo/strong", "--limit", 3)
PLAN = "models: [demo/strong]\nbenchmarks: [{benchmark: puzzles, limit: 3}]\n"

FILTERED = "models: [demo/strong]\nbenchmarks:\n  - puzzles\n  - benchmark: puzzles\n    where: {"


@pytest.mark.parametrize(
    ("plan", "parts"),
    [
        ("", ["1: the file is empty; a plan is a mapping"]),
        ("modles: [demo/strong]\nbenchmarks: [puzzles]\n", ["1: modles", "Did you mean 'models'?"]),
        ("model: demo/strong\nbenchmark: puzzles\n", ["1: model:", "Did you mean 'models'?"]),
        (PLAN + "limits: {concurency: 3}\n", ["3: limits.concurency", "'concurrency'?", "Allowed here: cost_usd"]),
        (PLAN + "\nepochs: many\n", ["4: epochs: 'many'", "a whole number"]),
        (PLAN + "sampling: {temperature: hot}\n", ["3: sampling.temperature", "'hot' is not a number"]),
        (PLAN + "sampling: {temperature: true}\n", ["3: sampling.temperature", "True is not a number"]),
        (PLAN + "sampling: {temperature: -1}\n", ["3: sampling.temperature: -1", "it must be at least 0"]),
        (PLAN + "epochs: 0\n", ["3: epochs: 0"]),
        (PLAN + "epochs: 1\nepochs: 2\n", ["4", "twice"]),
        ("models: []\nbenchmarks: [puzzles]\n", ["1: models", "at least one"]),
        ("models:\n  - demo/strong\n  - demo\nbenchmarks: [puzzles]\n", ["3: models[1]: 'demo' is not a model"]),
        (
            "models:\n  - {model: demo/strong, temprature: 0}\nbenchmarks: [puzzles]\n",
            ["2: models[0]: demo has no setting 'temprature'", "Did you mean 'temperature'?"],
        ),
        ("models:\n  - demo/weak\n  - dmo/x\nbenchmarks: [puzzles]\n", ["3: models[1]: No model provider 'dmo'"]),
        (
            "models: [demo/strong]\nbenchmarks:\n  - puzzles\n  - puzles\n",
            ["4: benchmarks[1]: No benchmark 'puzles'. Did you mean 'puzzles'?"],
        ),
        ("models: [demo/strong]\nbenchmarks: [{benchmark: puzzles, levle: 3}]\n", ["2: benchmarks[0]", "'level'"]),
        ("models: [openai/gpt-5-mini]\nbenchmarks: [puzzles]\n", ["1: models[0]", "OPENAI_API_KEY"]),
        ("models: [demo/strong\nbenchmarks: [puzzles]\n", ["2", "not valid YAML"]),
        ("- demo/strong\n", [":1: "]),
        ("", [":1: "]),
        (FILTERED + "categry: dates}\n", ["5: benchmarks[1].where.categry: 'where' cannot", "'category'?"]),
        (FILTERED + "category: dats}\n", ["5: benchmarks[1].where.category: No sample has", "Did you mean 'dates'?"]),
        (
            FILTERED + "id: [arithmetic-1-0-0], category: dates}\n",
            ["5: benchmarks[1].where: No sample fulfils all of"],
        ),
        (PLAN + "until: decded\n", ["3: until: cannot read the stop rule 'decded'", "Did you mean 'decided'?"]),
        (PLAN + "until: decided\n", ["3: until: ", "compares models: name at least two"]),
        (PLAN + "epochs: 2\nuntil: ci<0.1\n", ["4: until: ", "epochs: 1 only"]),
        ("models: [demo/strong, demo/strong]\nbenchmarks: [puzzles]\n", ["demo/strong is listed twice"]),
    ],
)  # fmt: skip
def test_a_mistake_in_a_plan_is_named_with_its_place(cli: Cli, plan: str, parts: list[str]) -> None:
    Path("plan.yaml").write_text(plan)
    ended = cli("run", "plan.yaml")
    assert ended.code == 2
    for part in parts:
        assert part in ended.error
    assert ended.error.startswith("Error: plan.yaml:")
    assert ended.out == ""


@pytest.mark.parametrize(
    ("command", "parts"),
    [
        (("rnu",), ["No command 'rnu'. Did you mean 'run'?"]),
        (("run",), ["Missing argument", "proctor run --help"]),
        (("run", "puzzles"), ["No model given", "-m"]),
        (("run", "puzzles", "-m", "demo"), ["'demo' is not a model", "provider/name"]),
        (("run", "puzzles", "-m", "/strong"), ["'/strong' is not a model"]),
        (("run", "puzzles", "-m", "opnai/x"), ["No model provider 'opnai'. Did you mean 'openai'?"]),
        (("run", "puzzles", "-m", "demo/stong"), ["No demo model 'stong'. Did you mean 'strong'?"]),
        (("run", "puzzles", "-m", "demo/strong?delay=3"), ["demo has no setting 'delay'. Did you mean 'delay_ms'?"]),
        (("run", "puzzles", "-m", "demo/strong?delay_ms"), ["?name=value"]),
        (("run", "puzzles", "-m", "demo/strong?seed=1&seed=2"), ["'seed' is given twice"]),
        (("run", "puzzles", "-m", "demo/strong?temperature=hot"), ["models[0].sampling.temperature", "'hot'"]),
        (("run", "puzzles", "-m", "openai/gpt-5-mini"), ["OPENAI_API_KEY"]),
        (("run", "puzles", "-m", "demo/strong"), ["No benchmark 'puzles'. Did you mean 'puzzles'?"]),
        (("run", "plam.yaml"), ["There is no file plam.yaml. Did you mean 'plan.yaml'?"]),
        (("run", "plan.yaml", "puzzles"), ["a plan is run alone"]),
        (("run", "plan.yaml", "-m", "demo"), ["models[0]: 'demo' is not a model"]),
        ((*RUN, "--where", "category"), ["--where takes KEY=VALUE", "'category'"]),
        ((*RUN, "--where", "category="), ["--where takes KEY=VALUE"]),
        ((*RUN, "--where", "categry=dates"), ["'categry'", "Did you mean 'category'?"]),
        ((*RUN, "--where", "category=dats"), ["'dats'. Did you mean 'dates'?", "Available: arithmetic"]),
        ((*RUN, "--fail-under", "accuracy"), ["--fail-under takes METRIC=VALUE", "'accuracy'"]),
        ((*RUN, "--fail-under", "accuracy=nan"), ["--fail-under takes METRIC=VALUE"]),
        ((*RUN, "--sandbox", "bublewrap"), ["No sandbox 'bublewrap'", "Did you mean 'bubblewrap'"]),
        ((*RUN, "--judge", "opnai/x"), ["opnai", "Did you mean 'openai'"]),
        ((*RUN, "--fail-under", "accuracy=80"), ["accuracy is between 0 and 1", "80"]),
        ((*RUN, "--fail-under", "=0.5"), ["--fail-under takes METRIC=VALUE"]),
        ((*RUN, "--fail-under", "accuracy=0.1", "--fail-under", "accuracy=0.2"), ["names accuracy twice"]),
        ((*RUN, "--fail-under", "acuracy=0.5"), ["'acuracy'. Did you mean 'accuracy'?"]),
        (("run", "puzzles", "-m", "demo/strong", "--limit", "0"), ["--limit", "0 is not in the range"]),
        ((*RUN, "--temperature", "warm"), ["--temperature", "'warm' is not a number"]),
        ((*RUN, "--temperature", "-0.5"), ["sampling.temperature: -0.5"]),
        ((*RUN, "--max-minutes", "0"), ["--max-minutes: 0 cannot be used: it must be above 0"]),
        ((*RUN, "--max-minutes", "nan"), ["--max-minutes", "not a number"]),
        ((*RUN, "--max-cost", "free"), ["--max-cost: 'free' cannot be used"]),
        ((*RUN, "--max-rpm", "0"), ["--max-rpm: 0"]),
        ((*RUN, "--max-tpm", "-1"), ["--max-tpm: -1"]),
        (("run", "plan.yaml", "--timeout", "0"), ["--timeout: 0"]),
        ((*RUN, "--concurrency", "0"), ["--concurrency"]),
        ((*RUN, "--nonsense"), ["No such option", "--nonsense"]),
        (("show", "nothing"), ["No run 'nothing'", "proctor runs"]),
        (("show",), ["no runs yet"]),
        (("resume", "latest"), ["no runs yet"]),
        (("cancel", "x"), ["No run 'x'"]),
        (("export", "x"), ["No run 'x'"]),
        (("samples", "x"), ["No run 'x'"]),
        (("benchmarks", "show", "date"), ["No benchmark 'date'. Did you mean 'dates'?"]),
        (("models", "nope/x"), ["No model provider 'nope'"]),
        (("completion", "tcsh"), ["'tcsh'"]),
        (("retention", "--older-than", "999999999999d"), ["is no age", "at most 36,500d"]),
        (("projects", "retention", "local", "--set", "runs=99999d"), ["is no age", "at most 36,500d"]),
        (("cache", "prune", "--older-than", "9" * 5000 + "d"), ["is no age"]),
        (("usage", "--since", "yesterday"), ["'yesterday' is not a date: write 2026-11-17."]),
        (("usage", "--since", "2026-12-01", "--until", "2026-11-01"), ["2026-12-01, is after the last, 2026-11-01"]),
        (("usage", "--since", "1970-01-02", "--until", "2026-11-01"), ["usage is of 3,660 days at most"]),
        (("recommend", "--for", " "), ["--for says what is needed"]),
        (("recommend", "--for", "x", "--after", "latest"), ["either --for TEXT or --after RUN"]),
        (("projects", "delete", "acme"), ["No project 'acme'"]),
    ],
)  # fmt: skip
def test_a_mistake_in_a_command_is_one_clear_line(cli: Cli, command: tuple[str, ...], parts: list[str]) -> None:
    Path("plan.yaml").write_text(PLAN)
    ended = cli(*command)
    assert ended.code == 2
    for part in parts:
        assert part in ended.error
    assert ended.out == ""


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (("--until", "decded"), "cannot read the stop rule 'decded'"),
        (("--until", "ci<2"), "cannot stop at 'ci<2'"),
        (("--until", "decided"), "name at least two"),
        (("--until", "ci<0.1", "--epochs", 2), "epochs: 1 only"),
    ],
)
def test_a_stop_rule_that_cannot_be_followed_leaves_no_run_and_is_found_by_a_dry_run(
    cli: Cli, flags: tuple[str, ...], words: str
) -> None:
    for command in ((*RUN, *flags), (*RUN, *flags, "--dry-run")):
        ended = cli(*command)
        assert (ended.code, ended.out) == (2, "")
        assert words in ended.error
    assert cli("runs", "--json").json == []


def test_a_filter_given_as_a_flag_is_not_looked_for_in_the_plan(cli: Cli) -> None:
    Path("plan.yaml").write_text(PLAN)
    ended = cli("run", "plan.yaml", "--where", "category=dats")
    assert ended.code == 2
    assert ended.error.startswith("Error: No sample has category 'dats'.")


def test_a_dry_run_tells_the_rule_that_may_stop_the_run_early(cli: Cli) -> None:
    rule = (*RUN, "--until", "CI < 5%", "--dry-run")
    assert cli(*rule, "--json").json["until"] == "ci<0.05"
    assert "Stop rule ci<0.05" in " ".join(cli(*rule).out.split())
    assert cli(*RUN, "--dry-run", "--json").json["until"] is None
    assert "Stops early" not in cli(*RUN, "--dry-run").out


def test_nothing_is_recorded_or_asked_when_a_gate_is_misspelt(
    cli: Cli, asked_model: str, provider: FakeProvider, home: Path
) -> None:
    assert cli("run", "puzzles", "-m", asked_model, "--fail-under", "acc=0.5").code == 2
    assert provider.stats()["asked"] == 0
    assert not home.exists()


BAD_ROWS = '{"input": "1 + 1", "target": "2"}\n{"input": "2 + 2", "target": \n{"input": "3 + 3"}\n{"target": "1"}\n'


@pytest.mark.parametrize(
    ("rows", "parts"),
    [
        (BAD_ROWS, ["data.jsonl", "3 bad rows of 4", "line 2", "line 3", "line 4"]),
        ('{"input": "1 + 1", "target": "2"}\n{"input": "2 + 2", "target": null}\n', ["line 2", "target"]),
        ('{"input": "1 + 1"}\n', ["line 1", "target"]),
        ("", ["data.jsonl", "no rows"]),
    ],
)
def test_bad_rows_are_named_before_anything_is_asked(
    cli: Cli, asked_model: str, provider: FakeProvider, rows: str, parts: list[str]
) -> None:
    Path("data.jsonl").write_text(rows)
    Path("mine.yaml").write_text("name: mine\ndataset: {source: data.jsonl}\nscorers: [exact]\n")
    for command in (("run", "mine.yaml", "-m", asked_model), ("benchmarks", "check", "mine.yaml")):
        ended = cli(*command)
        assert ended.code == 2
        for part in parts:
            assert part in ended.error
    assert provider.stats()["asked"] == 0
    assert cli("runs", "--json").json == []


def test_an_ambiguous_beginning_of_a_run_id_is_refused_and_a_unique_one_accepted(cli: Cli) -> None:
    first = cli(*RUN, "--json").json["run_id"]
    second = cli(*RUN, "--json").json["run_id"]
    common = first[: next(place for place in range(len(first)) if first[place] != second[place])]
    ended = cli("show", common)
    assert ended.code == 2
    assert "several runs" in ended.error
    assert first in ended.error
    assert cli("show", first[: len(common) + 1], "--json").json["run_id"] == first
    assert cli("show", "latest", "--json").json["run_id"] == second


def test_a_home_that_cannot_be_written_is_named(cli: Cli, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home.write_text("a file, not a folder")
    monkeypatch.setenv("PROCTOR_HOME", str(home / "below"))
    for command in (RUN, ("runs",)):
        ended = cli(*command)
        assert ended.code == 1
        assert "PROCTOR_HOME" in ended.error
        assert str(home) in ended.error


def test_a_damaged_database_is_named_and_left_alone(cli: Cli, home: Path) -> None:
    home.mkdir()
    path = home / "proctor.db"
    path.write_bytes(b"this is no database" * 500)
    for command in (RUN, ("runs",), ("show",), ("export", "x")):
        ended = cli(*command)
        assert ended.code == 1
        assert str(path) in ended.error
    assert cli("doctor").code == 1
    assert path.read_bytes() == b"this is no database" * 500


def test_another_kind_of_database_is_refused_without_repeating_its_password(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PROCTOR_DATABASE_URL", "mysql://someone:hunter2@db.example/proctor")
    ended = cli("runs")
    assert ended.code == 2
    assert "'mysql' is neither" in ended.error
    assert "hunter2" not in ended.error


def test_a_refused_connection_ends_with_one_line_and_the_run_can_be_resumed(cli: Cli) -> None:
    gone = FakeProvider().start()
    model, port = f"openai/test?base_url={gone.url}/v1", gone.port
    gone.close()
    ended = cli("run", "arithmetic", "-m", model, "--limit", 4, "--retries", 0)
    assert ended.code == 1
    last = ended.err.splitlines()[-1]
    assert last.startswith("Error: ")
    assert "no connection" in last
    assert "proctor resume" in last
    assert "Traceback" not in ended.err
    with FakeProvider(port=port) as back:
        again = cli("resume", "latest", "--json")
        assert again.code == 0
        assert back.stats()["asked"] == 4
    (item,) = again.json["evaluations"]
    assert (item["scored"] + item["invalid"], item["failed"]) == (4, 0)


def test_a_wrong_key_ends_the_run_with_one_line(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "wrong")
    with FakeProvider(key="right") as provider:
        model = f"openai/test?base_url={provider.url}/v1&auth_variable=OPENAI_API_KEY"
        ended = cli("run", "arithmetic", "-m", model, "--limit", 40, "--json")
    assert ended.code == 1
    assert ended.json["status"] == "failed"
    assert ended.json["evaluations"][0]["metrics"]["accuracy"]["value"] is None
    assert "OPENAI_API_KEY" in ended.err.splitlines()[-1]


def test_faults_are_beside_the_score_and_do_not_end_a_run(cli: Cli) -> None:
    with FakeProvider(Faults(rates={"400": 0.3})) as provider:
        model = f"openai/test?base_url={provider.url}/v1"
        ended = cli("run", "arithmetic", "-m", model, "--limit", 30, "--json")
    (item,) = ended.json["evaluations"]
    assert ended.code == 0
    assert 0 < item["failed"] < 30
    assert item["metrics"]["accuracy"]["n"] == 30 - item["failed"]


@pytest.mark.parametrize(
    "setting",
    ["api_key: sk-abcdefghijklmnop", "apiKey: x1", "token: x1", "password: x1", "extra: {secret: x1}",
     "extra: {headers: {Authorization: Bearer abcdefghijkl}}", "label: sk-abcdefghijklmnopqrst"],
)  # fmt: skip
def test_a_secret_in_a_plan_is_refused_without_repeating_it(cli: Cli, setting: str) -> None:
    Path("plan.yaml").write_text(f"models:\n  - {{model: openai/x, {setting}}}\nbenchmarks: [puzzles]\n")
    ended = cli("run", "plan.yaml")
    assert ended.code == 2
    assert "2: models[0]" in ended.error
    assert "environment variable" in ended.error
    assert "sk-abc" not in ended.error
    assert "x1" not in ended.error


@pytest.mark.parametrize("setting", ["max_tokens: 5", "extra: {stop_token_ids: [1], min_tokens: 2}", "top_k: 3"])
def test_options_that_only_sound_like_secrets_are_accepted(cli: Cli, asked_model: str, setting: str) -> None:
    Path("plan.yaml").write_text(f"models:\n  - {{model: '{asked_model}', {setting}}}\nbenchmarks: [puzzles]\n")
    ended = cli("run", "plan.yaml", "--dry-run")
    assert ended.code == 0, ended.err


def test_a_cost_cap_that_cannot_be_enforced_is_refused(cli: Cli, asked_model: str, provider: FakeProvider) -> None:
    ended = cli("run", "puzzles", "-m", asked_model, "--max-cost", 1)
    assert ended.code == 2
    assert provider.stats()["asked"] == 0
    assert "cost" in ended.error


def test_output_that_cannot_be_written_is_named(cli: Cli) -> None:
    cli(*RUN)
    ended = cli("export", "-o", "no/such/folder.csv")
    assert ended.code == 2
    assert "no/such/folder.csv cannot be written" in ended.error


def test_a_proxy_that_cannot_be_used_is_refused_before_a_run_is_written(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    monkeypatch.setenv("https_proxy", "ftp://user:word@proxy")
    for asked in (("-m", "openai/gpt-5-mini"), ("-m", "demo/strong", "--judge", "openai/gpt-5-mini")):
        ended = cli("run", "puzzles", *asked, "--limit", 1)
        assert (ended.code, ended.out) == (2, "")
        assert (
            "openai/gpt-5-mini: the proxy in https_proxy cannot be used, it must be scheme://host:port" in ended.error
        )
        assert "word" not in ended.error
        assert "\n" not in ended.error
    assert cli("runs", "--json").json == []


def test_a_judge_that_no_scorer_of_a_rescore_asks_is_refused_before_scores_change(cli: Cli) -> None:
    assert cli(*RUN).code == 0
    before = cli("show", "--json").json["evaluations"]
    ended = cli("rescore", "latest", "--scorer", "exact", "--judge", "demo/strong")
    assert ended.code == 2
    assert "The judge demo/strong would not be asked: no scorer here is one that judges (exact)." in ended.err
    assert cli("show", "--json").json["evaluations"] == before


@pytest.mark.parametrize("stream", ["<&-", ">&-", "2>&-"])
def test_a_closed_stream_is_no_fault_and_nothing_printed_gets_into_the_database(cli: Cli, stream: str) -> None:
    assert cli(*RUN).code == 0
    command = [sys.executable, "-m", "proctor", "show"]
    ended = subprocess.run(["sh", "-c", f'"$@" {stream}', "sh", *command], capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert cli("doctor").code == 0
