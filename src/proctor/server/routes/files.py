"""Files: uploaded, listed, downloaded, deleted."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from typing import Annotated, Literal
from urllib.parse import quote

from fastapi import Depends, Path, Query
from msgspec import Struct
from pydantic import BaseModel, ConfigDict, Field
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from proctor.benchmarks.file_content import FileTypeError
from proctor.domain.artifacts import Artifacts
from proctor.domain.documents.file import FileLink, FilePage, FileText, StoredFile
from proctor.runs.storage.files import (
    delete_file,
    keep_file,
    link_file,
    list_files,
    open_file,
    read_file,
    read_file_text,
)
from proctor.runs.storage.kept_outputs import keep_output
from proctor.server.access import V1, Caller, Me, Store
from proctor.server.bodies import body_of, takes
from proctor.server.documents import answers, cached_answer, json_answer
from proctor.server.pages import next_link
from proctor.server.problems import ProblemError
from proctor.server.routes.resource import NamedRun, resource
from proctor.server.service import Service, service_of
from proctor.server.uploads import BINARY, Received, ReceivedFile, receive, upload_body
from proctor.stores.database import Database
from proctor.stores.files import FileStore
from proctor.stores.runs import RunStore

router = resource("files")
CONFINED = "sandbox; default-src 'none'"
RANGE = re.compile(r"bytes=(\d{0,15})-(\d{0,15})")
FileId = Annotated[str, Path(max_length=64)]
CONTENT = {"schema": BINARY}
BODY = upload_body(
    "The file itself, or a form with one part `file`.",
    is_single=True,
)


def artifacts_of(service: Service) -> Artifacts:
    if service.context.artifacts is None:
        raise ProblemError(503, "unavailable", "This server keeps no artifacts.")
    return service.context.artifacts


@asynccontextmanager
async def received_files(
    request: Request, caller: Caller, most_bytes: int, most_files: int = 1
) -> AsyncIterator[Received]:  # fmt: skip
    """What a request sends, let go of afterwards."""
    with service_of(request).uploads.one(caller.stream_user):
        received = await receive(request, most_bytes=most_bytes, most_files=most_files)
        try:
            yield received
        finally:
            received.close()


class UploadQuery(BaseModel):
    model_config = ConfigDict(extra="forbid")

    name: str | None = Field(None, min_length=1, max_length=200, description="What to call it.")
    run_id: str | None = Field(None, max_length=64, description="A run that uses it: the file stays as long as that.")


class FileQuery(BaseModel):
    model_config = ConfigDict(extra="forbid")

    kind: Literal["image", "pdf", "text", "export", "report"] | None = None
    after: str | None = Field(None, max_length=64)
    limit: int = Field(50, ge=1, le=500)


@router.post(
    "/files",
    status_code=201,
    operation_id="uploadFile",
    openapi_extra=BODY,
    responses=answers(
        StoredFile,
        status=201,
        description="It is kept until it expires.",
        headers={"Location": "The file's address."},
        problems=(402, 404),
        has_body=True,
    ),
)
async def upload_file(
    request: Request, caller: Me, database: Store, query: Annotated[UploadQuery, Query()]
) -> Response:
    """Upload an image, a PDF or a text; what it is, its content says."""
    service = service_of(request)
    if query.run_id is not None:
        await asyncio.to_thread(RunStore(database).get, query.run_id)
    async with received_files(request, caller, service.settings.upload_bytes) as received:
        if not received.files:
            raise ProblemError(422, "body", "The form has no part 'file'.")
        [file] = received.files
        name = query.name or re.split(r"[/\\]", file.name)[-1] or "file"
        try:
            kept = await service.uploads.look(partial(_keep, service, database, file, name, caller.who, query.run_id))
        except FileTypeError as error:
            raise ProblemError(415, "file-type", str(error)) from None
    return json_answer(kept, 201, {"Location": f"{V1}/files/{kept.file_id}"})


def _keep(
    service: Service, database: Database, file: ReceivedFile, name: str, author: str, run_id: str | None
) -> StoredFile:
    days = service.settings.upload_days
    kept = keep_file(database, artifacts_of(service), file.content, name, author, days=days)
    if run_id is None:
        return kept
    FileStore(database).use([kept.file_id], run_id)
    return read_file(database, kept.file_id)


class NewOutput(Struct, frozen=True, forbid_unknown_fields=True):
    format: Literal["jsonl", "csv", "parquet", "junit", "inspect", "html", "md", "json"]
    """The first five are exports, the others reports."""


@router.post(
    "/runs/{run_id}/files",
    status_code=201,
    operation_id="keepOutput",
    openapi_extra=takes(NewOutput, {"format": "csv"}),
    responses=answers(
        StoredFile,
        status=201,
        description="It is kept until it expires, or the run is deleted.",
        headers={"Location": "The file's address."},
        problems=(402, 404),
        has_body=True,
    ),
)
def keep_run_output(
    request: Request,
    run: NamedRun,
    caller: Me,
    database: Store,
    body: Annotated[NewOutput, Depends(body_of(NewOutput))],
) -> Response:
    """Keep a run's export or report as a file, at an address that stays."""
    service = service_of(request)
    kept = keep_output(
        database, artifacts_of(service), run.id, body.format, caller.who, days=service.settings.upload_days
    )
    return json_answer(kept, 201, {"Location": f"{V1}/files/{kept.file_id}"})


@router.get(
    "/files",
    operation_id="listFiles",
    responses=answers(FilePage, description="Newest first.", headers={"Link": "The next page."}),
)
def list_all(request: Request, database: Store, query: Annotated[FileQuery, Query()]) -> Response:
    """List the files of the project, newest first."""
    page = list_files(database, after=query.after, limit=query.limit, kind=query.kind)
    return json_answer(page, headers=next_link(request, page.next))


@router.get("/files/{file_id}", operation_id="readFile", responses=answers(StoredFile, problems=(404,)))
def get_file(request: Request, file_id: FileId, database: Store) -> Response:
    """What is known of a file."""
    return cached_answer(request, read_file(database, file_id))


@router.get(
    "/files/{file_id}/content",
    operation_id="downloadFile",
    responses={
        206: {"description": "The part that `Range` asked for.", "content": {"application/octet-stream": CONTENT}},
        416: {"$ref": "#/components/responses/problem-416"},
        **answers(
            description="The file as it was uploaded, as an attachment.",
            content={"application/octet-stream": CONTENT},
            problems=(404,),
        ),
    },
)
def download_file(request: Request, file_id: FileId, database: Store) -> Response:
    """Download a file, or the part of it that `Range` asks for."""
    body = open_file(database, artifacts_of(service_of(request)), file_id)
    headers = {
        "Content-Disposition": f"attachment; filename*=UTF-8''{quote(body.name, safe='')}",
        "Content-Security-Policy": CONFINED,
        "Accept-Ranges": "bytes",
        "ETag": f'"{body.key}"',
        "Cache-Control": "private, no-cache",
    }
    if request.headers.get("if-none-match", "").strip().removeprefix("W/") == headers["ETag"]:
        return Response(status_code=304, headers=headers)
    start, stop = _range(request, body.size_bytes, headers["ETag"])
    headers["Content-Length"] = str(stop - start)
    status = 200
    if (start, stop) != (0, body.size_bytes):
        status, headers["Content-Range"] = 206, f"bytes {start}-{stop - 1}/{body.size_bytes}"
    # Whatever it is, nobody's browser shows it as a page of this server's.
    return StreamingResponse(body.part(start, stop), status, headers, "application/octet-stream")


def _range(request: Request, size: int, tag: str) -> tuple[int, int]:
    """Where the wanted part begins and ends; all of it where none, several or another version's were asked for."""
    given = RANGE.fullmatch(request.headers.get("range", "").replace(" ", ""))
    if given is None or given.groups() == ("", "") or request.headers.get("if-range", tag) != tag:
        return 0, size
    first, last = given.groups()
    start = max(0, size - int(last)) if first == "" else int(first)
    stop = size if first == "" or last == "" else min(size, int(last) + 1)
    if start >= stop:
        detail = f"The file has {size:,} bytes."
        raise ProblemError(416, "range", detail, headers={"Content-Range": f"bytes */{size}"})
    return start, stop


class FileTextQuery(BaseModel):
    model_config = ConfigDict(extra="forbid")

    page: int | None = Field(None, ge=1, le=1_000_000, description="Only this page, from 1.")


@router.get("/files/{file_id}/text", operation_id="readFileText", responses=answers(FileText, problems=(404,)))
def get_text(request: Request, file_id: FileId, database: Store, query: Annotated[FileTextQuery, Query()]) -> Response:
    """The text of a PDF page by page with its outline, extracted on the server; of a text, the text."""
    return json_answer(read_file_text(database, artifacts_of(service_of(request)), file_id, query.page))


@router.get("/files/{file_id}/link", operation_id="linkFile", responses=answers(FileLink, problems=(404,)))
def get_link(request: Request, file_id: FileId, database: Store) -> Response:
    """A link that anybody can download the file from for ten minutes, where artifacts are kept in S3."""
    return json_answer(link_file(database, artifacts_of(service_of(request)), file_id))


@router.delete(
    "/files/{file_id}",
    status_code=204,
    operation_id="deleteFile",
    responses=answers(status=204, description="It is gone.", problems=(404, 409)),
)
def remove_file(request: Request, file_id: FileId, database: Store) -> Response:
    """Delete a file that no run uses."""
    delete_file(database, artifacts_of(service_of(request)), file_id)
    return Response(status_code=204)
