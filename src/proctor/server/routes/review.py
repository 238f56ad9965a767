"""Answers for people to mark, and what their marks say."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response

from proctor.domain.documents.review import ReviewQueue, RunReview
from proctor.runs.review import review_run
from proctor.server.access import Store
from proctor.server.documents import answers, json_answer
from proctor.server.routes.resource import resource

router = resource("annotations")


class ReviewQuery(BaseModel):
    model_config = ConfigDict(extra="forbid")

    queue: ReviewQueue = Field(
        ReviewQueue.RANDOM, description="Which answers: a random draw, wrong, judged, or disputed."
    )
    model: str | None = Field(None, max_length=500)
    benchmark: str | None = Field(None, max_length=500)
    limit: int = Field(100, ge=1, le=1_000, description="The first so many of the queue, in a fixed random order.")


@router.get(
    "/runs/{run_id}/review",
    operation_id="reviewRun",
    responses=answers(RunReview, description="The queue, and the agreement so far.", problems=(404,)),
)
def review(run_id: str, database: Store, query: Annotated[ReviewQuery, Query()]) -> Response:
    """Answers to mark, in an order that is random and always the same; people's marks against the scorers'."""
    found = review_run(
        database, run_id, queue=query.queue, limit=query.limit, model=query.model, benchmark=query.benchmark
    )
    return json_answer(found)
