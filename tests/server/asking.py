"""Asks of the playground, and their streams as a client reads them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.client import HTTPResponse
from typing import Any

import orjson

from server.serving import Server

PLAYGROUND = "/api/v1/playground"


@dataclass(frozen=True)
class Event:
    id: str
    name: str
    data: Any


@dataclass
class Heard:
    """What a client has of each answer."""

    texts: defaultdict[str, str] = field(default_factory=lambda: defaultdict(str))
    started: list[str] = field(default_factory=list)
    ended: dict[str, Event] = field(default_factory=dict)
    order: list[tuple[str, str]] = field(default_factory=list)
    last: str = ""
    has_end: bool = False

    def take(self, event: Event) -> None:
        self.last = event.id
        if event.name == "end":
            self.has_end = True
            return
        answer = event.data["answer"]
        self.order.append((event.name, answer))
        assert answer not in self.ended, "nothing comes after the end of an answer"
        if event.name == "start":
            self.started.append(answer)
        elif event.name == "delta":
            assert answer in self.started
            self.texts[answer] += event.data.get("text", "")
        else:
            self.ended[answer] = event
            self.texts[answer] = event.data.get("text", self.texts[answer])


def events_of(response: HTTPResponse) -> Iterator[Event]:
    """The events as they come, until the stream ends."""
    fields: dict[str, str] = {}
    for line in response:
        text = line.decode().rstrip("\n")
        if not text:
            if "event" in fields:
                yield Event(fields["id"], fields["event"], orjson.loads(fields["data"]))
            fields = {}
            continue
        name, _, value = text.partition(": ")
        fields[name] = value


@contextmanager
def followed(server: Server, ask_id: str, after: str = "") -> Iterator[Iterator[Event]]:
    headers = {"Last-Event-ID": after} if after else {}
    connection, response = server.open("GET", f"{PLAYGROUND}/{ask_id}/events", headers=headers)
    try:
        assert response.status == 200, response.read()
        yield events_of(response)
    finally:
        connection.close()


def heard(server: Server, ask_id: str, after: str = "", so_far: Heard | None = None) -> Heard:
    """Everything until the end of the stream."""
    found = so_far or Heard()
    with followed(server, ask_id, after) as events:
        for event in events:
            found.take(event)
    return found


def begin(server: Server, *models: str, **fields: Any) -> Any:
    """The ask as it is when it was just taken."""
    answer = server.post(PLAYGROUND, {"models": list(models), "prompt": "What is 3 + 4?", **fields})
    assert answer.status == 202, answer.body
    return answer.json


def finished(server: Server, *models: str, **fields: Any) -> Any:
    """The ask once every answer has ended."""
    ask_id = begin(server, *models, **fields)["ask_id"]
    assert heard(server, ask_id).has_end
    return read(server, ask_id)


def read(server: Server, ask_id: str) -> Any:
    return server.get(f"{PLAYGROUND}/{ask_id}")
