"""Proctor from Python: the same numbers as the command line, from scripts and notebooks alike."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import proctor
from commands import Cli
from fakes.faults import Faults
from fakes.provider import FakeProvider
from proctor.domain.errors import BenchmarkError, NotFoundError, PlanError, UserError
from proctor.domain.plan import Limits, Plan, Sampling
from proctor.domain.run import RunStatus
from proctor.library.arguments import Options

pytestmark = pytest.mark.usefixtures("home")


def test_one_model_on_one_benchmark() -> None:
    run = proctor.evaluate("puzzles", models="demo/weak", limit=20)
    assert run.status is RunStatus.COMPLETED
    assert run.error is None
    accuracy = run.metrics["demo/weak"]["puzzles"]["accuracy"]
    assert accuracy.n == 20
    assert accuracy.value is not None
    assert accuracy.low is not None
    assert accuracy.high is not None
    assert accuracy.low <= accuracy.value <= accuracy.high
    assert repr(run) == f"Run({run.id!r}, completed)"


def test_a_benchmark_file_and_several_models(tmp_path: Path) -> None:
    (tmp_path / "data.jsonl").write_text('{"input": "Compute 1 + 1.", "target": "2"}\n')
    path = tmp_path / "bench.yaml"
    path.write_text("name: sums\ndataset: {source: data.jsonl}\nscorers: [numeric]\n")
    run = proctor.evaluate(path, models=["demo/perfect", {"model": "demo/silent", "temperature": 0}], limit=10)
    assert set(run.metrics) == {"demo/perfect", "demo/silent"}
    assert run.metrics["demo/perfect"]["sums"]["accuracy"].value == 1.0
    assert run.metrics["demo/silent"]["sums"]["accuracy"].value == 0.0


def test_the_command_line_shows_the_same_numbers(cli: Cli) -> None:
    run = proctor.evaluate(["puzzles", "dates"], models=["demo/strong", "demo/weak"], limit=8, name="from python")
    shown = cli("show", run.id, "--json").json
    assert shown.pop("waiting_for") is None  # of the moment that it was shown
    assert shown == run.document
    assert shown["name"] == "from python"


def test_results_are_iterated_and_become_a_table() -> None:
    run = proctor.evaluate("puzzles", models=["demo/strong", "demo/weak"], limit=10, epochs=2)
    rows = list(run.results())
    assert len(rows) == 40
    assert {row["epoch"] for row in rows} == {0, 1}
    pandas = pytest.importorskip("pandas")
    table = run.to_pandas()
    assert isinstance(table, pandas.DataFrame)
    assert len(table) == 40
    means = table.groupby("model")["score_puzzle"].mean()
    for model in ("demo/strong", "demo/weak"):
        assert means[model] == pytest.approx(run.metrics[model]["puzzles"]["accuracy"].value)


def test_iteration_can_be_broken_off_and_begun_again() -> None:
    run = proctor.evaluate("puzzles", models="demo/strong", limit=10)
    first = next(iter(run.results()))
    assert next(iter(run.results())) == first


def test_it_works_inside_a_running_event_loop() -> None:
    async def notebook() -> proctor.Run:
        return proctor.evaluate("puzzles", models="demo/strong", limit=5)

    assert asyncio.run(notebook()).status is RunStatus.COMPLETED


def test_options_reach_the_provider_and_limits_the_engine(provider: FakeProvider, asked_model: str) -> None:
    run = proctor.evaluate(
        "puzzles", models=asked_model, limit=6, where={"category": "dates"}, temperature=0, max_tokens=9, concurrency=2
    )
    assert {row["category"] for row in run.results()} == {"dates"}
    assert provider.most_in_flight <= 2
    body = provider.requests[0].json
    assert body["temperature"] == 0
    assert 9 in body.values()
    assert "seed" not in body


def test_the_cache_can_be_left_aside(provider: FakeProvider, asked_model: str) -> None:
    for _ in range(2):
        proctor.evaluate("puzzles", models=asked_model, limit=3)
    assert provider.stats()["asked"] == 3
    proctor.evaluate("puzzles", models=asked_model, limit=3, cache=False)
    assert provider.stats()["asked"] == 6


def test_a_home_can_be_given(tmp_path: Path, home: Path) -> None:
    run = proctor.evaluate("puzzles", models="demo/strong", limit=2, home=tmp_path / "elsewhere")
    assert (tmp_path / "elsewhere" / "proctor.db").is_file()
    assert not home.exists()
    assert len(list(run.results())) == 2


def test_a_benchmark_used_twice_keeps_both_results() -> None:
    parts = [{"benchmark": "puzzles", "where": {"category": name}, "limit": 4} for name in ("dates", "logic")]
    run = proctor.evaluate(parts, models="demo/strong")
    assert set(run.metrics["demo/strong"]) == {"puzzles", "puzzles#2"}


@pytest.mark.parametrize(
    ("arguments", "kind", "message"),
    [
        ({"benchmarks": "puzles", "models": "demo/strong"}, NotFoundError, "Did you mean 'puzzles'?"),
        ({"benchmarks": "puzzles", "models": "dmo/strong"}, NotFoundError, "Did you mean 'demo'?"),
        ({"benchmarks": "puzzles", "models": "demo"}, PlanError, "provider/name"),
        ({"benchmarks": "puzzles", "models": []}, PlanError, "at least one"),
        ({"benchmarks": "puzzles", "models": "demo/strong", "limit": 0}, PlanError, "it must be at least 1"),
        ({"benchmarks": "puzzles", "models": "demo/strong", "tempature": 0}, PlanError, "'temperature'"),
        ({"benchmarks": "puzzles", "models": "openai/gpt-5-mini"}, UserError, "OPENAI_API_KEY"),
        ({"benchmarks": "puzzles", "models": "demo/strong", "where": {"category": "x"}}, BenchmarkError, "Available"),
        ({"benchmarks": "no.yaml", "models": "demo/strong"}, NotFoundError, "no.yaml"),
    ],
)
def test_a_mistake_is_raised_as_what_it_is(arguments: dict[str, object], kind: type[Exception], message: str) -> None:
    with pytest.raises(kind) as caught:
        proctor.evaluate(**arguments)  # type: ignore[arg-type]
    assert message in str(caught.value)


def a_function(prompt: str) -> str:
    return prompt


class AClass:
    """Neither it nor an instance of it is a model."""


LISTED = {"benchmarks": "puzzles", "models": "demo/strong"}


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"models": a_function}, f"Name it as text, so that the run can be resumed: 'python/{__name__}:a_function'."),
        ({"models": ["demo/strong", a_function]}, "models holds the function a_function."),
        ({"models": lambda prompt: prompt}, "Put it at the top of a module"),
        ({"models": AClass}, "models holds the class AClass. A model is text: 'provider/name'"),
        ({"models": AClass()}, "models holds an object (AClass). A model is text"),
        ({"models": 5}, "models holds an object (int)."),
        ({"models": b"demo/strong"}, "models is text or a list of texts, not b'demo/strong'."),
        ({"models": [["demo/strong"]]}, "['demo/strong'] in it is neither."),
        ({"models": "demo/strong, demo/weak"}, "write a list, ['demo/strong', 'demo/weak']."),
        ({"benchmarks": "puzzles,dates"}, "write a list, ['puzzles', 'dates']."),
        ({"benchmarks": a_function}, "benchmarks holds the function a_function. A benchmark is a name or a file"),
        ({"benchmarks": Path("nope.yaml")}, "There is no benchmark file nope.yaml."),
        ({"benchmarks": None}, "evaluate() needs benchmarks"),
        ({"models": None}, "evaluate() needs models, or a plan file"),
        ({"models": None, "benchmarks": {"models": ["demo/strong"]}}, "evaluate() takes a plan as a file"),
        ({"model": "demo/strong"}, "evaluate() has no option 'model'. Did you mean 'models'?"),
        ({"benchmark": "puzzles"}, "evaluate() has no option 'benchmark'. Did you mean 'benchmarks'?"),
        ({"where": "category=dates"}, "it must be a mapping"),
        ({"judge": a_function}, "judge holds the function a_function."),
    ],
)  # fmt: skip
def test_a_natural_mistake_gets_one_sentence(arguments: dict[str, object], sentence: str) -> None:
    with pytest.raises(UserError) as caught:
        proctor.evaluate(**{**LISTED, **arguments})  # type: ignore[arg-type]
    assert sentence in str(caught.value)
    with pytest.raises(NotFoundError, match="no runs yet"):
        proctor.open_run()


def test_a_coroutine_in_the_place_of_a_value_is_told_to_be_awaited() -> None:
    async def choose() -> str:
        return "demo/strong"

    for use in (lambda it: proctor.evaluate("puzzles", models=it), proctor.compare):
        coroutine = choose()
        with pytest.raises(UserError, match=r"coroutine.*write 'await' before it"):
            use(coroutine)
        coroutine.close()


def test_awaiting_what_has_already_waited_names_the_run() -> None:
    async def notebook() -> None:
        await proctor.evaluate("puzzles", models="demo/strong", limit=2)

    with pytest.raises(TypeError, match=r"evaluate\(\) has waited already.*await proctor\.evaluate_async") as caught:
        asyncio.run(notebook())
    assert proctor.open_run().id in str(caught.value)


def test_a_judge_that_nothing_asks_is_a_warning() -> None:
    with pytest.warns(UserWarning, match="The judge demo/weak is not asked"):
        proctor.evaluate("puzzles", models="demo/strong", judge="demo/weak", limit=1)


def test_the_options_are_those_of_a_plan() -> None:
    # What had no data for a draft is not a caller's to set.
    of_plan = set(Plan.__struct_fields__) - {"models", "benchmarks", "sampling", "limits", "gaps"}
    inner = set(Sampling.__struct_fields__) | set(Limits.__struct_fields__)
    assert set(Options.__annotations__) == of_plan | inner | {"limit", "where", "shots", "data", "home"}


def test_every_name_is_completed_and_there(environment: dict[str, str]) -> None:
    assert dir(proctor) == sorted(proctor.__all__), "and nothing of what it is built of"
    assert {name: getattr(proctor, name) for name in proctor.__all__}
    code = "import proctor; print(set(proctor.__all__) - set(dir(proctor)))"
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"


def test_what_holds_for_every_benchmark_wins_over_a_plan_file_as_flags_do(cli: Cli) -> None:
    Path("plan.yaml").write_text("models: [demo/strong]\nbenchmarks: [{benchmark: puzzles, limit: 9}, dates]\n")
    run = proctor.evaluate("plan.yaml", limit=3)
    assert [item["trials"] for item in run.document["evaluations"]] == [3, 3]
    shown = cli("run", "plan.yaml", "--limit", 3, "--dry-run", "--json").json
    assert [item["trials"] for item in shown["evaluations"]] == [3, 3]


def test_a_run_that_fails_is_returned_and_says_why() -> None:
    with FakeProvider(key="right") as provider:
        run = proctor.evaluate("puzzles", models=f"openai/x?base_url={provider.url}/v1", limit=30)
    assert run.status is RunStatus.FAILED
    assert run.error is not None
    assert "HTTP 401" in run.error
    assert run.metrics["openai/x"]["puzzles"]["accuracy"].value is None
    assert list(run.results()) == []


def test_it_works_from_a_plain_script(environment: dict[str, str]) -> None:
    Path("script.py").write_text(
        "import proctor\n"
        'run = proctor.evaluate("puzzles", models=["demo/strong", "demo/weak"], limit=10)\n'
        'print(run.status, run.metrics["demo/strong"]["puzzles"]["accuracy"].n)\n'
    )
    ended = subprocess.run(
        [sys.executable, "-W", "error", "script.py"], env=environment, capture_output=True, text=True, check=False
    )
    assert (ended.stdout, ended.stderr, ended.returncode) == ("completed 10\n", "", 0)


def test_ctrl_c_in_a_script_keeps_what_was_answered(cli: Cli, environment: dict[str, str]) -> None:
    with FakeProvider(latency_seconds=0.05) as provider:
        Path("script.py").write_text(
            "import signal\nimport proctor\n"
            # What starts the tests in the background may have told its children to ignore Ctrl-C.
            "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
            f'proctor.evaluate("puzzles", models="openai/x?base_url={provider.url}/v1", limit=200, concurrency=4)\n'
        )
        with subprocess.Popen([sys.executable, "script.py"], env=environment, stderr=subprocess.PIPE) as process:
            limit = time.monotonic() + 60
            while provider.stats()["answered"] < 10:
                assert process.poll() is None
                assert time.monotonic() < limit
                time.sleep(0.01)
            process.send_signal(signal.SIGINT)
            _, error = process.communicate(timeout=60)
        assert b"KeyboardInterrupt" in error
        answered = provider.stats()["answered"]
        assert answered < 200
    document = cli("show", "--json").json
    (item,) = document["evaluations"]
    assert document["status"] == "cancelled"
    assert item["scored"] + item["invalid"] == answered


def test_importing_proctor_loads_nothing_heavy(environment: dict[str, str]) -> None:
    program = (
        "import sys, proctor; print([n for n in ('pydantic', 'sqlalchemy', 'rich', 'pandas') if n in sys.modules])"
    )
    ended = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
    assert ended.stdout == "[]\n"


def test_what_is_not_there_is_said_so() -> None:
    with pytest.raises(AttributeError, match="no attribute 'evaluat'"):
        proctor.evaluat  # noqa: B018


def test_retries_and_faults_are_counted_apart_from_answers() -> None:
    with FakeProvider(Faults(rates={"400": 0.3})) as provider:
        run = proctor.evaluate("puzzles", models=f"openai/x?base_url={provider.url}/v1", limit=30)
    failed = [row for row in run.results() if row["outcome"] == "failed"]
    assert 0 < len(failed) < 30
    assert run.metrics["openai/x"]["puzzles"]["accuracy"].n == 30 - len(failed)


def test_a_plan_file_can_be_evaluated_and_arguments_win(tmp_path: Path, home: Path) -> None:
    (tmp_path / "mine.jsonl").write_text('{"input": "1 + 1", "target": "2"}\n')
    (tmp_path / "mine.yaml").write_text("name: mine\ndataset: {source: mine.jsonl}\nscorers: [numeric]\n")
    plan = tmp_path / "plan.yaml"
    plan.write_text("models: [demo/weak]\nbenchmarks: [mine.yaml]\nepochs: 2\nlimits: {concurrency: 3}\n")
    run = proctor.evaluate(plan, epochs=4, concurrency=2)
    assert run.document["evaluations"][0]["trials"] == 4
    with pytest.raises(proctor.UserError, match="needs models, or a plan file"):
        proctor.evaluate("puzzles")


def test_judges_stop_rules_shots_and_data_are_arguments_too(tmp_path: Path, home: Path) -> None:
    (tmp_path / "gsm8k.jsonl").write_text('{"question": "1 + 1?", "answer": "#### 2"}\n')
    (tmp_path / "gsm8k.dev.jsonl").write_text('{"question": "2 + 2?", "answer": "#### 4"}\n')
    run = proctor.evaluate("gsm8k", "demo/weak", data=tmp_path, shots=1)
    [row] = run.results()
    assert row["sample_id"]
    assert run.document["evaluations"][0]["selection"]["shots"] == 1
    stopped = proctor.evaluate("puzzles", "demo/perfect?delay_ms=2", until="ci<0.5", concurrency=1)
    assert stopped.document["evaluations"][0]["stopped"] > 0
    Path("judged.jsonl").write_text('{"input": "Hello?", "target": "Hello!"}\n')
    Path("judged.yaml").write_text("name: judged\ndataset: {source: judged.jsonl}\nscorers: [judge_rubric]\n")
    judged = proctor.evaluate("judged.yaml", "demo/weak", judge="demo/weak")
    [evaluation] = judged.document["evaluations"]
    assert (evaluation["failed"], evaluation["invalid"], evaluation["unreadable_verdicts"]) == (1, 0, 1)
