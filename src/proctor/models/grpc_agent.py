"""An agent over gRPC: `grpc/127.0.0.1:50051`, serving the published agent.proto."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Any

import orjson
from msgspec import Struct

from proctor.domain.errors import (
    ModelError,
    ModelUnavailableError,
    PlanError,
    ProviderFaultError,
    RateLimitedError,
    RequestRejectedError,
    UnusableAnswerError,
)
from proctor.domain.message import DocumentPart, Image, Json, Message, Prompt
from proctor.domain.model import ModelIdentity
from proctor.domain.price import reported
from proctor.domain.response import FinishReason, Response, Usage
from proctor.models.destinations import is_loopback
from proctor.models.faults import Target
from proctor.models.figures import dollars, tokens
from proctor.models.grpc_schema import SERVICE, messages
from proctor.models.parts import Accepts, prepare
from proctor.models.provider import Capabilities, Provider, find_key
from proctor.models.settings import read_settings, version_of
from proctor.models.transport import MAX_ANSWER_BYTES
from proctor.models.waits import retry_after

ADAPTER_VERSION = "1"


class GrpcAgentSettings(Struct, frozen=True):
    tls: bool = False
    auth_variable: str | None = None
    images: bool = True
    documents: bool = True
    cache: bool = False
    """Take answers to the same request from the cache: whether the agent has changed cannot be seen."""


PROVIDER = Provider(
    "grpc",
    "An agent over gRPC that serves agent.proto: grpc/127.0.0.1:50051",
    capabilities=Capabilities(streaming=True, images=True, documents=True, structured_output=True),
    settings=GrpcAgentSettings.__struct_fields__,
)
REFUSED = frozenset({"INVALID_ARGUMENT", "FAILED_PRECONDITION", "OUT_OF_RANGE", "ALREADY_EXISTS"})
UNAVAILABLE = frozenset({"UNAUTHENTICATED", "PERMISSION_DENIED", "NOT_FOUND", "UNIMPLEMENTED"})
FINISH = {reason.value: reason for reason in FinishReason}


class AgentInfo(Struct, frozen=True):
    """What an agent says of itself."""

    name: str
    version: str
    takes_images: bool
    takes_documents: bool


class GrpcAgent:
    """Sends a Query and puts the pieces of its answer together."""

    def __init__(self, address: str, settings: GrpcAgentSettings, target: Target) -> None:
        scheme = "grpcs" if settings.tls else "grpc"
        version = version_of(ADAPTER_VERSION, settings, "documents")
        self.identity = ModelIdentity("grpc", address, f"{scheme}://{address}", version)
        self._address = address
        self.is_cached = settings.cache
        self._settings = settings
        self._target = target
        self._accepts = Accepts(settings.images, settings.documents, tools=False)
        self._channel: Any = None

    async def respond(self, prompt: Prompt, options: Mapping[str, Json], *, timeout_seconds: float) -> Response:
        from grpc.aio import AioRpcError  # type: ignore[import-untyped]

        prompt = await prepare(prompt, self._accepts, self._target.model)
        started = time.perf_counter()
        answer = _Answer(self._target, started)
        try:
            call = self._query()(_request(prompt, options), timeout=timeout_seconds, metadata=self._metadata())
            async for reply in call:
                answer.take(reply)
        except AioRpcError as error:
            raise self._fault(error, timeout_seconds) from None
        return answer.response()

    async def info(self, *, timeout_seconds: float) -> AgentInfo:
        """Ask the agent who it is; raises ModelError when it does not say."""
        from grpc.aio import AioRpcError

        kinds = messages()
        call = self._open_channel().unary_unary(
            f"/{SERVICE}/Info",
            request_serializer=kinds.InfoRequest.SerializeToString,
            response_deserializer=kinds.InfoReply.FromString,
        )
        try:
            said = await call(kinds.InfoRequest(), timeout=timeout_seconds, metadata=self._metadata())
        except AioRpcError as error:
            raise self._fault(error, timeout_seconds) from None
        return AgentInfo(said.name, said.version, said.takes_images, said.takes_documents)

    async def close(self) -> None:
        channel, self._channel = self._channel, None
        if channel is not None:
            await channel.close()

    def _metadata(self) -> list[tuple[str, str]]:
        return [("authorization", f"Bearer {secret}") for secret in self._target.secrets]

    def _query(self) -> Any:
        kinds = messages()
        return self._open_channel().unary_stream(
            f"/{SERVICE}/Query",
            request_serializer=kinds.QueryRequest.SerializeToString,
            response_deserializer=kinds.QueryReply.FromString,
        )

    def _open_channel(self) -> Any:
        if self._channel is None:
            self._channel = self._open()
        return self._channel

    def _open(self) -> Any:
        import grpc  # type: ignore[import-untyped]
        from grpc import aio

        options = [
            ("grpc.max_receive_message_length", MAX_ANSWER_BYTES),
            ("grpc.max_send_message_length", MAX_ANSWER_BYTES),
        ]
        if is_loopback(self.identity.endpoint or ""):
            options.append(("grpc.enable_http_proxy", 0))  # a proxy is for servers elsewhere
        if self._settings.tls:
            return aio.secure_channel(self._address, grpc.ssl_channel_credentials(), options)
        return aio.insecure_channel(self._address, options)

    def _fault(self, error: Any, timeout_seconds: float) -> ModelError:
        model, code = self._target.model, error.code().name
        said = self._target.clean(error.details() or "")
        because = f"({code}: {said})" if said else f"({code})"
        if code == "DEADLINE_EXCEEDED":
            return ProviderFaultError(f"{model}: no complete answer within {timeout_seconds:g} s")
        if code == "RESOURCE_EXHAUSTED" and f"vs. {MAX_ANSWER_BYTES})" in said:
            return _too_large(self._target)  # our own limit, which gRPC tells with the code of a rate limit
        if code == "RESOURCE_EXHAUSTED":
            metadata = {key: str(value) for key, value in error.trailing_metadata() or ()}
            if "grpc-retry-pushback-ms" in metadata:
                metadata["retry-after-ms"] = metadata["grpc-retry-pushback-ms"]
            return RateLimitedError(f"{model} is rate limited {because}", retry_after_seconds=retry_after(metadata))
        if code in REFUSED:
            return RequestRejectedError(f"{model} refused the request {because}")
        if code in UNAVAILABLE:
            return ModelUnavailableError(f"{model} cannot be used {because}. Check the address and what it asks for.")
        return ProviderFaultError(f"{model} failed {because}")


class _Answer:
    def __init__(self, target: Target, started: float) -> None:
        self._target = target
        self._started = started
        self._texts: list[str] = []
        self._files: dict[str, bytes] = {}
        self._finish: Any = None
        self._first: float | None = None
        self._size = 0

    def take(self, reply: Any) -> None:
        kind = reply.WhichOneof("kind")
        self._size += reply.ByteSize()
        if self._size > MAX_ANSWER_BYTES:
            raise _too_large(self._target)
        if kind == "finish":
            self._finish = reply.finish
            return
        if self._first is None:
            self._first = time.perf_counter() - self._started
        if kind == "text":
            self._texts.append(reply.text)
        elif kind == "file":
            self._files[_safe_path(reply.file.path, self._target)] = reply.file.data

    def response(self) -> Response:
        finish = self._finish
        if finish is None:
            raise ProviderFaultError(f"{self._target.model} broke off its stream before the end")
        counts = {
            name: tokens(getattr(finish, name)) if finish.HasField(name) else None
            for name in ("input_tokens", "output_tokens", "reasoning_tokens", "cached_tokens")
        }
        cost = dollars(finish.cost_usd)
        return Response(
            "".join(self._texts),
            FINISH.get(finish.reason or "stop", FinishReason.OTHER),
            Usage(**counts),
            files=self._files,
            model=finish.model or None,
            request_id=finish.request_id or None,
            latency_seconds=time.perf_counter() - self._started,
            first_token_seconds=self._first,
            cost_usd=cost,
            cost_basis=reported(cost),
        )


def create(name: str, settings: Mapping[str, Any], environment: Mapping[str, str], folder: Path) -> GrpcAgent:  # noqa: ARG001
    given = read_settings(GrpcAgentSettings, settings, PROVIDER.name)
    try:
        import grpc  # noqa: F401

        messages()
    except ImportError:
        raise PlanError("grpc models need the packages grpcio and protobuf: pip install 'proctor[grpc]'.") from None
    host, _, port = name.rpartition(":")
    if not host or not port.isdigit():
        raise PlanError(f"grpc needs an address: write grpc/HOST:PORT, for example grpc/127.0.0.1:50051, not {name!r}.")
    key = find_key(PROVIDER, environment, model=name, base_url=f"grpc://{name}", variable=given.auth_variable)
    return GrpcAgent(name, given, Target(f"grpc/{name}", given.auth_variable, (key,) if key else ()))


def _request(prompt: Prompt, options: Mapping[str, Json]) -> Any:
    schema = "" if prompt.schema is None else orjson.dumps(dict(prompt.schema)).decode()
    return messages().QueryRequest(
        messages=[_message(message) for message in prompt.messages],
        options_json=orjson.dumps(dict(options)).decode(),
        schema_json=schema,
    )


def _message(message: Message) -> Any:
    kinds = messages()
    parts = []
    for part in (message.content,) if isinstance(message.content, str) else message.content:
        if isinstance(part, Image):
            parts.append(kinds.Part(image=kinds.Blob(data=part.data, media_type=part.media_type)))
        elif isinstance(part, DocumentPart):
            blob = kinds.Blob(data=part.data, media_type=part.media_type, name=part.name)
            parts.append(kinds.Part(document=blob))
        else:
            parts.append(kinds.Part(text=part if isinstance(part, str) else part.text))
    return kinds.Message(role=message.role, parts=parts)


def _too_large(target: Target) -> ModelError:
    return UnusableAnswerError(f"{target.model} sent more than {MAX_ANSWER_BYTES // 2**20} MB: given up.")


def _safe_path(path: str, target: Target) -> str:
    """A file's path, when it stays inside the folder it will be written to."""
    parts = PurePosixPath(path)
    if not path or parts.is_absolute() or ".." in parts.parts or "\\" in path or "\0" in path:
        raise UnusableAnswerError(f"{target.model} sent a file with an impossible path: {path[:100]!r}")
    return str(parts)
