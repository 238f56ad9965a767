"""The desk's paths, and what is valid in a request."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from desk import Desk, MissingError, TokenError
from web import HttpError, Reply, Request, Route

QUEUE = re.compile(r"[a-z0-9-]{1,40}")
LONGEST_KEY = 100


def _number(
    body: dict[str, Any], name: str, low: float, high: float, other: Any
) -> Any:
    """Give a number of the body; `other` if it is absent, unless that is None."""
    value = body.get(name, other)
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not low <= value <= high:
        raise HttpError(422, f"'{name}' is a number from {low} to {high}")
    return value


def _integer(body: dict[str, Any], name: str, low: int, high: int, other: int) -> int:
    value = _number(body, name, low, high, other)
    if not isinstance(value, int):
        raise HttpError(422, f"'{name}' is an integer")
    return value


def _text(body: dict[str, Any], name: str, longest: int) -> str:
    value = body.get(name)
    if not isinstance(value, str) or not 1 <= len(value) <= longest:
        raise HttpError(422, f"'{name}' is a text of 1 to {longest} characters")
    return value


def _token(body: dict[str, Any]) -> str:
    return _text(body, "token", 1000)


class Api:
    """Answers requests from a desk."""

    def __init__(self, desk: Desk) -> None:
        """Serve the jobs of this desk."""
        self._desk = desk

    def health(self, _request: Request) -> Reply:
        """Say that the service is there."""
        return Reply(body={"status": "ok"})

    def _queue(self, request: Request) -> str:
        queue = request.names["queue"]
        if not QUEUE.fullmatch(queue):
            raise HttpError(422, "this cannot be the name of a queue")
        return queue

    def add(self, request: Request) -> Reply:
        """Take a job in."""
        body = request.json()
        if "payload" not in body:
            raise HttpError(422, "'payload' is missing")
        job, is_new = self._desk.add(
            self._queue(request),
            delay=_number(body, "delay", 0, 3600, 0),
            key=_text(body, "key", LONGEST_KEY) if "key" in body else None,
            payload=body["payload"],
            priority=_integer(body, "priority", -100, 100, 0),
            max_attempts=_integer(body, "max_attempts", 1, 100, 3),
        )
        return Reply(201 if is_new else 200, {"id": job.id})

    def lease(self, request: Request) -> Reply:
        """Hand a job out."""
        body = request.json()
        seconds = _number(body, "seconds", 0.1, 3600, None)
        wait = _number(body, "wait", 0, 20, 0)
        job = self._desk.lease(self._queue(request), seconds, wait)
        return Reply(204) if job is None else Reply(body=job)

    def done(self, request: Request) -> Reply:
        """Take a job back that succeeded."""
        self._desk.finish(request.names["id"], _token(request.json()))
        return Reply(204)

    def fail(self, request: Request) -> Reply:
        """Take a job back that failed."""
        body = request.json()
        delay = _number(body, "delay", 0, 3600, 0)
        self._desk.fail(request.names["id"], _token(body), delay)
        return Reply(204)

    def extend(self, request: Request) -> Reply:
        """Give a holder other time."""
        body = request.json()
        seconds = _number(body, "seconds", 0.1, 3600, None)
        self._desk.extend(request.names["id"], _token(body), seconds)
        return Reply(204)

    def revive(self, request: Request) -> Reply:
        """Make a dead job wait again."""
        self._desk.revive(request.names["id"])
        return Reply(204)

    def show(self, request: Request) -> Reply:
        """Show a job."""
        return Reply(body=self._desk.show(request.names["id"]))

    def counts(self, request: Request) -> Reply:
        """Count the jobs of a queue."""
        return Reply(body=self._desk.counts(self._queue(request)))


def _checked(handler: Callable[[Request], Reply]) -> Callable[[Request], Reply]:
    """Turn the errors of the desk into answers."""

    def handle(request: Request) -> Reply:
        try:
            return handler(request)
        except MissingError:
            raise HttpError(404, "there is no such job") from None
        except TokenError:
            raise HttpError(409, "the job is not in the state for this") from None

    return handle


def routes(desk: Desk) -> list[Route]:
    """Give all paths of the service."""
    api = Api(desk)
    job, queue = "/jobs/(?P<id>[^/]+)", "/queues/(?P<queue>[^/]+)"
    table: dict[str, dict[str, Callable[[Request], Reply]]] = {
        "/health": {"GET": api.health},
        f"{queue}": {"GET": api.counts},
        f"{queue}/jobs": {"POST": api.add},
        f"{queue}/lease": {"POST": api.lease},
        f"{job}": {"GET": api.show},
        f"{job}/done": {"POST": api.done},
        f"{job}/fail": {"POST": api.fail},
        f"{job}/extend": {"POST": api.extend},
        f"{job}/revive": {"POST": api.revive},
    }
    return [
        Route(re.compile(path), {m: _checked(h) for m, h in methods.items()})
        for path, methods in table.items()
    ]
