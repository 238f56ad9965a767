"""What is not installed is named in one line, and only what needs it is refused."""

from __future__ import annotations

import sys

import pytest

from commands import Cli
from fakes.dialect import Reply
from fakes.provider import FakeProvider
from models.asking import ask, make, prompt
from proctor.domain.errors import ModelUnavailableError


def test_without_grpc_its_models_are_refused_in_one_line(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "grpc", None)
    ended = cli("run", "arithmetic", "-m", "grpc/127.0.0.1:1", "--limit", 1)
    assert ended.code == 2
    assert "pip install 'proctor[grpc]'" in ended.error


def test_a_call_that_cannot_be_checked_is_not_taken_for_one_that_fits(
    provider: FakeProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "jsonschema_rs", None)
    provider.reply = lambda _: Reply("", tool_calls=(("weather", "{}"),), finish="tool_calls")
    tools = ({"name": "weather", "parameters": {"type": "object"}},)
    with pytest.raises(ModelUnavailableError, match=r"proctor\[schema\]"):
        ask(make(f"openai/test?base_url={provider.url}/v1"), prompt(tools=tools))
