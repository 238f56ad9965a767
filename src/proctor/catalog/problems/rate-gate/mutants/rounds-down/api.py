"""The gate's paths, and what is valid in a request."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

from buckets import CostError, Gate, Take, UnknownLimitError
from web import HttpError, Reply, Request, Route

NAME = re.compile(r"[a-z0-9-]{1,40}")
LARGEST = 1_000_000
LONGEST_KEY = 100
MOST_TAKES = 10


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_integer(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _need(is_valid: bool, what: str) -> None:
    if not is_valid:
        raise HttpError(422, what)


def read_time(value: Any) -> float | None:
    """Give the time of an event, None if it is not told."""
    is_time = value is None or _is_number(value) and 0 <= value < math.inf
    _need(is_time, "'at' is a number of seconds of at least 0")
    return value if value is None else float(value)


def read_take(name: Any, body: dict[str, Any]) -> Take:
    """Give the take that is asked for."""
    key, cost = body.get("key"), body.get("cost", 1)
    _need(isinstance(name, str), "'limit' is the name of a limit")
    is_key = isinstance(key, str) and 1 <= len(key) <= LONGEST_KEY
    _need(is_key, f"'key' is a text of 1 to {LONGEST_KEY} characters")
    _need(_is_integer(cost) and cost >= 1, "'cost' is an integer of at least 1")
    return Take(name, str(key), cost)


def read_takes(body: dict[str, Any]) -> list[Take]:
    """Give the takes of a batch."""
    takes = body.get("takes")
    if not isinstance(takes, list) or not 1 <= len(takes) <= MOST_TAKES:
        raise HttpError(422, f"'takes' is a list of 1 to {MOST_TAKES} takes")
    _need(all(isinstance(one, dict) for one in takes), "a take is an object")
    found = [read_take(one.get("limit"), one) for one in takes]
    buckets = {(take.limit, take.key) for take in found}
    _need(len(buckets) == len(found), "a limit and key occur twice")
    return found


def retry_header(seconds: float) -> dict[str, str]:
    """Give the header that tells when to come back."""
    # What is within a thousandth of a whole second is that second.
    return {"Retry-After": str(max(1, math.floor(seconds + 0.001)))}


class Api:
    """Answers requests from a gate."""

    def __init__(self, gate: Gate) -> None:
        """Serve the limits of this gate."""
        self._gate = gate

    def health(self, _request: Request) -> Reply:
        """Say that the service is there."""
        return Reply(body={"status": "ok"})

    def put(self, request: Request) -> Reply:
        """Set a limit."""
        body = request.json()
        name = request.names["name"]
        _need(NAME.fullmatch(name) is not None, "this cannot be the name of a limit")
        capacity, rate = body.get("capacity"), body.get("per_second")
        is_capacity = _is_integer(capacity) and 1 <= int(capacity or 0) <= LARGEST
        _need(is_capacity, f"'capacity' is an integer from 1 to {LARGEST}")
        is_rate = _is_number(rate) and 0 < float(rate or 0) <= LARGEST
        _need(is_rate, f"'per_second' is above 0 and at most {LARGEST}")
        self._gate.put(name, int(capacity or 0), rate or 0)
        return self.get(request)

    def get(self, request: Request) -> Reply:
        """Show a limit."""
        name = request.names["name"]
        capacity, rate = self._gate.get(name)
        return Reply(body={"name": name, "capacity": capacity, "per_second": rate})

    def take(self, request: Request) -> Reply:
        """Take from one bucket."""
        body = request.json()
        take = read_take(request.names["name"], body)
        [verdict] = self._gate.take([take], read_time(body.get("at")))
        shown = {"allowed": verdict.is_allowed, "remaining": verdict.remaining}
        if verdict.is_allowed:
            return Reply(body=shown)
        wait = verdict.retry_after
        return Reply(429, {**shown, "retry_after": wait}, retry_header(wait))

    def batch(self, request: Request) -> Reply:
        """Take from several buckets, or from none."""
        body = request.json()
        verdicts = self._gate.take(read_takes(body), read_time(body.get("at")))
        refused = [n for n, one in enumerate(verdicts) if not one.is_allowed]
        if not refused:
            return Reply(body={"allowed": True})
        wait = max(verdicts[n].retry_after for n in refused)
        shown = {"allowed": False, "refused": refused, "retry_after": wait}
        return Reply(429, shown, retry_header(wait))

    def look(self, request: Request) -> Reply:
        """Tell what remains."""
        at = request.query.get("at")
        try:
            time = read_time(None if at is None else float(at))
        except ValueError:
            raise HttpError(422, "'at' is a number of seconds") from None
        remaining = self._gate.look(request.names["name"], request.names["key"], time)
        return Reply(body={"remaining": remaining})

    def forget(self, request: Request) -> Reply:
        """Make a key new."""
        self._gate.forget(request.names["name"], request.names["key"])
        return Reply(204)


def _checked(handler: Callable[[Request], Reply]) -> Callable[[Request], Reply]:
    """Turn the errors of the gate into answers."""

    def handle(request: Request) -> Reply:
        try:
            return handler(request)
        except UnknownLimitError:
            raise HttpError(404, "there is no such limit") from None
        except CostError:
            raise HttpError(422, "'cost' is above the limit's capacity") from None

    return handle


def routes(gate: Gate) -> list[Route]:
    """Give all paths of the service."""
    api = Api(gate)
    table: dict[str, dict[str, Callable[[Request], Reply]]] = {
        "/health": {"GET": api.health},
        "/take": {"POST": api.batch},
        "/limits/(?P<name>[^/]+)": {"GET": api.get, "PUT": api.put},
        "/limits/(?P<name>[^/]+)/take": {"POST": api.take},
        "/limits/(?P<name>[^/]+)/keys/(?P<key>[^/]+)": {
            "GET": api.look,
            "DELETE": api.forget,
        },
    }
    return [
        Route(re.compile(path), {m: _checked(h) for m, h in methods.items()})
        for path, methods in table.items()
    ]
