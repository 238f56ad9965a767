"""Tasks and metrics of other frameworks that are run here: the same answers get the marks that the framework gives."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import orjson
import pytest

from commands import Cli
from frameworks import Framework, framework
from proctor.cli.plans import read_targets
from proctor.runs.chunks import content
from proctor.scorers.inspect_scorer import InspectScorer
from proctor.server.plans import refuse_foreign_scorer
from proctor.server.problems import ProblemError

LOGS = Path(__file__).parents[1] / "runs" / "data" / "imported"
OURS = """
import site, sys
site.addsitedir(sys.argv.pop(1))
import orjson, proctor
from proctor.runs.results import read_rows
told = {}
for benchmark in sys.argv[1:]:
    try:
        run = proctor.evaluate(benchmark, "python/answers:answer", home="home", retries=0)
    except proctor.UserError as error:
        told[benchmark] = {"refused": str(error)}
        continue
    rows = [row.document for row in read_rows(run._database, run.id, extras=("prompt",))]
    if run.status == "completed":  # what was opened again has the same samples
        run = proctor.open_run(run.id, home="home").execute()
    told[benchmark] = {"status": run.status, "error": run.error, "rows": rows, "run": run.document}
print(orjson.dumps(told).decode())
"""
ANSWERS = {
    "Capital of France": "It is Paris",
    "Capital of Japan": "Tōkyō",
    "Capital of Korea": "I do not know",
    "2 + 2": "ANSWER: B",
    "3 + 3": "B, I think",
    "5 + 5": "",
}
MODEL = f"""
ANSWERS = {ANSWERS!r}


def answer(text):
    return next(said for asked, said in ANSWERS.items() if asked in text)
"""
TASKS = """
import random

from inspect_ai import Task, task
from inspect_ai.dataset import Sample
from inspect_ai.scorer import choice, includes, match, model_graded_qa, pattern
from inspect_ai.solver import chain_of_thought, generate, multiple_choice, solver, system_message, use_tools
from inspect_ai.tool import tool


@task
def capitals(style: str = "brief"):
    samples = [
        Sample(id="fr", input="Capital of France?", target="Paris", metadata={"category": "Europe"}),
        Sample(id="jp", input="Capital of Japan?", target=["Tokyo", "Tōkyō"], metadata={"category": "Asia"}),
        Sample(id="kr", input="Capital of Korea?", target="Seoul", metadata={"category": "Asia"}),
    ]
    solvers = [system_message(f"Be {style}."), chain_of_thought(), generate()]
    return Task(dataset=samples, solver=solvers, scorer=[includes(), match(), pattern(r"It is (\\w+)")], version=3)


@task
def sums():
    samples = [Sample(input=f"{n} + {n}?", choices=[str(n), str(2 * n), "7"], target="B") for n in (2, 3, 5)]
    return Task(dataset=samples, solver=multiple_choice(), scorer=choice())


def one(**parts):
    return Task(dataset=[Sample(input="2 + 2?", target="B")], **{"scorer": match(), **parts})


@tool
def adding():
    async def execute(a: int, b: int):
        '''Add.

        Args:
            a: one
            b: another
        '''
        return a + b

    return execute


@solver
def moody():
    async def solve(state, generate):
        state.user_prompt.text += random.choice("abcdefghijklmnop") * random.randrange(1, 99)
        return await generate(state)

    return solve


@solver
def twice():
    async def solve(state, generate):
        return await generate(await generate(state))

    return solve


@task
def asks_twice():
    return one(solver=twice())


@task
def has_tools():
    return one(solver=[use_tools(adding()), generate()])


@task
def needs_a_sandbox():
    return one(sandbox="docker")


@task
def is_graded():
    return one(scorer=model_graded_qa())


@task
def has_no_scorer():
    return one(scorer=None)


@task
def asks_anything():
    return one(solver=moody())
"""
INSPECT_SAYS = """
import json, sys
sys.path.insert(0, ".")
from inspect_ai import eval
from inspect_ai.model import ModelOutput, ModelUsage, get_model
import answers, tasks
def reply(messages, tools, choice, config):
    output = ModelOutput.from_content("mockllm/model", answers.answer(messages[-1].text))
    output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)  # or it would be counted, by a download
    return output
logs = eval([tasks.capitals(), tasks.sums()], model=get_model("mockllm/model", custom_outputs=reply), display="none",
            log_dir="logs")
MARKS = {"C": 1.0, "I": 0.0, "P": 0.5, "N": 0.0}
print(json.dumps({
    log.eval.task: [[str(one.id), [[m.role, m.text] for m in one.messages if m.role != "assistant"],
                     {name: MARKS[mark.value] for name, mark in one.scores.items()}] for one in log.samples]
    for log in logs}))
"""
DEEPEVAL_SAYS = """
import json, os, sys
os.environ["DEEPEVAL_TELEMETRY_OPT_OUT"] = "1"
from deepeval.metrics import ExactMatchMetric, PatternMatchMetric
from deepeval.test_case import LLMTestCase
made = {"exact": ExactMatchMetric, "words": lambda: PatternMatchMetric(pattern="It is [A-Z][a-z]+")}
print(json.dumps([
    {name: make().measure(LLMTestCase(input=asked, actual_output=said, expected_output=target))
     for name, make in made.items()}
    for asked, said, target in json.loads(sys.argv[1])]))
"""


METRICS = """
name: small
dataset: {source: rows.jsonl}
scorers:
  - deepeval: {label: exact}
  - deepeval: {metric: PatternMatchMetric, label: words, options: {pattern: "It is [A-Z][a-z]+"}}
"""


def evaluate(found: Framework, folder: Path, *benchmarks: str) -> dict[str, Any]:
    """What Proctor makes of the benchmarks, in a process that finds the framework, as where both are installed."""
    place = next((found.python.parents[1] / "lib").glob("python*/site-packages"))
    done = subprocess.run(
        [sys.executable, "-c", OURS, str(place), *benchmarks],
        cwd=folder,
        # Frameworks are large: what is compiled once is kept in their own environment.
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": ""},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return dict(orjson.loads(done.stdout))


def marks(row: Mapping[str, Any]) -> dict[str, float]:
    return {name: score["value"] for name, score in row["scores"].items()}


REFUSED_TASKS = {
    "asks_twice": "it asks 2 times for one sample",
    "has_tools": "it uses tools",
    "needs_a_sandbox": "needs a sandbox of Inspect's",
    "is_graded": "asks a model of Inspect's own",
    "has_no_scorer": "has no scorer",
    "nothing": "has no attribute 'nothing'",
    "capitals?colour=red": "unexpected keyword argument 'colour'",
}
REFUSED_METRICS = {"GEval": "asks a model of DeepEval's own", "Nothing": "DeepEval has no metric 'Nothing'"}
MARKED_TASKS = ("capitals", "sums", "capitals?style=rude", "asks_anything")
PLAN = "models: ['python/answers:answer']\nbenchmarks: ['inspect:tasks.py@sums']\n"


class Told(NamedTuple):
    """What the framework says of the answers, and what Proctor does."""

    theirs: Any
    ours: dict[str, Any]
    logs: Path


@pytest.fixture(scope="module")
def inspect(tmp_path_factory: pytest.TempPathFactory) -> Told:
    folder = tmp_path_factory.mktemp("inspect")
    (folder / "answers.py").write_text(MODEL)
    (folder / "tasks.py").write_text(TASKS)
    found = framework(tmp_path_factory, "inspect", "inspect-ai==0.3.285")
    ours = evaluate(found, folder, *(f"inspect:tasks.py@{task}" for task in (*MARKED_TASKS, *REFUSED_TASKS)))
    theirs = orjson.loads(found.run(INSPECT_SAYS, folder=folder))
    return Told(theirs, {name.partition("@")[2]: one for name, one in ours.items()}, folder / "logs")


@pytest.fixture(scope="module")
def deepeval(tmp_path_factory: pytest.TempPathFactory) -> Told:
    folder = tmp_path_factory.mktemp("deepeval")
    (folder / "answers.py").write_text(MODEL)
    samples = [("Capital of France?", "Paris"), ("Capital of Japan?", "Tōkyō"), ("Capital of Korea?", "I do not know")]
    lines = [orjson.dumps({"input": asked, "target": target}).decode() for asked, target in samples]
    (folder / "rows.jsonl").write_text("\n".join(lines))
    (folder / "small.yaml").write_text(METRICS)
    for metric in REFUSED_METRICS:
        text = f"name: small\ndataset: {{source: rows.jsonl}}\nscorers: [{{deepeval: {{metric: {metric}}}}}]\n"
        (folder / f"{metric}.yaml").write_text(text)
    found = framework(tmp_path_factory, "deepeval", "deepeval==4.3.1")
    ours = evaluate(found, folder, "small.yaml", *(f"{metric}.yaml" for metric in REFUSED_METRICS))
    cases = [(row["input"], row["response"], row["target"]) for row in ours["small.yaml"]["rows"]]
    return Told(orjson.loads(found.run(DEEPEVAL_SAYS, orjson.dumps(cases).decode(), folder=folder)), ours, folder)


def test_inspect_gives_the_same_answers_the_same_marks(inspect: Told) -> None:
    for task in ("capitals", "sums"):
        rows = inspect.ours[task]["rows"]
        assert len(rows) == 3
        for row in rows:
            asked = [[one["role"], one["content"]] for one in row["prompt"]["messages"]]
            [theirs] = [one for one in inspect.theirs[task] if one[0] == row["sample_id"]]
            assert (asked, marks(row)) == (theirs[1], theirs[2]), row["sample_id"]
        assert {mark for row in rows for mark in marks(row).values()} == {0.0, 1.0}
    [shown] = inspect.ours["capitals"]["run"]["evaluations"]
    assert (shown["benchmark"], shown["version"], set(shown["categories"])) == ("capitals", "3", {"Europe", "Asia"})


@pytest.mark.sqlite
def test_the_logs_that_inspect_has_just_written_are_imported_with_its_marks(inspect: Told, cli: Cli) -> None:
    pytest.importorskip("zstandard")
    kept = cli("import", inspect.logs, "--json").json
    assert {one["benchmark"] for run in kept for one in run["evaluations"]} == {"capitals", "sums"}
    for run in kept:
        rows = [orjson.loads(line) for line in cli("export", run["run_id"]).out.splitlines()]
        assert {row["model"] for row in rows} == {"imported/mockllm/model"}
        theirs = {name: found for name, _, found in inspect.theirs[rows[0]["benchmark"]]}
        assert {row["sample_id"]: marks(row) for row in rows} == theirs
    assert "imported from elsewhere" in cli("leaderboard").out + cli("leaderboard").err


def test_arguments_of_a_task_are_the_benchmark_s_parameters(inspect: Told) -> None:
    found = inspect.ours["capitals?style=rude"]
    assert found["rows"][0]["prompt"]["messages"][0]["content"] == "Be rude."
    assert found["status"] == "completed"


@pytest.mark.parametrize("task", list(REFUSED_TASKS))
def test_what_of_inspect_cannot_be_run_here_is_refused_before_anything_is_asked(inspect: Told, task: str) -> None:
    assert REFUSED_TASKS[task] in inspect.ours[task]["refused"]


def test_a_task_that_asks_differently_each_time_gets_no_marks(inspect: Told) -> None:
    found = inspect.ours["asks_anything"]
    assert found["status"] == "failed"
    assert "asks differently each time" in found["error"]
    assert [row["outcome"] for row in found["rows"]] == ["failed"]


def test_deepeval_gives_the_same_answers_the_same_marks(deepeval: Told) -> None:
    assert [marks(row) for row in deepeval.ours["small.yaml"]["rows"]] == deepeval.theirs
    assert {mark for one in deepeval.theirs for mark in one.values()} == {0, 1}


DEEPEVAL_BENCHMARKS_SAY = """
import json, os, sys
os.environ["DEEPEVAL_TELEMETRY_OPT_OUT"] = "1"
sys.path.insert(0, ".")
import answers, datasets
from pathlib import Path
def load_dataset(path, part=None):
    folder = Path("data", path, *([part] if part and part != "default" else []))
    return datasets.DatasetDict({one.stem: datasets.Dataset.from_json(str(one)) for one in folder.glob("*.jsonl")})
datasets.load_dataset = load_dataset
from deepeval import benchmarks
from deepeval.benchmarks.mmlu.task import MMLUTask
from deepeval.benchmarks.hellaswag.task import HellaSwagTask
from deepeval.models import DeepEvalBaseLLM
class Model(DeepEvalBaseLLM):
    def __init__(self): pass
    def load_model(self): return self
    def get_model_name(self): return "answers"
    def generate(self, prompt):
        asked.append(prompt)
        return answers.answer(prompt)
    async def a_generate(self, prompt): return self.generate(prompt)
made = {
    "MMLU": {"tasks": [MMLUTask.ANATOMY, MMLUTask.ASTRONOMY], "n_shots": 1},
    "HellaSwag": {"tasks": [next(one for one in HellaSwagTask if one.value == "Applying sunscreen")], "n_shots": 1},
    "GSM8K": {"n_shots": 1, "enable_cot": False, "n_problems": 3},
    "ARC": {"n_shots": 0, "n_problems": 3, "mode": benchmarks.arc.arc.ARCMode.CHALLENGE},
    "BoolQ": {"n_shots": 1, "n_problems": 3},
    "Winogrande": {"n_shots": 1, "n_problems": 3},
}
told = {}
for name, options in made.items():
    asked = []
    benchmark = getattr(benchmarks, name)(**options)
    accuracy = benchmark.evaluate(Model()).overall_accuracy
    told[name] = [asked, [float(one) for one in benchmark.predictions["Correct"]], accuracy]
Path("told.json").write_text(json.dumps(told))
"""
BENCHMARK_MODEL = """
def answer(text):
    last = text.rsplit("Answer:", 1)[0][-60:]
    return ["A", "B", "2", "Yes", "C"][sum(map(ord, last)) % 5]
"""
RUN_AS = {
    "MMLU": "deepeval:MMLU?tasks=anatomy,astronomy&n_shots=1",
    "HellaSwag": "deepeval:HellaSwag?tasks=Applying sunscreen&n_shots=1",
    "GSM8K": "deepeval:GSM8K?n_shots=1&enable_cot=false&n_problems=3",
    "ARC": "deepeval:ARC?n_shots=0&n_problems=3&mode=ARC-Challenge",
    "BoolQ": "deepeval:BoolQ?n_shots=1&n_problems=3",
    "Winogrande": "deepeval:Winogrande?n_shots=1&n_problems=3",
}
REFUSED_BENCHMARKS = {
    "deepeval:HumanEval": "cannot be run here. There are ARC",
    "deepeval:MMLU?tasks=cooking": "has no tasks 'cooking'",
    "deepeval:MMLU?tasks=virology": "reads cais/mmlu/virology, and the hub is not asked for it",
    "deepeval:MMLU?n_shots=9": "only supports n_shots <= 5",
    "deepeval:MMLU?colour=red": "unexpected keyword argument 'colour'",
}


def write_data(folder: Path) -> None:
    """Rows as the hub has them, of our own making."""
    four = [{"question": f"Which is {n}?", "choices": ["1", "2", "3", "4"], "answer": n % 4} for n in range(5)]
    scenes = [
        {
            "ctx": f"Somebody opens {n}",
            "activity_label": "Applying sunscreen",
            "endings": list("wxyz"),
            "label": str(n % 4),
        }
        for n in range(5)
    ]
    sums = [{"question": f"What is 1 + {n}?", "answer": f"One and {n} is {n + 1}.\n#### {n + 1}"} for n in range(5)]
    letters = {"label": ["A", "B", "C", "D"], "text": ["one", "two", "three", "four"]}
    science = [{"question": f"Why {n}?", "choices": letters, "answerKey": "ABCDA"[n]} for n in range(5)]
    yes = [{"question": f"is {n} even", "passage": "Some numbers are.", "answer": n % 2 == 0} for n in range(5)]
    pairs = [
        {
            "sentence": f"The {n} was better than the other so _ won.",
            "option1": "first",
            "option2": "second",
            "answer": "1",
        }
        for n in range(5)
    ]
    for place, rows in {
        "cais/mmlu/anatomy/dev": four, "cais/mmlu/anatomy/test": four, "cais/mmlu/astronomy/dev": four,
        "cais/mmlu/astronomy/test": four[:2], "Rowan/hellaswag/train": scenes, "Rowan/hellaswag/validation": scenes,
        "gsm8k/main/train": sums, "gsm8k/main/test": sums, "ai2_arc/ARC-Challenge/train": science,
        "boolq/validation": yes, "boolq/train": yes, "allenai/winogrande/winogrande_xs/validation": pairs,
        "allenai/winogrande/winogrande_xs/train": pairs,
    }.items():  # fmt: skip
        file = folder / f"{place}.jsonl"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(b"".join(orjson.dumps(row) + b"\n" for row in rows))


@pytest.fixture(scope="module")
def deepeval_benchmarks(tmp_path_factory: pytest.TempPathFactory) -> Told:
    folder = tmp_path_factory.mktemp("deepeval-benchmarks")
    (folder / "answers.py").write_text(BENCHMARK_MODEL)
    write_data(folder / "data")
    found = framework(tmp_path_factory, "deepeval-benchmarks", "deepeval==4.3.1", "datasets==5.0.1", "pandas==3.1.1")
    found.run(DEEPEVAL_BENCHMARKS_SAY, folder=folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PROCTOR_DATA", str(folder / "data"))
        ours = evaluate(found, folder, *RUN_AS.values(), *REFUSED_BENCHMARKS)
    return Told(orjson.loads((folder / "told.json").read_bytes()), ours, folder)


@pytest.mark.long
@pytest.mark.sqlite
def test_ready_made_benchmarks_of_deepeval_ask_the_same_and_give_the_same_marks(deepeval_benchmarks: Told) -> None:
    for name, benchmark in RUN_AS.items():
        asked, theirs, accuracy = deepeval_benchmarks.theirs[name]
        assert deepeval_benchmarks.ours[benchmark].get("status") == "completed", deepeval_benchmarks.ours[benchmark]
        rows = deepeval_benchmarks.ours[benchmark]["rows"]
        assert [row["prompt"]["messages"][0]["content"] for row in rows] == asked, name
        assert [marks(row)["deepeval"] for row in rows] == theirs, name
        [shown] = deepeval_benchmarks.ours[benchmark]["run"]["evaluations"]
        assert sum(theirs) / len(theirs) == pytest.approx(accuracy)
        assert shown["scored"] == len(theirs)
    assert {mark for _, theirs, _ in deepeval_benchmarks.theirs.values() for mark in theirs} == {0.0, 1.0}


@pytest.mark.long
@pytest.mark.sqlite
@pytest.mark.parametrize("benchmark", list(REFUSED_BENCHMARKS))
def test_what_of_deepeval_s_benchmarks_cannot_be_run_here_is_refused(deepeval_benchmarks: Told, benchmark: str) -> None:
    assert REFUSED_BENCHMARKS[benchmark] in deepeval_benchmarks.ours[benchmark]["refused"]


@pytest.mark.parametrize("metric", list(REFUSED_METRICS))
def test_what_of_deepeval_cannot_be_run_here_is_refused(deepeval: Told, metric: str) -> None:
    assert REFUSED_METRICS[metric] in deepeval.ours[f"{metric}.yaml"]["refused"]


@pytest.mark.sqlite
@pytest.mark.parametrize("name", ["inspect", "deepeval", "deepeval-benchmark"])
def test_a_framework_that_is_missing_is_said_before_anything_is_asked(name: str, cli: Cli) -> None:
    pytest.importorskip("yaml")
    Path("answers.py").write_text(MODEL)
    Path("tasks.py").write_text(TASKS)
    Path("rows.jsonl").write_text('{"input": "Capital of France?", "target": "Paris"}\n')
    Path("deepeval.yaml").write_text("name: small\ndataset: {source: rows.jsonl}\nscorers: [deepeval]\n")
    benchmark = {
        "inspect": "inspect:tasks.py@capitals",
        "deepeval": "deepeval.yaml",
        "deepeval-benchmark": "deepeval:MMLU",
    }[name]
    ended = cli("run", benchmark, "-m", "python/answers:answer")
    assert ended.code == 2
    assert "not installed: pip install" in ended.err


@pytest.mark.sqlite
def test_the_file_of_a_task_is_beside_the_plan_and_goes_along_with_it(home: Path) -> None:
    folder = Path("plans")
    folder.mkdir()
    (folder / "tasks.py").write_text(TASKS)
    (folder / "plan.yaml").write_text(PLAN)
    plan = read_targets(("plans/plan.yaml",), (), {}).plan
    assert [spec.benchmark for spec in plan.benchmarks] == ["inspect:plans/tasks.py@sums"]
    assert Path("plans/tasks.py") in [path.relative_to(Path.cwd()) for path in content._named(plan, Path.cwd())]
    here, there = (InspectScorer("tasks.py@sums", folder=place, digest="d") for place in ("/here", "/there"))
    assert here.version == there.version != InspectScorer("tasks.py@sums", digest="e").version


@pytest.mark.sqlite
def test_no_benchmark_file_and_no_caller_names_the_code_of_a_task(cli: Cli) -> None:
    Path("tasks.py").write_text("open('loaded', 'w')")
    Path("rows.jsonl").write_text('{"input": "Capital of France?", "target": "Paris"}\n')
    text = "name: small\ndataset: {source: rows.jsonl}\nscorers:\n  - inspect: {task: tasks.py@capitals}\n"
    Path("bench.yaml").write_text(text)
    refused = cli("run", "bench.yaml", "-m", "demo/strong")
    assert refused.code == 2
    assert "bench.yaml:4: scorers[0]: the scorer 'inspect' marks the tasks that are run as inspect:…" in refused.error
    Path("bench.yaml").write_text(text.replace("inspect: {task: tasks.py@capitals}", "deepeval_benchmark: {data: /}"))
    refused = cli("run", "bench.yaml", "-m", "demo/strong")
    assert "the scorer 'deepeval_benchmark' marks the tasks that are run as deepeval:…" in refused.error
    for name in ("inspect", "deepeval_benchmark"):
        with pytest.raises(ProblemError) as caught:
            refuse_foreign_scorer(name, ["scorers", 0])
        assert caught.value.status == 403
    assert not Path("loaded").exists()


@pytest.mark.sqlite
def test_lm_eval_gives_the_same_answers_the_same_marks(cli: Cli) -> None:
    """By the log that lm-eval itself made of this task: its documents, its answers, its marks."""
    [log] = sorted(LOGS.rglob("samples_capitals_gen*.jsonl"))[:1]
    told = [orjson.loads(line) for line in log.read_text().splitlines()]
    making = LOGS / "making"
    Path("capitals_gen.yaml").write_text((making / "capitals_gen.yaml").read_text())
    Path("rows.jsonl").write_text((making / "rows.jsonl").read_text())
    replies = {one["doc"]["question"]: one["resps"][0][0] for one in told}
    Path("answers.py").write_text(f"R = {replies!r}\n\n\ndef answer(t):\n    return next(R[q] for q in R if q in t)\n")
    ended = cli("run", "lm-eval:capitals_gen.yaml", "-m", "python/answers:answer", "--json")
    assert ended.code == 0, ended.err
    rows = [orjson.loads(line) for line in cli("export").out.splitlines()]
    own = {row["input"]: marks(row)["exact_match"] for row in rows}
    for one in told:
        [mark] = [mark for asked, mark in own.items() if one["doc"]["question"] in asked]
        assert mark == one["exact_match"], one["doc"]
    assert len(own) == len(told)
