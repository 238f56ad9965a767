"""Any JSON endpoint as a model."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Iterator
from decimal import Decimal
from typing import Any

import pytest

from fakes.loopback import Exchange, Loopback, Request
from models.asking import ask, make, prompt
from proctor.domain.errors import (
    ModelUnavailableError,
    PlanError,
    ProviderFaultError,
    RateLimitedError,
    RequestRejectedError,
    UserError,
)
from proctor.domain.message import Image
from proctor.domain.response import Usage

PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(256))


class Agent:
    """Answers as told, and remembers what it was asked."""

    def __init__(self) -> None:
        self.requests: list[Request] = []
        self.handle: Callable[[Exchange], Awaitable[None]] = self._echo
        self.server = Loopback(self._serve)

    async def _serve(self, exchange: Exchange) -> None:
        self.requests.append(exchange.request)
        await self.handle(exchange)

    async def _echo(self, exchange: Exchange) -> None:
        await exchange.reply_json(200, {"answer": "said: " + exchange.request.json["prompt"]})

    def answers(self, status: int, document: Any, headers: dict[str, str] | None = None) -> None:
        async def handle(exchange: Exchange) -> None:
            body = document if isinstance(document, bytes) else json.dumps(document).encode()
            await exchange.reply(status, body, headers)

        self.handle = handle

    @property
    def url(self) -> str:
        return self.server.url + "/ask"


@pytest.fixture
def agent() -> Iterator[Agent]:
    agent = Agent()
    with agent.server:
        yield agent


def test_the_usual_body_holds_prompt_messages_and_options(agent: Agent) -> None:
    response = ask(make(f"http/?url={agent.url}"), prompt('a "quoted"\nline', system="S"), {"temperature": 0})
    assert response.text == 'said: S\n\na "quoted"\nline'
    assert agent.requests[0].json == {
        "prompt": 'S\n\na "quoted"\nline',
        "messages": [{"role": "system", "content": "S"}, {"role": "user", "content": 'a "quoted"\nline'}],
        "options": {"temperature": 0},
    }
    assert response.latency_seconds is not None


def test_body_answer_usage_and_headers_can_be_described(agent: Agent) -> None:
    agent.answers(200, {"out": [{"t": "yes"}], "n": {"in": 5, "out": 6}, "price": 0.25})
    given = {
        "model": "http/my-agent",
        "url": agent.url,
        "method": "PUT",
        "headers": {"Authorization": "Bearer ${AGENT_KEY}", "X-Team": "red"},
        "body": '{"q": {{ prompt | tojson }}, "t": {{ options.temperature }}}',
        "answer": "out[0].t",
        "usage": {"input_tokens": "n.in", "output_tokens": "n.out", "cost_usd": "price"},
    }
    response = ask(make(given, {"AGENT_KEY": "s3cret"}), "hi", {"temperature": 0})
    assert response.text == "yes"
    assert response.usage == Usage(5, 6)
    assert response.cost_usd == Decimal("0.25")
    request = agent.requests[0]
    assert (request.method, request.json) == ("PUT", {"q": "hi", "t": 0})
    assert (request.headers["authorization"], request.headers["x-team"]) == ("Bearer s3cret", "red")


def test_a_get_request_carries_the_prompt_in_its_address(agent: Agent) -> None:
    agent.answers(200, b"plain words", {"content-type": "text/plain; charset=utf-8"})
    given = {"model": "http/", "url": agent.url + "?q={{ prompt | urlencode }}", "method": "GET"}
    assert ask(make(given), "a & b").text == "plain words"
    assert agent.requests[0].query == {"q": "a & b"}
    assert agent.requests[0].body == b""


def test_images_reach_a_body_that_asks_for_them_byte_by_byte(agent: Agent) -> None:
    from base64 import b64decode

    agent.answers(200, {"text": "seen"})
    given = {"model": "http/", "url": agent.url, "body": '{"p": {{ prompt|tojson }}, "i": {{ images|tojson }}}'}
    assert ask(make(given), prompt("What?", Image(PNG, "image/png"))).text == "seen"
    assert b64decode(agent.requests[0].json["i"][0]["base64"]) == PNG
    with pytest.raises(RequestRejectedError, match="takes no images"):
        ask(make(f"http/?url={agent.url}"), prompt("What?", Image(PNG, "image/png")))


@pytest.mark.parametrize(
    ("status", "document", "kind", "words"),
    [
        (200, {"other": 1}, ProviderFaultError, "found nothing in its answer"),
        (200, b"<html>", ProviderFaultError, "neither JSON nor plain text"),
        (200, {"error": "no such user"}, RequestRejectedError, "no such user"),
        (400, {"detail": "bad"}, RequestRejectedError, "bad"),
        (401, {}, ModelUnavailableError, "refused access"),
        (429, {}, RateLimitedError, "rate limited"),
        (503, {}, ProviderFaultError, "503"),
    ],
)
def test_what_goes_wrong_is_told_apart(
    agent: Agent, status: int, document: Any, kind: type[Exception], words: str
) -> None:
    agent.answers(status, document)
    with pytest.raises(kind, match=words):
        ask(make({"model": "http/", "url": agent.url, "error": "error"}))


def test_a_secret_from_the_environment_is_never_shown(agent: Agent) -> None:
    agent.answers(400, {"error": "who is s3cret-value?"})
    given = {"model": "http/", "url": agent.url, "headers": {"X-Key": "${AGENT_KEY}"}}
    with pytest.raises(RequestRejectedError) as caught:
        ask(make(given, {"AGENT_KEY": "s3cret-value"}))
    assert "s3cret-value" not in str(caught.value)
    with pytest.raises(UserError, match="needs the environment variable AGENT_KEY"):
        make(given)


def test_mistakes_are_found_before_anything_is_sent() -> None:
    url = "http://127.0.0.1:9/ask"
    for given, words in (
        ({}, "needs an address"),
        ({"url": "ftp://x"}, "url must start with http"),
        ({"url": url, "answer": "a..b"}, "no JMESPath"),
        ({"url": url, "body": "{{ prompt"}, "no template"),
        ({"url": url, "headers": {"Cookie": "abc"}}, "looks like a secret"),
        ({"url": url, "headers": "x"}, "'headers' must be a mapping"),
        ({"url": url, "usage": {"inputs_tokens": "x"}}, "Did you mean 'input_tokens'"),
        ({"url": url, "method": "post"}, "must be one of 'POST'"),
    ):
        with pytest.raises(PlanError, match=words):
            make({"model": "http/", **given})


def test_a_template_cannot_reach_beyond_the_prompt(agent: Agent) -> None:
    with pytest.raises(RequestRejectedError, match="template cannot be filled in"):
        ask(make({"model": "http/", "url": agent.url, "body": "{{ prompt.__class__.__mro__ }}"}))
    with pytest.raises(RequestRejectedError, match="template cannot be filled in"):
        ask(make({"model": "http/", "url": agent.url, "body": "{{ nothing }}"}))


def test_what_can_change_answers_is_part_of_the_identity() -> None:
    url = "http://127.0.0.1:9/ask"
    plain = make(f"http/?url={url}").identity
    assert plain.endpoint == url
    assert plain != make({"model": "http/", "url": url, "body": "{{ prompt }}"}).identity
    assert plain != make({"model": "http/", "url": url + "?mode=fast"}).identity
    assert plain == make({"model": "http/", "url": url, "usage": {"input_tokens": "n"}}).identity


@pytest.mark.parametrize("said", ["42", "4.2", "true", "null", "a 42"])
def test_a_plain_answer_may_look_like_json(agent: Agent, said: str) -> None:
    agent.answers(200, said.encode(), {"content-type": "Text/Plain"})
    assert ask(make(f"http/?url={agent.url}")).text == said


@pytest.mark.parametrize("body", ["{{ prompt / 2 }}", "{{ 1 / 0 }}", "{{ prompt * 10**9 }}"])
def test_whatever_a_template_comes_upon_is_told(agent: Agent, body: str) -> None:
    with pytest.raises(RequestRejectedError, match="template cannot be filled in"):
        ask(make({"model": "http/", "url": agent.url, "body": body}), "half a \ud83d")


def test_half_a_surrogate_pair_is_sent_as_the_replacement_character(agent: Agent) -> None:
    model = make({"model": "http/", "url": agent.url, "body": '{"prompt": "{{ prompt }}"}'})
    assert ask(model, "half a \ud83d").text == "said: half a \ufffd"


def test_an_expression_that_does_not_fit_an_answer_finds_nothing(agent: Agent) -> None:
    given = {
        "model": "http/",
        "url": agent.url,
        "answer": "join(', ', parts)",
        "error": "join(', ', errors)",
        "usage": {"input_tokens": "sum(counts)", "cost_usd": "cost"},
    }
    agent.answers(200, {"parts": ["a", "b"], "cost": -3})
    response = ask(make(given))
    assert (response.text, response.usage, response.cost_usd) == ("a, b", Usage(), None)
    agent.answers(200, {"parts": 3})
    with pytest.raises(ProviderFaultError, match="found nothing in its answer"):
        ask(make(given))
