"""The openai adapter against a server that speaks chat completions."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pytest

from fakes.dialect import Reply
from fakes.faults import Faults
from fakes.provider import FakeProvider
from models.asking import KEY, ask, make, prompt
from proctor.domain.errors import (
    ModelUnavailableError,
    PlanError,
    ProviderFaultError,
    RateLimitedError,
    RequestRejectedError,
    UnusableAnswerError,
    UserError,
)
from proctor.domain.model import Model
from proctor.domain.response import FinishReason, Usage


@pytest.fixture
def provider() -> Iterator[FakeProvider]:
    with FakeProvider(key=KEY) as running:
        yield running


@pytest.fixture(params=[False, True], ids=["plain", "streamed"])
def is_stream(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


def connect(provider: FakeProvider, *, stream: bool = False, key: str | None = KEY, **settings: Any) -> Model:
    given = {"model": "openai/gpt-x", "base_url": provider.url + "/v1", "stream": stream, **settings}
    return make(given, {"OPENAI_API_KEY": key} if key else {})


def test_an_answer_carries_usage_timings_and_the_request_id(provider: FakeProvider, is_stream: bool) -> None:
    response = ask(connect(provider, stream=is_stream))
    assert response.text == "ANSWER: 7"
    assert response.finish_reason is FinishReason.STOP
    assert response.usage == Usage(11, 7, reasoning_tokens=2, cached_tokens=3)
    assert response.model == "gpt-x-0613"
    assert response.request_id == "req_1"
    assert response.latency_seconds is not None
    assert response.latency_seconds > 0
    assert (response.first_token_seconds is not None) is is_stream


def test_options_are_sent_exactly_as_given_and_nothing_else_is(provider: FakeProvider) -> None:
    options = {"temperature": 0, "top_p": 0.5, "seed": 0, "stop": ["\n"], "max_tokens": 5, "logprobs": False}
    ask(connect(provider), prompt("Hi", system="Be brief."), options)
    assert provider.requests[-1].json == {
        "model": "gpt-x",
        "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hi"}],
        **options,
    }
    assert b'"temperature":0,' in provider.requests[-1].body


def test_options_that_are_not_given_are_not_sent(provider: FakeProvider) -> None:
    ask(connect(provider))
    assert set(provider.requests[-1].json) == {"model", "messages"}


def test_extra_fields_go_into_the_request_as_they_are(provider: FakeProvider) -> None:
    ask(connect(provider), options={"extra": {"chat_template_kwargs": {"enable_thinking": False}}})
    assert provider.requests[-1].json["chat_template_kwargs"] == {"enable_thinking": False}
    assert "extra" not in provider.requests[-1].json


def test_organization_and_project_are_sent_as_headers(provider: FakeProvider) -> None:
    ask(connect(provider, organization="org-1", project="proj-2"))
    headers = provider.requests[-1].headers
    assert (headers["openai-organization"], headers["openai-project"]) == ("org-1", "proj-2")


def test_the_limit_is_named_as_the_server_knows_it(provider: FakeProvider) -> None:
    ask(connect(provider, limit_field="max_completion_tokens"), options={"max_tokens": 5})
    sent = provider.requests[-1].json
    assert sent["max_completion_tokens"] == 5
    assert "max_tokens" not in sent


def test_settings_that_change_answers_change_the_identity(provider: FakeProvider) -> None:
    plain = connect(provider).identity
    assert plain == connect(provider, stream=True).identity
    assert plain != connect(provider, limit_field="max_completion_tokens").identity
    assert plain.endpoint == provider.url + "/v1/chat/completions"


def test_tool_calls_are_parsed_and_checked_against_their_schema(provider: FakeProvider, is_stream: bool) -> None:
    schema = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
    calls = (("weather", '{"city": "Zürich"}'), ("weather", '{"city": 3}'), ("weather", "{oops"), ("fly", "{}"))
    provider.reply = lambda ask: Reply("", finish="tool_calls", tool_calls=calls)
    tool = {"name": "weather", "description": "The weather.", "parameters": schema}
    response = ask(connect(provider, stream=is_stream), prompt(tools=(tool,)))
    assert provider.requests[-1].json["tools"] == [{"type": "function", "function": tool}]
    assert response.finish_reason is FinishReason.TOOL_CALLS
    assert [call.arguments for call in response.tool_calls] == [{"city": "Zürich"}, {"city": 3}, "{oops", {}]
    assert [call.id for call in response.tool_calls] == ["call_0", "call_1", "call_2", "call_3"]
    good, unfit, broken, unknown = (call.problem for call in response.tool_calls)
    assert good is None
    assert unfit is not None
    assert "do not fit" in unfit
    assert broken == "the arguments are not JSON"
    assert unknown == "no tool called 'fly' was offered"


def test_reasoning_and_log_probabilities_are_kept(provider: FakeProvider, is_stream: bool) -> None:
    provider.reply = lambda ask: Reply("ja", reasoning="denk mal nach", logprobs=(("j", -0.5), ("a", 0.0)))
    response = ask(connect(provider, stream=is_stream), options={"logprobs": True, "top_logprobs": 1})
    assert response.reasoning == "denk mal nach"
    assert [(token.token, token.logprob, token.top) for token in response.logprobs] == [
        ("j", -0.5, {"j": -0.5}),
        ("a", 0.0, {"a": 0.0}),
    ]


def test_a_schema_asks_for_structured_output_strictly_where_that_is_possible(provider: FakeProvider) -> None:
    strict = {
        "type": "object",
        "properties": {"n": {"type": "integer"}},
        "required": ["n"],
        "additionalProperties": False,
    }
    for schema, is_strict in ((strict, True), ({**strict, "required": []}, False)):
        ask(connect(provider), prompt(schema=schema))
        sent = provider.requests[-1].json["response_format"]
        assert sent == {"type": "json_schema", "json_schema": {"name": "answer", "schema": schema, "strict": is_strict}}


def test_a_cost_the_provider_reports_is_kept_exactly(provider: FakeProvider) -> None:
    provider.reply = lambda ask: Reply(
        "x", extra={"usage": {"prompt_tokens": 1, "completion_tokens": 1, "cost": 0.00014}}
    )
    assert ask(connect(provider)).cost_usd == Decimal("0.00014")


@pytest.mark.parametrize(
    "text", ["", "naïve 🦊 답 ：B \x00 \u2028", "x" * 10_000_000], ids=["empty", "unicode", "10 MB"]
)
def test_any_text_arrives_whole(provider: FakeProvider, is_stream: bool, text: str) -> None:
    provider.reply = lambda ask: Reply(text)
    assert ask(connect(provider, stream=is_stream)).text == text.replace("\0", "\ufffd")  # no database takes NUL


def test_a_slow_drip_of_single_bytes_is_an_answer_like_any_other(provider: FakeProvider, is_stream: bool) -> None:
    provider.faults = Faults(("drip",))
    provider.reply = lambda ask: Reply("ünïcödé 🦊 " * 20)
    assert ask(connect(provider, stream=is_stream)).text == "ünïcödé 🦊 " * 20


@pytest.mark.parametrize(("fault", "reason"), [("filtered", FinishReason.FILTERED), ("cut", FinishReason.LENGTH)])
def test_a_cut_or_filtered_answer_says_so_and_is_not_cacheable(
    provider: FakeProvider, is_stream: bool, fault: str, reason: FinishReason
) -> None:
    provider.faults = Faults((fault,))
    response = ask(connect(provider, stream=is_stream))
    assert response.finish_reason is reason
    assert not response.is_cacheable


@pytest.mark.parametrize(
    "fault",
    [
        "408",
        "409",
        "500",
        "503",
        "529",
        "drop",
        "truncate",
        "garbage",
        "html",
        "not-json",
        "midstream-error",
        "midstream-drop",
        "midstream-end",
    ],
)
def test_faults_of_server_and_network_may_be_tried_again(provider: FakeProvider, is_stream: bool, fault: str) -> None:
    provider.faults = Faults((fault,))
    with pytest.raises(ProviderFaultError) as caught:
        ask(connect(provider, stream=is_stream))
    assert "openai/gpt-x" in str(caught.value)
    assert caught.value.status == (int(fault) if fault.isdigit() else None)


@pytest.mark.parametrize(
    ("fault", "low", "high"),
    [("429", 1, 1), ("429-ms", 0.25, 0.25), ("429-date", 20, 30), ("429-reset", 62.5, 62.5), ("429-bare", None, None)],
)
def test_a_rate_limit_says_how_long_to_wait(
    provider: FakeProvider, is_stream: bool, fault: str, low: float | None, high: float | None
) -> None:
    provider.faults = Faults((fault,))
    with pytest.raises(RateLimitedError) as caught:
        ask(connect(provider, stream=is_stream))
    wait = caught.value.retry_after_seconds
    assert wait is None if low is None or high is None else wait is not None and low <= wait <= high


def test_a_stall_ends_at_the_time_limit(provider: FakeProvider, is_stream: bool) -> None:
    provider.faults = Faults(("stall",))
    with pytest.raises(ProviderFaultError, match=r"no complete answer from .* within 0.3 s"):
        ask(connect(provider, stream=is_stream), timeout=0.3)


def test_a_refused_request_carries_the_providers_words(provider: FakeProvider, is_stream: bool) -> None:
    provider.faults = Faults(("400",))
    with pytest.raises(RequestRejectedError, match="'temperature' does not support 7"):
        ask(connect(provider, stream=is_stream))


def test_a_wrong_key_is_named_by_its_variable_and_never_by_itself(provider: FakeProvider, is_stream: bool) -> None:
    with pytest.raises(ModelUnavailableError, match="Check the key in OPENAI_API_KEY") as caught:
        ask(connect(provider, stream=is_stream, key="sk-wrong"))
    assert "sk-wrong" not in str(caught.value)


def test_an_unknown_model_is_unavailable(provider: FakeProvider, is_stream: bool) -> None:
    provider.faults = Faults(("404",))
    with pytest.raises(ModelUnavailableError, match="openai/gpt-x was not found"):
        ask(connect(provider, stream=is_stream))


def test_no_server_at_all_is_a_fault_that_names_the_address() -> None:
    model = make({"model": "openai/m", "base_url": "http://127.0.0.1:1/v1"})
    with pytest.raises(ProviderFaultError, match=r"no connection to http://127.0.0.1:1 \(.*refused"):
        ask(model)


def test_an_unknown_host_is_a_fault_that_names_it() -> None:
    with pytest.raises(ProviderFaultError, match=r"no connection to http://no-such-host.invalid"):
        ask(make({"model": "openai/m", "base_url": "http://no-such-host.invalid/v1"}))


def test_a_key_is_needed_at_the_providers_own_address_and_asked_for_by_name() -> None:
    with pytest.raises(UserError, match="set the environment variable OPENAI_API_KEY") as caught:
        make("openai/gpt-5-mini")
    assert caught.value.exit_code == 2
    with pytest.raises(UserError, match="OPENAI_API_KEY"):
        make("openai/gpt-5-mini?base_url=https://api.openai.com/v1/", {"OPENAI_API_KEY": " "})
    assert make("openai/gpt-5-mini", {"OPENAI_API_KEY": KEY}).identity.name == "gpt-5-mini"


def test_a_server_elsewhere_needs_no_key_and_still_gets_one_that_is_set(provider: FakeProvider) -> None:
    provider.key = None
    ask(connect(provider, key=None))
    assert "authorization" not in provider.requests[-1].headers
    ask(connect(provider))
    assert provider.requests[-1].headers["authorization"] == f"Bearer {KEY}"


def test_another_variable_can_hold_the_key(provider: FakeProvider) -> None:
    given = {"model": "openai/m", "base_url": provider.url, "auth_variable": "MY_SERVER"}
    assert ask(make(given, {"MY_SERVER": KEY, "OPENAI_API_KEY": "sk-other"})).text == "ANSWER: 7"
    with pytest.raises(UserError, match="MY_SERVER"):
        make(given, {"OPENAI_API_KEY": "sk-other"})


@pytest.mark.parametrize("url", ["ftp://x", "nonsense", "http://", "http://u:pw@host/v1", "http://h:99999999/"])
def test_an_unusable_address_is_refused_before_anything_is_sent(url: str) -> None:
    with pytest.raises(PlanError, match="base_url"):
        make({"model": "openai/m", "base_url": url})


def test_a_key_that_is_echoed_back_is_cut_out_of_the_error(provider: FakeProvider) -> None:
    class Echo(type(provider.dialects[0])):  # type: ignore[misc]
        def error(self, status: int, message: str) -> Any:
            return {"error": {"message": f"bad header: Bearer {KEY}"}}

    provider.dialects = (Echo(),)
    for fault in ("400", "401", "404", "429", "500", "midstream-error"):
        provider.faults = Faults((fault,))
        with pytest.raises(Exception) as caught:
            ask(connect(provider, stream=True))
        assert KEY not in repr(caught.value)
        assert KEY not in str(caught.value.__cause__)
        assert KEY not in str(caught.value.__context__)
        assert "bad header" in str(caught.value)


def test_redirects_are_not_followed_because_they_would_carry_the_key(provider: FakeProvider) -> None:
    from fakes.loopback import Exchange, Loopback

    seen: list[str] = []

    async def elsewhere(exchange: Exchange) -> None:
        seen.append(exchange.request.path)
        await exchange.reply(302, b"", {"location": provider.url + "/v1/chat/completions"})

    with Loopback(elsewhere) as server:
        model = make({"model": "openai/m", "base_url": server.url}, {"OPENAI_API_KEY": KEY})
        with pytest.raises(ModelUnavailableError, match="redirect"):
            ask(model)
    assert seen == ["/chat/completions"]
    assert provider.requests == []


def test_cancelling_a_question_ends_it_at_once_and_the_next_one_works(provider: FakeProvider) -> None:
    provider.faults = Faults(("stall", "ok"))
    model = connect(provider)

    async def go() -> str:
        task = asyncio.create_task(model.respond(prompt(), {}, timeout_seconds=60))
        while not provider.met["stall"]:
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        response = await model.respond(prompt(), {}, timeout_seconds=60)
        await model.close()
        return response.text

    assert asyncio.run(go()) == "ANSWER: 7"


def test_many_questions_at_once_share_one_model(provider: FakeProvider) -> None:
    model = connect(provider)

    async def go() -> list[str]:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(model.respond(prompt(f"{n} + 1"), {}, timeout_seconds=20)) for n in range(200)]
        await model.close()
        return [task.result().text for task in tasks]

    assert asyncio.run(go()) == [f"ANSWER: {n + 1}" for n in range(200)]


def test_an_answer_larger_than_the_cap_is_given_up_as_the_models_own(provider: FakeProvider, is_stream: bool) -> None:
    model = connect(provider, stream=is_stream)
    model._transport._largest = 1000  # type: ignore[attr-defined]
    provider.reply = lambda ask: Reply("x" * 5000)
    with pytest.raises(UnusableAnswerError, match="sent more than"):
        ask(model)
    provider.faults = Faults(("drip",))
    model = connect(provider, stream=is_stream)
    model._transport._largest = 1000  # type: ignore[attr-defined]
    with pytest.raises(UnusableAnswerError, match="sent more than"):
        ask(model)


def test_an_account_without_credit_is_not_asked_again(provider: FakeProvider) -> None:
    class Broke(type(provider.dialects[0])):  # type: ignore[misc]
        def error(self, status: int, message: str) -> Any:
            return {
                "error": {
                    "message": "You exceeded your current quota",
                    "type": "insufficient_quota",
                    "code": "insufficient_quota",
                }
            }

    provider.dialects = (Broke(),)
    provider.faults = Faults(("429",))
    with pytest.raises(ModelUnavailableError, match="no credit"):
        ask(connect(provider))


def test_an_error_inside_a_successful_answer_is_still_an_error(provider: FakeProvider) -> None:
    provider.reply = lambda ask: Reply("x", extra={"error": {"code": 429, "message": "upstream is busy"}})
    with pytest.raises(RateLimitedError, match="upstream is busy"):
        ask(connect(provider))
    provider.reply = lambda ask: Reply("x", extra={"error": {"code": 502, "message": "upstream is down"}})
    with pytest.raises(ProviderFaultError, match="upstream is down"):
        ask(connect(provider))


@pytest.mark.parametrize("stream", [False, True])
def test_an_error_inside_a_choice_is_still_an_error(stream: bool) -> None:
    from fakes.loopback import Exchange, Loopback

    choice = {
        "error": {"code": 502, "message": "upstream is down"},
        "message": {"content": "ha"},
        "delta": {"content": "ha"},
    }

    async def failing(exchange: Exchange) -> None:
        if not stream:
            return await exchange.reply_json(200, {"choices": [choice]})
        await exchange.start_stream()
        await exchange.send_chunk(b"data: " + json.dumps({"choices": [choice]}).encode() + b"\n\ndata: [DONE]\n\n")
        return await exchange.end_stream()

    with Loopback(failing) as server, pytest.raises(ProviderFaultError, match="upstream is down"):
        ask(make({"model": "openai/m", "base_url": server.url, "stream": stream}))


@pytest.mark.parametrize(
    "document", ["[]", "null", "{}", '{"choices": []}', '{"choices": [{}]}', '{"choices": [{"message": 3}]}', "3"]
)
def test_json_of_an_unknown_form_is_a_fault(document: str) -> None:
    from fakes.loopback import Exchange, Loopback

    async def odd(exchange: Exchange) -> None:
        await exchange.reply(200, document.encode())

    with Loopback(odd) as server, pytest.raises(ProviderFaultError, match="unknown form"):
        ask(make({"model": "openai/m", "base_url": server.url}))


def test_a_model_can_be_used_in_one_event_loop_after_another(provider: FakeProvider) -> None:
    model = connect(provider)

    async def once() -> str:
        return (await model.respond(prompt(), {}, timeout_seconds=20)).text

    assert [asyncio.run(once()), asyncio.run(once())] == ["ANSWER: 7", "ANSWER: 7"]
    asyncio.run(model.close())
    with pytest.raises(ModelUnavailableError, match="closed"):
        asyncio.run(once())


def test_a_stream_that_lingers_after_its_end_is_not_waited_for() -> None:
    from fakes.loopback import Exchange, Loopback

    async def lingering(exchange: Exchange) -> None:
        await exchange.start_stream()
        chunk = {"choices": [{"delta": {"content": "x"}, "finish_reason": "stop"}]}
        await exchange.send_chunk(b"data: " + json.dumps(chunk).encode() + b"\n\ndata: [DONE]\n\n")
        await asyncio.sleep(3600)

    with Loopback(lingering) as server:
        assert ask(make({"model": "openai/m", "base_url": server.url, "stream": True}), timeout=60).text == "x"


def answering(document: dict[str, Any], *, is_stream: bool) -> Any:
    """A server that says this, whole or as one event."""
    from fakes.loopback import Exchange, Loopback

    async def handler(exchange: Exchange) -> None:
        if not is_stream:
            await exchange.reply_json(200, document)
            return
        [choice] = document["choices"]
        await exchange.start_stream()
        event = {**document, "choices": [{"delta": choice["message"], "finish_reason": "stop"}]}
        await exchange.send_chunk(b"data: " + json.dumps(event).encode() + b"\n\ndata: [DONE]\n\n")
        await exchange.end_stream()

    return Loopback(handler)


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        ({"prompt_tokens": "12", "completion_tokens": 3}, Usage(None, 3)),
        ({"prompt_tokens": 12.0, "completion_tokens": -3}, Usage(12, None)),
        ({"prompt_tokens": 1, "completion_tokens": 2, "cost": "NaN"}, Usage(1, 2)),
        ({"prompt_tokens": 1, "completion_tokens": 2, "cost": "free"}, Usage(1, 2)),
        ({"prompt_tokens": 1, "completion_tokens": 2, "cost": -5}, Usage(1, 2)),
    ],
)
def test_figures_that_cannot_be_true_are_not_known(usage: dict[str, Any], expected: Usage, is_stream: bool) -> None:
    document = {"id": 7, "choices": [{"message": {"content": "x"}}], "usage": usage}
    with answering(document, is_stream=is_stream) as server:
        response = ask(make({"model": "openai/m", "base_url": server.url, "stream": is_stream}))
    assert (response.usage, response.cost_usd, response.cost_basis) == (expected, None, None)
    assert response.request_id == "7"


def test_an_answer_in_parts_is_read_as_the_text_among_them(is_stream: bool) -> None:
    thought = {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}
    content = [thought, {"type": "text", "text": "three "}, {"type": "text", "text": "four"}]
    with answering({"choices": [{"message": {"content": content}}]}, is_stream=is_stream) as server:
        assert ask(make({"model": "openai/m", "base_url": server.url, "stream": is_stream})).text == "three four"


@pytest.mark.parametrize(
    "message", [{"content": {"text": "x"}}, {"content": 7}, {"content": [7]}, {"content": "", "refusal": [1]}]
)
def test_an_answer_whose_text_is_none_is_a_fault(message: dict[str, Any], is_stream: bool) -> None:
    with (
        answering({"choices": [{"message": message}]}, is_stream=is_stream) as server,
        pytest.raises(ProviderFaultError, match=r"unknown form|stream that cannot be read"),
    ):
        ask(make({"model": "openai/m", "base_url": server.url, "stream": is_stream}))
