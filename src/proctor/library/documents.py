"""What comparing, ranking, reporting and rescoring give: the documents of `--json`, with names and types.

`document` holds everything that `--json` shows, whether it has a name here or not.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct

from proctor.domain.errors import PlanError, UserError
from proctor.domain.estimate import Estimate
from proctor.domain.side import side_of

Document = Mapping[str, Any]


class Side(Struct, frozen=True):
    """One of two evaluations that are compared."""

    name: str
    run_id: str
    model: str
    score: Estimate


class Comparison(Struct, frozen=True):
    """Two evaluations on the samples that both answered; the difference is B minus A."""

    benchmark: str
    metric: str
    a: Side
    b: Side
    n: int
    difference: Estimate
    test: str | None
    p_value: float | None
    p_adjusted: float | None
    """Corrected for the number of comparisons made together."""
    better: str | None
    """The name of the better side; None when no difference could be shown."""
    verdict: str
    document: Document


class Comparisons(Struct, frozen=True):
    """Every pair that was compared, in order, and why others were not."""

    pairs: tuple[Comparison, ...]
    not_compared: tuple[str, ...]
    document: Document

    def __iter__(self) -> Iterator[Comparison]:
        return iter(self.pairs)

    def __len__(self) -> int:
        return len(self.pairs)

    def __getitem__(self, index: int) -> Comparison:
        return self.pairs[index]


class RankedModel(Struct, frozen=True):
    """A row of a leaderboard; a rank like 1–3 means that no difference between the three could be shown."""

    rank: str
    model: str
    estimate: Estimate
    run_id: str
    document: Document

    @property
    def side(self) -> str:
        """The model, and what was varied of its prompts: different in each row."""
        return side_of(self.document)


class Ranking(Struct, frozen=True):
    """The models of one benchmark as it was really used."""

    benchmark: str
    version: str
    metric: str
    rows: tuple[RankedModel, ...]
    document: Document


class Leaderboard(Struct, frozen=True):
    tables: tuple[Ranking, ...]
    document: Document


class RescoredEvaluation(Struct, frozen=True):
    """The estimates by scorer and metric, before and after."""

    model: str
    benchmark: str
    before: Mapping[str, Mapping[str, Estimate]]
    after: Mapping[str, Mapping[str, Estimate]]
    document: Document

    @property
    def side(self) -> str:
        """The model, and what was varied of its prompts."""
        return side_of(self.document)


class Rescored(Struct, frozen=True):
    run_id: str
    is_in_force: bool
    """Whether the new scores are those that count."""
    is_complete: bool
    evaluations: tuple[RescoredEvaluation, ...]
    document: Document


class Report(Struct, frozen=True):
    """A run's report in every format; the numbers are the same in each."""

    run_id: str
    document: Document

    @property
    def html(self) -> str:
        """One self-contained page."""
        return self._text("html")

    @property
    def markdown(self) -> str:
        return self._text("md")

    @property
    def json(self) -> str:
        return self._text("json")

    def save(self, path: Path | str) -> Path:
        """Write the report in the format that the file's ending names, such as .html, .md or .json."""
        from proctor.reports.formats import format_of, report_endings

        target = Path(path)
        format_name = format_of(target.suffix)
        if format_name is None:
            raise PlanError(f"{target} names no format: a report is written as {', '.join(report_endings())}.")
        try:
            target.write_text(self._text(format_name), encoding="utf-8", errors="backslashreplace")
        except OSError as error:
            raise UserError(f"{target} cannot be written: {error.strerror}.") from None
        return target

    def _text(self, format_name: str) -> str:
        from proctor.reports.formats import page_text
        from proctor.reports.run_page import run_page

        return page_text(run_page(dict(self.document)), self.document, format_name)


def read_estimate(data: Document) -> Estimate:
    low, high = data["ci95"] or (None, None)
    return Estimate(data["value"], data["n"], data["stderr"], low, high, data["method"], data.get("classes"))


def read_comparisons(document: Document) -> Comparisons:
    pairs = tuple(map(_comparison, document["comparisons"]))
    return Comparisons(pairs, tuple(document["not_compared"]), document)


def _comparison(item: Document) -> Comparison:
    return Comparison(
        benchmark=item["benchmark"],
        metric=item["metric"],
        a=_side(item["a"]),
        b=_side(item["b"]),
        n=item["n"],
        difference=read_estimate(item["difference"]),
        test=item["test"],
        p_value=item["p_value"],
        p_adjusted=item["p_adjusted"],
        better=item["better"],
        verdict=item["verdict"],
        document=item,
    )


def _side(item: Document) -> Side:
    return Side(item["name"], item["run_id"], item["model"], read_estimate(item["score"]))


def read_leaderboard_document(document: Document) -> Leaderboard:
    return Leaderboard(tuple(map(_ranking, document["tables"])), document)


def _ranking(item: Document) -> Ranking:
    rows = tuple(
        RankedModel(row["rank"], row["model"], read_estimate(row["estimate"]), row["run_id"], row)
        for row in item["rows"]
    )
    return Ranking(item["benchmark"], item["version"], item["metric"], rows, item)


def read_rescored(document: Document) -> Rescored:
    evaluations = tuple(
        RescoredEvaluation(
            item["model"], item["benchmark"], _by_scorer(item["before"]), _by_scorer(item["after"]), item
        )
        for item in document["evaluations"]
    )
    return Rescored(document["run_id"], document["in_force"], document["is_complete"], evaluations, document)


def _by_scorer(item: Document) -> dict[str, dict[str, Estimate]]:
    return {
        scorer: {name: read_estimate(value) for name, value in marks["metrics"].items()}
        for scorer, marks in item.items()
    }
