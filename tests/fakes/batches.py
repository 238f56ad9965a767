"""The batch APIs of OpenAI and Anthropic on loopback, as published: files, batches, results, lists, cancellation.

`is_held` keeps batches in progress until `release` is called; `fate` decides what becomes of each request: 'ok',
'error' (a fault of that request), 'missing' (no line at all), 'unfinished' (not reached before the batch ended).
"""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, Self

import orjson

from fakes.anthropic_dialect import AnthropicMessages
from fakes.dialect import Ask, Reply
from fakes.loopback import Exchange, Loopback, Request
from fakes.openai_dialect import OpenAIChat
from fakes.provider import solve

FILE = re.compile(rb'name="file".*?\r\n\r\n(.*)\r\n--', re.DOTALL)
PURPOSE = re.compile(rb'name="purpose"\r\n\r\n(.*?)\r\n')
CUSTOM_ID = re.compile(r"^[a-zA-Z0-9_-]{1,64}$")


class BatchProvider:
    """One server with both APIs; the path decides."""

    def __init__(self, *, key: str = "sk-batch") -> None:
        self.key = key
        self.is_held = False
        self.ends_as = "completed"
        """For OpenAI: completed, expired, cancelled or failed."""
        self.fate: Callable[[str], str] = lambda text: "ok"
        self.reply: Callable[[Ask], Reply] = lambda ask: Reply(solve(ask.text))
        self.faults: list[tuple[str, int]] = []
        """Path endings, each with the status its next request gets; 0 drops the connection after the work is done."""
        self.files: dict[str, bytes] = {}
        self.batches: dict[str, dict[str, Any]] = {}
        self.asked: Counter[str] = Counter()
        """How often each prompt was handed in."""
        self.requests: list[Request] = []
        self._server = Loopback(self._handle)

    @property
    def url(self) -> str:
        return self._server.url

    def __enter__(self) -> Self:
        self._server.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.close()

    def release(self) -> None:
        self.is_held = False

    async def _handle(self, exchange: Exchange) -> None:
        request = exchange.request
        self.requests = [*self.requests[-999:], request]
        is_anthropic = "/messages" in request.path
        if self.key not in (
            request.headers.get("x-api-key") if is_anthropic else None,
            request.headers.get("authorization", "").removeprefix("Bearer "),
        ):
            return await exchange.reply_json(401, _error(is_anthropic, "invalid key", "authentication_error"))
        fault = next((item for item in self.faults if request.path.endswith(item[0])), None)
        if fault is not None:
            self.faults.remove(fault)
            if fault[1]:
                return await exchange.reply_json(fault[1], _error(is_anthropic, "a fault", "api_error"))
        status, body = (self._anthropic if is_anthropic else self._openai)(request)
        if fault is not None:
            return exchange.drop()
        if isinstance(body, bytes):
            await exchange.start_stream("application/x-jsonl")
            for start in range(0, len(body), 1000):
                await exchange.send_chunk(body[start : start + 1000])
            return await exchange.end_stream()
        return await exchange.reply_json(status, body)

    def _openai(self, request: Request) -> tuple[int, Any]:
        parts = request.path.removeprefix("/v1/").split("/")
        if request.method == "POST" and parts == ["files"]:
            return self._upload(request)
        if parts[0] == "files" and parts[-1] == "content":
            return 200, self.files[parts[1]]
        if request.method == "POST" and parts == ["batches"]:
            return self._order(request.json)
        if parts == ["batches"]:
            return 200, _page([self._openai_batch(key) for key in reversed(self.batches)], request.query, "after")
        if parts[0] == "batches" and parts[1] in self.batches:
            if parts[-1] == "cancel":
                self.batches[parts[1]]["ends_as"] = "cancelled"
            return 200, self._openai_batch(parts[1])
        return 404, _error(False, "no such thing", "invalid_request_error")

    def _upload(self, request: Request) -> tuple[int, Any]:
        purpose, content = PURPOSE.search(request.body), FILE.search(request.body)
        if purpose is None or purpose[1] != b"batch" or content is None:
            return 400, _error(False, "a file and its purpose are needed", "invalid_request_error")
        file_id = f"file-{len(self.files)}"
        self.files[file_id] = content[1]
        return 200, {"id": file_id, "object": "file", "bytes": len(content[1]), "created_at": int(time.time()),
                     "filename": "batch.jsonl", "purpose": "batch", "status": "processed"}  # fmt: skip

    def _order(self, order: dict[str, Any]) -> tuple[int, Any]:
        lines = [orjson.loads(line) for line in self.files[order["input_file_id"]].splitlines() if line.strip()]
        names = [line["custom_id"] for line in lines]
        assert len(names) == len(set(names)), "custom ids must be unique"
        assert all(line["url"] == order["endpoint"] and line["method"] == "POST" for line in lines)
        assert order["completion_window"] == "24h"
        batch_id = f"batch_{len(self.batches)}"
        asks = {line["custom_id"]: _openai_ask(line["body"]) for line in lines}
        self._accept(batch_id, asks, {"order": order})
        return 200, self._openai_batch(batch_id)

    def _accept(self, batch_id: str, asks: dict[str, Ask], more: dict[str, Any]) -> None:
        self.asked.update(ask.text for ask in asks.values())
        self.batches[batch_id] = {"asks": asks, "created": time.time(), "ends_as": None, **more}

    def _openai_batch(self, batch_id: str) -> dict[str, Any]:
        batch = self.batches[batch_id]
        order, created = batch["order"], int(batch["created"])
        state = "in_progress" if self.is_held else batch["ends_as"] or self.ends_as
        document = {
            "id": batch_id, "object": "batch", "endpoint": order["endpoint"], "errors": None,
            "input_file_id": order["input_file_id"], "completion_window": "24h", "status": state,
            "output_file_id": None, "error_file_id": None, "created_at": created, "expires_at": created + 86400,
            "request_counts": {"total": len(batch["asks"]), "completed": 0, "failed": 0},
            "metadata": order.get("metadata"),
        }  # fmt: skip
        if state == "failed":
            mistake = {
                "code": "model_not_found",
                "message": "The model does not exist.",
                "line": 1,
                "param": "body.model",
            }
            document["errors"] = {"object": "list", "data": [mistake]}
        elif not self.is_held:
            output, errors = self._openai_files(batch_id, state)
            document |= {"output_file_id": output, "error_file_id": errors}
            fates = Counter(self.fate(ask.text) for ask in batch["asks"].values())
            document["request_counts"] |= {"completed": fates["ok"], "failed": fates["error"]}
        return document

    def _openai_files(self, batch_id: str, state: str) -> tuple[str | None, str | None]:
        if f"{batch_id}-out" not in self.files:
            output, errors = [], []
            for custom_id, ask in reversed(self.batches[batch_id]["asks"].items()):
                head = {"id": f"batch_req_{custom_id[:8]}", "custom_id": custom_id}
                match self.fate(ask.text):
                    case "ok":
                        body = OpenAIChat().plain(ask, self.reply(ask))
                        reply = {"status_code": 200, "request_id": f"req-{custom_id[:8]}", "body": body}
                        output.append({**head, "response": reply, "error": None})
                    case "error":
                        body = {"error": {"message": "The server had an error", "type": "server_error", "code": None}}
                        reply = {"status_code": 500, "request_id": "req-x", "body": body}
                        errors.append({**head, "response": reply, "error": None})
                    case "unfinished":
                        error = {"code": f"batch_{state}", "message": "This request could not be executed in time."}
                        errors.append({**head, "response": None, "error": error})
            for kind, lines in (("out", output), ("err", errors)):
                self.files[f"{batch_id}-{kind}"] = b"".join(orjson.dumps(line) + b"\n" for line in lines)
        return tuple(f"{batch_id}-{kind}" if self.files[f"{batch_id}-{kind}"] else None for kind in ("out", "err"))  # type: ignore[return-value]

    def _anthropic(self, request: Request) -> tuple[int, Any]:
        parts = request.path.removeprefix("/v1/messages/").split("/")
        assert request.headers["anthropic-version"], "the version header is required"
        if request.method == "POST" and parts == ["batches"]:
            items = request.json["requests"]
            assert all(CUSTOM_ID.match(item["custom_id"]) for item in items)
            assert all(isinstance(item["params"]["max_tokens"], int) for item in items)
            asks = {item["custom_id"]: _anthropic_ask(item["params"]) for item in items}
            assert len(asks) == len(items), "custom ids must be unique"
            batch_id = f"msgbatch_{len(self.batches)}"
            self._accept(batch_id, asks, {})
            return 200, self._message_batch(batch_id)
        if parts == ["batches"]:
            return 200, _page([self._message_batch(key) for key in reversed(self.batches)], request.query, "after_id")
        if parts[1] not in self.batches:
            return 404, _error(True, "no such batch", "not_found_error")
        if parts[-1] == "results":
            return 200, self._results(parts[1])
        return 200, self._message_batch(parts[1])

    def _message_batch(self, batch_id: str) -> dict[str, Any]:
        batch = self.batches[batch_id]
        created = datetime.fromtimestamp(batch["created"], UTC)
        fates = Counter(self.fate(ask.text) for ask in batch["asks"].values())
        counts = {"processing": len(batch["asks"]), "succeeded": 0, "errored": 0, "canceled": 0, "expired": 0}
        if not self.is_held:
            counts = {"processing": 0, "succeeded": fates["ok"] + fates["missing"], "errored": fates["error"],
                      "canceled": 0, "expired": fates["unfinished"]}  # fmt: skip
        return {
            "id": batch_id, "type": "message_batch", "processing_status": "in_progress" if self.is_held else "ended",
            "request_counts": counts, "created_at": _stamp(created),
            "ended_at": None if self.is_held else _stamp(created),
            "expires_at": _stamp(created), "archived_at": None, "cancel_initiated_at": None,
            "results_url": None if self.is_held else f"{self.url}/v1/messages/batches/{batch_id}/results",
        }  # fmt: skip

    def _results(self, batch_id: str) -> bytes:
        lines = []
        for custom_id, ask in reversed(self.batches[batch_id]["asks"].items()):
            match self.fate(ask.text):
                case "ok":
                    result = {"type": "succeeded", "message": AnthropicMessages().plain(ask, self.reply(ask))}
                case "error":
                    error = {"type": "overloaded_error", "message": "Overloaded"}
                    result = {"type": "errored", "error": {"type": "error", "error": error, "request_id": "req_1"}}
                case "unfinished":
                    result = {"type": "expired"}
                case _:
                    continue
            lines.append(orjson.dumps({"custom_id": custom_id, "result": result}) + b"\n")
        return b"".join(lines)


def _stamp(moment: datetime) -> str:
    return moment.isoformat().replace("+00:00", "Z")


def _openai_ask(body: dict[str, Any]) -> Ask:
    return Ask(body["messages"][-1]["content"], body["model"], False, body)


def _anthropic_ask(params: dict[str, Any]) -> Ask:
    return Ask(params["messages"][-1]["content"], params["model"], False, params)


def _error(is_anthropic: bool, message: str, kind: str) -> Any:
    error = {"type": kind, "message": message}
    return {"type": "error", "error": error} if is_anthropic else {"error": {**error, "param": None, "code": None}}


def _page(items: list[dict[str, Any]], query: dict[str, str], after: str) -> dict[str, Any]:
    start = next((n + 1 for n, item in enumerate(items) if item["id"] == query.get(after)), 0)
    some = items[start : start + int(query.get("limit", "20"))]
    ends = {"first_id": some[0]["id"] if some else None, "last_id": some[-1]["id"] if some else None}
    return {"object": "list", "data": some, "has_more": start + len(some) < len(items), **ends}
