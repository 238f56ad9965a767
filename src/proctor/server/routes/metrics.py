"""What operators look at: the workers, and what Prometheus reads."""

from __future__ import annotations

from fastapi import APIRouter, Depends
from prometheus_client import CONTENT_TYPE_LATEST
from starlette.requests import Request
from starlette.responses import Response

from proctor.domain.documents.status import ServiceStatus
from proctor.domain.documents.worker import ListedWorker
from proctor.runs.chunks.workers import list_workers
from proctor.server.access import V1, authorised
from proctor.server.documents import answers, json_answer
from proctor.server.health import check_health
from proctor.server.service import service_of

router = APIRouter(tags=["service"], dependencies=[Depends(authorised)])


@router.get(f"{V1}/workers", operation_id="listWorkers", responses=answers(ListedWorker, is_list=True))
def read_workers(request: Request) -> Response:
    """List the processes that execute runs of all projects: since when, for which pools, what each does."""
    return json_answer(list_workers(service_of(request).database))


@router.get(f"{V1}/status", operation_id="readStatus", responses=answers(ServiceStatus, description="Each check."))
def read_status(request: Request) -> Response:
    """How the server is, in three levels: what it depends on, what it does itself, and what people get of it."""
    return json_answer(check_health(service_of(request)))


@router.get(
    "/metrics",
    operation_id="readMetrics",
    responses=answers(description="Metrics in Prometheus's text format.", content={"text/plain": {}}),
)
def read_metrics(request: Request) -> Response:
    """Metrics of this server, and of all projects together: for the operator's Prometheus."""
    return Response(service_of(request).metrics.text(), media_type=CONTENT_TYPE_LATEST)
