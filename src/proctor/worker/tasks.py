"""The tasks that workers do. A message names what is to be done by its id and nothing else: the rows say what it is."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from proctor.worker.notifier import EXECUTE, FINISH, MARK, PREPARE, RUN_ID, SCHEDULED, SUBMISSION_ID
from proctor.worker.schedule import SCHEDULE

if TYPE_CHECKING:
    from celery import Celery

    from proctor.worker.child import Child

MAX_ID = 2**63 - 1
log = logging.getLogger("proctor.worker")


def register_tasks(app: Celery, child: list[Child]) -> None:
    """Make the tasks known to the app; `child` holds the one of this process as soon as there is one."""

    @app.task(name=EXECUTE)  # type: ignore[untyped-decorator]
    def execute_chunk(chunk_id: object) -> None:
        if is_chunk_id(chunk_id):
            child[0].run(f"chunk {chunk_id}", lambda: child[0].execute(int(str(chunk_id))))

    @app.task(name=PREPARE)  # type: ignore[untyped-decorator]
    def prepare_run(run_id: object) -> None:
        if is_run_id(run_id):
            child[0].run(f"preparing run {run_id}", lambda: child[0].prepare(str(run_id)))

    @app.task(name=FINISH)  # type: ignore[untyped-decorator]
    def finish_run(run_id: object) -> None:
        if is_run_id(run_id):
            child[0].run(f"ending run {run_id}", lambda: child[0].finish(str(run_id)))

    @app.task(name=MARK)  # type: ignore[untyped-decorator]
    def mark_program(program_id: object) -> None:
        if is_submission_id(program_id):
            child[0].run(f"marking {program_id}", lambda: child[0].mark(str(program_id)))

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


def is_run_id(value: object) -> bool:
    is_id = isinstance(value, str) and RUN_ID.fullmatch(value) is not None
    if not is_id:
        log.warning("a message that is no id of a run was dropped")
    return is_id
