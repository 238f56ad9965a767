"""The reference server of agent.proto: `python grpc_server.py 50051`, then `grpc/127.0.0.1:50051`.

It takes its messages from Proctor's own package. In another language, or without Proctor, generate them from
`agent.proto`, which is in the package beside this import: `python -m grpc_tools.protoc -I. --python_out=. agent.proto`.
"""

import asyncio
import sys
from collections.abc import AsyncIterator
from typing import Any

import grpc
from function import answer

from proctor.models.grpc_schema import SERVICE, messages

kinds = messages()


async def info(_request: Any, _context: grpc.aio.ServicerContext) -> Any:
    return kinds.InfoReply(name="example", version="1", takes_images=False, takes_documents=False)


async def query(request: Any, context: grpc.aio.ServicerContext) -> AsyncIterator[Any]:
    asked = "\n".join(part.text for message in request.messages for part in message.parts)
    if not asked.strip():
        await context.abort(grpc.StatusCode.INVALID_ARGUMENT, "the prompt is empty")
    text = answer(asked)
    for word in text.split(" "):
        yield kinds.QueryReply(text=word if word == text.split(" ")[0] else " " + word)
    finish = kinds.Finish(
        reason="stop", input_tokens=len(asked.split()), output_tokens=len(text.split()), model="example"
    )
    yield kinds.QueryReply(finish=finish)


async def serve(port: int) -> None:
    handlers = {
        "Info": grpc.unary_unary_rpc_method_handler(
            info, kinds.InfoRequest.FromString, kinds.InfoReply.SerializeToString
        ),
        "Query": grpc.unary_stream_rpc_method_handler(
            query, kinds.QueryRequest.FromString, kinds.QueryReply.SerializeToString
        ),
    }
    server = grpc.aio.server()
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(SERVICE, handlers),))
    bound = server.add_insecure_port(f"127.0.0.1:{port}")
    await server.start()
    print(bound, flush=True)
    await server.wait_for_termination()


if __name__ == "__main__":
    asyncio.run(serve(int(sys.argv[1])))
