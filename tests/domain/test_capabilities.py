"""What only some models and scorers can do or need is declared, and found without asking for names."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import cast

import pytest

from proctor.domain.model import (
    Allowance,
    BuildsPrograms,
    HasAllowance,
    Model,
    ModelIdentity,
    account_of,
    allowance_of,
    is_cached,
    max_concurrency_of,
)
from proctor.domain.plan import ModelSpec
from proctor.domain.scorer import HasGolds, NeedsRunner, NeedsSandbox, SlowScorer
from proctor.domain.workspace import Runner
from proctor.models.registry import create_model
from proctor.planning.plan_file import model_spec
from proctor.programs.scorer import Marked
from proctor.runs.programs.repairing import ProgramModel
from proctor.scorers import choice, logprob
from proctor.scorers.code import evalplus, humaneval, mbpp


class Narrow:
    """A model with limits of its own."""

    identity = ModelIdentity("narrow", "one", None, "1")
    allowance = Allowance(60, 1000)
    account = "key-1"
    max_concurrency = 2

    async def respond(self, *_: object, **__: object) -> None: ...

    async def close(self) -> None: ...


def _model(text: str) -> Model:
    spec: ModelSpec = model_spec(text)
    return create_model(spec, environment={"OPENAI_API_KEY": "sk-0123456789"}, folder=Path())


@pytest.mark.parametrize("module", [humaneval, mbpp, evalplus])
def test_scorers_that_run_code_need_a_sandbox_and_have_golds(module: object) -> None:
    scorer = module.create()  # type: ignore[attr-defined]
    assert isinstance(scorer, NeedsSandbox)
    assert isinstance(scorer, HasGolds)
    assert not isinstance(scorer, NeedsRunner)


def test_a_scorer_of_programs_needs_a_runner_and_no_sandbox() -> None:
    assert isinstance(Marked(), NeedsRunner)
    assert not isinstance(Marked(), NeedsSandbox)


def test_a_model_that_declares_nothing_has_the_usual_limits() -> None:
    model = _model("demo/strong")
    assert (allowance_of(model), account_of(model), max_concurrency_of(model)) == (Allowance(), None, None)
    assert is_cached(model)
    assert not isinstance(model, BuildsPrograms)


def test_a_model_with_a_key_has_an_allowance_and_an_account() -> None:
    model = _model("openai/gpt-5-mini?rpm=60")
    assert isinstance(model, HasAllowance)
    assert allowance_of(model).requests_per_minute == 60
    assert account_of(model)


def test_a_program_that_answers_is_asked_anew_and_builds(tmp_path: Path) -> None:
    agent = tmp_path / "agent.sh"
    agent.write_text("#!/bin/sh\n")
    agent.chmod(0o755)
    model = _model(f"command/{agent}?sandbox=false")
    assert not is_cached(model)
    assert isinstance(model, BuildsPrograms)
    assert model.is_free_agent


def test_a_model_that_repairs_programs_keeps_the_limits_of_the_model_in_it() -> None:
    inner = cast("Model", Narrow())
    model = ProgramModel(inner, {}, cast("Runner", None), asyncio.Semaphore(1))
    assert (allowance_of(model), account_of(model), max_concurrency_of(model)) == (Allowance(60, 1000), "key-1", 2)


def test_a_scorer_that_may_be_slow_is_known_as_such() -> None:
    assert isinstance(choice.create(), SlowScorer)
    assert not isinstance(logprob.create(), SlowScorer)
