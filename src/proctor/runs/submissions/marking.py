"""Programs that are handed in over the API: looked into at once, marked by a worker in a sandbox, then submissions."""

from __future__ import annotations

import asyncio
import hashlib
import io
import logging
import shutil
import tempfile
import zipfile
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import IO

from msgspec.structs import replace

from proctor.benchmarks.problems.finding import find_problem
from proctor.domain.artifacts import Artifacts
from proctor.domain.chunk import Pool
from proctor.domain.documents.submission import ServedSubmission, WaitingSubmissions
from proctor.domain.errors import NotFoundError, ProctorError, SandboxError, StoreError
from proctor.domain.event import Event
from proctor.domain.problem import Problem
from proctor.domain.submission import Submission
from proctor.programs.archive import program_zip
from proctor.programs.options import MarkOptions
from proctor.programs.packages.kept import PACKAGES
from proctor.programs.scorer import REVISION, marking_details
from proctor.programs.submissions import SubmissionError, submission_from, submission_of
from proctor.runs.chunks.worker_context import WorkerContext
from proctor.runs.deleting import delete_submission
from proctor.runs.programs.programming import opened_runner, submit
from proctor.runs.submissions.stored import card_of_submission
from proctor.stores.database import Database
from proctor.stores.idempotency import IdempotencyStore, RequestKey
from proctor.stores.leases import LeaseLostError, work_on_first
from proctor.stores.stored_bytes import check_room
from proctor.stores.submission_queue import MarkingLeases, NewProgram, QueuedProgram, SubmissionQueue
from proctor.stores.workers import WorkerStore

RENEW_SECONDS = 3.0
ARCHIVES = (".zip", ".tar", ".tgz", ".tbz2", ".txz", ".tar.gz", ".tar.bz2", ".tar.xz")
log = logging.getLogger("proctor")


def read_program(files: Sequence[tuple[str, IO[bytes]]]) -> Submission:
    """The program of an archive, or of files with their paths; SubmissionError where it cannot be taken whole."""
    if not files:
        raise SubmissionError("There is no file in the request.")
    name, first = files[0]
    for _, file in files:
        file.seek(0)
    if len(files) > 1 or (name and not name.lower().endswith(ARCHIVES)):
        return submission_of(files, "the program")
    with tempfile.TemporaryDirectory(prefix="proctor-") as folder:
        place = Path(folder, "archive")
        with place.open("wb") as copy:
            shutil.copyfileobj(first, copy)
        return submission_from(place)


def accept_program(
    database: Database,
    artifacts: Artifacts,
    problem: Problem,
    program: Submission,
    *,
    name: str,
    author: str,
    is_measuring: bool = True,
    request_key: str | None = None,
) -> str:
    """Keep a program to be marked; gives its id, that of the first one where an equal request is sent again."""
    if not program.files:
        raise SubmissionError("There is no file of a program in what was sent.")
    content = program_zip(program.files)
    asked = f"{problem.id}\0{name}\0{is_measuring}\0{hashlib.sha256(content).hexdigest()}"
    request = None if request_key is None else RequestKey(request_key, hashlib.sha256(asked.encode()).hexdigest())
    if request is None or IdempotencyStore(database).find(request) is None:
        check_room(database, len(content))
    new = NewProgram(
        name=name,
        problem=problem.id,
        artifact=artifacts.put("program.zip", content),
        size_bytes=len(content),
        form=program.form,
        refused=program.refused,
        is_measuring=is_measuring,
        author=author,
    )
    return SubmissionQueue(database).add(new, request)


def read_submission(database: Database, artifacts: Artifacts, submission_id: str) -> ServedSubmission:
    """How far a submission is, and its scorecard once it has one."""
    try:
        queued = SubmissionQueue(database).get(submission_id)
    except NotFoundError:
        card = card_of_submission(database, artifacts, submission_id)
        if card.submission_id != submission_id or card.created_at is None:
            raise NotFoundError(f"No submission {submission_id!r}.") from None
        created = card.created_at.isoformat(timespec="seconds")
        return ServedSubmission(submission_id, card.problem.id, card.name or "", "completed", created, card=card)
    return _waiting(queued)


def list_waiting(database: Database, *, after: str | None, limit: int) -> WaitingSubmissions:
    """Those that are not marked yet or could not be, newest first."""
    rows = SubmissionQueue(database).listed(after=after, limit=limit + 1)
    shown = rows[:limit]
    return WaitingSubmissions([_waiting(row) for row in shown], shown[-1].id if len(rows) > limit else None)


def _waiting(queued: QueuedProgram) -> ServedSubmission:
    created = datetime.fromtimestamp(queued.created_at, UTC).isoformat(timespec="seconds")
    return ServedSubmission(queued.id, queued.problem, queued.name, queued.state, created, error=queued.error)


def remove_submission(database: Database, artifacts: Artifacts, submission_id: str) -> None:
    """Delete it, marked or not."""
    try:
        SubmissionQueue(database).delete(submission_id)
    except NotFoundError:
        delete_submission(database, artifacts, submission_id)


async def mark_next(worker: WorkerContext) -> bool:
    """Mark a program that waits; False where none does, or this worker marks none."""
    if Pool.SANDBOX not in worker.pools:
        return False
    return await work_on_first(MarkingLeases(worker.database).waiting, lambda one: mark_program(one, worker))


async def mark_program(program_id: str, worker: WorkerContext) -> bool:
    """Mark this program, unless somebody else does; False where there was nothing to do."""
    leases = MarkingLeases(worker.database)
    program = await asyncio.to_thread(leases.lease, program_id, worker.name)
    if program is None:
        return False
    marking = asyncio.create_task(_mark(program, worker))
    renewing = asyncio.create_task(_renew(program, leases, marking))
    worker.on_stop(partial(_cancel, marking))
    try:
        await asyncio.wait({marking})
    except asyncio.CancelledError:
        marking.cancel()
        raise
    finally:
        worker.on_stop(None)
        renewing.cancel()
        await asyncio.gather(renewing, marking, return_exceptions=True)
        await _end(program, marking, worker)
    return True


def _cancel(marking: asyncio.Task[None]) -> None:
    marking.cancel()


async def _renew(program: QueuedProgram, leases: MarkingLeases, marking: asyncio.Task[None]) -> None:
    while True:
        await asyncio.sleep(RENEW_SECONDS)
        try:
            if not await asyncio.to_thread(leases.renew, program):
                marking.cancel()
                return
        except StoreError as fault:
            log.debug("the lease of %s could not be renewed: %s", program.id, fault)


async def _end(program: QueuedProgram, marking: asyncio.Task[None], worker: WorkerContext) -> None:
    """What becomes of a program that was not marked."""
    leases = MarkingLeases(worker.database)
    if marking.cancelled():
        await asyncio.to_thread(leases.release, program)
        return
    fault = marking.exception()
    if fault is None or isinstance(fault, LeaseLostError):
        return
    if isinstance(fault, StoreError):
        log.warning("submission %s will be marked again: %s", program.id, fault)
        return  # when its lease has run out, which counts as one that was lost
    if not isinstance(fault, ProctorError):
        log.error("submission %s could not be marked", program.id, exc_info=fault)
    others = await asyncio.to_thread(WorkerStore(worker.database).alive, Pool.SANDBOX)
    if isinstance(fault, SandboxError) and others > 1 and program.lost_leases == 0:
        return  # another worker may have a sandbox that works
    said = str(fault) if isinstance(fault, ProctorError) else "Marking failed; the worker's log says why."
    await asyncio.to_thread(leases.fail, program, said)


async def _mark(program: QueuedProgram, worker: WorkerContext) -> None:
    context, artifacts = worker.context, worker.context.artifacts
    if artifacts is None:
        raise StoreError("This worker keeps no artifacts.")
    problem = await asyncio.to_thread(find_problem, program.problem, None)
    files = await asyncio.to_thread(_files, artifacts, program.artifact)
    options = replace(
        MarkOptions(),
        packages=None if context.home is None else context.home / PACKAGES,
        is_measuring=program.is_measuring,
    )
    async with opened_runner(_unheard) as runner:
        card = await submit(problem, files, runner, options=options, artifacts=artifacts)
    submission = Submission(files, program.form, program.refused)
    details = marking_details(submission, card, is_forgeable=not card.evidence.runner["is_isolated"])
    leases = MarkingLeases(worker.database)
    await asyncio.to_thread(leases.complete, program, (problem.id, problem.digest), REVISION, details)


def _files(artifacts: Artifacts, key: str) -> dict[str, bytes]:
    """The program as it was kept, which is by our own hand."""
    with zipfile.ZipFile(io.BytesIO(artifacts.get(key))) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def _unheard(_: Event) -> None:
    return
