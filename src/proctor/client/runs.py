"""Runs of a server: handed in, followed, stopped, finished."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from typing import Any
from urllib.parse import quote

import orjson
from msgspec import Struct

from proctor.client.connection import PAGE, V1, ServerConnection
from proctor.domain.documents.accepted import AcceptedRun, RunPage, ServedRun
from proctor.domain.documents.annotation import Comment, CommentPage
from proctor.domain.documents.dry_run import DryRun
from proctor.domain.documents.listing import ListedRun
from proctor.domain.documents.run import RunSummary, ShownRun, StoppingRun
from proctor.domain.errors import StoreError

LAST = frozenset({"finished", "failed", "cancelled"})
WAITS = (0.2, 0.5, 1.0, 2.0, 5.0)


def _named(key_hosts: Sequence[str] | None) -> dict[str, str]:
    return {} if key_hosts is None else {"Proctor-Key-Hosts": ",".join(key_hosts)}


class RunEvent(Struct, frozen=True):
    """One event of a run's stream."""

    number: int
    kind: str
    data: Mapping[str, Any]


class ServedRuns(ServerConnection):
    """Runs, and the comments on them."""

    def submit(
        self, plan: Mapping[str, Any], *, idempotency_key: str | None = None, key_hosts: Sequence[str] | None = None
    ) -> AcceptedRun:
        """Hand in a plan, as in a plan file; sent again with the same key, it gives the same run.

        Where the plan is somebody else's, `key_hosts` are those of its hosts that the user named himself: keys go to
        no others. Without them, the caller stands for the whole plan.
        """
        headers = {"Idempotency-Key": idempotency_key} if idempotency_key else {}
        return self._convert(self._ask("POST", "/runs", body=plan, headers=headers | _named(key_hosts)), AcceptedRun)

    def estimate(self, plan: Mapping[str, Any], *, key_hosts: Sequence[str] | None = None) -> DryRun:
        """What a plan would do and cost."""
        return self._convert(self._ask("POST", "/estimate", body=plan, headers=_named(key_hosts)), DryRun)

    def run(self, run: str = "latest") -> ServedRun:
        """A run's numbers, and how far it is."""
        return self._convert(self._ask("GET", f"/runs/{quote(run, safe='')}"), ServedRun)

    def summary(self, run: str = "latest") -> RunSummary:
        """A run's numbers alone."""
        served = self.run(run)
        return RunSummary(**{name: getattr(served, name) for name in RunSummary.__struct_fields__})

    def shown(self, run: str = "latest") -> ShownRun:
        """A run's numbers, as `proctor show --json` prints them."""
        served = self.run(run)
        return ShownRun(**{name: getattr(served, name) for name in ShownRun.__struct_fields__})

    def runs(self, *, limit: int = 50, after: str | None = None, **query: Any) -> RunPage:
        """A page of runs, newest first: status, model, benchmark, tag, text, owner, kind, since, until."""
        return self._convert(self._ask("GET", "/runs", {**query, "limit": limit, "after": after}), RunPage)

    def list_runs(self, *, limit: int, after: str | None = None, **query: Any) -> list[ListedRun]:
        """So many runs and one more where there is one, newest first."""
        found: list[ListedRun] = []
        while len(found) <= limit:
            page = self.runs(limit=min(PAGE, limit + 1 - len(found)), after=after, **query)
            found += page.items
            after = page.next
            if after is None:
                break
        return found

    def follow(self, run: str, after: int = 0) -> Iterator[RunEvent]:
        """Events as they happen, until the run has ended; a lost connection is taken up where it broke off."""
        return self._followed(f"/runs/{quote(run, safe='')}/events", after)

    def _followed(self, path: str, after: int) -> Iterator[RunEvent]:
        failures = 0
        while True:
            try:
                for event in self._stream(f"{V1}{path}", after):
                    failures, after = 0, event.number
                    yield event
                    if event.kind in LAST:
                        return
            except StoreError:
                if failures == len(WAITS):
                    raise
            # A stream may also end because the server does: it is opened again.
            time.sleep(WAITS[min(failures, len(WAITS) - 1)])
            failures += 1

    def wait(self, run: str) -> ServedRun:
        """The run, once it has ended."""
        for _ in self.follow(run):
            pass
        return self.run(run)

    def cancel(self, run: str) -> StoppingRun:
        """Stop a run; requests in flight are finished and recorded."""
        return self._convert(self._ask("POST", f"/runs/{quote(self._id(run), safe='')}/cancel"), StoppingRun)

    def resume(self, run: str) -> AcceptedRun:
        """Finish a run: missing trials, failed ones again."""
        return self._convert(self._ask("POST", f"/runs/{quote(self._id(run), safe='')}/resume"), AcceptedRun)

    def comments(self, run: str = "latest") -> Iterator[Comment]:
        """A run's comments, oldest first, page after page."""
        after: str | None = None
        while True:
            asked = {"limit": PAGE, "after": after}
            page = self._convert(self._ask("GET", f"/runs/{quote(run, safe='')}/comments", asked), CommentPage)
            yield from page.items
            after = page.next
            if after is None:
                return

    def comment(self, run: str, text: str, *, result_id: str | None = None) -> Comment:
        """Comment on a run, or on one of its results, under the name of the key."""
        body = {"text": text} if result_id is None else {"text": text, "result_id": result_id}
        return self._convert(self._ask("POST", f"/runs/{quote(self._id(run), safe='')}/comments", body=body), Comment)

    def _id(self, run: str) -> str:
        """What changes something names its run in full."""
        return run if len(run) == 12 else self.run(run).run_id

    def _stream(self, path: str, after: int) -> Iterator[RunEvent]:
        connection, answer = self._open("GET", path, headers={"Last-Event-ID": str(after)})
        with closing(connection):
            fields: dict[str, str] = {}
            while line := self._or_store_error(answer.readline):
                text = line.decode().rstrip("\n")
                if text:
                    name, _, value = text.partition(": ")
                    fields[name] = value
                    continue
                if "event" in fields:
                    yield RunEvent(int(fields["id"]), fields["event"], orjson.loads(fields["data"]))
                fields = {}
