"""Delete a run or a submission, and everything that belongs to it alone."""

from __future__ import annotations

from proctor.domain.artifacts import Artifacts
from proctor.domain.documents.deletion import DeletedRun, DeletedSubmission
from proctor.domain.errors import RunError
from proctor.stores.database import Database
from proctor.stores.deleting import artifacts_in, delete_rows, delete_submission_row, delete_unreferenced
from proctor.stores.rescorings import RescoringStore
from proctor.stores.runs import RunStore
from proctor.stores.submissions import SubmissionStore


def delete_run(database: Database, artifacts: Artifacts, reference: str) -> DeletedRun:
    """What other runs refer to stays; raises RunError while it is executed or scored again, or artifacts are used."""
    store = RunStore(database)
    run = store.get(reference)
    executing = store.executing()
    if run.id in executing:
        raise RunError(f"Run {run.id} is being executed. Wait for it, or stop it with 'proctor cancel {run.id}'.")
    RescoringStore(database).refuse_open(run.id)
    if any(artifacts.exists(key) for key in artifacts_in(database, run.id)):
        if executing:
            others = ", ".join(executing)
            raise RunError(
                f"Run {run.id} has artifacts that {others} may be about to use. Delete it when that has ended."
            )
        artifacts.check()  # a store that cannot be used says so before anything is deleted
    rows = delete_rows(database, run.id)
    sizes = delete_unreferenced(database, rows.artifacts, artifacts.delete)
    return DeletedRun(run.id, rows.responses, rows.samples, len(sizes), sum(sizes))


def delete_submission(database: Database, artifacts: Artifacts, reference: str) -> DeletedSubmission:
    """What runs and other submissions refer to stays; raises RunError while a run could use its artifacts."""
    found = SubmissionStore(database).get(reference)
    if executing := RunStore(database).executing():
        others = ", ".join(executing)
        raise RunError(f"{others} may be about to use the artifacts of {found.id}. Delete it when that has ended.")
    artifacts.check()
    keys = delete_submission_row(database, found.id)
    sizes = delete_unreferenced(database, keys, artifacts.delete)
    return DeletedSubmission(found.id, len(sizes), sum(sizes))
