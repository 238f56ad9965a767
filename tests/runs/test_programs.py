"""Programs marked through the use cases, in real workspaces."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeVar

import pytest
from msgspec.structs import replace

from commands import Cli
from fakes.scorecards import small_problem
from proctor.benchmarks.problems.finding import problem_folders
from proctor.benchmarks.problems.folder import read_problem
from proctor.benchmarks.problems.lint import lint_problem
from proctor.domain.errors import ModelError, ProviderFaultError, RateLimitedError, RequestRejectedError, RunError
from proctor.domain.message import Message, Prompt
from proctor.domain.model import ModelIdentity
from proctor.domain.problem import Problem
from proctor.domain.response import Response, Usage
from proctor.domain.scorecard import CheckStatus
from proctor.domain.workspace import Runner
from proctor.programs.options import MarkOptions
from proctor.runs.programs.programming import PROOF_SECONDS, opened_runner, prove, submit, unless_stopped
from proctor.runs.programs.proving import Probe, ProblemProof, check_problem
from proctor.runs.programs.repairing import MAX_OUTPUT, ProgramModel, feedback, visible_evidence

pytestmark = pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")
T = TypeVar("T")
SHIPPED = ("timesheet-total", "freshness", "link-shelf")
"""A command, a library and a service."""


@pytest.fixture
def problem(tmp_path: Path) -> Problem:
    return small_problem(tmp_path)


def in_runner(work: Callable[[Runner], Awaitable[T]]) -> T:
    async def run() -> T:
        async with opened_runner(lambda _: None) as runner:
            return await work(runner)

    return asyncio.run(run())


def test_the_scaffold_is_proven_and_a_spoilt_one_is_not(problem: Problem) -> None:
    first, second = problem.mutants[0], problem.mutants[1]
    swapped = replace(first, breaks=second.breaks)
    spoilt = replace(problem, mutants=(swapped, second), solution={"main.py": b"print(0)\n"})

    async def both(runner: Runner) -> tuple[object, ...]:
        good = await check_problem(problem, runner, is_quick=True, has_all_mutants=True)
        bad = await check_problem(spoilt, runner, is_quick=True)
        return good, bad

    good, bad = in_runner(both)  # type: ignore[misc]
    assert good.holds, good.faults
    assert [probe.name for probe in good.probes][:3] == ["gold", "empty", "does nothing"]
    assert len(good.probes) == 7
    assert not bad.holds
    faults = "\n".join(bad.faults)
    assert "gold: it fails R1, R2, R3" in faults
    assert "drops-signs: R2 should fail and does not; R1 fails besides" in faults
    assert "skips-words" not in faults
    assert bad.result.document["holds"] is False


def test_nothing_gets_nothing(problem: Problem) -> None:
    async def three(runner: Runner) -> list[object]:
        programs: list[dict[str, bytes]] = [{}, {"main.py": b""}, {"main.py": b"import sys; sys.exit(2)\n"}]
        return [await submit(problem, files, runner, options=MarkOptions().checks_only()) for files in programs]

    empty, idle, refusing = in_runner(three)
    for card in (empty, idle):
        assert card.total == 0  # type: ignore[attr-defined]
        assert not card.passed  # type: ignore[attr-defined]
    assert not refusing.passed  # type: ignore[attr-defined]


def test_a_check_that_ends_differently_for_the_same_program_is_flaky(problem: Problem) -> None:
    def probe(repeat: int, end: str) -> Probe:
        return Probe("gold", repeat, 1.0, 1.0, True, (), "", 1.0, {"adds": end, "refuses": "passed"})

    lint = lint_problem(problem)
    steady = ProblemProof(problem.id, problem.digest, lint, (probe(0, "passed"), probe(1, "passed")), 2.0)
    assert steady.flaky == {}
    assert steady.holds
    shaky = ProblemProof(problem.id, problem.digest, lint, (probe(0, "passed"), probe(1, "failed")), 2.0)
    assert shaky.flaky == {"gold": {"adds": ["passed", "failed"]}}
    assert shaky.faults == ["gold: test_adds is flaky (passed, failed)"]


def test_a_hidden_test_that_cannot_be_read_is_the_problems_fault(problem: Problem, tmp_path: Path) -> None:
    folder = tmp_path / "broken"
    shutil.copytree(problem.folder, folder)
    for path in (folder / "tests" / "hidden").rglob("test_*.py"):
        path.write_text("import nothing_of_that_name\n")
    broken = replace(problem, folder=folder, mutants=())

    async def work(runner: Runner) -> ProblemProof:
        proof = await check_problem(broken, runner, is_quick=True)
        with pytest.raises(RunError, match="nothing_of_that_name"):
            await prove([broken], runner, tmp_path / "home")
        return proof

    proof = in_runner(work)
    assert isinstance(proof, ProblemProof)
    assert not proof.holds
    assert "nothing_of_that_name" in proof.faults[0]


@pytest.mark.parametrize("name", SHIPPED if os.environ.get("PROCTOR_TEST_SWEEP") else SHIPPED[:1])
def test_a_built_in_problem_proves_something_here(name: str) -> None:
    """With `make sweep` a library and a service, too; all, and all that is left out here, in `make problems`."""
    shipped = read_problem(problem_folders(None)[name])
    proof = in_runner(lambda runner: check_problem(shipped, runner, is_quick=True))
    assert isinstance(proof, ProblemProof)
    assert proof.holds, proof.faults
    assert len(proof.probes) == 5


def test_a_problem_that_proves_nothing_here_stops_a_run_and_a_proof_lasts_a_day(
    problem: Problem, tmp_path: Path
) -> None:
    home = tmp_path / "home"

    async def work(runner: Runner) -> None:
        await prove([problem], runner, home)
        (note,) = (home / "proofs").iterdir()
        before = note.stat().st_mtime_ns
        broken = replace(problem, solution={"main.py": b""})  # the same digest: the note is trusted
        await prove([broken], runner, home)
        assert note.stat().st_mtime_ns == before
        note.write_text(json.dumps({"proven_at": json.loads(note.read_text())["proven_at"] - PROOF_SECONDS}))
        with pytest.raises(RunError, match=r"add-up \(gold: it fails R1"):
            await prove([broken], runner, home)
        note.write_text("not json")
        with pytest.raises(RunError, match="Nothing was asked"):
            await prove([broken], runner, home)

    in_runner(work)


BAD = "import sys\nprint(1 + sum(int(x) for x in sys.stdin.read().split()))\n"
GOOD = BAD.replace("1 + sum", "sum")
OUT = "```text ../out.txt\nx\n```\n"


class Scripted:
    """Answers one after the other, and remembers what it was asked."""

    identity = ModelIdentity("test", "scripted", None, "1")

    def __init__(self, *answers: str) -> None:
        self.answers = list(answers)
        self.prompts: list[Prompt] = []
        self.options: list[object] = []

    async def respond(self, prompt: Prompt, options: object, *, timeout_seconds: float) -> Response:
        self.prompts.append(prompt)
        self.options.append(options)
        return Response(self.answers[len(self.prompts) - 1], usage=Usage(10, 5), latency_seconds=1.0)

    async def close(self) -> None:
        return


def ask(problem: Problem, model: Scripted, rounds: int, text: str = "Build it", retries: int = 0) -> Response:
    prompt = Prompt((Message("user", text),))

    async def work(runner: Runner) -> Response:
        asked = ProgramModel(model, {"Build it": problem}, runner, asyncio.Semaphore(1), retries=retries)
        return await asked.respond(prompt, {"repair": rounds, "temperature": 0}, timeout_seconds=60)

    return in_runner(work)


def test_a_program_is_repaired_with_what_the_visible_tests_say(problem: Problem) -> None:
    diff = "```diff\n--- a/main.py\n+++ b/main.py\n@@ @@\n-{}+{}```\n".format(
        *(x.split("\n")[1] + "\n" for x in (BAD, GOOD))
    )
    model = Scripted(f"```python main.py\n{BAD}```\n```text notes.txt\nkept\n```", "I am not sure.", diff + OUT)
    response = ask(problem, model, 3)
    assert len(model.prompts) == 3
    assert response.files == {"main.py": GOOD.encode(), "notes.txt": b"kept\n"}
    assert response.left_out == {"../out.txt": "the path leads out of the folder ('..')"}
    assert response.usage == Usage(30, 15)
    assert response.latency_seconds == 3.0
    assert len(response.turns) == 2
    assert model.options == [{"temperature": 0}] * 3
    complaint = model.prompts[1].messages[-1].text
    assert "0 of 1 passed" in complaint
    assert "test_adds_two_numbers" in complaint
    assert "No program could be read" in model.prompts[2].messages[-1].text
    assert [message.role for message in model.prompts[2].messages] == ["user", "assistant", "user", "assistant", "user"]


class Handing(Scripted):
    """Hands its programs in as files, not as text."""

    async def respond(self, prompt: Prompt, options: object, *, timeout_seconds: float) -> Response:
        answer = await super().respond(prompt, options, timeout_seconds=timeout_seconds)
        return replace(answer, text="done", files={"main.py": answer.text.encode()})


def test_the_files_of_the_last_round_are_those_that_count(problem: Problem) -> None:
    model = Handing(BAD, GOOD)
    assert ask(problem, model, 1).files == {"main.py": GOOD.encode()}
    assert len(model.prompts) == 2


def test_a_change_is_made_once(problem: Problem) -> None:
    silent = "import sys\ntotal = sum(int(x) for x in sys.stdin.read().split())\n"
    said = silent.splitlines()[1]
    diff = f"```diff\n--- a/main.py\n+++ b/main.py\n@@ @@\n {said}\n+print(total)\n```\n"
    model = Scripted(f"```python main.py\n{silent}```", diff)
    assert ask(problem, model, 2).files == {"main.py": f"{silent}print(total)\n".encode()}
    assert len(model.prompts) == 2, "it passes once it is mended"


def test_a_program_that_passes_is_not_asked_for_again(problem: Problem) -> None:
    model = Scripted(f"```python main.py\n{GOOD}```")
    response = ask(problem, model, 3)
    assert len(model.prompts) == 1
    assert response.files == {}
    assert response.turns == ()


def test_other_prompts_pass_through_untouched(problem: Problem) -> None:
    model = Scripted("anything")
    assert ask(problem, model, 2, "What is 2 + 2?").text == "anything"
    assert model.options == [{"temperature": 0}]


def test_a_round_that_is_refused_does_not_make_the_rounds_before_it_free(problem: Problem) -> None:
    class Refusing(Scripted):
        async def respond(self, prompt: Prompt, options: object, *, timeout_seconds: float) -> Response:
            if len(self.prompts) == len(self.answers):
                raise RateLimitedError("slow down", status=429, retry_after_seconds=3)
            return await super().respond(prompt, options, timeout_seconds=timeout_seconds)

    with pytest.raises(RateLimitedError) as caught:
        ask(problem, Refusing("No program."), 1)
    assert (caught.value.status, caught.value.retry_after_seconds) == (None, 3)


class Stumbling(Scripted):
    """Raises what stands in place of an answer, once."""

    def __init__(self, *answers: str | ModelError) -> None:
        super().__init__(*(one for one in answers if isinstance(one, str)))
        self.turns = list(answers)

    async def respond(self, prompt: Prompt, options: object, *, timeout_seconds: float) -> Response:
        turn = self.turns.pop(0)
        if isinstance(turn, ModelError):
            raise turn
        return await super().respond(prompt, options, timeout_seconds=timeout_seconds)


@pytest.mark.parametrize("fault", [RequestRejectedError("too long"), ProviderFaultError("it is down")])
def test_a_repair_round_that_fails_leaves_the_program_of_the_round_before(problem: Problem, fault: ModelError) -> None:
    first = f"```python main.py\n{BAD}```\n{OUT}"
    response = ask(problem, Stumbling(first, "I am not sure.", fault), 3)
    assert response.files == {"main.py": BAD.encode()}
    assert response.usage == Usage(20, 10), "what was paid for is there"
    assert response.note == f"repair round 2 failed, and the program is that of the round before: {fault}"
    assert not response.is_cacheable
    assert response.may_cost_more, "nobody knows whether a request without an answer is billed"
    free = ask(problem, Stumbling(first, type(fault)("no", status=503)), 1)
    assert (free.files, free.may_cost_more) == ({"main.py": BAD.encode()}, False)
    assert list(free.left_out) == ["../out.txt"]


def test_a_repair_round_is_asked_again_without_the_rounds_before_it(problem: Problem) -> None:
    down = RateLimitedError("slow down", status=429, retry_after_seconds=0.01)
    model = Stumbling(f"```python main.py\n{BAD}```", down, f"```python main.py\n{GOOD}```")
    response = ask(problem, model, 1, retries=1)
    assert (response.files, response.note) == ({"main.py": GOOD.encode()}, None)
    assert len(model.prompts) == 2
    assert response.is_cacheable


def test_the_hidden_tests_are_not_even_there_in_a_repair_round(problem: Problem) -> None:
    program, options = {"main.py": BAD.encode()}, MarkOptions().checks_only()
    evidence = in_runner(lambda runner: visible_evidence(problem, program, runner, options))
    assert {check.name for check in evidence.checks} == {"adds_two_numbers"}
    told = feedback(evidence)
    assert told is not None
    for name, kind in problem.checks.items():
        assert kind == "visible" or name not in told
    long = replace(evidence, checks=tuple(replace(one, message="x" * 99_999) for one in evidence.checks * 9))
    assert len(feedback(long) or "") < MAX_OUTPUT + 1_000
    assert (
        feedback(replace(evidence, checks=tuple(replace(one, status=CheckStatus.PASSED) for one in evidence.checks)))
        is None
    )


@pytest.mark.usefixtures("no_package_index")
def test_a_fault_in_a_repair_round_is_the_trials_own(problem: Problem) -> None:
    needy = replace(problem, dependencies=("attrs",))  # and nowhere to take it from
    program = {"main.py": BAD.encode(), "requirements.txt": b"attrs==25.1.0"}
    with pytest.raises(ProviderFaultError, match="the visible tests could not be run: The program needs attrs"):
        in_runner(lambda runner: visible_evidence(needy, program, runner, MarkOptions().checks_only()))


def test_a_run_that_is_stopped_while_problems_are_proven_ends_at_once(problem: Problem, tmp_path: Path) -> None:
    said: list[int] = []

    async def work(runner: Runner) -> bool:
        stopping = asyncio.Event()

        def begin(count: int) -> None:
            said.append(count)
            stopping.set()

        await unless_stopped(stopping, prove([problem], runner, tmp_path / "home", on_begin=begin))
        return (tmp_path / "home" / "proofs").exists()

    assert not in_runner(work)
    assert said == [1]


def test_what_is_proven_is_not_proven_again_and_nothing_is_said_of_it(problem: Problem, tmp_path: Path) -> None:
    said: list[int] = []

    async def work(runner: Runner) -> None:
        for _ in range(2):
            await unless_stopped(asyncio.Event(), prove([problem], runner, tmp_path / "home", on_begin=said.append))

    in_runner(work)
    assert said == [1]


@pytest.fixture(scope="session")
def proofs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What `problems new` makes, proven once for all who run it."""
    folder = tmp_path_factory.mktemp("proven")
    in_runner(lambda runner: prove([small_problem(folder)], runner, folder / "home"))
    return folder / "home" / "proofs"


@pytest.fixture
def proven(home: Path, proofs: Path, cli: Cli) -> None:
    shutil.copytree(proofs, home / "proofs")
    assert cli("problems", "new", "mine/add-up").code == 0


AGENT = """#!/bin/sh
cat > /dev/null
test -f README.md && test -f tests/test_examples.py || exit 9
test -r {secret} && exit 8
printf '%s' '{program}' > main.py
mkdir __pycache__ && touch __pycache__/main.pyc
ln -s main.py link.py && touch "$(printf 'odd\\377.py')"
echo built
"""


@pytest.mark.sqlite
def test_a_run_asks_repairs_marks_and_shows_programs(cli: Cli, tmp_path: Path) -> None:
    assert cli("problems", "new", "mine/add-up").code == 0
    gold = Path("mine/add-up/solution/main.py").read_text()
    Path("answers.py").write_text(
        f"GOLD = {gold!r}\n"
        "OUT = '```python ../out.py\\n1\\n```'\n"
        "def gold(prompt: str) -> str:\n    return '```python main.py\\n' + GOLD + '```\\n' + OUT\n"
        "def none(prompt: str) -> str:\n    return 'No.'\n"
    )
    models = ("-m", "python/answers:gold", "-m", "python/answers:none")
    target = "requirements?problems=mine&repair=1&measure=false"
    done = cli("run", target, *models, "--where", "difficulty=basic", "--json")
    assert done.code == 0, done.err
    by_model = {one["model"]: one for one in done.json["evaluations"]}
    good, none = by_model["python/answers:gold"], by_model["python/answers:none"]
    assert good["metrics"]["accuracy"]["value"] == 1
    assert good["metrics"]["program_mark.mean"]["value"] == pytest.approx(0.85)  # nothing was loaded
    assert good["metrics"]["program_mark.mean"]["covers"] == 0.85
    assert "covers" not in good["metrics"]["accuracy"]
    assert [part["program_mark.mean"]["covers"] for part in good["categories"].values()] == [0.85]
    assert "covers" not in none["metrics"]["program_mark.mean"], "there was no program to measure anything of"
    assert (none["invalid"], none["metrics"]["accuracy"]["value"]) == (1, 0)
    run = done.json["run_id"]
    for shown in (cli("show", run).out, cli("report", run, "-f", "md").out):
        assert "0.850 of 0.85 " in shown
        assert "scores are not scaled up" in " ".join(shown.split())
    assert "every requirement verified" in cli("samples", run, "--model", "python/answers:gold").out
    card = cli("problems", "card", run, "add-up", "--model", "python/answers:gold", "-f", "json").json
    assert card["passed"]
    assert card["program"]["main.py"]["text"] == gold
    assert "no program was marked" in cli("problems", "card", run, "add-up", "--model", "python/answers:none").error
    assert card["left_out"] == {"../out.py": "the path leads out of the folder ('..')"}
    one = ("problems", "card", run, "add-up", "--model", "python/answers:gold")
    assert "of epoch 3. There are: 0." in cli(*one, "--epoch", "3").error
    assert "has no model 'python/answers:golden'. Did you mean" in cli(*one[:-1], "python/answers:golden").error
    kept = ("-m", "python/answers:gold?cache=true", "-m", "python/answers:none?cache=true")
    runs = [cli("run", target, *kept, "--json").json for _ in range(2)]
    assert [[one["cached"] for one in run["evaluations"]] for run in runs] == [[0, 0], [1, 1]]


@pytest.mark.sqlite
@pytest.mark.usefixtures("proven")
@pytest.mark.parametrize("option", ["", "?sandbox=true", "?sandbox=false"])
def test_an_agent_builds_in_a_folder_that_holds_what_it_is_told(cli: Cli, tmp_path: Path, option: str) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("an agent in the sandbox does not see this")
    is_free = option == "?sandbox=false"
    if is_free:  # it sees the machine, but not what its work is checked with
        secret = Path("mine/add-up/solution/main.py").resolve()
        assert secret.exists()
    Path("agent.sh").write_text(AGENT.format(program=GOOD.replace("\n", "\\n"), secret=secret).replace("'%s' ", ""))
    Path("agent.sh").chmod(0o755)
    done = cli("run", "requirements?problems=mine&measure=false", "-m", f"command/./agent.sh{option}", "--json")
    assert done.code == 0, done.err
    assert ("WITHOUT a sandbox" in done.err) == is_free
    (row,) = cli("samples", "latest", "--json").json
    assert row["error"] is None
    assert row["scores"]["program"]["answer"] == "agent"
    card = cli("problems", "card", "latest", "add-up", "-f", "json").json
    assert list(card["program"]) == ["main.py"]
    left_out = {
        "__pycache__/": "left behind by a tool (__pycache__)",
        "link.py": "it is a link",
        "odd\\xff.py": "its name cannot be shown",
    }
    assert card["left_out"] == row["left_out"] == left_out
    for shown in (cli("problems", "card", "latest", "add-up").out, cli("samples", "latest").out):
        assert "link.py" in shown
        assert "it is a link" in " ".join(shown.split())
    assert {one["id"]: one["status"] for one in card["requirements"]}["R1"] == "verified"


LITTERING = """#!/bin/sh
cat > /dev/null
printf '{program}' > main.py
{rest}
"""


@pytest.mark.sqlite
@pytest.mark.usefixtures("proven")
@pytest.mark.parametrize(
    ("rest", "outcome", "response"),
    [
        ("exit 3", "scored", ""),
        ("rm main.py; exit 3", "failed", ""),
        ("mkdir many; i=0; while [ $i -lt 1001 ]; do : > many/$i; i=$((i+1)); done", "invalid", "nothing was taken"),
        ("while :; do echo and so on and on and on and on and on and on; done", "scored", ""),
    ],
)
def test_what_an_agent_does_beyond_its_limits_is_its_own_doing(
    cli: Cli, rest: str, outcome: str, response: str
) -> None:
    Path("agent.sh").write_text(LITTERING.format(program=GOOD.replace("\n", "\\n"), rest=rest))
    Path("agent.sh").chmod(0o755)
    cli("run", "requirements?problems=mine&measure=false", "-m", "command/./agent.sh", "--json", "--retries", "0")
    (row,) = cli("samples", "latest", "--json").json
    assert (row["outcome"], row["error"] is None) == (outcome, outcome != "failed")
    assert response in (row["response"] or "")
    if rest == "exit 3":
        assert row["note"] == row["scores"]["program"]["details"]["note"] == "the agent exited with 3"
        assert row["scores"]["program"]["reason"].endswith("; the agent exited with 3")
        card = cli("problems", "card", "latest", "add-up", "-f", "json").json
        assert card["note"] == "the agent exited with 3"
        assert "the agent exited with 3." in cli("problems", "card", "latest", "add-up").out
