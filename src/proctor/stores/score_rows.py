"""Scores as rows: what queries ask for has a column of its own, and replies of judges that were paid for are kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import orjson
from msgspec import Struct

from proctor.domain.message import Json
from proctor.domain.score import UNREADABLE, VERDICT, Score
from proctor.domain.trial import Result
from proctor.stores import codec
from proctor.stores.connection import Connection
from proctor.stores.statements import places

Key = tuple[int, str, str]

# A scorer that fails the second time (a judge that is down, say) must not take back what it measured the first time,
# nor that the answer made its mark unreadable.
IS_NEWS = (
    "excluded.value IS NOT NULL OR (scores.value IS NULL AND (excluded.is_unreadable OR NOT scores.is_unreadable))"
)
REPLACED = ("value", "is_invalid", "answer", "reason", "details", "is_unreadable", "is_forgeable", "weight", "covers")


def replace_score(key: str) -> str:
    """What follows the INSERT of a score that may be there; `key` names the columns that tell scores apart."""
    sets = ", ".join(f"{name} = excluded.{name}" for name in REPLACED)
    return f"ON CONFLICT ({key}) DO UPDATE SET {sets} WHERE {IS_NEWS}"


class ScoreMark(Struct, frozen=True):
    """One scorer's mark of one answer."""

    result: Result
    score: Score

    @property
    def may_replace(self) -> bool:
        """Whether replies of judges could be kept with an earlier score of the same scorer."""
        return self.score.value is None or "judges" in self.score.details

    @property
    def response_id(self) -> int:
        found = self.result.answer.response_id
        assert found is not None  # noqa: S101 - answers are recorded before they are scored
        return found

    def row(
        self, versions: Mapping[int, Mapping[str, str]], earlier: Mapping[Key, list[Json]], month: int
    ) -> tuple[Any, ...]:
        score = self.score
        version = versions[self.result.answer.trial.evaluation_id][score.name]
        details: Mapping[str, Json] = score.details
        if earlier and (kept := earlier.get((self.response_id, score.name, version))):
            details = {**details, "earlier": kept}
        return (
            self.response_id,
            score.name,
            version,
            score.value,
            score.is_invalid,
            score.answer,
            score.reason,
            codec.to_json(details) if details else None,
            *(detail_columns(score.details) if score.details else NO_DETAILS),
            month,
        )


NO_DETAILS = (False, False, None, None)


def detail_columns(details: Mapping[str, Json]) -> tuple[bool, bool, int | None, float | None]:
    """What queries ask of a score's details: is_unreadable, is_forgeable, weight, covers."""
    weight, covers = details.get("weight"), details.get("covers")
    return (
        details.get(VERDICT) == UNREADABLE,
        details.get("is_forgeable") is True,
        weight if isinstance(weight, int) else None,
        float(covers) if isinstance(covers, int | float) else None,
    )


def earlier_replies(connection: Connection, marks: Sequence[ScoreMark], month: int) -> dict[Key, list[Json]]:
    """Rulings of judges that were paid for and are about to be replaced: asked again, or now from the cache."""
    ids = sorted({mark.response_id for mark in marks if mark.may_replace})
    if not ids:
        return {}
    rows = connection.execute(
        "SELECT response_id, scorer, version, details FROM scores "  # noqa: S608 - only placeholders are put in
        f"WHERE month = ? AND details IS NOT NULL AND response_id IN ({places(len(ids))})",
        [month, *ids],
    )
    found = {(row["response_id"], row["scorer"], row["version"]): _paid(orjson.loads(row["details"])) for row in rows}
    return {key: rulings for key, rulings in found.items() if rulings}


def _paid(details: Mapping[str, Json]) -> list[Json]:
    mine = [
        ruling for ruling in details.get("judges", ()) if any(not reply["cached"] for reply in ruling["hearings"])
    ]  # fmt: skip
    return [*details.get("earlier", ()), *mine]
