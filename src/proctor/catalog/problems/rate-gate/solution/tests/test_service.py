"""The service over HTTP, in this process, and its buckets."""

import http.client
import json
import threading
import unittest
from typing import Any, NamedTuple

from api import routes
from buckets import Gate, Take
from web import Server


class Answer(NamedTuple):
    """What came back."""

    status: int
    headers: http.client.HTTPMessage
    body: Any


class BucketTest(unittest.TestCase):
    """Buckets under a clock that stands still."""

    def setUp(self) -> None:
        """Make a gate with one limit."""
        self.now = 0.0
        self.gate = Gate(lambda: self.now)
        self.gate.put("x", 4, 0.5)

    def take(self, cost: int, at: float | None = None) -> bool:
        """Take some tokens."""
        [verdict] = self.gate.take([Take("x", "k", cost)], at)
        return verdict.is_allowed

    def test_refill(self) -> None:
        """Tokens come back evenly, up to the capacity."""
        self.assertTrue(self.take(4))
        self.now = 1.9
        self.assertFalse(self.take(1))
        self.now = 2.0
        self.assertTrue(self.take(1))
        self.now = 1000.0
        self.assertEqual(self.gate.look("x", "k", None), 4)

    def test_time_does_not_run_back(self) -> None:
        """An earlier event counts as of the latest."""
        self.assertTrue(self.take(4, at=10))
        self.assertFalse(self.take(1, at=0))
        self.assertFalse(self.take(1, at=10))
        self.assertTrue(self.take(1, at=12))

    def test_batch(self) -> None:
        """All or nothing."""
        takes = [Take("x", "a", 3), Take("x", "b", 3)]
        self.assertTrue(all(one.is_allowed for one in self.gate.take(takes, 0)))
        self.gate.forget("x", "a")
        verdicts = self.gate.take(takes, 0)
        self.assertEqual([one.is_allowed for one in verdicts], [True, False])
        self.assertEqual(self.gate.look("x", "a", 0), 4)


class ServiceTest(unittest.TestCase):
    """Every path, well and badly used."""

    def setUp(self) -> None:
        """Start a service."""
        server = Server(0, routes(Gate(lambda: 0.0)))
        self.addCleanup(server.server_close)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.shutdown)
        self.port = server.server_address[1]
        self.ask("PUT", "/limits/x", {"capacity": 4, "per_second": 0.4})

    def ask(self, method: str, path: str, body: Any = None) -> Answer:
        """Send one request."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
        headers = {"content-type": "application/json"}
        if body is not None and not isinstance(body, bytes):
            body = json.dumps(body).encode()
        try:
            connection.request(method, path, body, headers)
            reply = connection.getresponse()
            content = reply.read()
            found = json.loads(content) if content else None
            return Answer(reply.status, reply.headers, found)
        finally:
            connection.close()

    def test_takes(self) -> None:
        """A take, a refusal, a look, a new start."""
        allowed = self.ask("POST", "/limits/x/take", {"key": "a/b", "cost": 4})
        self.assertEqual(allowed.body, {"allowed": True, "remaining": 0})
        refused = self.ask("POST", "/limits/x/take", {"key": "a/b"})
        self.assertEqual((refused.status, refused.headers["Retry-After"]), (429, "3"))
        path = "/limits/x/keys/a%2Fb"
        self.assertEqual(self.ask("GET", f"{path}?at=2.5").body, {"remaining": 1})
        self.assertEqual(self.ask("DELETE", path).status, 204)
        self.assertEqual(self.ask("GET", path).body, {"remaining": 4})

    def test_batches(self) -> None:
        """A batch is refused as a whole."""
        takes = [{"limit": "x", "key": "a", "cost": 3}, {"limit": "x", "key": "b"}]
        self.assertEqual(self.ask("POST", "/take", {"takes": takes}).status, 200)
        refused = self.ask("POST", "/take", {"takes": takes})
        self.assertEqual(refused.body["refused"], [0])

    def test_mistakes(self) -> None:
        """Each mistake has its status."""
        self.assertEqual(self.ask("GET", "/limits/y").status, 404)
        self.assertEqual(self.ask("GET", "/y").status, 404)
        self.assertEqual(self.ask("POST", "/limits/x").status, 405)
        self.assertEqual(self.ask("PUT", "/limits/x", b"{").status, 400)
        self.assertEqual(self.ask("PUT", "/limits/x", []).status, 400)
        self.assertEqual(self.ask("PUT", "/limits/x", {"capacity": 0}).status, 422)
        self.assertEqual(self.ask("POST", "/take", {"takes": []}).status, 422)
        self.assertEqual(self.ask("GET", "/limits/x/keys/a?at=x").status, 422)
        costly = {"key": "a", "cost": 5}
        self.assertEqual(self.ask("POST", "/limits/x/take", costly).status, 422)
