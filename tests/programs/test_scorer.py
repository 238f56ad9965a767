"""The two scorers: one marking for both, faults that are no marks, answers without a program."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest
from msgspec.structs import replace

from fakes.absence import hide_packages
from proctor.domain.benchmark import ScorerSpec
from proctor.domain.errors import BenchmarkError, SandboxError, ScorerError
from proctor.domain.problem import Problem
from proctor.domain.response import Response
from proctor.domain.sample import Sample
from proctor.domain.score import Score
from proctor.domain.workspace import Runner, Workspace, WorkspaceLimits
from proctor.engine.scoring import score_answer
from proctor.programs.evidence import evidence_from_json
from proctor.programs.marks import scorecard_of
from proctor.scorers.registry import create_scorer
from programs.programs import Kept


class Counting:
    """A runner that counts the workspaces it opens, and may have none."""

    def __init__(self, runner: Runner) -> None:
        self.runner = runner
        self.opened = 0
        self.is_broken = False
        self.name, self.is_isolated = runner.name, runner.is_isolated

    async def open(self, limits: WorkspaceLimits) -> Workspace:
        if self.is_broken:
            raise SandboxError("there is no room")
        self.opened += 1
        return await self.runner.open(limits)

    async def close(self) -> None:
        await self.runner.close()


@pytest.fixture
def counting(runner: Runner) -> Counting:
    return Counting(runner)


def sample_of(problem: Problem) -> Sample:
    return Sample(problem.id, "", metadata={"problem": problem.id, "digest": problem.digest})


def scorer(name: str, runner: Any, problem: Problem, **options: Any) -> Any:
    made: Any = create_scorer(ScorerSpec(name, {"measures": False, **options}))
    assert made.needs_runner
    return made.with_runner(runner, lambda _: problem, Kept())


def both(runner: Any, problem: Problem, response: Response) -> list[Score]:
    async def score() -> list[Score]:
        sample = sample_of(problem)
        names = ("program", "program_mark")
        return await asyncio.gather(*(scorer(name, runner, problem).score(sample, response) for name in names))

    return asyncio.run(score())


def test_both_scorers_share_one_marking(tally: Problem, counting: Counting) -> None:
    problem = replace(tally, pass_score=0.5)
    response = Response(f"Here it is.\n\n```python main.py\n{tally.solution['main.py'].decode()}```\n")
    passed, mark = both(counting, problem, response)
    assert counting.opened == 1
    assert (passed.name, passed.value) == ("program", 1.0), passed.reason
    assert mark.name == "program_mark"
    assert mark.value == pytest.approx(0.85)
    assert mark.details["covers"] == pytest.approx(0.85)
    details = json.loads(json.dumps(passed.details))
    assert details["total"] == mark.value
    assert scorecard_of(problem, evidence_from_json(details["evidence"])).total == mark.value


def test_files_of_an_agent_are_marked_as_they_are(tally: Problem, counting: Counting) -> None:
    (mutant,) = tally.mutants
    passed, mark = both(counting, tally, Response("done", files=mutant.files))
    assert passed.value == 0.0
    assert "R1, R2" in passed.reason
    assert mark.value == 0.0


def test_an_answer_without_a_program_is_invalid(tally: Problem, counting: Counting) -> None:
    passed, mark = both(counting, tally, Response("I cannot help with that."))
    assert (passed.value, passed.is_invalid, mark.value, mark.is_invalid) == (0.0, True, 0.0, True)
    assert counting.opened == 0


def test_a_fault_is_no_score_and_is_tried_again(tally: Problem, counting: Counting) -> None:
    response = Response("", files=tally.solution)

    async def score() -> None:
        counting.is_broken = True
        with pytest.raises(ScorerError, match="no room"):
            await scorer("program", counting, tally).score(sample_of(tally), response)
        counting.is_broken = False
        found = await scorer("program_mark", counting, tally).score(sample_of(tally), response)
        assert found.value > 0

    asyncio.run(score())


class Choosy(Counting):
    """A runner whose workspaces break when they are given a program with these words in it."""

    def __init__(self, runner: Runner, words: bytes) -> None:
        super().__init__(runner)
        self.words = words

    async def open(self, limits: WorkspaceLimits) -> Workspace:
        workspace: Any = await super().open(limits)
        write = workspace.write

        async def refuse(files: Any, **options: Any) -> None:
            if any(self.words in content for content in files.values()):
                raise SandboxError("the workspace does not answer")
            await write(files, **options)

        workspace.write = refuse
        return workspace  # type: ignore[no-any-return]


@pytest.mark.parametrize("name", ["program", "program_mark"])
def test_a_program_that_breaks_its_place_where_the_gold_does_not_is_invalid(
    name: str, tally: Problem, runner: Runner
) -> None:
    answer = Response("", files={"main.py": b"# attack"})

    def score(words: bytes) -> Score:
        marking = scorer(name, Choosy(runner, words), tally)
        return asyncio.run(score_answer(marking, sample_of(tally), answer))

    broken = score(b"attack")
    assert (broken.value, broken.is_invalid) == (0.0, True)
    assert broken.reason == "this answer cannot be scored, the gold solution can: the workspace does not answer"
    assert score(b"").value is None


class Losing(Choosy):
    """A runner whose workspaces break on one program, and lose what every other one is made of."""

    async def open(self, limits: WorkspaceLimits) -> Workspace:
        workspace: Any = await super().open(limits)
        write = workspace.write

        async def lose(files: Any, **options: Any) -> None:
            kept = {path: content if self.words in content else b"" for path, content in files.items()}
            await write(kept, **options)

        workspace.write = lose
        return workspace  # type: ignore[no-any-return]


@pytest.mark.parametrize("name", ["program", "program_mark"])
def test_where_the_gold_gets_nothing_the_place_is_at_fault_and_not_the_program(
    name: str, tally: Problem, runner: Runner
) -> None:
    marking = scorer(name, Losing(runner, b"attack"), tally)
    answer = Response("", files={"main.py": b"# attack"})
    score = asyncio.run(score_answer(marking, sample_of(tally), answer))
    assert (score.value, score.reason) == (None, "the workspace does not answer")


@pytest.mark.usefixtures("no_package_index")
def test_a_package_that_nobody_has_is_the_programs_choice(tally: Problem, runner: Runner) -> None:
    allowing = replace(tally, dependencies=("left-pad",))
    answer = Response("", files={"main.py": b"", "requirements.txt": b"left-pad==1.0"})
    score = asyncio.run(score_answer(scorer("program", runner, allowing), sample_of(allowing), answer))
    assert score.is_invalid
    assert "--wheelhouse" in score.reason


@pytest.mark.usefixtures("no_package_index")
def test_an_index_that_does_not_answer_leaves_the_answer_unscored_though_the_gold_needs_none(
    tally: Problem, runner: Runner, monkeypatch: pytest.MonkeyPatch
) -> None:
    allowing = replace(tally, dependencies=("left-pad",))
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")
    answer = Response("", files={"main.py": b"", "requirements.txt": b"left-pad==1.0"})
    score = asyncio.run(score_answer(scorer("program", runner, allowing), sample_of(allowing), answer))
    assert (score.value, score.is_invalid) == (None, False)
    assert "does not answer" in score.reason


def test_a_marking_nobody_waits_for_is_ended(tally: Problem, counting: Counting) -> None:
    hanging = {"main.py": b"import time\ntime.sleep(600)\n"}

    async def score() -> None:
        task = asyncio.create_task(
            scorer("program", counting, tally).score(sample_of(tally), Response("", files=hanging))
        )
        while not counting.opened:
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.5)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        left = [one for one in asyncio.all_tasks() if one is not asyncio.current_task()]
        assert not left, left

    asyncio.run(score())


class Hesitating(Counting):
    """A runner whose first place is never had, and takes its time to be given up."""

    def __init__(self, runner: Runner) -> None:
        super().__init__(runner)
        self.is_ending, self.may_end = asyncio.Event(), asyncio.Event()

    async def open(self, limits: WorkspaceLimits) -> Workspace:
        if self.opened:
            return await super().open(limits)
        self.opened += 1
        try:
            await asyncio.Event().wait()
        finally:
            self.is_ending.set()
            await self.may_end.wait()
        raise AssertionError("nobody gives this place")


def test_who_asks_while_a_marking_is_given_up_gets_one_of_its_own(tally: Problem, runner: Runner) -> None:
    async def score() -> float | None:
        hesitating = Hesitating(runner)
        response = Response("", files=tally.solution)
        made = scorer("program_mark", hesitating, tally)
        first = asyncio.create_task(made.score(sample_of(tally), response))
        while not hesitating.opened:
            await asyncio.sleep(0)
        first.cancel()
        await hesitating.is_ending.wait()
        second = asyncio.create_task(made.score(sample_of(tally), response))
        await asyncio.sleep(0)
        hesitating.may_end.set()
        with pytest.raises(asyncio.CancelledError):
            await first
        found: Score = await second
        return found.value

    assert asyncio.run(score()) == pytest.approx(0.85)


def test_a_changed_problem_is_not_marked(tally: Problem, counting: Counting) -> None:
    made = scorer("program", counting, replace(tally, digest="another"))
    with pytest.raises(ScorerError, match="has changed"):
        asyncio.run(made.score(sample_of(tally), Response("")))
    with pytest.raises(ScorerError, match="names no problem"):
        asyncio.run(made.score(Sample("x", ""), Response("")))


def test_without_a_runner_nothing_is_marked(tally: Problem) -> None:
    with pytest.raises(ScorerError, match="no runner"):
        asyncio.run(create_scorer(ScorerSpec("program")).score(sample_of(tally), Response("")))


@pytest.mark.parametrize("name", ["program", "program_mark"])
def test_options_are_checked_and_part_of_the_version(name: str) -> None:
    make: Callable[..., Any] = lambda **options: create_scorer(ScorerSpec(name, options))  # noqa: E731
    assert make().version != make(measures=False).version
    with pytest.raises(BenchmarkError, match="has no option"):
        make(speed=1)


def test_without_what_marking_needs_no_program_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    hide_packages(monkeypatch, "packaging")
    for name in ("program", "program_mark"):
        with pytest.raises(BenchmarkError, match=r"packaging must be there: pip install 'proctor\[problems\]'"):
            create_scorer(ScorerSpec(name))
