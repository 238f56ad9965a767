"""What a provider can do wrong, by name, and which request meets which fault."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from hashlib import blake2b

from fakes.loopback import Exchange

STATUS_FAULTS = {
    "400": 400,
    "401": 401,
    "403": 403,
    "404": 404,
    "408": 408,
    "409": 409,
    "500": 500,
    "503": 503,
    "529": 529,
}
RATE_LIMITS = ("429", "429-bare", "429-date", "429-ms", "429-reset")
CONNECTION_FAULTS = ("drop", "truncate", "stall", "garbage", "html", "not-json")
ANSWER_FAULTS = ("midstream-error", "midstream-drop", "midstream-end", "drip", "filtered", "cut", "empty")
KNOWN = (*STATUS_FAULTS, *RATE_LIMITS, *CONNECTION_FAULTS, *ANSWER_FAULTS)


@dataclass
class Faults:
    """`script` names the fault of each attempt at one prompt ('ok': none), the last one repeating;
    `rates` gives probabilities per attempt, fixed by seed, prompt and attempt number, never by arrival order."""

    script: tuple[str, ...] = ()
    rates: dict[str, float] = field(default_factory=dict)
    max_per_prompt: int = 0
    """How many attempts at one prompt may meet a random fault; 0: no bound."""
    seed: int = 0
    retry_after: str = "1"
    stall_seconds: float = 3600.0

    def __post_init__(self) -> None:
        for name in (*self.script, *self.rates):
            if name not in (*KNOWN, "ok"):
                raise ValueError(f"no fault called {name!r}; known: {', '.join(KNOWN)}")

    def of(self, prompt: str, attempt: int) -> str | None:
        """The fault of an attempt at a prompt, counted from 0."""
        if self.script:
            name = self.script[min(attempt, len(self.script) - 1)]
            return None if name == "ok" else name
        if self.max_per_prompt and attempt >= self.max_per_prompt:
            return None
        seed = f"{self.seed}\0{prompt}\0{attempt}".encode()
        draw = int.from_bytes(blake2b(seed, digest_size=8).digest()) / 2**64
        for name, rate in self.rates.items():
            if draw < rate:
                return name
            draw -= rate
        return None


def rate_limit_headers(name: str, retry_after: str) -> dict[str, str]:
    if name == "429":
        return {"retry-after": retry_after}
    if name == "429-date":
        return {"retry-after": format_datetime(datetime.now(UTC) + timedelta(seconds=30), usegmt=True)}
    if name == "429-ms":
        return {"retry-after-ms": "250", "retry-after": "9"}
    if name == "429-reset":
        return {"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "1m2.5s"}
    return {}


async def break_connection(exchange: Exchange, name: str, whole_body: bytes, stall_seconds: float) -> None:
    """Misbehave below the level of any provider's dialect."""
    if name == "drop":
        exchange.drop()
    elif name == "truncate":
        await exchange.promise_more_and_close(whole_body[: len(whole_body) // 2])
    elif name == "not-json":
        await exchange.reply(200, whole_body[: len(whole_body) // 2])
    elif name == "html":
        await exchange.reply(200, b"<html><body>Bad gateway</body></html>", {"content-type": "text/html"})
    elif name == "garbage":
        exchange.writer.write(b"\x00\x01 this is not HTTP\r\n\r\n")
        await exchange.writer.drain()
        exchange.drop()
    elif name == "stall":
        await asyncio.sleep(stall_seconds)
        exchange.drop()
