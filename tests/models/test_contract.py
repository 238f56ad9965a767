"""What every hosted adapter promises, shown against a server of its provider's dialect."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from ssl import SSLContext

import pytest
from msgspec.structs import replace

from fakes.authority import NAME, Authority
from fakes.dialect import Reply
from fakes.faults import Faults
from fakes.provider import FakeProvider
from fakes.proxy import Proxy
from models.asking import KEY, ask, prompt
from models.hosted import HOSTED, Hosted
from proctor.domain.errors import (
    ModelUnavailableError,
    ProviderFaultError,
    RateLimitedError,
    RequestRejectedError,
    UserError,
)
from proctor.domain.message import Message, Prompt
from proctor.domain.response import FinishReason, Usage

TOOL = {
    "name": "weather",
    "description": "The weather.",
    "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
}


WAYS = [(hosted, "") for hosted in HOSTED]
# What an adapter says is the same on every way, and so is the way whatever is said: these are enough to hold both.
WAYS += [(HOSTED[0], " over TLS"), (HOSTED[2], " over TLS"), (HOSTED[0], " through a proxy")]


@pytest.fixture(params=WAYS, ids=lambda way: way[0].name + way[1])
def way(request: pytest.FixtureRequest) -> tuple[Hosted, str]:
    return request.param  # type: ignore[no-any-return]


@pytest.fixture
def hosted(way: tuple[Hosted, str]) -> Hosted:
    return way[0]


@pytest.fixture
def server(
    way: tuple[Hosted, str], request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> Iterator[FakeProvider]:
    if not way[1]:
        with way[0].server() as running:
            yield running
        return
    authority: Authority = request.getfixturevalue("authority")
    context: SSLContext = request.getfixturevalue("certificate")
    monkeypatch.setenv("SSL_CERT_FILE", str(authority.file))
    is_proxied = "proxy" in way[1]
    with Proxy() as proxy, way[0].server(context, NAME if is_proxied else "localhost") as running:
        monkeypatch.setenv("HTTPS_PROXY", f"http://{proxy.address}")
        yield running
        assert all(head.startswith(b"CONNECT ") for head in proxy.heard)
        assert bool(proxy.passed) is (is_proxied and bool(running.requests))


@pytest.fixture(params=[False, True], ids=["plain", "streamed"])
def is_stream(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


def test_an_answer_has_text_usage_model_request_id_and_timings(
    hosted: Hosted, server: FakeProvider, is_stream: bool
) -> None:
    response = ask(hosted.model(server, stream=is_stream))
    assert response.text == "ANSWER: 7"
    assert response.finish_reason is FinishReason.STOP
    assert replace(response.usage, cache_write_tokens=None) == Usage(11, 7, reasoning_tokens=2, cached_tokens=3)
    assert not response.usage.cache_write_tokens
    assert response.model == "m-x-0613"
    assert response.request_id == "req_1"
    assert response.latency_seconds is not None
    assert (response.first_token_seconds is not None) is is_stream
    if response.first_token_seconds is not None:
        assert 0 < response.first_token_seconds <= response.latency_seconds


def test_the_system_prompt_and_earlier_turns_are_sent(hosted: Hosted, server: FakeProvider) -> None:
    turns = (
        Message("system", "Be brief."),
        Message("user", "1 + 1"),
        Message("assistant", "ANSWER: 2"),
        Message("user", "What is 20 + 3?"),
    )
    assert ask(hosted.model(server), Prompt(turns)).text == "ANSWER: 23"
    sent = server.requests[-1].body.decode()
    assert "Be brief." in sent
    assert "ANSWER: 2" in sent


def test_a_zero_is_sent_and_what_is_not_given_is_not(hosted: Hosted, server: FakeProvider) -> None:
    ask(hosted.model(server), options={"temperature": 0, "top_p": 0.25})
    sent = server.requests[-1].json
    sent = sent.get("generationConfig", sent)
    assert sent["temperature"] == 0
    assert sent.get("top_p", sent.get("topP")) == 0.25
    ask(hosted.model(server))
    sent = server.requests[-1].body
    for name in (b"temperature", b"top", b"stop", b"seed", b"tools", b"null"):
        assert name not in sent


def test_limit_and_stop_sequences_reach_the_provider_under_its_names(hosted: Hosted, server: FakeProvider) -> None:
    ask(hosted.model(server), options={"max_tokens": 33, "stop": ["END"]})
    sent = server.requests[-1].json
    sent = sent.get("generationConfig", sent)
    names = ("max_tokens", "max_output_tokens", "maxOutputTokens", "max_completion_tokens")
    assert [sent[name] for name in names if name in sent] == [33]
    assert [sent[name] for name in ("stop", "stop_sequences", "stopSequences") if name in sent] == [["END"]]


def test_extra_fields_are_sent_as_they_are(hosted: Hosted, server: FakeProvider) -> None:
    ask(hosted.model(server), options={"extra": {"service_tier": "flex"}})
    sent = server.requests[-1].json
    assert sent["service_tier"] == "flex"
    assert "extra" not in sent


def test_tool_calls_come_back_parsed_and_checked(hosted: Hosted, server: FakeProvider, is_stream: bool) -> None:
    calls = (("weather", '{"city": "Zürich"}'), ("weather", '{"city": 3}'))
    server.reply = lambda ask: Reply("", finish="tool_calls", tool_calls=calls)
    response = ask(hosted.model(server, stream=is_stream), prompt(tools=(TOOL,)))
    assert "weather" in server.requests[-1].body.decode()
    assert response.finish_reason is FinishReason.TOOL_CALLS
    assert [(call.name, call.arguments, call.id) for call in response.tool_calls] == [
        ("weather", {"city": "Zürich"}, "call_0"),
        ("weather", {"city": 3}, "call_1"),
    ]
    assert response.tool_calls[0].problem is None
    assert response.tool_calls[1].problem is not None


def test_reasoning_is_kept_apart_from_the_answer(hosted: Hosted, server: FakeProvider, is_stream: bool) -> None:
    server.reply = lambda ask: Reply("ja", reasoning="denk mal nach, Schritt für Schritt")
    response = ask(hosted.model(server, stream=is_stream), options={"reasoning_effort": "high"})
    assert (response.text, response.reasoning) == ("ja", "denk mal nach, Schritt für Schritt")
    assert b"high" in server.requests[-1].body


def test_log_probabilities_come_back_where_the_provider_has_them(
    hosted: Hosted, server: FakeProvider, is_stream: bool
) -> None:
    if not hosted.has_logprobs:
        pytest.skip("this provider has none")
    server.reply = lambda ask: Reply("ja", logprobs=(("j", -0.5), ("a", 0.0)))
    response = ask(hosted.model(server, stream=is_stream), options={"logprobs": True, "top_logprobs": 1})
    assert [(token.token, token.logprob, token.top) for token in response.logprobs] == [
        ("j", -0.5, {"j": -0.5}),
        ("a", 0.0, {"a": 0.0}),
    ]


def test_a_schema_is_sent_for_structured_output(hosted: Hosted, server: FakeProvider) -> None:
    schema = {"type": "object", "properties": {"marker": {"type": "integer"}}, "required": ["marker"]}
    server.reply = lambda ask: Reply('{"marker": 3}')
    assert ask(hosted.model(server), prompt(schema=schema)).text == '{"marker": 3}'
    assert b'"properties":{"marker":{"type":"integer"}}' in server.requests[-1].body


@pytest.mark.parametrize(
    "text", ["", "naïve 🦊 답：B \u2028 \x00", "x" * 10_000_000], ids=["empty", "unicode", "10 MB"]
)
def test_any_text_arrives_whole(hosted: Hosted, server: FakeProvider, is_stream: bool, text: str) -> None:
    server.reply = lambda ask: Reply(text)
    response = ask(hosted.model(server, stream=is_stream), timeout=60)
    assert response.text == text.replace("\0", "\ufffd")  # no database takes NUL
    assert response.finish_reason is FinishReason.STOP


def test_a_slow_drip_that_cuts_lines_and_characters_arrives_whole(
    hosted: Hosted, server: FakeProvider, is_stream: bool
) -> None:
    server.faults = Faults(("drip",))
    server.reply = lambda ask: Reply("ünïcödé 🦊 " * 10)
    assert ask(hosted.model(server, stream=is_stream)).text == "ünïcödé 🦊 " * 10


def test_an_answer_cut_at_the_limit_says_so(hosted: Hosted, server: FakeProvider, is_stream: bool) -> None:
    server.faults = Faults(("cut",))
    response = ask(hosted.model(server, stream=is_stream))
    assert response.finish_reason is FinishReason.LENGTH
    assert response.text == "ANSW"
    assert not response.is_cacheable


def test_a_filtered_answer_says_so(hosted: Hosted, server: FakeProvider, is_stream: bool) -> None:
    server.faults = Faults(("filtered",))
    response = ask(hosted.model(server, stream=is_stream))
    assert response.finish_reason is FinishReason.FILTERED
    assert not response.is_cacheable


def test_a_wrong_key_makes_the_model_unavailable_and_is_not_shown(
    hosted: Hosted, server: FakeProvider, is_stream: bool
) -> None:
    if hosted.key_variable is None:
        pytest.skip("this provider has no key")
    with pytest.raises(ModelUnavailableError, match=f"Check the key in {hosted.key_variable}") as caught:
        ask(hosted.model(server, key="sk-wrong-key", stream=is_stream))
    assert "sk-wrong-key" not in str(caught.value)


def test_a_refused_request_carries_the_providers_words(hosted: Hosted, server: FakeProvider, is_stream: bool) -> None:
    server.faults = Faults(("400",))
    with pytest.raises(RequestRejectedError, match="'temperature' does not support 7") as caught:
        ask(hosted.model(server, stream=is_stream))
    assert caught.value.status == 400


def test_an_unknown_model_is_unavailable(hosted: Hosted, server: FakeProvider, is_stream: bool) -> None:
    server.faults = Faults(("404",))
    with pytest.raises(ModelUnavailableError, match=f"{hosted.provider}/m-x was not found"):
        ask(hosted.model(server, stream=is_stream))


@pytest.mark.parametrize(("fault", "wait"), [("429", 1.0), ("429-ms", 0.25), ("429-bare", None)])
def test_a_rate_limit_says_how_long_to_wait(
    hosted: Hosted, server: FakeProvider, is_stream: bool, fault: str, wait: float | None
) -> None:
    server.faults = Faults((fault,))
    with pytest.raises(RateLimitedError) as caught:
        ask(hosted.model(server, stream=is_stream))
    assert caught.value.retry_after_seconds == wait
    assert caught.value.status == 429


@pytest.mark.parametrize("fault", ["408", "500", "529", "drop", "truncate", "html", "not-json", "garbage"])
def test_faults_of_server_and_network_may_be_tried_again(
    hosted: Hosted, server: FakeProvider, is_stream: bool, fault: str
) -> None:
    server.faults = Faults((fault,))
    with pytest.raises(ProviderFaultError):
        ask(hosted.model(server, stream=is_stream))


@pytest.mark.parametrize("fault", ["midstream-error", "midstream-drop", "midstream-end"])
def test_an_answer_that_breaks_off_is_a_fault_and_never_a_short_answer(
    hosted: Hosted, server: FakeProvider, is_stream: bool, fault: str
) -> None:
    server.faults = Faults((fault,))
    server.reply = lambda ask: Reply("a long answer " * 20)
    with pytest.raises(ProviderFaultError):
        ask(hosted.model(server, stream=is_stream))


def test_a_stall_ends_at_the_time_limit(hosted: Hosted, server: FakeProvider, is_stream: bool) -> None:
    server.faults = Faults(("stall",))
    with pytest.raises(ProviderFaultError, match=r"within 0.2 s"):
        ask(hosted.model(server, stream=is_stream), timeout=0.2)


def test_many_questions_at_once_get_their_own_answers(hosted: Hosted, server: FakeProvider, is_stream: bool) -> None:
    model = hosted.model(server, stream=is_stream)

    async def go() -> list[str]:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(model.respond(prompt(f"{n} + 1"), {}, timeout_seconds=20)) for n in range(50)]
        await model.close()
        return [task.result().text for task in tasks]

    assert asyncio.run(go()) == [f"ANSWER: {n + 1}" for n in range(50)]


def test_the_key_is_sent_in_one_header_and_nowhere_else(hosted: Hosted, server: FakeProvider) -> None:
    ask(hosted.model(server))
    request = server.requests[-1]
    holders = [name for name, value in request.headers.items() if KEY in value]
    assert len(holders) == (1 if hosted.key_variable else 0)
    assert KEY.encode() not in request.body
    assert KEY not in request.path + str(request.query)


def test_a_missing_key_is_asked_for_by_name(hosted: Hosted) -> None:
    from models.asking import make

    if hosted.provider in ("ollama", "vllm"):
        assert make(f"{hosted.provider}/m").identity.name == "m"
        return
    with pytest.raises(UserError, match=f"set the environment variable {hosted.key_variable}"):
        make({"model": f"{hosted.provider}/m", **hosted.settings})


def test_the_identity_names_the_endpoint_and_streaming_does_not_change_it(hosted: Hosted, server: FakeProvider) -> None:
    identity = hosted.model(server).identity
    assert identity == hosted.model(server, stream=True).identity
    assert identity.provider == hosted.provider
    assert identity.name == "m-x"
    assert identity.endpoint is not None
    assert identity.endpoint.startswith(server.url)
    assert identity != hosted.model(server, documents="text" if hosted.takes_documents else "native").identity
