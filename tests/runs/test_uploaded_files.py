"""Files that people upload, on both databases: what expires, what runs need, and content that several share."""

from __future__ import annotations

import io
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from models.pdfs import pdf
from proctor.domain.artifacts import key_of
from proctor.domain.errors import BudgetError, NotFoundError, RunError, UserError
from proctor.domain.plan import Plan
from proctor.domain.run import RunStatus
from proctor.runs.deleting import delete_run
from proctor.runs.storage.files import delete_file, keep_file, keep_made, open_file, prune_files, read_file
from proctor.stores.accounts.budgets import BudgetRow, BudgetStore
from proctor.stores.artifacts.folder import FolderArtifacts
from proctor.stores.database import Database
from proctor.stores.deleting import referred_artifacts
from proctor.stores.files import FileStore
from proctor.stores.queue import QueueStore
from proctor.stores.steps import StepStore
from stores.parts import evaluation, new_run


@pytest.fixture
def artifacts(tmp_path: Path) -> FolderArtifacts:
    return FolderArtifacts(tmp_path / "artifacts")


def test_what_has_expired_is_not_there_and_its_content_goes_with_the_last_of_it(
    database: Database, artifacts: FolderArtifacts
) -> None:
    def keep(name: str, days: float, content: bytes = b"the same") -> str:
        return keep_file(database, artifacts, io.BytesIO(content), name, "ann", days=days).file_id

    old, young, other = keep("old", -1), keep("young", 1), keep("other", -1, pdf(["x"]))
    for gone in (old, other):
        with pytest.raises(NotFoundError):
            read_file(database, gone)
    assert prune_files(database, artifacts) == 2
    assert len(list(artifacts.keys())) == 1
    body = open_file(database, artifacts, young)
    assert b"".join(body.part(0, body.size_bytes)) == b"the same"
    delete_file(database, artifacts, young)
    assert list(artifacts.keys()) == []
    assert prune_files(database, artifacts) == 0


def test_a_run_in_use_keeps_its_files_beyond_their_time(
    database: Database, artifacts: FolderArtifacts, tmp_path: Path
) -> None:
    run_id, _ = new_run(database, evaluation(2), tmp_path)
    kept = keep_file(database, artifacts, io.BytesIO(b"of a run"), "a", "ann", days=1)
    FileStore(database).use([kept.file_id], run_id)
    with database.connection() as connection:
        connection.execute("UPDATE files SET expires_at = 1")
    assert prune_files(database, artifacts) == 0
    assert read_file(database, kept.file_id).runs == [run_id]
    with pytest.raises(RunError, match=run_id):
        delete_file(database, artifacts, kept.file_id)


def test_names_are_not_paths(database: Database, artifacts: FolderArtifacts) -> None:
    kept = keep_file(database, artifacts, io.BytesIO(b"x"), "../../etc/passwd", "ann", days=1)
    assert kept.name == "../../etc/passwd"
    assert all(path.is_relative_to(artifacts.folder) for path in artifacts.folder.rglob("*"))
    for name in ("", "a\nb", "a\0b", "x" * 201, "\u202egpj.exe"):
        with pytest.raises(UserError, match="name"):
            keep_file(database, artifacts, io.BytesIO(b"x"), name, "ann", days=1)


def test_a_file_with_the_content_of_one_that_goes_is_kept_whole(database: Database, artifacts: FolderArtifacts) -> None:
    """Many of the same content come and go at once, and none that is there lacks its content."""

    def come_and_go(number: int) -> str | None:
        kept = keep_file(database, artifacts, io.BytesIO(b"the same for all"), f"{number}.txt", "ann", days=1)
        if number % 2:
            delete_file(database, artifacts, kept.file_id)
            return None
        return kept.file_id

    with ThreadPoolExecutor(4) as pool:
        ids = [found for found in pool.map(come_and_go, range(24)) if found is not None]
    for file_id in ids:
        body = open_file(database, artifacts, file_id)
        assert b"".join(body.part(0, body.size_bytes)) == b"the same for all"
        delete_file(database, artifacts, file_id)
    assert list(artifacts.keys()) == []


def test_a_file_that_is_kept_while_a_run_with_the_same_content_is_deleted_is_whole(
    database: Database, artifacts: FolderArtifacts, tmp_path: Path
) -> None:
    def come_and_go(number: int) -> str | None:
        if number % 2 == 0:
            return keep_file(
                database, artifacts, io.BytesIO(b"the same for all"), f"{number}.txt", "ann", days=1
            ).file_id
        delete_run(database, artifacts, queued(database, tmp_path, artifacts.put("a.txt", b"the same for all")))
        return None

    with ThreadPoolExecutor(4) as pool:
        ids = [found for found in pool.map(come_and_go, range(16)) if found is not None]
    for file_id in ids:
        body = open_file(database, artifacts, file_id)
        assert b"".join(body.part(0, body.size_bytes)) == b"the same for all"


def test_what_a_plan_travels_with_stays_as_long_as_its_run(
    database: Database, artifacts: FolderArtifacts, tmp_path: Path
) -> None:
    kept = keep_file(database, artifacts, io.BytesIO(b"questions"), "questions.jsonl", "ann", days=1)
    run_id = queued(database, tmp_path, key := key_of(b"questions"))
    delete_file(database, artifacts, kept.file_id)
    assert artifacts.exists(key)
    assert key in referred_artifacts(database)
    delete_run(database, artifacts, run_id)
    assert not artifacts.exists(key)


def queued(database: Database, folder: Path, key: str) -> str:
    """A run that workers were to carry out and that was cancelled before; its plan travels with one file."""
    plan = Plan.model_validate({"models": ["demo/strong"], "benchmarks": ["questions.yaml"]})
    queue, steps = QueueStore(database), StepStore(database)
    run_id = queue.accept(plan, folder, None, content={"questions.jsonl": key})
    lease = steps.lease(run_id)
    assert lease is not None
    assert steps.finish(lease, RunStatus.CANCELLED)
    return run_id


def test_what_there_is_no_room_for_leaves_no_content_behind(
    database: Database, artifacts: FolderArtifacts, tmp_path: Path
) -> None:
    BudgetStore(database).put(BudgetRow("project", "local", None, "month", None, "ann", "", storage_bytes=5_500))

    def keep(number: int) -> bool:
        content = f"{number:05d}".encode() * 200  # 1,000 bytes each
        try:
            keep_file(database, artifacts, io.BytesIO(content), f"{number}.txt", "ann", days=1)
        except BudgetError:
            return False
        return True

    with ThreadPoolExecutor(4) as pool:
        assert sum(pool.map(keep, range(12))) == 5
    run_id, _ = new_run(database, evaluation(1), tmp_path)
    with pytest.raises(BudgetError):
        keep_made(database, artifacts, [b"x" * 1_000], ("x.csv", "export", "text/csv"), run_id, "ann", days=1)
    assert len(list(artifacts.keys())) == 5
