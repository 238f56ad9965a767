"""Whether the server lives, whether it can serve, which version it is, and what it can do."""

from __future__ import annotations

from fastapi import APIRouter, Depends
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from proctor.domain.documents.service import Health, Readiness, ServerVersion
from proctor.server.access import V1, authorised
from proctor.server.documents import JSON, answers, cached_answer, json_answer, reference
from proctor.server.openapi import describe, docs_file
from proctor.server.service import service_of
from proctor.version import __version__

router = APIRouter(tags=["service"], dependencies=[Depends(authorised)])


@router.get("/health", operation_id="readHealth", responses=answers(Health, description="The process lives."))
async def read_health() -> Response:
    """Whether the process lives; says nothing of what it depends on."""
    return json_answer(Health(status="ok"))


@router.get(
    "/ready",
    operation_id="readReadiness",
    responses={
        **answers(Readiness, description="Requests can be served."),
        503: {"description": "What does not answer.", "content": {JSON: {"schema": reference(Readiness)}}},
    },
)  # fmt: skip
def read_readiness(request: Request) -> Response:
    """Whether requests can be served; 503 names what is down."""
    service = service_of(request)
    down = ["ending"] if service.ending.is_set() else service.down()
    return json_answer(Readiness(down=down), 503 if down else 200)


@router.get(f"{V1}/version", operation_id="readVersion", responses=answers(ServerVersion, description="The version."))
async def read_version() -> Response:
    """The server's version."""
    return json_answer(ServerVersion(version=__version__))


@router.get(f"{V1}/openapi.json", include_in_schema=False)
def read_openapi(request: Request) -> Response:
    if request.app.openapi_schema is None:
        request.app.openapi_schema = describe(request.app)
    return cached_answer(request, request.app.openapi_schema, "no-cache")


@router.get("/api/docs", include_in_schema=False)
async def read_docs() -> Response:
    return HTMLResponse(docs_file("docs.html"), headers={"Cache-Control": "no-cache"})


@router.get("/api/docs.js", include_in_schema=False)
async def read_docs_script() -> Response:
    return Response(docs_file("docs.js"), media_type="text/javascript", headers={"Cache-Control": "no-cache"})
