"""A hub on loopback: the endpoints that huggingface_hub asks for a data set, and the ways they fail."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, field
from typing import Self

from fakes.loopback import Exchange, Loopback

_API = re.compile(r"^/api/datasets/([^/]+/[^/]+)(?:/(revision|tree)/([^?]+))?$")
_FILE = re.compile(r"^/datasets/([^/]+/[^/]+)/resolve/([^/]+)/(.+)$")


def commit_of(branch: str) -> str:
    return hashlib.sha1(branch.encode()).hexdigest()


@dataclass
class HubServer:
    """Repositories as {name: {branch: {path: content}}}."""

    repositories: dict[str, dict[str, dict[str, bytes]]]
    token: str | None = None
    """The token that is asked for; None: everything is public."""
    cut: frozenset[str] = frozenset()
    """Files whose downloads end early."""
    asked: list[str] = field(default_factory=list)
    moved: dict[str, str] = field(default_factory=dict)
    """Branches that have come to be what another one is; their old commits are still there."""

    def __enter__(self) -> Self:
        self._server = Loopback(self._answer).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.close()

    @property
    def url(self) -> str:
        return self._server.url

    async def _answer(self, exchange: Exchange) -> None:
        request = exchange.request
        self.asked.append(f"{request.method} {request.path}")
        if self.token is not None and request.headers.get("authorization") != f"Bearer {self.token}":
            await self._refuse(exchange, 401, None, "Invalid username or password.")
        elif found := _API.match(request.path.replace("%2F", "/")):
            await self._api(exchange, found[1], found[2], found[3])
        elif found := _FILE.match(request.path):
            await self._file(exchange, found[1], found[2], found[3])
        else:
            await self._refuse(exchange, 404, None, "Not Found")

    async def _refuse(self, exchange: Exchange, status: int, code: str | None, message: str) -> None:
        headers = {"x-error-message": message, **({"x-error-code": code} if code else {})}
        if exchange.request.method == "HEAD":
            await exchange.reply(status, b"", headers)
        else:
            await exchange.reply_json(status, {"error": message}, headers)

    async def _api(self, exchange: Exchange, name: str, kind: str | None, revision: str | None) -> None:
        branches = self.repositories.get(name)
        if branches is None:
            await self._refuse(exchange, 404, "RepoNotFound", "Repository not found")
            return
        branch = self._branch(name, revision or "main")
        if branch is None:
            await self._refuse(exchange, 404, "RevisionNotFound", f"Invalid rev id: {revision}")
            return
        files = branches[branch]
        if kind == "tree":
            listed = [
                {"type": "file", "path": path, "size": len(body), "oid": hashlib.sha1(body).hexdigest()}
                for path, body in files.items()
            ]
            await exchange.reply_json(200, listed)
            return
        siblings = [{"rfilename": path} for path in files]
        await exchange.reply_json(200, {"id": name, "sha": commit_of(branch), "siblings": siblings, "tags": []})

    async def _file(self, exchange: Exchange, name: str, revision: str, path: str) -> None:
        branch = self._branch(name, revision.replace("%2F", "/"))
        body = self.repositories[name][branch].get(path) if branch else None
        if branch is None or body is None:
            await self._refuse(exchange, 404, "EntryNotFound", "Entry not found")
            return
        headers = {
            "etag": f'"{hashlib.sha1(body).hexdigest()}"',
            "x-repo-commit": commit_of(branch),
            "content-length": str(len(body)),
        }
        if exchange.request.method == "HEAD":
            await exchange.reply(200, b"", headers)
        elif path in self.cut:
            await exchange.reply(200, body[:-10], {**headers, "content-length": str(len(body) - 10)})
        else:
            await exchange.reply(200, body, headers)

    def _branch(self, name: str, revision: str) -> str | None:
        branches = self.repositories[name]
        if revision in branches:
            return self.moved.get(revision, revision)
        return next((branch for branch in branches if commit_of(branch) == revision), None)
