"""What every model provider keeps: it says what it is, and makes models that can be told apart, asked and closed.

How hosted providers speak to their servers is in `tests/models/test_contract.py`.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from pathlib import Path

import pytest

from plugins.example import names
from proctor import plugins
from proctor.domain.errors import UserError
from proctor.domain.message import Message, Prompt
from proctor.domain.model import Model
from proctor.domain.plan import ModelSpec
from proctor.domain.response import Response
from proctor.models.registry import create_model, list_providers, provider_of

ON_THIS_MACHINE = {"demo": "demo/strong", "python": "python/answering:answer", "parrot": "parrot/loud"}
"""Providers that need neither a key nor a server, nor weights."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "answering.py").write_text("def answer(prompt): return prompt.upper()\n", encoding="utf-8")
    return tmp_path


def _make(written: str, folder: Path) -> Model:
    return create_model(ModelSpec.model_validate(written), environment={}, folder=folder)


@pytest.mark.parametrize("name", names("models"))
def test_a_provider_says_what_it_is_without_a_key(name: str) -> None:
    provider = provider_of(name)
    assert provider.name == name
    assert provider.description
    assert name in {status.provider.name for status in list_providers({})}


@pytest.mark.parametrize("name", names("models"))
def test_a_model_that_cannot_be_had_is_the_users_mistake(name: str, folder: Path) -> None:
    with suppress(UserError):
        model = _make(f"{name}/no such:thing", folder)
        assert model.identity.provider == name  # whether there is such a model shows when it is asked


@pytest.mark.parametrize("name", ON_THIS_MACHINE)
def test_a_model_answers_and_can_be_closed_twice(name: str, folder: Path) -> None:
    async def ask() -> Response:
        model = _make(ON_THIS_MACHINE[name], folder)
        answer = await model.respond(Prompt((Message("user", "What is 1 + 1?"),)), {}, timeout_seconds=10)
        await model.close()
        await model.close()
        return answer

    first, second = asyncio.run(ask()), asyncio.run(ask())
    assert first.text == second.text != ""
    assert first.latency_seconds is not None


@pytest.mark.parametrize("name", ON_THIS_MACHINE)
def test_the_identity_is_the_same_whenever_a_model_is_made(name: str, folder: Path) -> None:
    identity = _make(ON_THIS_MACHINE[name], folder).identity
    assert identity == _make(ON_THIS_MACHINE[name], folder).identity
    assert f"{identity.provider}/{identity.name}" == ON_THIS_MACHINE[name]
    assert identity.adapter_version


def test_the_suite_asks_every_model_of_the_example() -> None:
    assert {plugin.name for plugin in plugins.installed() if plugin.kind == "models"} <= set(ON_THIS_MACHINE)
