"""What is particular to one provider."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from fakes.dialect import Reply
from fakes.loopback import Exchange, Loopback
from fakes.openai_dialect import sse
from fakes.provider import FakeProvider
from models.asking import KEY, ask, make, prompt
from models.hosted import HOSTED, Hosted
from proctor.domain.errors import ModelUnavailableError, PlanError, ProviderFaultError, RateLimitedError
from proctor.domain.message import Message, Prompt
from proctor.domain.response import FinishReason, Usage

EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "agents"
BY_NAME = {hosted.name: hosted for hosted in HOSTED}


@contextmanager
def serving(name: str) -> Iterator[tuple[Hosted, FakeProvider]]:
    hosted = BY_NAME[name]
    with hosted.server() as server:
        yield hosted, server


def test_anthropic_gets_its_version_its_betas_and_a_limit_because_it_demands_one() -> None:
    with serving("anthropic") as (hosted, server):
        ask(hosted.model(server))
        assert server.requests[-1].headers["anthropic-version"] == "2023-06-01"
        assert server.requests[-1].json["max_tokens"] == 8192
        ask(hosted.model(server, version="2026-10-21", beta="one,two", default_limit=5))
        assert server.requests[-1].headers["anthropic-version"] == "2026-10-21"
        assert server.requests[-1].headers["anthropic-beta"] == "one,two"
        assert server.requests[-1].json["max_tokens"] == 5
        ask(hosted.model(server, default_limit=5), options={"max_tokens": 9})
        assert server.requests[-1].json["max_tokens"] == 9
        with pytest.raises(PlanError, match="default_limit"):
            hosted.model(server, default_limit=0)


def test_anthropic_is_asked_to_cache_only_when_told() -> None:
    with serving("anthropic") as (hosted, server):
        ask(hosted.model(server))
        assert "cache_control" not in server.requests[-1].json
        ask(hosted.model(server, cache=True))
        assert server.requests[-1].json["cache_control"] == {"type": "ephemeral"}


@pytest.mark.parametrize("is_streaming", [False, True])
def test_anthropic_tells_apart_what_was_read_from_its_cache_and_what_was_put_there(is_streaming: bool) -> None:
    with serving("anthropic") as (hosted, server):
        server.reply = lambda ask: Reply("x", input_tokens=1_000, cached_tokens=200, written_tokens=700)
        response = ask(hosted.model(server, cache=True, stream=is_streaming))
    assert response.usage == Usage(1_000, 7, 2, 200, 700)


def test_anthropic_options_and_schema_share_one_output_configuration() -> None:
    with serving("anthropic") as (hosted, server):
        ask(hosted.model(server), prompt(schema={"type": "object"}), {"reasoning_effort": "low"})
        form = {"type": "json_schema", "schema": {"type": "object"}}
        assert server.requests[-1].json["output_config"] == {"effort": "low", "format": form}


def test_anthropic_system_messages_become_one_field_and_the_address_may_hold_the_version() -> None:
    with serving("anthropic") as (_, server):
        model = make({"model": "anthropic/m", "base_url": server.url + "/v1/"}, {"ANTHROPIC_API_KEY": KEY})
        turns = (Message("system", "A"), Message("user", "3 + 4"), Message("system", "B"))
        assert ask(model, Prompt(turns)).text == "ANSWER: 7"
        assert server.requests[-1].path == "/v1/messages"
        assert server.requests[-1].json["system"] == "A\n\nB"


def test_anthropic_overload_in_a_stream_may_be_tried_again() -> None:
    async def overloaded(exchange: Exchange) -> None:
        await exchange.start_stream()
        await exchange.send_chunk(
            b'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"busy"}}\n\n'
        )
        await exchange.end_stream()

    with Loopback(overloaded) as server:
        model = make({"model": "anthropic/m", "base_url": server.url, "stream": True})
        with pytest.raises(ProviderFaultError, match="busy"):
            ask(model)


def test_openrouter_is_told_of_fallbacks_and_routing_and_says_who_answered_at_what_cost() -> None:
    with serving("openrouter") as (hosted, server):
        server.reply = lambda ask: Reply("x", extra={"model": "b/two", "usage": {"prompt_tokens": 1, "cost": 0.000125}})
        response = ask(
            hosted.model(server, fallbacks="b/two,c/three", routing={"order": ["x"], "allow_fallbacks": False})
        )
        sent = server.requests[-1].json
        assert sent["models"] == ["m-x", "b/two", "c/three"]
        assert sent["provider"] == {"order": ["x"], "allow_fallbacks": False}
        assert sent["usage"] == {"include": True}
        assert response.model == "b/two"
        assert response.cost_usd == Decimal("0.000125")
        plain = hosted.model(server).identity
        assert plain != hosted.model(server, fallbacks="b/two").identity
        assert plain != hosted.model(server, routing={"order": ["x"]}).identity


def test_openrouter_says_what_was_put_into_a_cache() -> None:
    details = {"cached_tokens": 200, "cache_write_tokens": 700}
    usage = {"prompt_tokens": 1_000, "completion_tokens": 7, "prompt_tokens_details": details}
    with serving("openrouter") as (hosted, server):
        server.reply = lambda ask: Reply("x", extra={"usage": usage})
        assert ask(hosted.model(server)).usage == Usage(1_000, 7, None, 200, 700)


def test_openrouter_names_keep_their_slashes() -> None:
    model = make("openrouter/meta-llama/llama-4:free", {"OPENROUTER_API_KEY": KEY})
    assert model.identity.name == "meta-llama/llama-4:free"


def test_openrouter_without_credit_is_unavailable() -> None:
    async def broke(exchange: Exchange) -> None:
        await exchange.reply_json(402, {"error": {"code": 402, "message": "Insufficient credits"}})

    with Loopback(broke) as server, pytest.raises(ModelUnavailableError, match="no credit"):
        ask(make({"model": "openrouter/m", "base_url": server.url}, {"OPENROUTER_API_KEY": KEY}))


@pytest.mark.parametrize(
    ("host", "url"),
    [
        ("example.com", "http://example.com:11434/v1"),
        ("127.0.0.1:9", "http://127.0.0.1:9/v1"),
        ("0.0.0.0", "http://127.0.0.1:11434/v1"),
        ("https://o.example.com/", "https://o.example.com/v1"),
    ],
)
def test_ollama_is_found_where_its_own_variable_says(host: str, url: str) -> None:
    assert make("ollama/qwen3", {"OLLAMA_HOST": host}).identity.endpoint == url + "/chat/completions"
    assert make("ollama/qwen3").identity.endpoint == "http://127.0.0.1:11434/v1/chat/completions"


def test_google_takes_either_of_its_two_key_variables() -> None:
    with serving("google") as (_, server):
        given = {"model": "google/models/gemini-x", "base_url": server.url + "/v1beta"}
        assert ask(make(given, {"GOOGLE_API_KEY": KEY})).text == "ANSWER: 7"
        assert server.requests[-1].path == "/v1beta/models/gemini-x:generateContent"
        assert make("google/gemini-x", {"GOOGLE_API_KEY": KEY}).identity.name == "gemini-x"


def google_server(*documents: Any) -> Loopback:
    async def handle(exchange: Exchange) -> None:
        if "alt" not in exchange.request.query:
            return await exchange.reply_json(200, documents[0])
        await exchange.start_stream()
        for document in documents:
            await exchange.send_chunk(sse(document))
        return await exchange.end_stream()

    return Loopback(handle)


@pytest.mark.parametrize("stream", [False, True])
def test_a_prompt_that_google_blocks_is_a_filtered_answer(stream: bool) -> None:
    with google_server(
        {"promptFeedback": {"blockReason": "SAFETY"}, "usageMetadata": {"promptTokenCount": 4}}
    ) as server:
        response = ask(make({"model": "google/m", "base_url": server.url, "stream": stream}))
    assert response.finish_reason is FinishReason.FILTERED
    assert response.text == ""
    assert response.usage == Usage(input_tokens=4)


def test_a_google_stream_that_says_stop_in_every_event_is_read_to_its_end() -> None:
    def piece(text: str) -> Any:
        return {"candidates": [{"content": {"parts": [{"text": text}]}, "finishReason": "STOP"}]}

    with google_server(piece("one "), piece("two "), piece("three")) as server:
        assert ask(make({"model": "google/m", "base_url": server.url, "stream": True})).text == "one two three"


def test_google_counts_thoughts_as_output() -> None:
    usage = {"promptTokenCount": 5, "candidatesTokenCount": 7, "thoughtsTokenCount": 30}
    document = {"candidates": [{"content": {"parts": [{"text": "x"}]}, "finishReason": "STOP"}], "usageMetadata": usage}
    with google_server(document) as server:
        response = ask(make({"model": "google/m", "base_url": server.url}))
    assert response.usage == Usage(5, 37, reasoning_tokens=30)


def test_responses_are_not_stored_by_the_provider_unless_asked() -> None:
    with serving("openai-responses") as (hosted, server):
        ask(
            hosted.model(server),
            options={"logprobs": True, "top_logprobs": 2, "reasoning_effort": "low", "max_tokens": 3},
        )
        sent = server.requests[-1].json
        assert sent["store"] is False
        assert sent["include"] == ["message.output_text.logprobs"]
        assert (sent["reasoning"], sent["max_output_tokens"], sent["top_logprobs"]) == ({"effort": "low"}, 3, 2)
        ask(hosted.model(server), options={"extra": {"store": True}})
        assert server.requests[-1].json["store"] is True


@pytest.mark.parametrize("stream", [False, True])
def test_a_response_that_failed_is_an_error(stream: bool) -> None:
    failed = {
        "id": "r",
        "status": "failed",
        "output": [],
        "error": {"code": "rate_limit_exceeded", "message": "slow down"},
    }

    async def handle(exchange: Exchange) -> None:
        if not exchange.request.json.get("stream"):
            return await exchange.reply_json(200, failed)
        await exchange.start_stream()
        await exchange.send_chunk(sse({"type": "response.failed", "response": failed}))
        return await exchange.end_stream()

    with Loopback(handle) as server, pytest.raises(RateLimitedError, match="slow down"):
        ask(make({"model": "openai/m", "base_url": server.url, "api": "responses", "stream": stream}))


def test_only_openai_itself_is_given_the_new_name_of_the_limit() -> None:
    from proctor.models.hosted import HostedModel

    own = make("openai/gpt-5-mini", {"OPENAI_API_KEY": KEY})
    other = make("openai/m?base_url=http://127.0.0.1:9/v1")
    assert isinstance(own, HostedModel)
    assert isinstance(other, HostedModel)
    asked = {"max_tokens": 3}
    assert own._dialect.body("m", prompt(), asked, is_streaming=False)["max_completion_tokens"] == 3
    assert other._dialect.body("m", prompt(), asked, is_streaming=False)["max_tokens"] == 3


def test_a_model_without_a_name_is_refused() -> None:
    for provider in ("openai", "anthropic", "google", "openrouter", "huggingface", "ollama", "vllm"):
        with pytest.raises(PlanError, match="needs a model's name"):
            make(f"{provider}/")


def test_the_example_endpoint_and_function_answer() -> None:
    command = [sys.executable, str(EXAMPLES / "http_server.py"), "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=EXAMPLES) as process:
        assert process.stdout is not None
        try:
            port = int(process.stdout.readline())
            given = {
                "model": "http/",
                "url": f"http://127.0.0.1:{port}/ask",
                "usage": {"output_tokens": "usage.output_tokens"},
            }
            response = ask(make(given), "20 and 3 ?")
        finally:
            process.kill()
    assert (response.text, response.usage.output_tokens) == ("ANSWER: 23", 2)
    assert ask(make("python/function:answer", dict(os.environ), EXAMPLES), "1 and 2 ?").text == "ANSWER: 3"
