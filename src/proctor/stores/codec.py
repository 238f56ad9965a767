"""Responses, samples and prompts as text for the database, and back."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from typing import Any, Protocol

import orjson
from msgspec import Struct
from msgspec.structs import asdict

from proctor.domain.message import DocumentPart, Image, Json, Message, Part, Prompt, Text, ToolResult, ToolUse
from proctor.domain.response import FinishReason, Response, TokenLogprob, ToolCall, Usage
from proctor.domain.sample import Sample


class NamedColumns(Protocol):
    """A row of any driver: columns by name."""

    def __getitem__(self, column: str, /) -> Any: ...


PICO = Decimal("1e12")


def to_pico(usd: Decimal | None) -> int | None:
    return None if usd is None else int((usd * PICO).to_integral_value())


def from_pico(pico: int | None) -> Decimal | None:
    return None if pico is None else Decimal(pico) / PICO


def to_json(value: Json) -> str:
    return orjson.dumps(value, default=_encode).decode()


def _encode(value: Any) -> Any:
    if isinstance(value, bytes):
        return {"base64": base64.b64encode(value).decode()}
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, Struct):
        return asdict(value)
    raise TypeError(f"{type(value).__name__} cannot be stored")


def prompt_text(prompt: Prompt) -> str:
    return to_json(prompt.plain or prompt)


def read_prompt(text: str) -> Prompt:
    data = orjson.loads(text)
    messages = tuple(Message(item["role"], _read_content(item["content"])) for item in data["messages"])
    return Prompt(messages, tools=tuple(data["tools"]), schema=data["schema"])


def _read_content(content: Any) -> str | tuple[Part, ...]:
    return content if isinstance(content, str) else tuple(_read_part(part) for part in content)


def _read_part(part: Mapping[str, Any]) -> Part:
    if "text" in part:
        return Text(part["text"])
    if "call_id" in part:
        return ToolUse(**part) if "arguments" in part else ToolResult(**part)
    data = base64.b64decode(part["data"]["base64"])
    if "name" in part:
        return DocumentPart(data, part["media_type"], part["name"])
    return Image(data, part["media_type"])


def sample_body(sample: Sample) -> str:
    """What of a sample has no column of its own."""
    more: dict[str, Any] = {}
    if sample.choices:
        more["choices"] = sample.choices
    if sample.follow_ups:
        more["follow_ups"] = sample.follow_ups
    if sample.tags:
        more["tags"] = sample.tags
    if sample.metadata:
        more["metadata"] = sample.metadata
    if not isinstance(sample.input, str):
        more["messages"] = sample.input
    if sample.files:
        more["files"] = len(sample.files)  # the files themselves are in the prompt, which is kept beside this
    if isinstance(sample.target, tuple):
        more["targets"] = sample.target
    return to_json(more) if more else "{}"


def target_text(sample: Sample) -> str | None:
    """The target as people read it; several are shown as a JSON list."""
    if sample.target is None or isinstance(sample.target, str):
        return sample.target
    return to_json(sample.target)


def read_sample(row: NamedColumns) -> Sample:
    """A sample from its columns sample_id, input, target, body, category, cluster; with files, from its prompt too."""
    more = orjson.loads(row["body"])
    targets = more.get("targets")
    messages = more.get("messages")
    return Sample(
        id=row["sample_id"],
        input=tuple(Message(m["role"], _read_content(m["content"])) for m in messages) if messages else row["input"],
        target=row["target"] if targets is None else tuple(targets),
        choices=tuple(more.get("choices", ())),
        category=row["category"],
        group=row["cluster"],
        follow_ups=tuple(more.get("follow_ups", ())),
        tags=more.get("tags", {}),
        metadata=more.get("metadata", {}),
        files=_files(row["prompt"], more["files"]) if "files" in more else (),
    )


def _files(prompt: str, count: int) -> tuple[Part, ...]:
    """The files of a sample stand at the beginning of the user's last message."""
    asked = [message.content for message in read_prompt(prompt).messages if message.role == "user"]
    return tuple(asked[-1][:count]) if asked and not isinstance(asked[-1], str) else ()


def response_more(response: Response) -> str | None:
    """What of a response has no column of its own; usually nothing."""
    more: dict[str, Any] = {}
    if response.reasoning is not None:
        more["reasoning"] = response.reasoning
    if response.tool_calls:
        more["tool_calls"] = response.tool_calls
    if response.logprobs:
        more["logprobs"] = response.logprobs
    if response.turns:
        more["turns"] = response.turns
    if response.files:
        more["files"] = response.files
    if response.left_out:
        more["left_out"] = response.left_out
    if response.note is not None:
        more["note"] = response.note
    if response.model is not None:
        more["model"] = response.model
    if response.request_id is not None:
        more["request_id"] = response.request_id
    return to_json(more) if more else None


def read_response(row: NamedColumns) -> Response:
    """A response from the columns of `responses` and `bodies`."""
    more = orjson.loads(row["more"]) if row["more"] else {}
    files = {name: base64.b64decode(data["base64"]) for name, data in more.get("files", {}).items()}
    return Response(
        text=row["text"],
        finish_reason=FinishReason(row["finish_reason"]),
        usage=Usage(
            row["input_tokens"],
            row["output_tokens"],
            row["reasoning_tokens"],
            row["cached_tokens"],
            row["cache_write_tokens"],
        ),
        tool_calls=tuple(ToolCall(**call) for call in more.get("tool_calls", ())),
        reasoning=more.get("reasoning"),
        files=files,
        logprobs=tuple(TokenLogprob(**token) for token in more.get("logprobs", ())),
        model=more.get("model"),
        request_id=more.get("request_id"),
        latency_seconds=row["latency_seconds"],
        first_token_seconds=row["first_token_seconds"],
        cost_usd=from_pico(row["cost_pico_usd"]),
        cost_basis=row["cost_basis"],
        turns=tuple(more.get("turns", ())),
        note=more.get("note"),
        left_out=more.get("left_out", {}),
    )


def ceil_pico(usd: Decimal) -> int:
    return int((usd * PICO).to_integral_value(ROUND_CEILING))


def floor_pico(usd: Decimal) -> int:
    return int((usd * PICO).to_integral_value(ROUND_FLOOR))
