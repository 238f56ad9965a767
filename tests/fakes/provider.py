"""A provider on loopback that counts what it is asked and fails as told.

In a test: ``with FakeProvider() as provider: ... provider.url``. As a process of its own:
``python -m fakes.provider --port 0 --rate 429=0.1 --rate drop=0.02`` prints its port on one line; GET /stats tells
how often each prompt was asked and answered.
"""

from __future__ import annotations

import argparse
import asyncio
import re
import ssl
import time
from collections import Counter
from collections.abc import Callable
from typing import Any, Self
from zlib import crc32

import orjson

from fakes.dialect import Ask, Dialect, Reply
from fakes.faults import ANSWER_FAULTS, CONNECTION_FAULTS, STATUS_FAULTS, Faults, break_connection, rate_limit_headers
from fakes.loopback import HERE, Exchange, Loopback, Request
from fakes.openai_dialect import OpenAIChat

SUM = re.compile(r"(-?\d+) ([+*-]) (-?\d+)")
MESSAGES = {
    400: "Unsupported value: 'temperature' does not support 7.",
    401: "Incorrect API key provided.",
    404: "no such model",
}


def solve(text: str) -> str:
    """The last sum of the text ('3 + 4'), else a number that depends on the text alone."""
    if found := SUM.findall(text):
        left, sign, right = found[-1]
        a, b = int(left), int(right)
        return f"ANSWER: {a + b if sign == '+' else a - b if sign == '-' else a * b}"
    return f"ANSWER: {crc32(text.encode()) % 1000}"


class FakeProvider:
    """Answers every dialect it was given at one address, with faults as configured."""

    def __init__(
        self,
        faults: Faults | None = None,
        *,
        reply: Callable[[Ask], Reply] | None = None,
        key: str | None = None,
        latency_seconds: float = 0.0,
        dialects: tuple[Dialect, ...] | None = None,
        port: int = 0,
        context: ssl.SSLContext | None = None,
        name: str = HERE,
    ) -> None:
        self.faults = faults or Faults()
        self.reply = reply or (lambda ask: Reply(solve(ask.text)))
        self.key = key
        self.latency_seconds = latency_seconds
        self.event_seconds = 0.0
        """How long it pauses after each event of a stream."""
        self.dialects: tuple[Dialect, ...] = dialects or (OpenAIChat(),)
        self.asked: Counter[str] = Counter()
        self.answered: Counter[str] = Counter()
        self.met: Counter[str] = Counter()
        self.in_flight = self.most_in_flight = 0
        self.arrivals: list[float] = []
        """When each request came, by the monotonic clock."""
        self.requests: list[Request] = []
        """The latest requests, at most a hundred."""
        self._server = Loopback(self._handle, port, context, name)

    @property
    def url(self) -> str:
        return self._server.url

    @property
    def port(self) -> int:
        return self._server.port

    def start(self) -> Self:
        self._server.start()
        return self

    def close(self) -> None:
        self._server.close()

    def wait(self) -> None:
        self._server.wait()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.close()

    def stats(self) -> dict[str, Any]:
        prompts = {text: {"asked": asked, "answered": self.answered[text]} for text, asked in self.asked.items()}
        return self.counts() | {"prompts": prompts}

    def counts(self) -> dict[str, Any]:
        return {
            "asked": sum(self.asked.values()),
            "answered": sum(self.answered.values()),
            "most_in_flight": self.most_in_flight,
            "in_flight": self.in_flight,
            "faults": dict(self.met),
        }

    async def _handle(self, exchange: Exchange) -> None:
        request = exchange.request
        if request.path == "/answered":  # asked often, while a test waits
            return await exchange.reply_json(200, sum(self.answered.values()))
        if request.path == "/counts":
            return await exchange.reply_json(200, self.counts())
        if request.path == "/stats":
            return await exchange.reply_json(200, self.stats())
        if request.path == "/reset":
            self.asked.clear(), self.answered.clear(), self.met.clear()
            return await exchange.reply_json(200, {})
        self.requests = [*self.requests[-99:], request]
        dialect = next((dialect for dialect in self.dialects if dialect.matches(request)), None)
        if dialect is None:
            return await exchange.reply(404, b"404 page not found", {"content-type": "text/plain"})
        exchange.headers = {"x-request-id": f"req_{len(self.requests)}", "request-id": f"req_{len(self.requests)}"}
        if self.key is not None and not dialect.is_authorised(request, self.key):
            status = getattr(dialect, "wrong_key_status", 401)
            return await exchange.reply_json(status, dialect.error(401, "Incorrect API key provided."))
        self.in_flight += 1
        self.arrivals.append(time.monotonic())
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        try:
            await self._answer(exchange, dialect, dialect.read(request))
        finally:
            self.in_flight -= 1
        return None

    async def _answer(self, exchange: Exchange, dialect: Dialect, ask: Ask) -> None:
        fault = self.faults.of(ask.text, self.asked[ask.text])
        self.asked[ask.text] += 1
        if self.latency_seconds:
            await asyncio.sleep(self.latency_seconds)
        if fault is not None:
            self.met[fault] += 1
        if fault is None or fault in ANSWER_FAULTS:
            reply = _altered(self.reply(ask), fault)
            await (
                _stream(exchange, dialect, ask, reply, fault, self.event_seconds)
                if ask.is_stream
                else _plain(exchange, dialect, ask, reply, fault)
            )
            if fault not in ("midstream-error", "midstream-drop", "midstream-end"):
                self.answered[ask.text] += 1
        elif fault in CONNECTION_FAULTS:
            body = orjson.dumps(dialect.plain(ask, self.reply(ask)))
            await break_connection(exchange, fault, body, self.faults.stall_seconds)
        elif fault in STATUS_FAULTS:
            status = STATUS_FAULTS[fault]
            await exchange.reply_json(status, dialect.error(status, MESSAGES.get(status, f"Fault {status}.")))
        else:
            headers = rate_limit_headers(fault, self.faults.retry_after)
            await exchange.reply_json(429, dialect.error(429, "Rate limit reached."), headers)


def _altered(reply: Reply, fault: str | None) -> Reply:
    if fault == "empty":
        return Reply("", output_tokens=0)
    if fault == "filtered":
        return Reply("", finish="filtered")
    if fault == "cut":
        return Reply(reply.text[: max(1, len(reply.text) // 2)], finish="length")
    return reply


async def _plain(exchange: Exchange, dialect: Dialect, ask: Ask, reply: Reply, fault: str | None) -> None:
    body = orjson.dumps(dialect.plain(ask, reply))
    if fault in ("midstream-error", "midstream-drop", "midstream-end"):
        await exchange.promise_more_and_close(body[: len(body) // 2])
    elif fault == "drip":
        await exchange.start_stream("application/json")
        for start in range(0, len(body), 3):
            await exchange.send_chunk(body[start : start + 3])
            await asyncio.sleep(0)
        await exchange.end_stream()
    else:
        await exchange.reply(200, body)


async def _stream(
    exchange: Exchange, dialect: Dialect, ask: Ask, reply: Reply, fault: str | None, event_seconds: float
) -> None:
    frames = dialect.frames(ask, reply)
    await exchange.start_stream()
    if fault in ("midstream-error", "midstream-drop", "midstream-end"):
        for frame in frames[: max(2, len(frames) // 2)]:
            await exchange.send_chunk(frame)
        if fault == "midstream-drop":
            return exchange.drop()
        if fault == "midstream-error":
            await exchange.send_chunk(
                dialect.error_frame(500, "The server had an error while processing your request.")
            )
        return await exchange.end_stream()
    whole = b"".join(frames)
    # Slowly: pieces that end in the middle of lines and of characters. Else one chunk per event, as providers send it.
    parts = [whole[start : start + 3] for start in range(0, len(whole), 3)] if fault == "drip" else frames
    for part in parts:
        await exchange.send_chunk(part)
        if fault == "drip" or event_seconds:
            await asyncio.sleep(event_seconds)
    await exchange.end_stream()
    return None


def _rate(text: str) -> tuple[str, float]:
    name, _, value = text.partition("=")
    return name, float(value)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--rate", type=_rate, action="append", default=[], help="fault=probability, repeatable")
    parser.add_argument("--max-faults", type=int, default=0, help="faults per prompt; 0: no bound")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--retry-after", default="1")
    parser.add_argument("--stall-seconds", type=float, default=3600.0)
    parser.add_argument("--latency-ms", type=float, default=0.0)
    parser.add_argument("--key")
    given = parser.parse_args()
    faults = Faults((), dict(given.rate), given.max_faults, given.seed, given.retry_after, given.stall_seconds)
    provider = FakeProvider(faults, key=given.key, latency_seconds=given.latency_ms / 1000, port=given.port).start()
    print(provider.port, flush=True)
    provider.wait()


if __name__ == "__main__":
    main()
