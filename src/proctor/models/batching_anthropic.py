"""Anthropic's message batches: one document of requests in, one stream of results out."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import aclosing
from datetime import datetime
from typing import Any

import orjson
from msgspec import Struct

from proctor.domain.errors import ProviderFaultError
from proctor.domain.message import Json, Prompt
from proctor.models.batching import (
    HAND_IN_SECONDS,
    MAX_BYTES,
    BatchAnswer,
    BatchLimits,
    BatchState,
    Search,
    ask_api,
    ask_json,
    checked_id,
    read_answer,
    read_answers,
    read_id,
    read_lines,
    read_page,
    request_fields,
    understood,
)
from proctor.models.faults import fault_in_answer
from proctor.models.hosted import Wire

COUNTS = ("processing", "succeeded", "errored", "canceled", "expired")
CLOCKS_APART_SECONDS = 300.0


class AnthropicBatches(Struct, frozen=True):
    model: str
    wire: Wire

    @property
    def limits(self) -> BatchLimits:
        return BatchLimits(100_000, MAX_BYTES)

    @property
    def _url(self) -> str:
        return f"{self.wire.url}/batches"

    async def line(self, custom_id: str, prompt: Prompt, options: Mapping[str, Json]) -> bytes:
        params = await request_fields(self.wire, self.model, prompt, options)
        return orjson.dumps({"custom_id": custom_id, "params": params})

    async def hand_in(self, lines: Sequence[bytes], token: str) -> str:  # noqa: ARG002
        body = b'{"requests":[' + b",".join(lines) + b"]}"
        return await ask_api(self.wire, "POST", self._url, read_id, body, HAND_IN_SECONDS, is_order=True)

    async def search(
        self,
        token: str,  # noqa: ARG002
        since: float,
        requests: int,
        known: set[str],
        is_member: Callable[[str], bool],
    ) -> Search:
        """This API keeps no mark of ours: a batch of that size and time is told by its first result, once it has ended.

        Two batches with the same trials are interchangeable, because a trial's id says everything that was asked.
        """
        is_certain, after = True, ""
        while True:
            page = await ask_api(self.wire, "GET", f"{self._url}?limit=100{after}", read_page)
            with understood(self.wire):
                for item in page["data"]:
                    if datetime.fromisoformat(item["created_at"]).timestamp() < since - CLOCKS_APART_SECONDS:
                        return Search(None, is_certain)
                    if item["id"] in known or _total(item) != requests:
                        continue
                    if item["processing_status"] != "ended":
                        is_certain = False
                    elif await self._is_ours(checked_id(item["id"]), is_member):
                        return Search(item["id"])
                if not page.get("has_more") or not page["data"]:
                    return Search(None, is_certain)
                after = f"&after_id={checked_id(page['data'][-1]['id'])}"

    async def _is_ours(self, remote_id: str, is_member: Callable[[str], bool]) -> bool:
        async with aclosing(read_lines(self.wire, f"{self._url}/{remote_id}/results")) as lines:
            async for line in lines:
                return is_member(line["custom_id"])
        return False

    async def state(self, remote_id: str) -> BatchState:
        found = await ask_json(self.wire, "GET", f"{self._url}/{remote_id}")
        with understood(self.wire):
            name, total = str(found["processing_status"]), _total(found)
            return BatchState(name, name == "ended", total - (found["request_counts"].get("processing") or 0), total)

    def answers(self, remote_id: str) -> AsyncGenerator[BatchAnswer]:
        # The address is ours, not the one the answer names: the key goes to nobody else.
        return read_answers(self.wire, f"{self._url}/{remote_id}/results", self._answer)

    def _answer(self, line: Any) -> BatchAnswer:
        target = self.wire.transport.target
        custom_id, result = line["custom_id"], line["result"]
        kind = result["type"]
        if kind == "succeeded":
            return read_answer(self.wire, custom_id, result["message"], {})
        if kind == "errored":
            error = result["error"]
            return BatchAnswer(custom_id, error=fault_in_answer(target, error.get("error") or error))
        return BatchAnswer(custom_id, error=ProviderFaultError(f"{target.model}: the request was {kind} in its batch"))


def _total(item: Mapping[str, Any]) -> int:
    counts = item.get("request_counts") or {}
    return sum(counts.get(name) or 0 for name in COUNTS)
