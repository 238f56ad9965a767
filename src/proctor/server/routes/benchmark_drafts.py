"""Benchmarks drafted from a document: read in passages, drafted and checked by models, kept once somebody has decided.

The server keeps no draft: whoever asks has each sample as soon as it is made, and sends back what is to be kept.
"""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from decimal import Decimal
from functools import partial
from secrets import token_hex
from typing import Annotated

from fastapi import Depends
from starlette.requests import Request
from starlette.responses import Response

from proctor.accounts.budgets import settle_ended_runs
from proctor.domain.documents.drafted_sample import DocumentPassages, DraftedSamples
from proctor.domain.documents.own_benchmark import OwnBenchmark
from proctor.planning.plan_file import model_spec
from proctor.runs.benchmarks.draft_passages import (
    DraftToKeep,
    PassagesRequest,
    PreparedDraft,
    keep_draft,
    read_passages,
)
from proctor.server.access import V1, Caller, Me, Store
from proctor.server.bodies import body_of, large_json_value, takes
from proctor.server.bodies import convert as convert_body
from proctor.server.documents import answers, json_answer
from proctor.server.plans import refuse_foreign_model
from proctor.server.problems import ProblemError
from proctor.server.routes.files import received_files
from proctor.server.routes.resource import resource
from proctor.server.service import service_of
from proctor.server.uploads import upload_body
from proctor.stores.accounts.audit import AuditStore
from proctor.stores.accounts.budgets import BudgetStore
from proctor.stores.database import Database

router = resource("benchmark drafts")
MAX_DRAFT_BYTES = 16_000_000
MAX_DOCUMENT_BYTES = 20_000_000
DRAFTING = ThreadPoolExecutor(32, thread_name_prefix="draft")
"""Beside the threads of everything else: who waits for models keeps nobody else waiting."""
EXAMPLE = {
    "passages": [{"number": 0, "text": "Ada keeps the key of tower 10. Nobody else may enter it."}],
    "writer": "demo/strong",
    "checker": "demo/weak",
    "kind": "qa",
}


@router.post(
    "/benchmark-drafts/passages",
    operation_id="readPassages",
    openapi_extra=upload_body("The document (.txt, .md or .pdf) as the part `file` of a form.", is_single=True),
    responses=answers(DocumentPassages, has_body=True),
)
async def passages(request: Request, caller: Me) -> Response:
    """Read a document in the passages of which samples are drafted; nothing is kept, and no model is asked."""
    service = service_of(request)
    async with received_files(request, caller, min(MAX_DOCUMENT_BYTES, service.settings.upload_bytes)) as received:
        if not received.files:
            raise ProblemError(422, "body", "The form has no part 'file'.")
        [file] = received.files
        found = await service.uploads.look(partial(read_passages, file.name or "document.txt", file.content))
    return json_answer(found)


@router.post(
    "/benchmark-drafts/samples",
    operation_id="draftSamples",
    openapi_extra=takes(PassagesRequest, EXAMPLE),
    responses=answers(DraftedSamples, problems=(402, 403), has_body=True),
)
async def samples(
    request: Request, caller: Me, body: Annotated[PassagesRequest, Depends(body_of(PassagesRequest))]
) -> Response:
    """Draft a sample of each passage: one model writes it, rules and another check it, pilots say how hard it is.

    A sample is accepted when its answer, or what it rests on, stands in the passage, the question does not give it
    away, no other asks the same, and the checker answers it with the passage and not without. It is answered when all
    is done, which takes as long as three answers of a model; a passage that came to nothing can be asked for again.
    """
    named = [("writer", body.writer), ("checker", body.checker), *(("pilots", one) for one in body.pilots)]
    for field, name in () if caller.is_operator else named:
        refuse_foreign_model(model_spec(name), [field], caller)
    loop, context = asyncio.get_running_loop(), copy_context()
    return json_answer(await loop.run_in_executor(DRAFTING, context.run, _draft, request, caller, body))


def _draft(request: Request, caller: Caller, body: PassagesRequest) -> DraftedSamples:
    service = service_of(request)
    context = service.context.of_project(caller.project)
    prepared = PreparedDraft(body, context, is_operator=caller.is_operator)
    work_id = f"draft-{token_hex(10)}"
    budgets = BudgetStore(service.database)
    if caller.spender is not None:
        settle_ended_runs(service.database, caller.spender)
        budgets.reserve(caller.spender, work_id, prepared.held_usd)
    spent = prepared.held_usd or Decimal(0)
    try:
        found = prepared.draft()
        spent = spent if found.cost_usd is None else Decimal(str(found.cost_usd))
    finally:
        if caller.spender is not None:
            budgets.settle_work(work_id, spent)
    said = f"{len(found.samples)} samples for {found.cost_usd if found.cost_usd is not None else 'unknown'} USD"
    AuditStore(service.database).add(
        caller.who, "draft-samples", of=f"{body.writer}, {body.checker}", project=caller.project, outcome=said
    )
    return found


@router.post(
    "/benchmark-drafts",
    status_code=201,
    operation_id="keepDraft",
    openapi_extra=takes(DraftToKeep),
    responses=answers(
        OwnBenchmark,
        status=201,
        description="It is one of the project's own benchmarks.",
        headers={"Location": "The address of its versions."},
        problems=(409,),
        has_body=True,
    ),
)
async def keep(request: Request, caller: Me, database: Store) -> Response:
    """Keep a drafted benchmark: its accepted samples that nobody dropped, each asked with the passage it rests on."""
    body = convert_body(await large_json_value(request, MAX_DRAFT_BYTES), DraftToKeep)
    kept = await service_of(request).uploads.look(partial(_keep, request, caller, database, body))
    return json_answer(kept, 201, {"Location": f"{V1}/own-benchmarks/{kept.name}"})


def _keep(request: Request, caller: Caller, database: Database, body: DraftToKeep) -> OwnBenchmark:
    return keep_draft(body, service_of(request).context, database, caller.who)
