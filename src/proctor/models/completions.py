"""Plain text completions (`/v1/completions`), and the likelihood of whole continuations where the server tells it.

A prompt whose schema is a list of texts (`{"enum": […]}`) is answered by the likeliest of them, as benchmarks of base
models are marked: each text is put after the prompt, and the server is asked to echo both with the log-probability of
every token. vLLM does so; llama.cpp's server does not, and is refused instead of being believed.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import orjson
from msgspec import Struct
from msgspec.structs import replace

from proctor.domain.errors import ModelUnavailableError, PlanError, ProviderFaultError
from proctor.domain.message import Json, Prompt
from proctor.domain.model import Allowance, Model, ModelIdentity
from proctor.domain.response import FinishReason, Response, TokenLogprob, Usage
from proctor.models.chat import FINISH, read_logprobs
from proctor.models.endpoint import HOSTED_DECIDING, HostedSettings, bearer, find_endpoint
from proctor.models.faults import fault_in_answer
from proctor.models.figures import sound
from proctor.models.http1 import AnswerParser
from proctor.models.provider import Capabilities, Provider
from proctor.models.rates import read_rate
from proctor.models.settings import read_settings, version_of
from proctor.models.transport import Transport

ADAPTER_VERSION = "1"
PROVIDER = Provider(
    "completions",
    "Plain completions without a chat format, for example of vLLM (base_url=…); scores whole choices",
    key_variable="VLLM_API_KEY",
    base_url="http://127.0.0.1:8000/v1",
    is_key_required=False,
    capabilities=Capabilities(logprobs=True),
    settings=HostedSettings.__struct_fields__,
)


def create(name: str, settings: Mapping[str, Any], environment: Mapping[str, str], folder: Path) -> Model:  # noqa: ARG001
    given = read_settings(HostedSettings, settings, PROVIDER.name)
    if not name:
        raise PlanError("completions needs a model's name: write completions/NAME?base_url=http://…/v1.")
    if given.stream:
        raise PlanError("completions reads whole answers: leave 'stream' out.")
    endpoint = find_endpoint(PROVIDER, name, given, environment)
    url = f"{endpoint.base_url}/completions"
    identity = ModelIdentity(PROVIDER.name, name, url, version_of(ADAPTER_VERSION, given, *HOSTED_DECIDING))
    headers = {"content-type": "application/json", **bearer(endpoint)}
    return CompletionsModel(identity, Transport(endpoint.target), url, headers, given.allowance(endpoint.target.model))


def continuations_of(prompt: Prompt) -> tuple[str, ...]:
    """The texts of which the likeliest is asked for; none where an answer is to be written."""
    listed = (prompt.schema or {}).get("enum")
    if not isinstance(listed, list) or not all(isinstance(text, str) and text for text in listed):
        return ()
    return tuple(listed)


class CompletionsModel(Struct, frozen=True):
    identity: ModelIdentity
    transport: Transport
    url: str
    headers: Mapping[str, str]
    allowance: Allowance
    scores_texts: ClassVar[bool] = True

    @property
    def account(self) -> str:
        return self.transport.target.account

    async def respond(self, prompt: Prompt, options: Mapping[str, Json], *, timeout_seconds: float) -> Response:
        """An answer; or, for a list of texts, the likeliest, with the log-likelihood of each as `logprobs`."""
        continuations = continuations_of(prompt)
        if prompt.tools or (prompt.schema is not None and not continuations):
            raise ModelUnavailableError(f"{self.transport.target.model}: plain completions know no tools and no schema")
        context = prompt.text
        body = _scoring(context, continuations) if continuations else _writing(context, options)
        document, reply = await self._ask({"model": self.identity.name, **body}, timeout_seconds)
        try:
            response = sound(self._read(document, context, continuations, reply.seconds))
        except (AttributeError, IndexError, KeyError, TypeError, ValueError):
            raise ProviderFaultError(f"{self.transport.target.model} sent an answer of an unknown form") from None
        return replace(response, rate=read_rate(reply.headers))

    async def close(self) -> None:
        await self.transport.close()

    async def _ask(self, body: Mapping[str, Json], timeout_seconds: float) -> tuple[Any, AnswerParser]:
        reply = await self.transport.post(self.url, self.headers, orjson.dumps(body), timeout_seconds)
        try:
            return orjson.loads(reply.body), reply
        except orjson.JSONDecodeError:
            raise ProviderFaultError(f"{self.transport.target.model} sent an answer that is not JSON") from None

    def _read(self, document: Any, context: str, continuations: Sequence[str], seconds: float) -> Response:
        if document.get("error"):
            raise fault_in_answer(self.transport.target, document["error"])
        choices = sorted(document["choices"], key=lambda choice: choice["index"])
        usage = document.get("usage") or {}
        shared: dict[str, Any] = {
            "usage": Usage(usage.get("prompt_tokens"), usage.get("completion_tokens")),
            "model": document.get("model"),
            "request_id": document.get("id"),
            "latency_seconds": seconds,
        }
        if not continuations:
            choice = choices[0]
            finish = FINISH.get(choice.get("finish_reason") or "stop", FinishReason.OTHER)
            return Response(choice["text"], finish, logprobs=_written(choice.get("logprobs")), **shared)
        if len(choices) != len(continuations):
            raise ValueError("one choice for each prompt was expected")
        likely = tuple(
            TokenLogprob(text, self._likelihood(choice, context, text))
            for choice, text in zip(choices, continuations, strict=True)
        )
        return Response(max(likely, key=lambda one: one.logprob).token, logprobs=likely, **shared)

    def _likelihood(self, choice: Mapping[str, Any], context: str, continuation: str) -> float:
        """The sum over the tokens that hold any of the continuation; blanks at the context's end belong to it."""
        told = choice.get("logprobs") or {}
        tokens, values = told.get("tokens") or [], told.get("token_logprobs") or []
        if not tokens or not (choice.get("text") or "").startswith(context + continuation):
            raise ModelUnavailableError(
                f"{self.transport.target.model}: this server does not echo the log-probabilities of a prompt, so it "
                "cannot score whole choices. Serve the model with vLLM, or ask for the letters of the choices."
            )
        starts = told.get("text_offset") or _offsets(tokens)
        first, last = len(context.rstrip()), len(context) + len(continuation)
        ends = [*starts[1:], len(choice["text"])]
        held = [value for value, start, end in zip(values, starts, ends, strict=True) if end > first and start < last]
        if not held or any(value is None for value in held):
            raise ValueError("the continuation has no log-probabilities")
        return math.fsum(held)


def _scoring(context: str, continuations: Sequence[str]) -> dict[str, Json]:
    # One token more than none: several servers refuse 0, and what they add is not counted.
    texts = [context + text for text in continuations]
    return {"prompt": texts, "max_tokens": 1, "temperature": 0, "logprobs": 1, "echo": True}


def _writing(context: str, options: Mapping[str, Json]) -> dict[str, Json]:
    body = {"prompt": context, **options}
    if body.pop("logprobs", None):
        body["logprobs"] = body.get("top_logprobs") or 1
    body.pop("top_logprobs", None)
    body.update(body.pop("extra", None) or {})
    return body


def _offsets(tokens: Sequence[str]) -> list[int]:
    places = [0]
    for token in tokens[:-1]:
        places.append(places[-1] + len(token))
    return places


def _written(told: Any) -> tuple[TokenLogprob, ...]:
    if not told:
        return ()
    if "content" in told:  # llama.cpp's server writes them as chat completions do
        return read_logprobs(told["content"])
    tops = told.get("top_logprobs") or [{}] * len(told["tokens"])
    return tuple(
        TokenLogprob(token, value, top or {})
        for token, value, top in zip(told["tokens"], told["token_logprobs"], tops, strict=True)
        if value is not None
    )
