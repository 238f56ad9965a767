"""The SDKs of Google, Hugging Face and OpenRouter against the same servers; each is skipped where it is not there."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import pytest

from fakes.dialect import Reply
from fakes.faults import Faults
from fakes.google_dialect import GoogleGenerate
from fakes.openai_dialect import OpenAIChat
from fakes.openrouter_dialect import OpenRouterChat
from fakes.provider import FakeProvider
from models.asking import KEY

# What the SDKs do to others is no fault of ours.
pytestmark = pytest.mark.filterwarnings("ignore:Inheritance class AiohttpClientSession:DeprecationWarning")
Use = Callable[[Any], Awaitable[Any]]
QUESTION = "What is 3 + 4?"
MESSAGES: Any = [{"role": "user", "content": QUESTION}]
FULL = Reply(
    "ja 🦊 und noch mehr",
    reasoning="denk nach",
    tool_calls=(("weather", '{"city": "Zürich"}'),),
    finish="tool_calls",
    logprobs=(("ja", -0.5), (" 🦊", -1.25)),
)


@pytest.fixture
def server() -> Iterator[FakeProvider]:
    with FakeProvider(key=KEY, dialects=(OpenAIChat(), GoogleGenerate())) as running:
        running.reply = lambda ask: FULL
        yield running


def with_google(server: FakeProvider, use: Use, key: str = KEY) -> Any:
    genai = pytest.importorskip("google.genai")

    async def go() -> Any:
        client = genai.Client(api_key=key, http_options={"base_url": server.url, "api_version": "v1beta"})
        try:
            async with client.aio as ready:
                return await use(ready.models)
        finally:
            client.close()

    return asyncio.run(go())


async def google_plain(models: Any) -> Any:
    return await models.generate_content(model="m", contents=QUESTION)


async def google_streamed(models: Any) -> Any:
    return [piece async for piece in await models.generate_content_stream(model="m", contents=QUESTION)]


def texts(answer: Any, *, thought: bool) -> str:
    parts = answer.candidates[0].content.parts or []
    return "".join(part.text or "" for part in parts if bool(part.thought) is thought and not part.function_call)


def test_gemini_is_understood_plain(server: FakeProvider) -> None:
    answer = with_google(server, google_plain)
    assert (texts(answer, thought=False), texts(answer, thought=True)) == (FULL.text, FULL.reasoning)
    [call] = answer.function_calls
    assert (call.name, call.args, call.id) == ("weather", {"city": "Zürich"}, "call_0")
    used = answer.usage_metadata
    assert (used.prompt_token_count, used.candidates_token_count, used.thoughts_token_count) == (11, 5, 2)
    assert (used.cached_content_token_count, used.total_token_count) == (3, 18)
    assert (answer.model_version, answer.response_id) == ("m-0613", "req_1")
    assert answer.candidates[0].finish_reason.name == "STOP"
    chosen = answer.candidates[0].logprobs_result.chosen_candidates
    assert [(token.token, token.log_probability) for token in chosen] == list(FULL.logprobs)


def test_gemini_is_understood_streamed(server: FakeProvider) -> None:
    pieces = with_google(server, google_streamed)
    assert len(pieces) > 3
    assert "".join(texts(piece, thought=False) for piece in pieces) == FULL.text
    assert "".join(texts(piece, thought=True) for piece in pieces) == FULL.reasoning
    assert [call.name for piece in pieces for call in piece.function_calls or ()] == ["weather"]
    assert pieces[-1].candidates[0].finish_reason.name == "STOP"


@pytest.mark.parametrize(
    ("finish", "name"), [("length", "MAX_TOKENS"), ("filtered", "SAFETY"), ("stop", "STOP")]
)  # fmt: skip
def test_geminis_reasons_to_stop_are_its_own(server: FakeProvider, finish: str, name: str) -> None:
    server.reply = lambda ask: Reply("x", finish=finish)
    assert with_google(server, google_plain).candidates[0].finish_reason.name == name


@pytest.mark.parametrize(
    ("fault", "status", "word"),
    [
        ("400", 400, "INVALID_ARGUMENT"),
        ("404", 404, "NOT_FOUND"),
        ("429", 429, "RESOURCE_EXHAUSTED"),
        ("503", 503, "UNAVAILABLE"),
    ],
)
def test_faults_are_googles_own_errors(server: FakeProvider, fault: str, status: int, word: str) -> None:
    errors = pytest.importorskip("google.genai.errors")
    server.faults = Faults((fault,))
    with pytest.raises(errors.APIError) as caught:
        with_google(server, google_plain)
    assert (caught.value.code, caught.value.status) == (status, word)


def test_a_wrong_key_is_what_google_calls_a_bad_request(server: FakeProvider) -> None:
    errors = pytest.importorskip("google.genai.errors")
    with pytest.raises(errors.ClientError) as caught:
        with_google(server, google_plain, key="AI-wrong")
    assert caught.value.code == 400
    assert "API_KEY_INVALID" in str(caught.value)


def with_hugging_face(server: FakeProvider, use: Use, key: str = KEY) -> Any:
    hub = pytest.importorskip("huggingface_hub")

    async def go() -> Any:
        async with hub.AsyncInferenceClient(base_url=server.url + "/v1", api_key=key) as client:
            return await use(client)

    return asyncio.run(go())


async def hub_plain(client: Any) -> Any:
    return await client.chat_completion(MESSAGES, model="m")


async def hub_streamed(client: Any) -> Any:
    options = {"include_usage": True}
    stream = await client.chat_completion(MESSAGES, model="m", stream=True, stream_options=options)
    return [piece async for piece in stream]


def test_hugging_face_is_understood_plain_and_streamed(server: FakeProvider) -> None:
    answer = with_hugging_face(server, hub_plain)
    [choice] = answer.choices
    assert (choice.message.content, choice.finish_reason) == (FULL.text, "tool_calls")
    assert choice.message.tool_calls[0].function.name == "weather"
    assert answer.usage.completion_tokens == 7
    pieces = with_hugging_face(server, hub_streamed)
    assert "".join(piece.choices[0].delta.content or "" for piece in pieces if piece.choices) == FULL.text


@pytest.mark.parametrize(("fault", "status"), [("400", 400), ("404", 404), ("429", 429), ("500", 500)])
def test_faults_are_hugging_faces_own_errors(server: FakeProvider, fault: str, status: int) -> None:
    errors = pytest.importorskip("huggingface_hub.errors")
    server.faults = Faults((fault,))
    with pytest.raises(errors.HfHubHTTPError) as caught:
        with_hugging_face(server, hub_plain)
    assert caught.value.response.status_code == status


@pytest.fixture
def router() -> Iterator[FakeProvider]:
    with FakeProvider(key=KEY, dialects=(OpenRouterChat(),)) as running:
        running.reply = lambda ask: FULL
        yield running


def with_openrouter(server: FakeProvider, use: Use, key: str = KEY) -> Any:
    openrouter = pytest.importorskip("openrouter")

    async def go() -> Any:
        async with openrouter.OpenRouter(
            api_key=key, server_url=server.url + "/api/v1", retry_config=None, timeout_ms=10_000
        ) as client:
            return await use(client.chat)

    return asyncio.run(go())


async def router_plain(chat: Any) -> Any:
    return await chat.send_async(model="m", messages=MESSAGES)


async def router_streamed(chat: Any) -> Any:
    async with await chat.send_async(model="m", messages=MESSAGES, stream=True) as stream:
        return [piece async for piece in stream]


def test_openrouter_is_understood_plain_and_streamed(router: FakeProvider) -> None:
    answer = with_openrouter(router, router_plain)
    [choice] = answer.choices
    assert (choice.message.content, choice.finish_reason) == (FULL.text, "tool_calls")
    assert answer.usage.completion_tokens == 7
    pieces = with_openrouter(router, router_streamed)
    assert "".join(piece.choices[0].delta.content or "" for piece in pieces if piece.choices) == FULL.text


def test_what_openrouter_says_an_answer_cost_is_where_its_sdk_looks_for_it(router: FakeProvider) -> None:
    used = {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18, "cost": 0.000125}
    router.reply = lambda ask: Reply("x", extra={"usage": used})
    assert with_openrouter(router, router_plain).usage.cost == 0.000125


@pytest.mark.parametrize(
    ("fault", "name"),
    [
        ("400", "BadRequestResponseError"),
        ("401", "UnauthorizedResponseError"),
        ("404", "NotFoundResponseError"),
        ("429", "TooManyRequestsResponseError"),
        ("500", "InternalServerResponseError"),
    ],
)
def test_faults_are_openrouters_own_errors(router: FakeProvider, fault: str, name: str) -> None:
    errors = pytest.importorskip("openrouter.errors")
    router.faults = Faults((fault,))
    with pytest.raises(getattr(errors, name)):
        with_openrouter(router, router_plain)
