"""What the routers of all resources have in common."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends

from proctor.server.access import V1, Store, authorised
from proctor.server.problems import ProblemError
from proctor.stores.runs import RunRow, RunStore


def resource(name: str) -> APIRouter:
    """A router under `/api/v1`; every route of it asks who calls."""
    return APIRouter(prefix=V1, tags=[name], dependencies=[Depends(authorised)])


def _named_run(run_id: str, database: Store) -> RunRow:
    if run_id == "latest" or len(run_id) < 12:
        raise ProblemError(404, "not-found", f"No run {run_id!r}: name it by its whole id.")
    return RunStore(database).get(run_id)


NamedRun = Annotated[RunRow, Depends(_named_run)]
"""The run that is changed, named in full. Ask for it before the body: a stranger learns nothing from his mistakes."""
