"""Results as rows: what an export format is given, and the same fields flat for tables."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from datetime import datetime

import orjson
from msgspec import UNSET, Struct
from msgspec.structs import asdict

from proctor.domain.documents.result import TrialResult
from proctor.domain.message import Json
from proctor.domain.run import RunStatus


class RunCourse(Struct, frozen=True):
    """When the run was and how it ended, for formats that say so."""

    status: RunStatus
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None


class RunRows(Struct, frozen=True):
    """A run's results, read anew each time they are walked through: what an export format is given."""

    run_id: str
    read: Callable[[], Iterator[TrialResult]]
    extras: tuple[str, ...] = ()
    """The fields among EXTRAS that the rows have because they were asked for."""
    course: RunCourse | None = None
    has_sides: bool = False
    """Whether the run varies how its samples are put: then each row says which `side` of it it is of."""

    def __iter__(self) -> Iterator[TrialResult]:
        return self.read()


def example_places(roles: Sequence[str], count: int) -> range:
    """Where so many worked examples stand among messages of these roles: after the system messages, two each."""
    first = next((place for place, role in enumerate(roles) if role != "system"), len(roles))
    return range(first, first + 2 * count)


def flat_values(row: TrialResult, extras: Collection[str] = ()) -> dict[str, Json]:
    """The trial's fields for a table: usage beside the rest, tool calls and extras as JSON text; scores are apart."""
    values = asdict(row)
    del values["usage"], values["scores"]
    values |= {**asdict(row.usage), "outcome": row.outcome.value}
    for name in ("tool_calls", *extras):
        if values[name] is UNSET:
            values[name] = None
        elif values[name] is not None:
            values[name] = orjson.dumps(values[name]).decode()
    return values
