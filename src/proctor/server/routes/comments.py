"""Comments on runs and results, and people's own marks of results."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Path, Query
from msgspec import Meta, Struct
from pydantic import BaseModel, ConfigDict, Field
from starlette.requests import Request
from starlette.responses import Response

from proctor.domain.documents.annotation import Comment, CommentPage, Label
from proctor.server.access import Me, Store
from proctor.server.bodies import body_of, takes
from proctor.server.documents import answers, json_answer
from proctor.server.pages import next_link
from proctor.server.routes.resource import NamedRun, resource
from proctor.stores.annotations import AnnotationStore, CommentRow, LabelRow
from proctor.stores.runs import RunStore

router = resource("annotations")
MAX_ID = 2**63 - 1
ResultId = Annotated[int, Path(ge=1, le=MAX_ID)]


class NewComment(Struct, frozen=True, forbid_unknown_fields=True):
    text: Annotated[str, Meta(min_length=1, max_length=20_000)]
    result_id: Annotated[str, Meta(pattern=r"^[1-9][0-9]{0,17}$")] | None = None
    """The result that it is about; left out for one about the whole run."""


class NewLabel(Struct, frozen=True, forbid_unknown_fields=True):
    value: Annotated[float, Meta(ge=0, le=1)]
    note: Annotated[str, Meta(max_length=20_000)] = ""


class CommentQuery(BaseModel):
    model_config = ConfigDict(extra="forbid")

    after: str | None = Field(None, max_length=64)
    limit: int = Field(50, ge=1, le=500)


@router.post(
    "/runs/{run_id}/comments",
    status_code=201,
    operation_id="addComment",
    openapi_extra=takes(NewComment, {"text": "The second model reads the table wrongly."}),
    responses=answers(Comment, status=201, description="It is kept.", problems=(404,), has_body=True),
)
def add_comment(
    run: NamedRun, caller: Me, database: Store, body: Annotated[NewComment, Depends(body_of(NewComment))]
) -> Response:
    """Comment on a run, or on one of its results."""
    result = None if body.result_id is None else int(body.result_id)
    return json_answer(_comment(AnnotationStore(database).add_comment(run.id, result, caller.who, body.text)), 201)


@router.get(
    "/runs/{run_id}/comments",
    operation_id="listComments",
    responses=answers(CommentPage, description="Oldest first.", headers={"Link": "The next page."}, problems=(404,)),
)
def list_comments(
    request: Request, run_id: str, database: Store, query: Annotated[CommentQuery, Query()]
) -> Response:  # fmt: skip
    """A run's comments, oldest first."""
    run = RunStore(database).get(run_id)
    rows = AnnotationStore(database).comments(run.id, after=query.after, limit=query.limit + 1)
    after = rows[query.limit - 1].id if len(rows) > query.limit else None
    page = CommentPage([_comment(row) for row in rows[: query.limit]], after)
    return json_answer(page, headers=next_link(request, after))


@router.delete(
    "/runs/{run_id}/comments/{comment_id}",
    status_code=204,
    operation_id="deleteComment",
    responses=answers(status=204, description="It is gone.", problems=(404,)),
)
def delete_comment(run_id: str, comment_id: str, database: Store) -> Response:
    """Delete a comment."""
    AnnotationStore(database).delete_comment(run_id, comment_id)
    return Response(status_code=204)


@router.get("/runs/{run_id}/labels", operation_id="listLabels", responses=answers(Label, is_list=True, problems=(404,)))
def list_labels(run_id: str, database: Store) -> Response:
    """People's own marks of a run's results."""
    run = RunStore(database).get(run_id)
    return json_answer([_label(row) for row in AnnotationStore(database).labels(run.id)])


@router.put(
    "/runs/{run_id}/results/{result_id}/label",
    operation_id="labelResult",
    openapi_extra=takes(NewLabel),
    responses=answers(Label, problems=(404,), has_body=True),
)
def set_label(
    run: NamedRun,
    result_id: ResultId,
    caller: Me,
    database: Store,
    body: Annotated[NewLabel, Depends(body_of(NewLabel))],
) -> Response:
    """Mark a result yourself; a second mark takes the place of the first."""
    return json_answer(
        _label(AnnotationStore(database).set_label(run.id, result_id, caller.who, body.value, body.note))
    )


@router.delete(
    "/runs/{run_id}/results/{result_id}/label",
    status_code=204,
    operation_id="unlabelResult",
    responses=answers(status=204, description="It is gone.", problems=(404,)),
)
def delete_label(run_id: str, result_id: ResultId, caller: Me, database: Store) -> Response:
    """Take back your own mark."""
    AnnotationStore(database).delete_label(run_id, result_id, caller.who)
    return Response(status_code=204)


def _comment(row: CommentRow) -> Comment:
    result = None if row.response_id is None else str(row.response_id)
    return Comment(row.id, row.run_id, result, row.author, row.text, row.created_at)


def _label(row: LabelRow) -> Label:
    return Label(row.run_id, str(row.response_id), row.author, row.value, row.note, row.labelled_at)
