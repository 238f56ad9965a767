"""The official SDKs against the same servers: what they understand, a real provider could have said."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import pytest

from fakes.anthropic_dialect import AnthropicMessages
from fakes.dialect import Reply
from fakes.faults import Faults
from fakes.openai_dialect import OpenAIChat
from fakes.provider import FakeProvider
from fakes.responses_dialect import OpenAIResponses
from models.asking import KEY

STRICT: Any = {"_strict_response_validation": True}
"""Every field of every answer is checked against the SDK's own types."""
MESSAGES: Any = [{"role": "user", "content": "What is 3 + 4?"}]
FULL = Reply(
    "ja 🦊 und noch mehr", reasoning="denk nach", tool_calls=(("weather", '{"city": "Zürich"}'),), finish="tool_calls"
)


@pytest.fixture
def server() -> Iterator[FakeProvider]:
    dialects = (OpenAIChat(), OpenAIResponses(), AnthropicMessages())
    with FakeProvider(key=KEY, dialects=dialects) as running:
        yield running


@pytest.fixture
def openai() -> Any:
    return pytest.importorskip("openai")  # a second: not while tests are collected


@pytest.fixture
def anthropic() -> Any:
    return pytest.importorskip("anthropic")


def with_openai(server: FakeProvider, use: Callable[[Any], Awaitable[Any]], key: str = KEY) -> Any:
    openai = pytest.importorskip("openai")

    async def go() -> Any:
        async with openai.AsyncOpenAI(api_key=key, base_url=server.url + "/v1", max_retries=0, **STRICT) as client:
            return await use(client)

    return asyncio.run(go())


def with_anthropic(server: FakeProvider, use: Callable[[Any], Awaitable[Any]], key: str = KEY) -> Any:
    anthropic = pytest.importorskip("anthropic")

    async def go() -> Any:
        async with anthropic.AsyncAnthropic(api_key=key, base_url=server.url, max_retries=0, **STRICT) as client:
            return await use(client)

    return asyncio.run(go())


def test_openai_chat_is_understood_plain_and_streamed(server: FakeProvider) -> None:
    server.reply = lambda ask: FULL

    async def plain(client: Any) -> Any:
        return await client.chat.completions.create(model="m", messages=MESSAGES)

    async def streamed(client: Any) -> Any:
        options = {"include_usage": True}
        stream = await client.chat.completions.create(model="m", messages=MESSAGES, stream=True, stream_options=options)
        return [chunk async for chunk in stream]

    answer = with_openai(server, plain)
    message = answer.choices[0].message
    assert (message.content, answer.choices[0].finish_reason) == (FULL.text, "tool_calls")
    assert message.tool_calls[0].function.arguments == '{"city": "Zürich"}'
    assert answer.usage.prompt_tokens_details.cached_tokens == 3
    assert answer._request_id.startswith("req_")
    chunks = with_openai(server, streamed)
    assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices) == FULL.text
    assert chunks[-1].usage.completion_tokens == 7


def test_openai_responses_are_understood_plain_and_streamed(server: FakeProvider) -> None:
    server.reply = lambda ask: FULL

    async def plain(client: Any) -> Any:
        return await client.responses.create(model="m", input=MESSAGES)

    async def streamed(client: Any) -> Any:
        return [event async for event in await client.responses.create(model="m", input="3 + 4", stream=True)]

    answer = with_openai(server, plain)
    assert answer.output_text == FULL.text
    assert [item.type for item in answer.output] == ["reasoning", "message", "function_call"]
    assert answer.usage.input_tokens_details.cached_tokens == 3
    events = with_openai(server, streamed)
    assert events[-1].type == "response.completed"
    assert events[-1].response.output_text == FULL.text
    assert "".join(event.delta for event in events if event.type == "response.output_text.delta") == FULL.text


def test_anthropic_messages_are_understood_plain_and_streamed(server: FakeProvider) -> None:
    server.reply = lambda ask: FULL

    async def plain(client: Any) -> Any:
        return await client.messages.create(model="m", max_tokens=99, messages=MESSAGES)

    async def streamed(client: Any) -> Any:
        async with client.messages.stream(model="m", max_tokens=99, messages=MESSAGES) as stream:
            return await stream.get_final_message()

    for answer in (with_anthropic(server, plain), with_anthropic(server, streamed)):
        assert [block.type for block in answer.content] == ["thinking", "text", "tool_use"]
        assert answer.content[0].thinking == FULL.reasoning
        assert answer.content[1].text == FULL.text
        assert answer.content[2].input == {"city": "Zürich"}
        assert answer.stop_reason == "tool_use"
        assert answer.usage.output_tokens == 7
        assert answer.usage.cache_read_input_tokens == 3


@pytest.mark.parametrize(
    ("fault", "name"),
    [
        ("400", "BadRequestError"),
        ("404", "NotFoundError"),
        ("429", "RateLimitError"),
        ("500", "InternalServerError"),
        ("drop", "APIConnectionError"),
    ],
)
def test_faults_are_the_sdks_own_errors(
    server: FakeProvider, openai: Any, anthropic: Any, fault: str, name: str
) -> None:
    server.faults = Faults((fault,))

    async def ask_openai(client: Any) -> Any:
        return await client.chat.completions.create(model="m", messages=MESSAGES)

    async def ask_anthropic(client: Any) -> Any:
        return await client.messages.create(model="m", max_tokens=99, messages=MESSAGES)

    with pytest.raises(getattr(openai, name)):
        with_openai(server, ask_openai)
    with pytest.raises(getattr(anthropic, name)):
        with_anthropic(server, ask_anthropic)


def test_a_wrong_key_is_an_authentication_error(server: FakeProvider, openai: Any, anthropic: Any) -> None:
    async def ask_openai(client: Any) -> Any:
        return await client.chat.completions.create(model="m", messages=MESSAGES)

    async def ask_anthropic(client: Any) -> Any:
        return await client.messages.create(model="m", max_tokens=99, messages=MESSAGES)

    with pytest.raises(openai.AuthenticationError):
        with_openai(server, ask_openai, key="sk-wrong")
    with pytest.raises(anthropic.AuthenticationError):
        with_anthropic(server, ask_anthropic, key="sk-wrong")


def test_an_overloaded_anthropic_and_an_error_in_its_stream_are_recognised(
    server: FakeProvider, anthropic: Any
) -> None:
    async def plain(client: Any) -> Any:
        return await client.messages.create(model="m", max_tokens=99, messages=MESSAGES)

    async def streamed(client: Any) -> Any:
        async with client.messages.stream(model="m", max_tokens=99, messages=MESSAGES) as stream:
            return await stream.get_final_message()

    server.faults = Faults(("529",))
    with pytest.raises(anthropic.APIStatusError) as caught:
        with_anthropic(server, plain)
    assert caught.value.status_code == 529
    server.faults = Faults(("midstream-error",))
    with pytest.raises(anthropic.APIError):
        with_anthropic(server, streamed)
