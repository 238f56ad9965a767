"""OpenAI's batch API: a file of requests in, files of answers and errors out."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import aclosing
from typing import Any
from uuid import uuid4

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
    read_page,
    request_fields,
    understood,
)
from proctor.models.faults import fault_in_answer, fault_of
from proctor.models.hosted import Wire

ENDED = frozenset({"completed", "failed", "expired", "cancelled"})
PATHS = ("/chat/completions", "/responses")
MARK = "proctor"
CLOCKS_APART_SECONDS = 300.0


class OpenAIBatches(Struct, frozen=True):
    model: str
    wire: Wire

    @property
    def limits(self) -> BatchLimits:
        return BatchLimits(50_000, MAX_BYTES)

    @property
    def _path(self) -> str:
        return next(path for path in PATHS if self.wire.url.endswith(path))

    @property
    def _base(self) -> str:
        return self.wire.url.removesuffix(self._path)

    async def line(self, custom_id: str, prompt: Prompt, options: Mapping[str, Json]) -> bytes:
        body = await request_fields(self.wire, self.model, prompt, options)
        return orjson.dumps({"custom_id": custom_id, "method": "POST", "url": f"/v1{self._path}", "body": body})

    async def hand_in(self, lines: Sequence[bytes], token: str) -> str:
        boundary = uuid4().hex
        file_id = await ask_api(
            self.wire,
            "POST",
            f"{self._base}/files",
            read_id,
            _form(boundary, f"proctor-{token}.jsonl", lines),
            HAND_IN_SECONDS,
            content_type=f"multipart/form-data; boundary={boundary}",
        )
        order = {
            "input_file_id": file_id,
            "endpoint": f"/v1{self._path}",
            "completion_window": "24h",
            "metadata": {MARK: token},
        }
        return await ask_api(
            self.wire, "POST", f"{self._base}/batches", read_id, orjson.dumps(order), HAND_IN_SECONDS, is_order=True
        )

    async def search(
        self,
        token: str,
        since: float,
        requests: int,  # noqa: ARG002
        known: set[str],  # noqa: ARG002
        is_member: Callable[[str], bool],  # noqa: ARG002
    ) -> Search:
        """By the token, which stands in the batch's metadata; batches come newest first."""
        after = ""
        while True:
            page = await ask_api(self.wire, "GET", f"{self._base}/batches?limit=100{after}", read_page)
            with understood(self.wire):
                for item in page["data"]:
                    if (item.get("metadata") or {}).get(MARK) == token:
                        return Search(checked_id(item["id"]))
                    if item["created_at"] < since - CLOCKS_APART_SECONDS:
                        return Search(None)
                if not page.get("has_more") or not page["data"]:
                    return Search(None)
                after = f"&after={checked_id(page['data'][-1]['id'])}"

    async def state(self, remote_id: str) -> BatchState:
        found = await ask_json(self.wire, "GET", f"{self._base}/batches/{remote_id}")
        with understood(self.wire):
            name, counts = str(found["status"]), found.get("request_counts") or {}
            done = (counts.get("completed") or 0) + (counts.get("failed") or 0)
            return BatchState(name, name in ENDED, done, counts.get("total") or 0, _problem(found))

    async def answers(self, remote_id: str) -> AsyncGenerator[BatchAnswer]:
        found = await ask_json(self.wire, "GET", f"{self._base}/batches/{remote_id}")
        with understood(self.wire):
            kinds = ("output_file_id", "error_file_id")
            files = [checked_id(found[kind]) for kind in kinds if found.get(kind)]
        for file_id in files:
            url = f"{self._base}/files/{file_id}/content"
            async with aclosing(read_answers(self.wire, url, self._answer)) as answers:
                async for answer in answers:
                    yield answer

    def _answer(self, line: Any) -> BatchAnswer:
        target = self.wire.transport.target
        custom_id, reply, error = line["custom_id"], line.get("response"), line.get("error")
        if reply and reply["status_code"] < 300:
            return read_answer(self.wire, custom_id, reply["body"], {"x-request-id": reply.get("request_id") or ""})
        if reply:
            return BatchAnswer(
                custom_id, error=fault_of(target, reply["status_code"], {}, orjson.dumps(reply.get("body")))
            )
        if error:
            return BatchAnswer(custom_id, error=fault_in_answer(target, error))
        return BatchAnswer(custom_id, error=ProviderFaultError(f"{target.model} gave neither an answer nor an error"))


def _form(boundary: str, name: str, lines: Sequence[bytes]) -> bytes:
    """The file as a form, put together once: it can be as large as a batch may be."""
    head = (
        f'--{boundary}\r\nContent-Disposition: form-data; name="purpose"\r\n\r\nbatch\r\n'
        f'--{boundary}\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n'
        "Content-Type: application/jsonl\r\n\r\n"
    )
    return b"\n".join([head.encode() + lines[0], *lines[1:], f"\r\n--{boundary}--\r\n".encode()])


def _problem(found: Mapping[str, Any]) -> str | None:
    """Why a batch was refused as a whole; its first mistakes."""
    mistakes = (found.get("errors") or {}).get("data") or ()
    said = "; ".join(str(item.get("message")) for item in mistakes[:3])
    return said or ("no reason was given" if found.get("status") == "failed" else None)
