"""Agents over gRPC, against the reference server and a misbehaving one."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import contextmanager
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from commands import Cli
from models.asking import ask, make, prompt
from proctor.domain.errors import (
    ModelUnavailableError,
    PlanError,
    ProviderFaultError,
    RateLimitedError,
    RequestRejectedError,
    UnusableAnswerError,
)
from proctor.domain.message import Image
from proctor.domain.response import FinishReason, Response, Usage
from proctor.models import grpc_schema
from proctor.models.transport import MAX_ANSWER_BYTES

grpc = pytest.importorskip("grpc")
EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "agents"
kinds = grpc_schema.messages()
Query = Callable[[Any, Any], AsyncIterator[Any]]


async def answer_with(query: Query, use: Callable[[str], Awaitable[Response]]) -> Response:
    """Serve a Query in this loop while a model is asked."""
    handler = grpc.unary_stream_rpc_method_handler(
        query, kinds.QueryRequest.FromString, kinds.QueryReply.SerializeToString
    )
    server = grpc.aio.server(
        options=[("grpc.max_send_message_length", 2**27), ("grpc.max_receive_message_length", 2**27)]
    )
    handlers = {"Query": handler}
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(grpc_schema.SERVICE, handlers),))
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    try:
        return await use(f"127.0.0.1:{port}")
    finally:
        await server.stop(None)


def asked(query: Query, question: Any = None, timeout: float = 20.0, **more: Any) -> Response:
    async def use(address: str) -> Response:
        model = make({"model": f"grpc/{address}", **more.get("settings", {})}, more.get("environment"))
        try:
            return await model.respond(question or prompt("hi"), more.get("options", {}), timeout_seconds=timeout)
        finally:
            await model.close()

    return asyncio.run(answer_with(query, use))


@contextmanager
def reference_server() -> Iterator[int]:
    command = [sys.executable, str(EXAMPLES / "grpc_server.py"), "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=EXAMPLES) as process:
        assert process.stdout is not None
        try:
            yield int(process.stdout.readline())
        finally:
            process.kill()


def test_the_reference_server_answers() -> None:
    with reference_server() as port:
        response = ask(make(f"grpc/127.0.0.1:{port}"), "What is 20 and 3 ?")
        assert response.text == "ANSWER: 23"
        assert response.usage == Usage(input_tokens=6, output_tokens=2)
        assert response.model == "example"
        assert response.first_token_seconds is not None
        with pytest.raises(RequestRejectedError, match="the prompt is empty"):
            ask(make(f"grpc/127.0.0.1:{port}"), " ")


def test_everything_in_a_prompt_and_an_answer_gets_through() -> None:
    seen = []

    async def query(request: Any, context: Any) -> AsyncIterator[Any]:
        seen.append((request, dict(context.invocation_metadata())))
        yield kinds.QueryReply(text="grüße ")
        yield kinds.QueryReply(text="🦊")
        yield kinds.QueryReply(file=kinds.File(path="src/main.py", data=b"print()"))
        finish = kinds.Finish(reason="length", input_tokens=0, cost_usd="0.25", request_id="r1")
        yield kinds.QueryReply(finish=finish)

    png = Image(b"\x89PNG\r\n\x1a\n\x00\xff", "image/png")
    response = asked(
        query,
        prompt("hi", png, system="S", schema={"type": "object"}),
        options={"temperature": 0},
        settings={"auth_variable": "AGENT"},
        environment={"AGENT": "s3cret"},
    )
    assert response.text == "grüße 🦊"
    assert response.files == {"src/main.py": b"print()"}
    assert response.finish_reason is FinishReason.LENGTH
    assert response.usage == Usage(input_tokens=0)
    assert (response.cost_usd, response.request_id) == (Decimal("0.25"), "r1")
    request, metadata = seen[0]
    assert [message.role for message in request.messages] == ["system", "user"]
    assert request.messages[1].parts[1].image.data == png.data
    assert (request.options_json, request.schema_json) == ('{"temperature":0}', '{"type":"object"}')
    assert metadata["authorization"] == "Bearer s3cret"


def test_a_large_answer_arrives_whole() -> None:
    async def query(request: Any, context: Any) -> AsyncIterator[Any]:
        yield kinds.QueryReply(text="x" * 10_000_000)
        yield kinds.QueryReply(finish=kinds.Finish())

    assert len(asked(query).text) == 10_000_000


def test_a_stream_without_its_end_is_a_fault_and_not_an_answer() -> None:
    async def query(request: Any, context: Any) -> AsyncIterator[Any]:
        yield kinds.QueryReply(text="half an ans")

    with pytest.raises(ProviderFaultError, match="broke off its stream"):
        asked(query)


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        ("INVALID_ARGUMENT", RequestRejectedError),
        ("RESOURCE_EXHAUSTED", RateLimitedError),
        ("UNAUTHENTICATED", ModelUnavailableError),
        ("NOT_FOUND", ModelUnavailableError),
        ("UNAVAILABLE", ProviderFaultError),
        ("INTERNAL", ProviderFaultError),
    ],
)
def test_each_status_is_the_error_it_should_be(code: str, kind: type[Exception]) -> None:
    async def query(request: Any, context: Any) -> AsyncIterator[Any]:
        context.set_trailing_metadata((("retry-after", "3"),))
        await context.abort(getattr(grpc.StatusCode, code), "said s3cret why")
        yield

    with pytest.raises(kind, match=rf"\({code}: said \[key\] why\)") as caught:
        asked(query, settings={"auth_variable": "AGENT"}, environment={"AGENT": "s3cret"})
    if kind is RateLimitedError:
        assert getattr(caught.value, "retry_after_seconds", None) == 3


def test_a_stall_ends_at_the_time_limit() -> None:
    async def query(request: Any, context: Any) -> AsyncIterator[Any]:
        await asyncio.sleep(3600)
        yield

    with pytest.raises(ProviderFaultError, match=r"no complete answer within 0.2 s"):
        asked(query, timeout=0.2)


def test_nobody_listening_is_a_fault() -> None:
    with pytest.raises(ProviderFaultError, match="UNAVAILABLE"):
        ask(make("grpc/127.0.0.1:1"))


@pytest.mark.parametrize("path", ["../x", "/etc/passwd", "", "a\\b"])
def test_a_file_that_would_leave_its_folder_is_refused(path: str) -> None:
    async def query(request: Any, context: Any) -> AsyncIterator[Any]:
        yield kinds.QueryReply(file=kinds.File(path=path, data=b""))
        yield kinds.QueryReply(finish=kinds.Finish())

    with pytest.raises(UnusableAnswerError, match="impossible path"):
        asked(query)


def test_a_message_larger_than_the_cap_is_an_answer_that_cannot_be_used_and_no_rate_limit() -> None:
    async def query(request: Any, context: Any) -> AsyncIterator[Any]:
        yield kinds.QueryReply(text="x" * (MAX_ANSWER_BYTES + 1))
        yield kinds.QueryReply(finish=kinds.Finish())

    with pytest.raises(UnusableAnswerError, match="sent more than 64 MB"):
        asked(query)


def test_an_address_must_name_host_and_port() -> None:
    for name in ("", "localhost", ":80", "host:port"):
        with pytest.raises(PlanError, match="write grpc/HOST:PORT"):
            make(f"grpc/{name}")


def test_the_compiled_schema_is_that_of_the_published_proto(tmp_path: Path) -> None:
    protoc = pytest.importorskip("grpc_tools.protoc")
    folder = Path(grpc_schema.__file__).parent
    out = tmp_path / "agent.binpb"
    assert protoc.main(["protoc", f"-I{folder}", f"--descriptor_set_out={out}", str(folder / "agent.proto")]) == 0
    assert out.read_bytes() == (folder / grpc_schema.DESCRIPTORS).read_bytes()


def test_the_reference_server_says_who_it_is(cli: Cli) -> None:
    with reference_server() as port:
        document = cli("models", f"grpc/127.0.0.1:{port}", "--json").json
        assert document["agent"] == {
            "name": "example", "version": "1", "takes_images": False, "takes_documents": False,
        }  # fmt: skip
        shown = cli("models", f"grpc/127.0.0.1:{port}").out
        assert "agent: name=example, version=1, takes_images=False, takes_documents=False" in shown


def test_an_agent_that_does_not_say_who_it_is_can_still_be_asked() -> None:
    async def query(request: Any, context: Any) -> AsyncIterator[Any]:
        yield kinds.QueryReply(text="hello")
        yield kinds.QueryReply(finish=kinds.Finish(reason="stop"))

    async def use(address: str) -> Response:
        model = make(f"grpc/{address}")
        try:
            with pytest.raises(ModelUnavailableError, match="UNIMPLEMENTED"):
                await model.info(timeout_seconds=20)  # type: ignore[attr-defined]
            return await model.respond(prompt("hi"), {}, timeout_seconds=20)
        finally:
            await model.close()

    assert asyncio.run(answer_with(query, use)).text == "hello"


def test_an_agent_that_is_not_there_is_shown_with_the_reason(cli: Cli) -> None:
    ended = cli("models", "grpc/127.0.0.1:1", "--json")
    assert ended.code == 0
    assert "UNAVAILABLE" in ended.json["agent"]["problem"]
