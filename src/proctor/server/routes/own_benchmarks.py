"""Benchmarks of the project's own: uploaded, checked, listed, read, archived."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Annotated, TypeVar
from urllib.parse import quote

from fastapi import Depends, Path, Query
from msgspec import Meta, Struct
from pydantic import BaseModel, ConfigDict, Field
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from proctor.benchmarks.foreign import ForeignKindError
from proctor.domain.documents.benchmark import BenchmarkDescription
from proctor.domain.documents.own_benchmark import OwnBenchmark, OwnBenchmarkPage, OwnBenchmarkVersions
from proctor.runs.benchmarks.own import (
    MAX_FILES,
    archive_own,
    check_upload,
    delete_own,
    keep_benchmark,
    list_own,
    read_own_file,
    read_versions,
)
from proctor.server.access import V1, Caller, Me, Store
from proctor.server.bodies import body_of, takes
from proctor.server.documents import answers, cached_answer, json_answer
from proctor.server.pages import next_link
from proctor.server.problems import ProblemError
from proctor.server.routes.files import CONFINED, received_files
from proctor.server.routes.resource import resource
from proctor.server.service import service_of
from proctor.server.uploads import BINARY, upload_body
from proctor.stores.own_benchmarks import OwnBenchmarkStore

T = TypeVar("T")
router = resource("own benchmarks")
Name = Annotated[str, Path(max_length=100)]
BODY = upload_body(
    "A form with a part `file` for the benchmark file and for each of its data files, whose file "
    "names are their paths; or the benchmark file alone."
)


class OwnBenchmarkQuery(BaseModel):
    model_config = ConfigDict(extra="forbid")

    archived: bool = Field(False, description="Those that were archived, too.")
    after: str | None = Field(None, max_length=64)
    limit: int = Field(50, ge=1, le=200)


class ArchiveRequest(Struct, frozen=True, forbid_unknown_fields=True):
    version: Annotated[str, Meta(min_length=1, max_length=50)]
    is_archived: bool = True


@router.post(
    "/own-benchmarks",
    status_code=201,
    operation_id="uploadBenchmark",
    openapi_extra=BODY,
    responses=answers(
        OwnBenchmark,
        status=201,
        description="It is kept, and plans of the project may name it.",
        headers={"Location": "The address of its versions."},
        problems=(404, 409),
        has_body=True,
    ),
)
async def upload(request: Request, caller: Me, database: Store) -> Response:
    """Upload a benchmark with its data, or a new version of one; it is checked as `proctor benchmarks check` does.

    A version never changes: the same one sent again is harmless, another one under its name is refused.
    """
    context = service_of(request).context
    kept = await _with_files(
        request, caller, lambda files: keep_benchmark(files, context, database, caller.who)
    )  # fmt: skip
    return json_answer(kept, 201, {"Location": f"{V1}/own-benchmarks/{kept.name}"})


@router.post(
    "/own-benchmarks/check",
    operation_id="checkBenchmark",
    openapi_extra=BODY,
    responses=answers(
        BenchmarkDescription, description="It has no fault; see `warnings`.", problems=(404,), has_body=True
    ),
)
async def check(request: Request, caller: Me, database: Store) -> Response:
    """Check a benchmark with its data; nothing is kept."""
    context = service_of(request).context
    return json_answer(await _with_files(request, caller, lambda files: check_upload(files, context, database)))


async def _with_files(request: Request, caller: Caller, work: Callable[..., T]) -> T:
    service = service_of(request)
    async with received_files(request, caller, service.settings.upload_bytes, MAX_FILES) as received:
        files = [(file.name, file.content) for file in received.files]
        try:
            return await service.uploads.look(partial(work, files))
        except ForeignKindError as error:
            raise ProblemError(403, "kind-not-allowed", str(error)) from None


@router.get(
    "/own-benchmarks",
    operation_id="listOwnBenchmarks",
    responses=answers(OwnBenchmarkPage, description="Newest first.", headers={"Link": "The next page."}),
)
def list_all(request: Request, database: Store, query: Annotated[OwnBenchmarkQuery, Query()]) -> Response:
    """List the versions of the project's own benchmarks, newest first."""
    page = list_own(database, after=query.after, limit=query.limit, has_archived=query.archived)
    return json_answer(page, headers=next_link(request, page.next))


@router.get(
    "/own-benchmarks/{name}",
    operation_id="readOwnBenchmark",
    responses=answers(OwnBenchmarkVersions, problems=(404,)),
)
def get_one(request: Request, name: Name, database: Store) -> Response:
    """All versions of one of the project's own benchmarks, newest first."""
    return cached_answer(request, read_versions(database, name))


class FileOfVersion(BaseModel):
    model_config = ConfigDict(extra="forbid")

    version: str = Field(max_length=50)
    path: str = Field(max_length=300, description="One of its files.")


@router.get(
    "/own-benchmarks/{name}/file",
    operation_id="readOwnBenchmarkFile",
    responses=answers(
        description="The file as it was uploaded, as an attachment.",
        content={"application/octet-stream": {"schema": BINARY}},
        problems=(404,),
    ),
)
def get_file(request: Request, name: Name, database: Store, query: Annotated[FileOfVersion, Query()]) -> Response:
    """A file of a version, as it was uploaded."""
    content = read_own_file(database, service_of(request).context, name, query.version, query.path)
    shown = quote(query.path.rpartition("/")[2], safe="")
    headers = {
        "Content-Disposition": f"attachment; filename*=UTF-8''{shown}",
        "Content-Security-Policy": CONFINED,
    }
    return StreamingResponse(content, 200, headers, "application/octet-stream")


def _named(name: Name, database: Store) -> str:
    return OwnBenchmarkStore(database).get(name).name


@router.post(
    "/own-benchmarks/{name}/archive",
    operation_id="archiveBenchmark",
    openapi_extra=takes(ArchiveRequest),
    responses=answers(OwnBenchmark, problems=(404,), has_body=True),
)
def archive(
    name: Annotated[str, Depends(_named)],
    database: Store,
    body: Annotated[ArchiveRequest, Depends(body_of(ArchiveRequest))],
) -> Response:
    """Offer a version no more, or again; runs keep it, and a plan that names the version still gets it."""
    return json_answer(archive_own(database, name, body.version, is_archived=body.is_archived))


class DeletionQuery(BaseModel):
    model_config = ConfigDict(extra="forbid")

    version: str | None = Field(None, max_length=50, description="Only this one; all versions if left out.")


@router.delete(
    "/own-benchmarks/{name}",
    status_code=204,
    operation_id="deleteBenchmark",
    responses=answers(status=204, description="It is gone.", problems=(404, 409)),
)
def delete(
    request: Request,
    name: Annotated[str, Depends(_named)],
    caller: Me,
    database: Store,
    query: Annotated[DeletionQuery, Query()],
) -> Response:
    """Delete a version, or all of them; runs keep what they used, and can be resumed."""
    delete_own(database, service_of(request).context, name, query.version, by=caller.who)
    return Response(status_code=204)
