"""Runs of a server that are scored again: asked for, followed, cancelled."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from urllib.parse import quote

import msgspec

from proctor.client.runs import RunEvent, ServedRuns
from proctor.domain.documents.rescoring import AcceptedRescoring, RescoreRequest, RescoringPage, ServedRescoring


class ServedRescorings(ServedRuns):
    """Stored responses, scored again by workers."""

    def rescore(
        self,
        run: str,
        *scorers: str,
        use: Sequence[str] = (),
        judge: Sequence[str] = (),
        on: str | None = None,
        keep: bool = False,
        cost_usd: float | None = None,
        assume_price: str | None = None,
        idempotency_key: str | None = None,
    ) -> AcceptedRescoring:
        """Have a run scored again, or let stored scores count (`use`); sent again with the same key, it is the same."""
        asked = RescoreRequest([*scorers], [*use], [*judge], on, keep, cost_usd, assume_price)
        headers = {"Idempotency-Key": idempotency_key} if idempotency_key else {}
        path = f"/runs/{quote(self._id(run), safe='')}/rescore"
        return self._convert(
            self._ask("POST", path, body=msgspec.to_builtins(asked), headers=headers), AcceptedRescoring
        )

    def rescorings(self, run: str) -> Sequence[ServedRescoring]:
        """Those of a run, newest first."""
        return self._convert(self._ask("GET", f"/runs/{quote(self._id(run), safe='')}/rescorings"), RescoringPage).items

    def rescoring(self, run: str, rescoring: str) -> ServedRescoring:
        """How far it is, and old and new scores once it has ended."""
        return self._convert(self._ask("GET", _path(run, rescoring)), ServedRescoring)

    def follow_rescoring(self, run: str, rescoring: str, after: int = 0) -> Iterator[RunEvent]:
        """Its events as they happen, until it has ended; a lost connection is taken up where it broke off."""
        return self._followed(f"{_path(run, rescoring)}/events", after)

    def wait_for_rescoring(self, run: str, rescoring: str) -> ServedRescoring:
        """The rescoring, once it has ended."""
        for _ in self.follow_rescoring(run, rescoring):
            pass
        return self.rescoring(run, rescoring)

    def cancel_rescoring(self, run: str, rescoring: str) -> ServedRescoring:
        """Stop it; the old scores remain in force."""
        return self._convert(self._ask("POST", f"{_path(run, rescoring)}/cancel"), ServedRescoring)


def _path(run: str, rescoring: str) -> str:
    return f"/runs/{quote(run, safe='')}/rescorings/{quote(rescoring, safe='')}"
