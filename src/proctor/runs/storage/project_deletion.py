"""Delete a project with everything that is its own."""

from __future__ import annotations

from proctor.domain.artifacts import Artifacts
from proctor.domain.documents.deletion import DeletedProject
from proctor.domain.errors import NotFoundError, RunError, UserError
from proctor.domain.scope import LOCAL, Scope
from proctor.runs.deleting import delete_run
from proctor.stores.accounts.audit import AuditStore
from proctor.stores.accounts.budgets import BudgetStore
from proctor.stores.accounts.users import ProjectStore
from proctor.stores.database import Database
from proctor.stores.deleting import delete_unreferenced
from proctor.stores.project_rows import delete_project_rows, overwrite_deleted, project_use
from proctor.stores.runs import RunStore


def require_deletable(database: Database, name: str) -> None:
    if name == LOCAL:
        raise UserError(f"{LOCAL} is the project of whoever has only one: delete its runs with 'proctor delete RUN'.")
    ProjectStore(database).require(name)


def delete_project(
    database: Database, artifacts: Artifacts, name: str, *, by: str, address: str = ""
) -> DeletedProject:
    """Its runs one by one, then all else at once: what was interrupted is finished by calling it again.

    Raises RunError while one of its runs is queued or being executed. What is shared with other projects stays theirs.
    """
    require_deletable(database, name)
    mine = RunStore(database.within(Scope(name)))
    if executing := mine.executing():
        raise RunError(f"{', '.join(executing[:3])} is being executed. Wait for it, or stop it with 'proctor cancel'.")
    artifacts.check()
    BudgetStore(database).settle()  # what its runs did not spend is given back while it is still known
    use = project_use(database, name)
    responses = count = size = 0
    for run_id in use.runs:
        try:
            done = delete_run(database, artifacts, run_id)
        except NotFoundError:  # somebody else has just deleted it
            continue
        responses, count, size = responses + done.responses, count + done.artifacts, size + done.artifact_bytes
    rows = delete_project_rows(database, name, use)
    sizes = delete_unreferenced(database, use.artifacts, artifacts.delete)
    overwrite_deleted(database)
    AuditStore(database).add(by, "delete-project", of=name, project=name, address=address)
    return DeletedProject(name, len(use.runs), responses, rows, count + len(sizes), size + sum(sizes))
