"""Google's generateContent dialect."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from proctor.domain.message import DocumentPart, Image, Json, Message, Part, Prompt, ToolResult, ToolUse
from proctor.domain.response import FinishReason, Response, TokenLogprob, ToolCall, Usage
from proctor.models.event_stream import EventStream
from proctor.models.faults import Target, fault_in_answer
from proctor.models.tools import function_of

FINISH = {"STOP": FinishReason.STOP, "MAX_TOKENS": FinishReason.LENGTH}
FILTERS = frozenset({"SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "IMAGE_SAFETY", "LANGUAGE"})
NAMES = {
    "temperature": "temperature",
    "top_p": "topP",
    "top_k": "topK",
    "max_tokens": "maxOutputTokens",
    "seed": "seed",
    "stop": "stopSequences",
    "frequency_penalty": "frequencyPenalty",
    "presence_penalty": "presencePenalty",
    "logprobs": "responseLogprobs",
    "top_logprobs": "logprobs",
}


class GeminiDialect(Struct, frozen=True):
    def body(self, model: str, prompt: Prompt, options: Mapping[str, Json], *, is_streaming: bool) -> dict[str, Json]:  # noqa: ARG002
        system = [message for message in prompt.messages if message.role == "system"]
        turns = [message for message in prompt.messages if message.role != "system"]
        body: dict[str, Json] = {"contents": [{"role": _role(message), "parts": _parts(message)} for message in turns]}
        config = {NAMES[key]: value for key, value in options.items() if key in NAMES}
        if "reasoning_effort" in options:
            config["thinkingConfig"] = {"thinkingLevel": options["reasoning_effort"]}
        if prompt.schema is not None:
            config.update(responseMimeType="application/json", responseJsonSchema=dict(prompt.schema))
        if config:
            body["generationConfig"] = config
        if system:
            body["systemInstruction"] = {"parts": [{"text": message.text} for message in system]}
        if prompt.tools:
            body["tools"] = [{"functionDeclarations": [_tool(tool) for tool in prompt.tools]}]
        body.update(options.get("extra") or {})
        return body

    def stream(self, target: Target) -> GeminiStream:
        return GeminiStream(target)

    def read(
        self, target: Target, document: Any, headers: Mapping[str, str], seconds: float, first_token: float | None
    ) -> Response:
        if document.get("error"):
            raise fault_in_answer(target, document["error"])
        candidate, finish = _candidate(document)
        parts = (candidate.get("content") or {}).get("parts") or []
        calls = tuple(
            ToolCall(
                part["functionCall"]["name"], part["functionCall"].get("args") or {}, part["functionCall"].get("id")
            )
            for part in parts
            if "functionCall" in part
        )
        thoughts = "".join(part.get("text", "") for part in parts if part.get("thought"))
        return Response(
            text="".join(part.get("text", "") for part in parts if not part.get("thought")),
            finish_reason=FinishReason.TOOL_CALLS if calls and finish is FinishReason.STOP else finish,
            usage=_usage(document.get("usageMetadata") or {}),
            tool_calls=calls,
            reasoning=thoughts or None,
            logprobs=_logprobs(candidate.get("logprobsResult")),
            model=document.get("modelVersion"),
            request_id=document.get("responseId") or headers.get("x-request-id"),
            latency_seconds=seconds,
            first_token_seconds=first_token,
        )


class GeminiStream(EventStream):
    """Every event is a document with a piece of the answer; once one says why it finished, the answer is whole."""

    def __init__(self, target: Target) -> None:
        super().__init__(target)
        self._last: dict[str, Any] = {}
        self._parts: list[Any] = []
        self._candidate: dict[str, Any] = {}
        self._chosen: list[Any] = []
        self._tops: list[Any] = []

    def read(self, part: dict[str, Any]) -> None:
        if part.get("error"):
            raise fault_in_answer(self.target, part["error"])
        self._last.update(part)
        for candidate in part.get("candidates") or ():
            pieces = (candidate.get("content") or {}).get("parts") or []
            if pieces:
                self._parts.extend(pieces)
                for piece in pieces:
                    self.note_text(**{"reasoning" if piece.get("thought") else "text": piece.get("text") or ""})
            result = candidate.get("logprobsResult") or {}
            self._chosen.extend(result.get("chosenCandidates") or ())
            self._tops.extend(result.get("topCandidates") or ())
            self._candidate.update(candidate)
        # Not done: some models say so in every event.
        if self._candidate.get("finishReason") or (part.get("promptFeedback") or {}).get("blockReason"):
            self.is_complete = True

    def document(self) -> dict[str, Any]:
        if not self._candidate:
            return self._last
        candidate = {**self._candidate, "content": {"parts": self._parts}}
        if self._chosen:
            candidate["logprobsResult"] = {"chosenCandidates": self._chosen, "topCandidates": self._tops}
        return {**self._last, "candidates": [candidate]}


def _candidate(document: Mapping[str, Any]) -> tuple[Mapping[str, Any], FinishReason]:
    """The first candidate; a prompt that was blocked has none, and that is an answer too."""
    if not document.get("candidates") and (document.get("promptFeedback") or {}).get("blockReason"):
        return {}, FinishReason.FILTERED
    candidate = document["candidates"][0]
    reason = candidate.get("finishReason") or "STOP"
    return candidate, FinishReason.FILTERED if reason in FILTERS else FINISH.get(reason, FinishReason.OTHER)


def _role(message: Message) -> str:
    return "model" if message.role == "assistant" else "user"


def _parts(message: Message) -> list[dict[str, Json]]:
    if isinstance(message.content, str):
        return [{"text": message.content}]
    return [_part(part) for part in message.content]


def _part(part: Part) -> dict[str, Json]:
    if isinstance(part, (Image, DocumentPart)):
        return {"inlineData": {"mimeType": part.media_type, "data": b64encode(part.data).decode()}}
    if isinstance(part, ToolUse):
        return {"functionCall": {"id": part.call_id, "name": part.name, "args": part.arguments}}
    if isinstance(part, ToolResult):
        return {"functionResponse": {"id": part.call_id, "name": part.name, "response": {"output": part.result}}}
    return {"text": part.text}


def _tool(tool: Mapping[str, Json]) -> dict[str, Json]:
    function = function_of(tool)
    schema = function.pop("parameters", None)
    return {**function, "parametersJsonSchema": schema} if schema else function


def _usage(usage: Mapping[str, Any]) -> Usage:
    """Google counts thoughts apart; here, as everywhere else, they are part of the output."""
    counts = [usage.get(name) for name in ("candidatesTokenCount", "thoughtsTokenCount")]
    known = [count for count in counts if count is not None]
    return Usage(
        input_tokens=usage.get("promptTokenCount"),
        output_tokens=sum(known) if known else None,
        reasoning_tokens=usage.get("thoughtsTokenCount"),
        cached_tokens=usage.get("cachedContentTokenCount"),
    )


def _logprobs(result: Any) -> tuple[TokenLogprob, ...]:
    chosen = (result or {}).get("chosenCandidates") or []
    tops = (result or {}).get("topCandidates") or [{}] * len(chosen)
    return tuple(
        TokenLogprob(
            token["token"],
            token["logProbability"],
            {other["token"]: other["logProbability"] for other in top.get("candidates") or ()},
        )
        for token, top in zip(chosen, tops, strict=True)
    )
