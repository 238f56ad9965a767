"""The service over HTTP, in this process."""

import http.client
import json
import tempfile
import threading
import unittest
from pathlib import Path
from typing import Any, NamedTuple

from api import routes
from shelf import Shelf
from web import Server


class Answer(NamedTuple):
    """What came back."""

    status: int
    headers: http.client.HTTPMessage
    body: Any


class ServiceTest(unittest.TestCase):
    """Every path, well and badly used."""

    def setUp(self) -> None:
        """Start a service with an empty shelf."""
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.journal = Path(folder.name) / "links.jsonl"
        self.start()

    def start(self) -> None:
        """Serve the journal on some free port."""
        shelf = Shelf(self.journal)
        self.addCleanup(shelf.close)
        server = Server(0, routes(shelf))
        self.addCleanup(server.server_close)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.shutdown)
        self.port = server.server_address[1]

    def ask(self, method: str, path: str, body: Any = None, **headers: str) -> Answer:
        """Send one request."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        if body is not None:
            named.setdefault("content-type", "application/json")
            body = body if isinstance(body, bytes) else json.dumps(body).encode()
        try:
            connection.request(method, path, body, named)
            reply = connection.getresponse()
            content = reply.read()
            found = json.loads(content) if content else None
            return Answer(reply.status, reply.headers, found)
        finally:
            connection.close()

    def make(self, **members: Any) -> Answer:
        """Post a link."""
        return self.ask("POST", "/links", {"url": "https://example.org/", **members})

    def test_life_of_a_link(self) -> None:
        """Create, read, change, visit, delete."""
        made = self.make(code="docs")
        self.assertEqual(made.status, 201)
        tag = made.headers["ETag"]
        self.assertEqual(self.ask("GET", "/links/docs", if_none_match=tag).status, 304)
        new = {"url": "https://example.org/2", "title": "Two"}
        self.assertEqual(self.ask("PUT", "/links/docs", new).status, 428)
        changed = self.ask("PUT", "/links/docs", new, if_match=f'"x", {tag}')
        self.assertEqual(changed.body, {"code": "docs", **new})
        old = self.ask("PUT", "/links/docs", new, if_match=tag)
        self.assertEqual(old.status, 412)
        visit = self.ask("GET", "/go/docs")
        self.assertEqual((visit.status, visit.headers["Location"]), (302, new["url"]))
        self.assertEqual(self.ask("GET", "/links/docs/hits").body, {"hits": 1})
        self.assertEqual(self.ask("DELETE", "/links/docs", if_match=tag).status, 412)
        self.assertEqual(self.ask("DELETE", "/links/docs").status, 204)
        self.assertEqual(self.ask("GET", "/links/docs").status, 404)

    def test_mistakes(self) -> None:
        """Each mistake has its status."""
        wrong = self.make(url="x", title=1, code="A", more=1)
        self.assertEqual(set(wrong.body["errors"]), {"url", "title", "code", "more"})
        self.make(code="docs")
        self.assertEqual(self.make(code="docs").status, 409)
        self.assertEqual(self.ask("POST", "/links", b"[").status, 400)
        self.assertEqual(self.ask("POST", "/links", []).status, 400)
        plain = {"content_type": "text/plain"}
        self.assertEqual(self.ask("POST", "/links", b"{}", **plain).status, 415)
        self.assertEqual(self.ask("GET", "/links?limit=0").status, 400)
        refused = self.ask("DELETE", "/links")
        self.assertEqual((refused.status, refused.headers["Allow"]), (405, "GET, POST"))
        self.assertEqual(self.ask("GET", "/x").status, 404)
        self.assertEqual(self.ask("HEAD", "/health").status, 200)

    def test_pages(self) -> None:
        """Pages follow each other."""
        for code in ("ccc", "aaa", "bbb"):
            self.make(code=code)
        first = self.ask("GET", "/links?limit=2").body
        self.assertEqual(first["next"], "bbb")
        second = self.ask("GET", "/links?limit=2&after=bbb").body
        self.assertEqual([link["code"] for link in second["links"]], ["ccc"])
        self.assertIsNone(second["next"])

    def test_restart(self) -> None:
        """Links and versions survive."""
        tag = self.make(code="stays").headers["ETag"]
        self.make(code="goes")
        self.ask("DELETE", "/links/goes")
        self.start()
        self.assertEqual(self.ask("GET", "/links/stays").headers["ETag"], tag)
        self.assertEqual(self.ask("GET", "/links/goes").status, 404)
