"""What judges did over a whole evaluation: how often they agreed, how often they could not be read, what they cost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import repeat

from proctor.domain.documents.judging import JudgeAgreement, JudgeTokens, JudgeWork
from proctor.domain.message import Json
from proctor.domain.price import UNKNOWN, basis_source, joint_kind
from proctor.domain.score import UNREADABLE, VERDICT
from proctor.metrics.agreement import cohen_kappa, fleiss_kappa, krippendorff_alpha

Ratings = tuple[int | str | None, ...]
_TURNED = {"A": "B", "B": "A", "TIE": "TIE"}
"""What a judge says of two answers in the other order when it has not changed its mind."""


@dataclass(slots=True)
class JudgeTotals:
    """One judge's work; a sum is None where any part of it is unknown. Cached replies cost nothing now."""

    verdicts: int = 0
    unreadable: int = 0
    undecided: int = 0
    """Cases in which the order of two answers changed its mind."""
    preferred_first: int = 0
    """Of those, cases in which it preferred the answer that stood first, whichever that was."""
    preferred_second: int = 0
    requests: int = 0
    cached: int = 0
    input_tokens: int | None = 0
    output_tokens: int | None = 0
    cost_usd: Decimal | None = Decimal(0)
    cost_bases: dict[str | None, None] = field(default_factory=dict)
    """What the costs rest on, each basis once."""

    def add(self, ruling: Mapping[str, Json]) -> None:
        replies = ruling["hearings"]
        if ruling["verdict"] is None:
            self.unreadable += 1
        else:
            self.verdicts += 1
            self._note_order([reply["verdict"] for reply in replies if reply["verdict"] is not None])
        for reply in replies:
            self._add_request(reply)

    def add_earlier(self, ruling: Mapping[str, Json]) -> None:
        """What was paid for in an earlier execution; the verdicts are those of a later one."""
        for reply in ruling["hearings"]:
            if not reply["cached"]:
                self._add_request(reply)

    def _add_request(self, reply: Mapping[str, Json]) -> None:
        if reply["cached"]:
            self.cached += 1
            return
        self.requests += 1
        usage = reply["usage"]
        self.input_tokens = _sum(self.input_tokens, usage["input_tokens"])
        self.output_tokens = _sum(self.output_tokens, usage["output_tokens"])
        cost = reply["cost_usd"]
        known = self.cost_usd is not None and cost is not None
        self.cost_usd = self.cost_usd + Decimal(cost) if known else None  # type: ignore[operator]
        if cost is not None:
            self.cost_bases[reply.get("cost_basis")] = None

    def _note_order(self, said: list[Json]) -> None:
        """Note whether the order of two answers changed what this judge said of them."""
        if len(said) == 2 and said[0] != _TURNED.get(said[1]):
            self.undecided += 1
            self.preferred_first += said == ["A", "A"]
            self.preferred_second += said == ["B", "B"]

    def work(self) -> JudgeWork:
        return JudgeWork(
            verdicts=self.verdicts,
            unreadable=self.unreadable,
            undecided=self.undecided,
            preferred_first=self.preferred_first,
            preferred_second=self.preferred_second,
            requests=self.requests,
            cached=self.cached,
            usage=JudgeTokens(self.input_tokens, self.output_tokens),
            cost_usd=None if self.cost_usd is None else float(self.cost_usd),
            cost_basis=UNKNOWN if self.cost_usd is None else joint_kind(self.cost_bases),
            price_sources=[source for basis in self.cost_bases if (source := basis_source(basis))],
        )


def _sum(total: int | None, more: int | None) -> int | None:
    return None if total is None or more is None else total + more


@dataclass(slots=True)
class JudgeSummary:
    """Take in the details of one scorer's scores, one after the other; keeps counts, not scores."""

    totals: dict[str, JudgeTotals] = field(default_factory=dict)
    level: str = "nominal"
    ratings: Counter[Ratings] = field(default_factory=Counter)
    """How often each combination of verdicts occurred, in the judges' order."""
    unreadable: int = 0
    """Scores that are not measured because too few judges could be read."""

    def add(self, details: Mapping[str, Json]) -> None:
        for ruling in details.get("earlier", ()):
            self.totals.setdefault(ruling["judge"], JudgeTotals()).add_earlier(ruling)
        if not details.get("judges"):
            return
        self.unreadable += details.get(VERDICT) == UNREADABLE
        self.level = details["level"]
        for ruling in details["judges"]:
            self.totals.setdefault(ruling["judge"], JudgeTotals()).add(ruling)
        self.ratings[tuple(ruling["verdict"] for ruling in details["judges"])] += 1

    def work(self) -> dict[str, JudgeWork]:
        """Each judge's, by its name."""
        return {label: totals.work() for label, totals in self.totals.items()}

    def agreement(self) -> JudgeAgreement | None:
        """How far several judges agree; None when there was only one. A statistic is None where it is undefined."""
        if len(self.totals) < 2:
            return None
        complete = sum(count for rating, count in self.ratings.items() if None not in rating)
        same = sum(count for rating, count in self.ratings.items() if None not in rating and len(set(rating)) == 1)
        cohen = None
        if len(self.totals) == 2:
            pairs = list(self._complete())
            cohen = cohen_kappa([pair[0] for pair in pairs], [pair[1] for pair in pairs])
        level = "ordinal" if self.level == "ordinal" else "nominal"
        return JudgeAgreement(
            judges=list(self.totals),
            n=self.ratings.total(),
            complete=complete,
            unanimous=same / complete if complete else None,
            cohen_kappa=cohen,
            fleiss_kappa=fleiss_kappa(self._complete()),
            krippendorff_alpha=krippendorff_alpha(self._all(), level),  # type: ignore[arg-type]
            level=level,
        )

    def _all(self) -> Iterator[Ratings]:
        for rating, count in self.ratings.items():
            yield from repeat(rating, count)

    def _complete(self) -> Iterator[Ratings]:
        return (rating for rating in self._all() if None not in rating)


def summarise_judges(details: Iterable[Mapping[str, Json]]) -> JudgeSummary:
    """The summary over the details of one scorer's scores; those that no judge was asked for are left out."""
    summary = JudgeSummary()
    for item in details:
        summary.add(item)
    return summary
