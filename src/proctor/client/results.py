"""Results of a server: trials, comparisons, ranks, reports and exports."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

from proctor.client.connection import PAGE, Query
from proctor.client.runs import ServedRuns
from proctor.domain.documents.comparison import Comparisons
from proctor.domain.documents.evaluation import ScorersInForce
from proctor.domain.documents.leaderboard import Leaderboard
from proctor.domain.documents.report import RunReport
from proctor.domain.documents.result import TrialResult
from proctor.domain.documents.served import FoundResults, ResultPage, ServedResult, ShownSample


class ServedResults(ServedRuns):
    """What runs have measured."""

    def results(self, run: str = "latest", **query: Any) -> Iterator[ServedResult]:
        """Results that fit (outcome, wrong, model, benchmark, category, sample, text), page after page."""
        after: str | None = None
        while True:
            asked = {"limit": PAGE, **query, "after": after}
            page = self._convert(self._ask("GET", f"/runs/{quote(run, safe='')}/results", asked), ResultPage)
            yield from page.items
            after = page.next
            if after is None:
                return

    def samples(
        self, run: str, where: Query, *, limit: int, outcome: str | None = None, wrong: bool = False
    ) -> FoundResults:  # fmt: skip
        """Trials with their prompts, as `proctor samples` shows them."""
        found: list[ServedResult] = []
        query = {**where, "outcome": outcome, "wrong": wrong or None, "with": "prompt", "limit": min(PAGE, limit + 1)}
        for result in self.results(run, **query):
            found.append(result)
            if len(found) > limit:
                break
        summary = self.run(run)
        fields = TrialResult.__struct_fields__
        shown = [
            ShownSample(TrialResult(**{name: getattr(one, name) for name in fields}), one.worked_examples or 0)
            for one in found[:limit]
        ]
        in_force = [
            ScorersInForce(
                model=one.model, benchmark=one.benchmark, side=one.side, scorers=one.scorers, rescored=one.rescored
            )
            for one in summary.evaluations
        ]
        return FoundResults(summary.run_id, shown, len(found) > limit, in_force)

    def compare(self, *runs: str, **query: Any) -> Comparisons:
        """Runs held against one another: on, model, scorer, metric, allow_different, target, flips."""
        a, *others = runs or ("latest",)
        return self._convert(self._ask("GET", "/compare", {**query, "a": a, "b": others}), Comparisons)

    def leaderboard(self, **query: Any) -> Leaderboard:
        """The models of all completed runs: benchmark, version, model, language, …, metric, which, ranks."""
        return self._convert(self._ask("GET", "/leaderboard", query), Leaderboard)

    def report(self, run: str = "latest", *, samples: int = 200) -> RunReport:
        """A run's report as a document."""
        return self._convert(self._ask("GET", f"/runs/{quote(run, safe='')}/report", {"samples": samples}), RunReport)

    def export(self, run: str = "latest", format: str = "jsonl", **query: Any) -> Iterator[bytes]:  # noqa: A002
        """The file of `proctor export`, piece by piece; `all_attempts` and `with` as there."""
        yield from self._pieces(f"/runs/{quote(run, safe='')}/export", {"format": format, **query})
