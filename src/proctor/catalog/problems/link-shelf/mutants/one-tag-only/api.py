"""The shelf's paths, and what is valid in a request."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from shelf import (
    Condition,
    ConditionError,
    Link,
    MissingError,
    Shelf,
    TakenError,
    always,
)
from web import HttpError, Reply, Request, Route

URL = re.compile(r"https?://[!-.0-~][!-~]*")
LONGEST_URL = 2000
LONGEST_TITLE = 100
CODE = re.compile(r"[a-z0-9-]{3,32}")
LIMIT = re.compile(r"[1-9][0-9]?|100")
DEFAULT_LIMIT = "20"


def _url_error(value: Any) -> str | None:
    is_url = isinstance(value, str) and URL.fullmatch(value)
    if not is_url or len(value) > LONGEST_URL:
        return f"an http or https URL of at most {LONGEST_URL} characters is needed"
    return None


def _title_error(value: Any) -> str | None:
    if not isinstance(value, str) or len(value) > LONGEST_TITLE:
        return f"has to be a text of at most {LONGEST_TITLE} characters"
    return None


def _code_error(value: Any) -> str | None:
    if not isinstance(value, str) or not CODE.fullmatch(value):
        return "has to be 3 to 32 small letters, digits and hyphens"
    return None


MEMBERS: dict[str, Callable[[Any], str | None]] = {
    "url": _url_error,
    "title": _title_error,
    "code": _code_error,
}


def read_members(body: dict[str, Any], *allowed: str) -> dict[str, Any]:
    """Give the members of a link; raises HttpError that names the invalid ones."""
    given = {"url": None, "title": "", **body}
    errors = {
        name: MEMBERS[name](value) if name in allowed else "there is no such member"
        for name, value in given.items()
    }
    invalid = {name: error for name, error in errors.items() if error}
    if invalid:
        raise HttpError(422, "some members are invalid", errors=invalid)
    return given


def condition_of(header: str) -> Condition:
    """Give the condition of an If-Match or If-None-Match header."""
    if header.strip() == "*":
        return always
    tags = {tag.strip() for tag in header.split(",")}
    return tags.__contains__


def show(link: Link, status: int = 200, **headers: str) -> Reply:
    """Answer with a link and its version."""
    body = {"code": link.code, "url": link.url, "title": link.title}
    return Reply(status, body, {"ETag": link.tag, **headers})


class Api:
    """Answers requests from a shelf."""

    def __init__(self, shelf: Shelf) -> None:
        """Serve the links of this shelf."""
        self._shelf = shelf

    def health(self, _request: Request) -> Reply:
        """Say that the service is there."""
        return Reply(body={"status": "ok"})

    def create(self, request: Request) -> Reply:
        """Keep a new link."""
        given = read_members(request.json(), "url", "title", "code")
        try:
            link = self._shelf.add(given.get("code"), given["url"], given["title"])
        except TakenError:
            raise HttpError(409, "the code is taken") from None
        return show(link, 201, Location=f"/links/{link.code}")

    def read(self, request: Request) -> Reply:
        """Show a link, or say that it has not changed."""
        link = self._shelf.get(request.names["code"])
        known = request.headers.get("If-None-Match")
        if known == link.tag:
            return Reply(304, headers={"ETag": link.tag})
        return show(link)

    def replace(self, request: Request) -> Reply:
        """Change a link of the version the client knows."""
        condition = request.headers.get("If-Match")
        if condition is None:
            raise HttpError(428, "If-Match is needed")
        given = read_members(request.json(), "url", "title")
        link = self._shelf.change(
            request.names["code"],
            given["url"],
            given["title"],
            condition_of(condition),
        )
        return show(link)

    def delete(self, request: Request) -> Reply:
        """Forget a link."""
        condition = condition_of(request.headers.get("If-Match", "*"))
        self._shelf.delete(request.names["code"], condition)
        return Reply(204)

    def page(self, request: Request) -> Reply:
        """List links in order of their codes."""
        limit = request.query.get("limit", DEFAULT_LIMIT)
        if not LIMIT.fullmatch(limit):
            raise HttpError(400, "the limit is an integer from 1 to 100")
        links, has_more = self._shelf.page(request.query.get("after", ""), int(limit))
        shown = [show(link).body for link in links]
        last = links[-1].code if has_more else None
        return Reply(body={"links": shown, "next": last})

    def go(self, request: Request) -> Reply:
        """Send a visitor on."""
        link = self._shelf.visit(request.names["code"])
        return Reply(302, {"url": link.url}, {"Location": link.url})

    def hits(self, request: Request) -> Reply:
        """Say how many visitors were sent on."""
        return Reply(body={"hits": self._shelf.hits(request.names["code"])})


def _checked(handler: Callable[[Request], Reply]) -> Callable[[Request], Reply]:
    """Turn the errors of the shelf into answers."""

    def handle(request: Request) -> Reply:
        try:
            return handler(request)
        except MissingError:
            raise HttpError(404, "there is no such link") from None
        except ConditionError:
            raise HttpError(412, "the link has changed") from None

    return handle


def routes(shelf: Shelf) -> list[Route]:
    """Give all paths of the service."""
    api = Api(shelf)
    table: dict[str, dict[str, Callable[[Request], Reply]]] = {
        "/health": {"GET": api.health},
        "/links": {"GET": api.page, "POST": api.create},
        "/links/(?P<code>[^/]+)": {
            "GET": api.read,
            "PUT": api.replace,
            "DELETE": api.delete,
        },
        "/links/(?P<code>[^/]+)/hits": {"GET": api.hits},
        "/go/(?P<code>[^/]+)": {"GET": api.go},
    }
    return [
        Route(re.compile(path), {m: _checked(h) for m, h in methods.items()})
        for path, methods in table.items()
    ]
