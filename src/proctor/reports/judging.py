"""What judges did in an evaluation: their work, their cost, and how far they agree."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain
from typing import Any

import orjson

from proctor.scorers.judging.summary import JudgeSummary, summarise_judges
from proctor.stores.database import Database
from proctor.stores.scores import ScoreStore


def judge_summary(database: Database, evaluation_id: int, scorer: str, version: str) -> JudgeSummary | None:
    """The judges' work on one set of scores; None when no judge was asked."""
    details = ScoreStore(database).details(evaluation_id, scorer, version)
    # Scorers without judges may have noted something beside each of a million scores: one look is enough.
    first = next(details, None)
    if first is None or not first.keys() & {"judges", "earlier"}:
        return None
    return summarise_judges(chain([first], details))


def judging_json(database: Database, row: Mapping[str, Any]) -> dict[str, Any]:
    """How many verdicts could not be read; by scorer `judges` and, where there are several, `agreement`."""
    judges, agreement, unreadable = {}, {}, 0
    for scorer, version in orjson.loads(row["scorers"]).items():
        summary = judge_summary(database, row["id"], scorer, version)
        if summary is None:
            continue
        judges[scorer] = summary.judges_json()
        unreadable += summary.unreadable
        if (agreed := summary.agreement()) is not None:
            agreement[scorer] = agreed
    found = {"judges": judges, "agreement": agreement}
    return {"unreadable_verdicts": unreadable, **{name: one for name, one in found.items() if one}}
