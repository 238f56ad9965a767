"""What projects, users, keys and models have used, by day."""

from __future__ import annotations

from datetime import date
from typing import Annotated

from fastapi import Query
from pydantic import BaseModel, ConfigDict, Field
from starlette.requests import Request
from starlette.responses import Response

from proctor.domain.documents.usage import UsageReport
from proctor.runs.usage import report_usage
from proctor.server.access import Me, Permission, Store
from proctor.server.documents import answers, json_answer
from proctor.server.problems import ProblemError
from proctor.server.routes.resource import resource
from proctor.server.service import service_of
from proctor.server.voting import VotingReader
from proctor.stores.usage import Dimension

router = resource("usage")


class UsageQuery(BaseModel):
    model_config = ConfigDict(extra="forbid")

    by: list[Dimension] = Field(["day"], max_length=4, description="What it is told apart by.")
    since: date | None = Field(None, description="The first day (UTC); 30 days ago if left out.")
    until: date | None = Field(None, description="The last day; today if left out.")
    all_projects: bool = Field(False, description="Of every project; for administrators.")


@router.get("/usage", operation_id="readUsage", responses=answers(UsageReport, description="What was used."))
def read_usage(
    request: Request, caller: Me, reader: VotingReader, database: Store, query: Annotated[UsageQuery, Query()]
) -> Response:
    """What was asked, what it cost, how long workers were busy, and what is stored, at the operator's prices."""
    service = service_of(request)
    if query.all_projects:
        if Permission.ADMIN not in caller.permissions:
            raise ProblemError(403, "forbidden", "Usage of all projects is for administrators.")
        database = service.database
    prices = service.settings.usage_prices
    return json_answer(report_usage(database, query.by, query.since, query.until, prices, reader))
