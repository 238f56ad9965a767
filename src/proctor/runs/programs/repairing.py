"""A model that builds programs: asked once, then shown what the visible tests say of its answer and asked again."""

from __future__ import annotations

import asyncio
import tempfile
import time
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TypeVar

from msgspec.structs import replace

from proctor.benchmarks.problems.folder import entry_files
from proctor.benchmarks.problems.prompt import agent_prompt, specification
from proctor.domain.errors import ModelError, ProviderFaultError, SandboxError, ScorerError
from proctor.domain.message import Json, Message, Prompt
from proctor.domain.model import (
    Allowance,
    BuildsPrograms,
    Model,
    ModelIdentity,
    account_of,
    allowance_of,
    max_concurrency_of,
)
from proctor.domain.problem import CheckKind, Problem
from proctor.domain.response import FinishReason, Response
from proctor.domain.scorecard import CheckResult, CheckStatus, Evidence, PhaseStatus
from proctor.domain.submission import Submission
from proctor.domain.workspace import Runner
from proctor.engine.budget import REPAIR_ROUNDS
from proctor.engine.model_gate import joined
from proctor.engine.retry import RetryPolicy, retry
from proctor.programs.answers.reading import program_of
from proctor.programs.marking import mark
from proctor.programs.options import MarkOptions
from proctor.reports.markdown import fenced

MAX_OUTPUT = 6_000
MAX_OF_ONE = 1_500
ENDING_SECONDS = 2.0
"""Of a trial's time limit: to end what runs in a round for which there was too little time."""
T = TypeVar("T")


class ProgramModel:
    """The model itself for every prompt but those of problems; for these, repair rounds and an agent's folder."""

    def __init__(
        self,
        model: Model,
        problems: Mapping[str, Problem],
        runner: Runner,
        turns: asyncio.Semaphore,
        options: MarkOptions = MarkOptions(),  # noqa: B008  frozen
        retries: int = 0,
    ) -> None:
        self._model = model
        self._problems = problems
        """By the text of the prompt: a request does not say which sample it belongs to."""
        self._runner = runner
        self._options = options.checks_only()
        self._turns = turns
        """Shared with all that run programs: too many at once would disturb each other's measures."""
        self._policy = RetryPolicy(retries)

    @property
    def identity(self) -> ModelIdentity:
        return self._model.identity

    @property
    def allowance(self) -> Allowance:
        return allowance_of(self._model)

    @property
    def account(self) -> str | None:
        return account_of(self._model)

    @property
    def max_concurrency(self) -> int | None:
        return max_concurrency_of(self._model)

    async def close(self) -> None:
        await self._model.close()

    async def respond(self, prompt: Prompt, options: Mapping[str, Json], *, timeout_seconds: float) -> Response:
        """An answer within the time limit, which holds for all rounds together."""
        plain = {name: value for name, value in options.items() if name != REPAIR_ROUNDS}
        problem = self._problems.get(prompt.text)
        if problem is None:
            return await self._model.respond(prompt, plain, timeout_seconds=timeout_seconds)
        if isinstance(self._model, BuildsPrograms):
            return await self._by_agent(self._model, problem, prompt, timeout_seconds)
        ends = time.monotonic() + max(timeout_seconds - ENDING_SECONDS, timeout_seconds / 2)
        response = await self._model.respond(prompt, plain, timeout_seconds=timeout_seconds)
        files: Mapping[str, bytes] = {}
        for number in range(1, int(options.get(REPAIR_ROUNDS, 0)) + 1):
            found, files = _merged(response, problem, files)
            is_asked = False
            try:
                complaint = await self._again(partial(self._complaint, problem, found, files), ends)
                if complaint is None:
                    return _with_files(response, found, files)
                said = (Message("assistant", response.text), Message("user", complaint))
                prompt, is_asked = prompt.with_messages((*prompt.messages, *said)), True
                answer = await self._again(partial(self._once_more, prompt, plain, ends), ends, is_paid=True)
            except ModelError as fault:
                if not files:  # nothing to mark, and a fault is not a wrong answer; without a status it is not free
                    raise type(fault)(str(fault), retry_after_seconds=fault.retry_after_seconds) from fault
                kept = replace(response, files=dict(files), left_out=dict(found.refused))
                return _cut_short(kept, number, fault, may_cost_more=is_asked and not fault.was_free)
            response = joined(response, answer)
        return _with_files(response, *_merged(response, problem, files)) if response.turns else response

    async def _again(self, work: Callable[[], Awaitable[T]], ends: float, *, is_paid: bool = False) -> T:
        """Try until it works, a fault is not worth another try, or there is no time for one.

        Here, not where whole trials are asked again: the rounds before are answered and paid for. What may have been
        billed is not tried again: money is set aside for each round once.
        """

        async def in_time() -> T:
            try:
                async with asyncio.timeout(max(0.0, ends - time.monotonic())):
                    return await work()
            except TimeoutError:
                raise ProviderFaultError("the time limit was used up") from None

        async def wait(fault: ModelError, seconds: float, _tries: int) -> None:
            if time.monotonic() + seconds >= ends or (is_paid and not fault.was_free):
                raise fault
            await asyncio.sleep(seconds)

        return await retry(in_time, self._policy, wait)

    async def _once_more(self, prompt: Prompt, options: Mapping[str, Json], ends: float) -> Response:
        return await self._model.respond(prompt, options, timeout_seconds=ends - time.monotonic())

    async def _complaint(self, problem: Problem, found: Submission, files: Mapping[str, bytes]) -> str | None:
        """What the model is told of its program; None when there is nothing to mend."""
        if not found.files:
            reasons = "; ".join([*found.notes, *(f"{path}: {why}" for path, why in found.refused.items())])
            return f"No program could be read from your answer: {reasons[:MAX_OUTPUT]}. {_ONCE_MORE}"
        async with self._turns:
            evidence = await visible_evidence(problem, files, self._runner, self._options)
        return feedback(evidence)

    async def _by_agent(
        self, agent: BuildsPrograms, problem: Problem, prompt: Prompt, timeout_seconds: float
    ) -> Response:
        """An agent works in a folder that holds what it is told; what it adds or changes is the program."""
        told = prompt.with_messages(Message(one.role, agent_prompt(one.text)) for one in prompt.messages)
        seed = {f"tests/{path}": text.encode() for path, text in problem.visible.items()}
        seed["README.md"] = f"{specification(problem)}\n".encode()
        return await agent.build(
            told, seed, timeout_seconds=timeout_seconds, runner=self._runner, hidden=problem.folder
        )


_ONCE_MORE = (
    "Answer again in the format above: every file that changes, in full, or a unified diff. "
    "Files that you do not repeat stay as they are."
)


def _merged(
    response: Response, problem: Problem, before: Mapping[str, bytes]
) -> tuple[Submission, Mapping[str, bytes]]:
    """The program after this answer: files that were not repeated are those of the answer before."""
    found = program_of(response, entry_files(problem.interface), before)
    is_whole = found.form in ("diff", "edits", "agent")
    return found, found.files if is_whole else {**before, **found.files}


def _with_files(response: Response, found: Submission, files: Mapping[str, bytes]) -> Response:
    """A mended program is more than its last answer: its files are handed on with it, and what was not taken."""
    return replace(response, files=dict(files), left_out=dict(found.refused)) if response.turns else response


def _cut_short(response: Response, number: int, fault: ModelError, *, may_cost_more: bool) -> Response:
    """The program as it was before a round that failed; not worth keeping for other runs, which may get further."""
    note = f"repair round {number} failed, and the program is that of the round before: {fault}"
    end, note = FinishReason.OTHER, note.rstrip(".")
    return replace(response, finish_reason=end, note=note, may_cost_more=may_cost_more)


async def visible_evidence(
    problem: Problem, files: Mapping[str, bytes], runner: Runner, options: MarkOptions
) -> Evidence:
    """The visible tests alone, run on a program in a workspace: the hidden ones are not even there."""
    with tempfile.TemporaryDirectory(prefix="proctor-visible-") as name:
        for path, text in problem.visible.items():
            target = Path(name) / "tests" / "visible" / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, encoding="utf-8")
        checks = {one: kind for one, kind in problem.checks.items() if kind is CheckKind.VISIBLE}
        shown = replace(problem, folder=Path(name), checks=checks, thresholds=(), load=None)
        try:
            return await mark(shown, files, runner, options=options)
        except (SandboxError, ScorerError) as fault:  # of this trial alone: the others go on
            raise ProviderFaultError(f"the visible tests could not be run: {fault}") from fault


def feedback(evidence: Evidence) -> str | None:
    """What failed, in a fence, within bounds; None when everything passed."""
    checks = evidence.checks
    bad = [one for one in checks if one.status is not CheckStatus.PASSED]
    if not bad and checks:
        return None
    failed = next((one for one in evidence.phases if one.status is PhaseStatus.FAILED), None)
    head = f"The visible tests were run on your program: {len(checks) - len(bad)} of {len(checks)} passed."
    parts = [] if failed is None else [f"{failed.name}: {failed.log}"]
    parts += [_told(one) for one in bad if one.message and failed is None]
    output = "\n\n".join(parts)
    if len(output) > MAX_OUTPUT:
        output = f"{output[:MAX_OUTPUT]}\n[… {len(output) - MAX_OUTPUT:,} characters left out …]"
    return f"{head}\n\n{fenced(output)}\n\n{_ONCE_MORE}"


def _told(check: CheckResult) -> str:
    message = check.message.strip()
    if len(message) > MAX_OF_ONE:
        message = f"{message[:MAX_OF_ONE]} […]"
    return f"test_{check.name} {check.status}:\n{message}"
