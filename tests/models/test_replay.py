"""Recorded answers."""

from __future__ import annotations

import pytest

from models.asking import ask, make, prompt
from proctor.domain.errors import ModelUnavailableError, PlanError, RequestRejectedError
from proctor.domain.message import Image, Message, Prompt
from proctor.domain.response import Response
from proctor.models.replay import ReplayModel, prompt_digest


def replay() -> ReplayModel:
    model = make("replay/latest")
    assert isinstance(model, ReplayModel)
    return model


def test_a_recorded_prompt_gets_its_recorded_answer() -> None:
    recorded = {prompt_digest(prompt("a")): Response("yes", latency_seconds=1.5)}
    model = replay()
    model.bind(recorded.get)
    assert ask(model, "a") == Response("yes", latency_seconds=1.5)


def test_a_prompt_that_was_never_asked_is_refused() -> None:
    model = replay()
    model.bind({}.get)
    with pytest.raises(RequestRejectedError, match="replay/latest holds no answer"):
        ask(model, "a")


def test_without_a_run_there_is_nothing_to_answer_from() -> None:
    with pytest.raises(ModelUnavailableError):
        ask(replay(), "a")
    with pytest.raises(PlanError, match="write replay/RUN"):
        make("replay/")


def test_the_digest_tells_prompts_apart_by_everything_in_them() -> None:
    prompts = [
        prompt("a"),
        prompt("b"),
        Prompt((Message("system", "a"),)),
        prompt("a", system="a"),
        prompt("a", tools=({"name": "t"},)),
        prompt("a", schema={"type": "object"}),
        prompt("a", Image(b"1", "image/png")),
        prompt("a", Image(b"2", "image/png")),
    ]
    assert len({prompt_digest(each) for each in prompts}) == len(prompts)
    assert prompt_digest(prompt("a")) == prompt_digest(prompt("a"))
