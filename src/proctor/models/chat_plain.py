"""Most answers of chat completions are plain: a text, why it ended, and counts of tokens. These are read in one go.

What is not exactly so, ChatDialect reads: this gives the same as that, or nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from msgspec import DecodeError, Meta, Struct
from msgspec.json import Decoder

from proctor.domain.response import FinishReason, Response, Usage
from proctor.models.figures import MAX_TOKENS

_Tokens = Annotated[int, Meta(ge=0, le=MAX_TOKENS)] | None


class _Message(Struct):
    content: str
    refusal: None = None
    tool_calls: None = None
    reasoning_content: None = None
    reasoning: None = None


class _Choice(Struct):
    message: _Message
    finish_reason: str | None = None
    error: None = None
    logprobs: None = None


class _InputDetails(Struct):
    cached_tokens: _Tokens = None
    cache_write_tokens: _Tokens = None


class _OutputDetails(Struct):
    reasoning_tokens: _Tokens = None


class _Usage(Struct):
    prompt_tokens: _Tokens = None
    completion_tokens: _Tokens = None
    prompt_tokens_details: _InputDetails | None = None
    completion_tokens_details: _OutputDetails | None = None
    cost: None = None


class _Answer(Struct):
    choices: Annotated[list[_Choice], Meta(min_length=1)]
    usage: _Usage | None = None
    model: str | None = None
    id: str | None = None
    error: None = None


_DECODER = Decoder(_Answer)


def read_plain(
    body: bytes, reasons: Mapping[str, FinishReason], headers: Mapping[str, str], seconds: float
) -> Response | None:
    """The response of a plain answer; None for any other. `reasons` are the dialect's words for why one ended."""
    try:
        if not body.isascii():
            body.decode()  # also what is not read must be text
        answer = _DECODER.decode(body)
    except (DecodeError, UnicodeDecodeError, RecursionError):
        return None
    choice = answer.choices[0]
    return Response(
        text=choice.message.content,
        finish_reason=reasons.get(choice.finish_reason or "stop", FinishReason.OTHER),
        usage=Usage() if answer.usage is None else _usage(answer.usage),
        model=answer.model,
        request_id=headers.get("x-request-id") or answer.id,
        latency_seconds=seconds,
    )


def _usage(usage: _Usage) -> Usage:
    read, written = usage.prompt_tokens_details, usage.completion_tokens_details
    return Usage(
        usage.prompt_tokens,
        usage.completion_tokens,
        None if written is None else written.reasoning_tokens,
        None if read is None else read.cached_tokens,
        None if read is None else read.cache_write_tokens,
    )
