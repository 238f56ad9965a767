"""The published agent.proto, as message classes made when they are first needed."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from types import SimpleNamespace
from typing import Any

PACKAGE = "proctor.agent.v1"
SERVICE = f"{PACKAGE}.Agent"
DESCRIPTORS = "agent.binpb"
"""agent.proto, compiled: `python -m grpc_tools.protoc -I. --descriptor_set_out=agent.binpb agent.proto`."""


@cache
def messages() -> Any:
    """The message classes by name: `messages().QueryRequest(...)`."""
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory  # type: ignore[import-untyped]

    content = files("proctor.models").joinpath(DESCRIPTORS).read_bytes()
    pool = descriptor_pool.DescriptorPool()
    for file in descriptor_pb2.FileDescriptorSet.FromString(content).file:
        pool.Add(file)
    names = pool.FindFileByName("agent.proto").message_types_by_name
    return SimpleNamespace(**{name: message_factory.GetMessageClass(kind) for name, kind in names.items()})
