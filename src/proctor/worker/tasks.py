"""The tasks that workers do. A message names what is to be done by its id and nothing else: the rows say what it is."""

from __future__ import annotations

import logging
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any

from proctor.worker.notifier import (
    EXECUTE,
    FINISH,
    MARK,
    PREPARE,
    RESCORE,
    RESCORING_ID,
    RUN_ID,
    SCHEDULED,
    SUBMISSION_ID,
)
from proctor.worker.schedule import SCHEDULE

if TYPE_CHECKING:
    from celery import Celery

    from proctor.worker.child import Child

MAX_ID = 2**63 - 1
log = logging.getLogger("proctor.worker")


def register_tasks(app: Celery, child: list[Child]) -> None:
    """Make the tasks known to the app; `child` holds the one of this process as soon as there is one."""

    from proctor.worker.child import Child

    def follow(
        value: object,
        is_id: Callable[[object], bool],
        doing: str,
        work: Callable[[Child, str], Coroutine[Any, Any, None]],
    ) -> None:
        if is_id(value):
            child[0].run(f"{doing} {value}", lambda: work(child[0], str(value)))

    @app.task(name=EXECUTE)  # type: ignore[untyped-decorator]
    def execute_chunk(chunk_id: object) -> None:
        if is_chunk_id(chunk_id):
            child[0].run(f"chunk {chunk_id}", lambda: child[0].execute(int(str(chunk_id))))

    @app.task(name=PREPARE)  # type: ignore[untyped-decorator]
    def prepare_run(run_id: object) -> None:
        follow(run_id, is_run_id, "preparing run", Child.prepare)

    @app.task(name=FINISH)  # type: ignore[untyped-decorator]
    def finish_run(run_id: object) -> None:
        follow(run_id, is_run_id, "ending run", Child.finish)

    @app.task(name=MARK)  # type: ignore[untyped-decorator]
    def mark_program(program_id: object) -> None:
        follow(program_id, is_submission_id, "marking", Child.mark)

    @app.task(name=RESCORE)  # type: ignore[untyped-decorator]
    def rescore_run(rescoring_id: object) -> None:
        follow(rescoring_id, is_rescoring_id, "rescoring", Child.rescore)

    @app.task(name=SCHEDULED)  # type: ignore[untyped-decorator]
    def scheduled(name: object) -> None:
        found = SCHEDULE.get(name) if isinstance(name, str) else None
        if found is None:
            log.warning("a message that asks for no task of ours was dropped")
        else:
            child[0].run(str(name).replace("_", " "), lambda: child[0].do_scheduled(str(name), found))


def is_chunk_id(value: object) -> bool:
    """Whether a message can be about a chunk; one that cannot is dropped with a warning."""
    is_id = isinstance(value, int) and not isinstance(value, bool) and 0 < value <= MAX_ID
    if not is_id:
        log.warning("a message that is no id of a chunk was dropped")
    return is_id


def is_submission_id(value: object) -> bool:
    is_id = isinstance(value, str) and SUBMISSION_ID.fullmatch(value) is not None
    if not is_id:
        log.warning("a message that is no id of a submission was dropped")
    return is_id


def is_rescoring_id(value: object) -> bool:
    is_id = isinstance(value, str) and RESCORING_ID.fullmatch(value) is not None
    if not is_id:
        log.warning("a message that is no id of a rescoring was dropped")
    return is_id


def is_run_id(value: object) -> bool:
    is_id = isinstance(value, str) and RUN_ID.fullmatch(value) is not None
    if not is_id:
        log.warning("a message that is no id of a run was dropped")
    return is_id
