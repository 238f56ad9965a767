"""The adapters of both batch APIs, and the official SDKs against the same servers."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import orjson
import pytest

from fakes.batches import BatchProvider
from fakes.loopback import Exchange, Loopback
from models.asking import make, prompt
from proctor.domain.errors import ModelUnavailableError, PlanError, ProviderFaultError
from proctor.models.batching import find_batches

KEY = "sk-batch"
ENVIRONMENT = {"OPENAI_API_KEY": KEY, "ANTHROPIC_API_KEY": KEY}
BOTH = pytest.mark.parametrize("kind", ["openai", "anthropic"])


@pytest.fixture
def provider() -> Iterator[BatchProvider]:
    with BatchProvider(key=KEY) as started:
        yield started


def model_of(provider: BatchProvider, kind: str) -> Any:
    base = f"{provider.url}/v1" if kind == "openai" else provider.url
    return make({"model": f"{kind}/m", "base_url": base}, ENVIRONMENT)


@BOTH
def test_the_way_there_and_back(provider: BatchProvider, kind: str) -> None:
    async def go() -> list[Any]:
        model = model_of(provider, kind)
        try:
            api = find_batches(model, "m")
            lines = [await api.line(f"id-{n}", prompt(f"What is {n} + 1?"), {"max_tokens": 5}) for n in range(3)]
            provider.is_held = True
            name = await api.hand_in(lines, "token-1")
            before = await api.state(name)
            assert (before.is_ended, before.done, before.total) == (False, 0, 3)
            provider.release()
            after = await api.state(name)
            assert (after.is_ended, after.done, after.problem) == (True, 3, None)
            return sorted([(a.custom_id, a.response.text) async for a in api.answers(name) if a.response])
        finally:
            await model.close()

    assert asyncio.run(go()) == [("id-0", "ANSWER: 1"), ("id-1", "ANSWER: 2"), ("id-2", "ANSWER: 3")]


@BOTH
def test_a_batch_is_searched_for_through_all_pages(provider: BatchProvider, kind: str) -> None:
    async def go() -> tuple[Any, Any]:
        model = model_of(provider, kind)
        try:
            api = find_batches(model, "m")
            wanted = await api.hand_in([await api.line("ours", prompt(), {"max_tokens": 5})], "token-0")
            for n in range(130):
                await api.hand_in([await api.line(f"other-{n}", prompt(), {"max_tokens": 5})], f"token-{n + 1}")
            found = await api.search("token-0", 0.0, 1, set(), {"ours"}.__contains__)
            assert found.remote_id == wanted
            lost = await api.search("token-x", 0.0, 1, set(), {"nobody's"}.__contains__)
            return lost.remote_id, lost.is_certain
        finally:
            await model.close()

    assert asyncio.run(go()) == (None, True)


def test_a_batch_in_progress_leaves_anthropics_search_in_doubt(provider: BatchProvider) -> None:
    async def go() -> Any:
        model = model_of(provider, "anthropic")
        try:
            api = find_batches(model, "m")
            provider.is_held = True
            await api.hand_in([await api.line("ours", prompt(), {"max_tokens": 5})], "t")
            return await api.search("t", 0.0, 1, set(), {"ours"}.__contains__)
        finally:
            await model.close()

    found = asyncio.run(go())
    assert (found.remote_id, found.is_certain) == (None, False)


async def no_answers(kind: str, url: str) -> None:
    """A batch's answers are asked for, and that ends as the provider's fault."""
    model = make({"model": f"{kind}/m", "base_url": url}, ENVIRONMENT)
    try:
        with pytest.raises(ProviderFaultError):
            async for _ in find_batches(model, "m").answers("b_1"):
                pass
    finally:
        await model.close()


def test_results_are_read_from_our_own_address_whatever_the_answer_names(provider: BatchProvider) -> None:
    """The key must not follow an address that somebody else has written."""
    asked: list[str] = []

    async def liar(exchange: Exchange) -> None:
        asked.append(exchange.request.path)
        await exchange.reply_json(200, {"id": "b_1", "processing_status": "ended", "results_url": "http://192.0.2.7/",
                                        "request_counts": {"succeeded": 1}})  # fmt: skip

    with Loopback(liar) as server:
        asyncio.run(no_answers("anthropic", server.url))
    assert asked == ["/v1/messages/batches/b_1/results"]


@pytest.mark.parametrize("answer", [b"[]", b"{}", b"not json", b'{"id": "../../etc"}', b'{"id": 7}'])
@BOTH
def test_nonsense_is_a_fault_while_waiting_and_the_end_where_a_batch_is_handed_in_or_searched_for(
    kind: str, answer: bytes
) -> None:
    async def nonsense(exchange: Exchange) -> None:
        await exchange.reply(200, answer)

    async def go(url: str) -> None:
        model = make({"model": f"{kind}/m", "base_url": url}, ENVIRONMENT)
        api = find_batches(model, "m")
        try:
            for call in (api.hand_in([b"{}"], "t"), api.search("t", 0.0, 1, set(), lambda _: True)):
                with pytest.raises(ModelUnavailableError, match="not what a batch API says"):
                    await call
            with pytest.raises(ProviderFaultError):
                await api.state("b")
        finally:
            await model.close()

    with Loopback(nonsense) as server:
        asyncio.run(go(server.url))


def test_nonsense_is_quoted_without_the_key_that_it_holds() -> None:
    async def echo(exchange: Exchange) -> None:
        await exchange.reply_json(200, {"you": exchange.request.headers["authorization"], "more": "x" * 5_000})

    async def go(url: str) -> str:
        model = make({"model": "openai/m", "base_url": url}, ENVIRONMENT)
        try:
            with pytest.raises(ModelUnavailableError) as caught:
                await find_batches(model, "m").hand_in([b"{}"], "t")
            return str(caught.value)
        finally:
            await model.close()

    with Loopback(echo) as server:
        said = asyncio.run(go(server.url))
    assert KEY not in said
    assert "Bearer [key]" in said
    assert len(said) < 350


@pytest.mark.parametrize("answer", [{"output_file_id": "../x"}, {"output_file_id": 7}, []])
def test_a_file_of_answers_without_a_proper_name_is_not_fetched(answer: Any) -> None:
    asked = []

    async def odd(exchange: Exchange) -> None:
        asked.append(exchange.request.path)
        await exchange.reply_json(200, answer)

    with Loopback(odd) as server:
        asyncio.run(no_answers("openai", server.url))
    assert asked == ["/batches/b_1"]


def test_a_line_may_end_anywhere_in_a_chunk(provider: BatchProvider) -> None:
    """The server sends pieces of a thousand bytes; an answer of 100 kB and many small ones come out whole."""
    from fakes.dialect import Reply

    provider.reply = lambda ask: Reply("é" * 50_000 if "is 7 + 1" in ask.text else ask.text)

    async def go() -> dict[str, str]:
        model = model_of(provider, "openai")
        try:
            api = find_batches(model, "m")
            lines = [await api.line(str(n), prompt(f"What is {n} + 1?"), {}) for n in range(50)]
            name = await api.hand_in(lines, "t")
            return {a.custom_id: a.response.text async for a in api.answers(name) if a.response}
        finally:
            await model.close()

    texts = asyncio.run(go())
    assert texts.pop("7") == "é" * 50_000
    assert texts == {str(n): f"What is {n} + 1?" for n in range(50) if n != 7}


def test_a_model_without_batches_is_refused() -> None:
    with pytest.raises(PlanError, match="vllm/m has no batch API"):
        find_batches(make("vllm/m"), "vllm/m")


def test_the_official_openai_sdk_understands_the_server(provider: BatchProvider) -> None:
    openai = pytest.importorskip("openai")
    body = {"model": "m", "messages": [{"role": "user", "content": "What is 3 + 4?"}]}
    line = {"custom_id": "one", "method": "POST", "url": "/v1/chat/completions", "body": body}

    async def go() -> Any:
        async with openai.AsyncOpenAI(
            api_key=KEY, base_url=f"{provider.url}/v1", max_retries=0, _strict_response_validation=True
        ) as client:
            file = await client.files.create(file=("b.jsonl", orjson.dumps(line) + b"\n"), purpose="batch")
            provider.is_held = True
            made = await client.batches.create(
                input_file_id=file.id, endpoint="/v1/chat/completions", completion_window="24h", metadata={"a": "b"}
            )
            assert made.status == "in_progress"
            provider.release()
            done = await client.batches.retrieve(made.id)
            assert (done.status, done.request_counts.completed, done.metadata) == ("completed", 1, {"a": "b"})
            listed = [item.id async for item in client.batches.list(limit=1)]
            assert listed == [made.id]
            return (await client.files.content(done.output_file_id)).text

    answer = orjson.loads(asyncio.run(go()))
    assert answer["custom_id"] == "one"
    assert answer["response"]["body"]["choices"][0]["message"]["content"] == "ANSWER: 7"


def test_the_official_anthropic_sdk_understands_the_server(provider: BatchProvider) -> None:
    anthropic = pytest.importorskip("anthropic")
    provider.fate = lambda text: {"a": "ok", "b": "error", "c": "unfinished"}[text]
    requests = [
        {"custom_id": text, "params": {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": text}]}}
        for text in "abc"
    ]

    async def go() -> dict[str, Any]:
        async with anthropic.AsyncAnthropic(
            api_key=KEY, base_url=provider.url, max_retries=0, _strict_response_validation=True
        ) as client:
            provider.is_held = True
            made = await client.messages.batches.create(requests=requests)
            assert made.processing_status == "in_progress"
            provider.release()
            done = await client.messages.batches.retrieve(made.id)
            assert (done.processing_status, done.request_counts.succeeded) == ("ended", 1)
            assert [item.id async for item in client.messages.batches.list(limit=1)] == [made.id]
            return {line.custom_id: line.result async for line in await client.messages.batches.results(made.id)}

    results = asyncio.run(go())
    assert {name: result.type for name, result in results.items()} == {"a": "succeeded", "b": "errored", "c": "expired"}
    assert results["a"].message.content[0].text.startswith("ANSWER")
    assert results["b"].error.error.type == "overloaded_error"
