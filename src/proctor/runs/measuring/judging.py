"""What judges did in an evaluation: their work, their cost, and how far they agree."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain
from typing import TYPE_CHECKING

from msgspec import Struct

from proctor.domain.documents.judging import JudgeAgreement, JudgeWork
from proctor.stores.database import Database
from proctor.stores.scores import ScoreStore

if TYPE_CHECKING:
    from proctor.scorers.judging.summary import JudgeSummary


class Judging(Struct, frozen=True):
    """By scorer: the work of its judges, and their agreement where there are several."""

    unreadable: int
    """Scores that are not measured because too few judges could be read."""
    judges: Mapping[str, Mapping[str, JudgeWork]]
    agreement: Mapping[str, JudgeAgreement]


def judge_summary(database: Database, evaluation_id: int, scorer: str, version: str) -> JudgeSummary | None:
    """The judges' work on one set of scores; None when no judge was asked."""
    details = ScoreStore(database).details(evaluation_id, scorer, version)
    # Scorers without judges may have noted something beside each of a million scores: one look is enough.
    first = next(details, None)
    if first is None or not first.keys() & {"judges", "earlier"}:
        return None
    from proctor.scorers.judging.summary import summarise_judges  # most runs have no judges

    return summarise_judges(chain([first], details))


def summarise_judging(database: Database, evaluation_id: int, scorers: Mapping[str, str]) -> Judging:
    """What the judges of these scorers did, each scorer in the version that counts."""
    found = {
        scorer: summary
        for scorer, version in scorers.items()
        if (summary := judge_summary(database, evaluation_id, scorer, version)) is not None
    }
    agreed = {scorer: summary.agreement() for scorer, summary in found.items()}
    return Judging(
        unreadable=sum(summary.unreadable for summary in found.values()),
        judges={scorer: summary.work() for scorer, summary in found.items()},
        agreement={scorer: one for scorer, one in agreed.items() if one is not None},
    )
