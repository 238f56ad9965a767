"""The desk under a clock of its own, and the service over HTTP."""

import http.client
import json
import tempfile
import threading
import time
import unittest
from collections.abc import Callable
from pathlib import Path
from typing import Any

from api import routes
from desk import Desk, TokenError
from journal import Journal
from web import Server


class InFolder(unittest.TestCase):
    """Each test has a folder for its journal."""

    def setUp(self) -> None:
        """Make the folder."""
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = Path(folder.name) / "jobs.jsonl"

    def open(self, clock: Callable[[], float]) -> Desk:
        """Take up the jobs of the journal."""
        journal = Journal(self.path)
        self.addCleanup(journal.close)
        return Desk(journal, clock)


class DeskTest(InFolder):
    """States, order and time."""

    def setUp(self) -> None:
        """Make a desk whose clock stands still."""
        super().setUp()
        self.now = 100.0
        self.desk = self.open(lambda: self.now)

    def add(self, payload: Any = None, **members: Any) -> str:
        """Post a job."""
        given = {"delay": 0, "key": None, "priority": 0, "max_attempts": 2, **members}
        job, _ = self.desk.add("q", payload=payload, **given)
        return job.id

    def take(self, seconds: float = 10) -> dict[str, Any]:
        """Lease a job that has to be there."""
        job = self.desk.lease("q", seconds, 0)
        self.assertIsNotNone(job)
        return job or {}

    def test_order(self) -> None:
        """Priority, then age, also after a failure."""
        for payload, priority in (("a", 0), ("b", 1), ("c", 0)):
            self.add(payload, priority=priority)
        self.assertEqual(self.take()["payload"], "b")
        first = self.take()
        self.desk.fail(first["id"], first["token"], 0)
        again = self.take()
        self.assertEqual((again["payload"], again["attempt"]), ("a", 2))

    def test_lease_runs_out(self) -> None:
        """The job comes again, the old token is worthless, then it is dead."""
        number = self.add()
        old = self.take(seconds=5)
        self.desk.extend(number, old["token"], 20)
        self.now += 19.9
        self.assertIsNone(self.desk.lease("q", 1, 0))
        self.now += 0.2
        new = self.take(seconds=5)
        with self.assertRaises(TokenError):
            self.desk.finish(number, old["token"])
        self.now += 6
        self.assertEqual(self.desk.show(number)["state"], "dead")
        with self.assertRaises(TokenError):
            self.desk.finish(number, new["token"])
        self.desk.revive(number)
        self.assertEqual(self.take()["attempt"], 1)
        with self.assertRaises(TokenError):
            self.desk.revive(number)

    def test_delay(self) -> None:
        """A delayed job cannot be leased yet."""
        self.add(delay=3)
        self.assertIsNone(self.desk.lease("q", 1, 0))
        self.now += 3
        self.take()

    def test_keys(self) -> None:
        """A key stands for one job."""
        self.assertEqual(self.add(key="k"), self.add(key="k"))

    def test_restart(self) -> None:
        """Everything is there again, half a record is not."""
        done, held, waiting = (self.add(key=key) for key in "abc")
        first, second = self.take(), self.take()
        self.desk.finish(done, first["token"])
        with self.path.open("ab") as file:
            file.write(b'{"id": "half')
        self.desk = self.open(lambda: self.now)
        states = [self.desk.show(one)["state"] for one in (done, held, waiting)]
        self.assertEqual(states, ["done", "leased", "waiting"])
        self.assertEqual(self.add(key="c"), waiting)
        self.desk.finish(held, second["token"])
        expected = {"waiting": 1, "leased": 0, "done": 2, "dead": 0}
        self.assertEqual(self.desk.counts("q"), expected)


class ServiceTest(InFolder):
    """Every path, well and badly used."""

    def setUp(self) -> None:
        """Start a service."""
        super().setUp()
        server = Server(0, routes(self.open(time.time)))
        self.addCleanup(server.server_close)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.shutdown)
        self.port = server.server_address[1]

    def ask(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        """Send one request."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        if body is not None and not isinstance(body, bytes):
            body = json.dumps(body).encode()
        try:
            connection.request(method, path, body)
            reply = connection.getresponse()
            content = reply.read()
            return reply.status, json.loads(content) if content else None
        finally:
            connection.close()

    def test_life_of_a_job(self) -> None:
        """Post, lease, extend, fail, lease, done."""
        job = {"payload": [1], "key": "k", "delay": 0.2}
        status, made = self.ask("POST", "/queues/q/jobs", job)
        self.assertEqual(
            (status, self.ask("POST", "/queues/q/jobs", job)[0]), (201, 200)
        )
        path = f"/jobs/{made['id']}"
        for word, members in (("fail", {"delay": 0.2}), ("done", {})):
            ask = {"seconds": 30, "wait": 10}
            status, held = self.ask("POST", "/queues/q/lease", ask)
            self.assertEqual((status, held["payload"]), (200, [1]))
            more = {"token": held["token"], "seconds": 60}
            self.assertEqual(self.ask("POST", f"{path}/extend", more)[0], 204)
            report = {"token": held["token"], **members}
            self.assertEqual(self.ask("POST", f"{path}/{word}", report)[0], 204)
            self.assertEqual(self.ask("POST", f"{path}/done", report)[0], 409)
        self.assertEqual(self.ask("GET", path)[1]["state"], "done")
        self.assertEqual(self.ask("GET", "/queues/q")[1]["done"], 1)
        self.assertEqual(self.ask("POST", f"{path}/revive", {})[0], 409)

    def test_mistakes(self) -> None:
        """Each mistake has its status."""
        for path, body, status in (
            ("/queues/q/jobs", {}, 422),
            ("/queues/Q/jobs", {"payload": 1}, 422),
            ("/queues/q/jobs", {"payload": 1, "priority": 1.5}, 422),
            ("/queues/q/jobs", {"payload": 1, "key": ""}, 422),
            ("/queues/q/jobs", [], 400),
            ("/queues/q/jobs", b"{", 400),
            ("/queues/q/lease", {}, 422),
            ("/queues/q/lease", {"seconds": 1, "wait": 0.2}, 204),
            ("/jobs/x/done", {"token": str(0)}, 404),
            ("/jobs/x/revive", {}, 404),
            ("/jobs/x", {}, 405),
            ("/x", {}, 404),
        ):
            self.assertEqual(self.ask("POST", path, body)[0], status, path)
        self.assertEqual(self.ask("GET", "/health")[0], 200)
