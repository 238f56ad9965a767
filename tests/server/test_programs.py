"""Programs handed in over the API: hostile archives leave nothing, honest ones are marked in a sandbox and ranked."""

from __future__ import annotations

import asyncio
import io
import os
import shutil
import sqlite3
import stat
import tarfile
import time
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest

from proctor import Client
from proctor.accounts.keys import create_key
from proctor.accounts.projects import add_project
from proctor.benchmarks.problems.finding import BUILT_IN, find_problem
from proctor.domain.errors import NotFoundError
from proctor.domain.scope import Scope
from proctor.domain.submission import Submission
from proctor.runs.chunks.worker_context import WorkerContext
from proctor.runs.resolve import PlanContext
from proctor.runs.submissions.marking import accept_program, mark_next, read_submission
from proctor.stores.artifacts.folder import FolderArtifacts
from proctor.stores.database import Database, open_database
from proctor.stores.submission_queue import MAX_LOST, NewProgram, SubmissionQueue
from server.serving import Answer, Server, serving

V1 = "/api/v1"
PROBLEM = "interval-set"
SOLUTION = BUILT_IN / PROBLEM / "solution"
WHERE = f"{V1}/submissions?problem={PROBLEM}&load=false"
needs_bubblewrap = pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")
WAITING = NewProgram(
    name="mine",
    problem=PROBLEM,
    artifact="a" * 40,
    size_bytes=100,
    form="zip",
    refused={},
    is_measuring=False,
    author="ann",
)


def a_zip(files: Mapping[str, bytes], **attributes: int) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            entry = zipfile.ZipInfo(name)
            entry.external_attr = attributes.get("mode", 0o100644) << 16
            entry.create_system = 3
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, content)
    return made.getvalue()


def a_tar(kind: bytes, name: str = "thing", link: str = "/etc/passwd") -> bytes:
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w:gz") as archive:
        entry = tarfile.TarInfo(name)
        entry.type, entry.linkname = kind, link
        archive.addfile(entry)
    return made.getvalue()


def a_form(files: Mapping[str, bytes]) -> tuple[bytes, str]:
    parts = [
        f'--x\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n\r\n'.encode() + content + b"\r\n"
        for name, content in files.items()
    ]
    return b"".join(parts) + b"--x--\r\n", "multipart/form-data; boundary=x"


def send(server: Server, body: bytes, path: str = WHERE, **headers: str) -> Answer:
    return server.ask("POST", path, body, **{"Content_Type": "application/octet-stream", **headers})


def left_in(server: Server) -> tuple[set[str], int]:
    """Every file that the server keeps, and the rows of programs."""
    files = {str(path) for path in (server.home / "artifacts").rglob("*") if path.is_file()}
    with sqlite3.connect(server.home / "proctor.db") as opened:
        return files, int(opened.execute("SELECT count(*) FROM submission_queue").fetchone()[0])


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (a_zip({"../../escape.py": b"x"}), "leads out of the folder"),
        (a_zip({"/etc/cron.d/x": b"x"}), "absolute"),
        (a_zip({"a\\b.py": b"x"}), "backslash"),
        (a_zip({"main.py": b"/etc/passwd"}, mode=stat.S_IFLNK | 0o777), "it is a link"),
        (a_tar(tarfile.SYMTYPE), "it is a link"),
        (a_tar(tarfile.LNKTYPE), "it is a link"),
        (a_tar(tarfile.CHRTYPE), "it is a device"),
        (a_tar(tarfile.FIFOTYPE), "it is a FIFO"),
        (a_zip({"main.py": b"\0" * (17 * 2**20)}), "larger than 16 MiB"),
        (a_zip({f"f{n}.py": b"" for n in range(1_001)}), "more than 1,000 files"),
        (a_zip({"Main.py": b"1", "main.py": b"2"}), "case of letters"),
        (a_zip({"é.py": b"1", "e\u0301.py": b"2"}), "case of letters"),
        (a_zip({"a": b"1", "a/b": b"2"}), "a file and a folder at once"),
        (a_zip({}), "no file"),
        (b"no archive at all", "archive"),
        (b"", "archive"),
    ],
    ids=lambda value: value.replace(" ", "-") if isinstance(value, str) else "",
)
def test_a_hostile_archive_is_refused_in_words_and_leaves_nothing(server: Server, body: bytes, words: str) -> None:
    before = left_in(server)
    answer = send(server, body)
    assert answer.status == 422, answer.body
    assert words in answer.json["detail"]
    assert left_in(server) == before
    assert not Path("/tmp/escape.py").exists()


@pytest.mark.parametrize("names", [("../x.py", "y.py"), ("x.py", "X.py"), ("/x.py", "y.py"), ("a", "a/b")])
def test_files_of_a_form_are_held_to_the_same_rules(server: Server, names: tuple[str, ...]) -> None:
    before = left_in(server)
    body, kind = a_form(dict.fromkeys(names, b"x"))
    assert send(server, body, Content_Type=kind).status == 422
    assert left_in(server) == before


def test_what_is_asked_for_must_be_there(server: Server) -> None:
    good = a_zip({"main.py": b"print(1)"})
    for problem, status in (("no-such", 404), ("../csv-rollup", 404), ("%2Fetc", 404)):
        assert send(server, good, f"{V1}/submissions?problem={problem}").status == status
        assert server.ask("GET", f"{V1}/problems/{problem.replace('/', '%2F')}").status == status
    for query in ("", f"?problem={PROBLEM}&unsafe_no_sandbox=true", f"?problem={PROBLEM}&name=a%0Ab"):
        assert send(server, good, f"{V1}/submissions{query}").status == 422
    for path in ("s-nosuch", "s-", "latest"):
        assert server.ask("GET", f"{V1}/submissions/{path}").status == 404
        assert server.ask("DELETE", f"{V1}/submissions/{path}").status == 404


def test_a_problem_is_readable_as_a_whole_and_its_hidden_tests_are_not(server: Server) -> None:
    found = Client(server.address).problem(PROBLEM)
    assert {one.level for one in found.requirements} <= {"MUST", "SHOULD", "MAY"}
    assert found.brief
    assert found.thresholds
    assert found.weights
    assert found.visible
    raw = server.ask("GET", f"{V1}/problems/{PROBLEM}").body.decode()
    hidden = (BUILT_IN / PROBLEM / "tests" / "hidden" / "unit" / "test_sets.py").read_text()
    assert not any(line in raw for line in hidden.splitlines() if len(line) > 60)


@needs_bubblewrap
def test_a_program_is_marked_by_a_worker_and_stands_on_its_problems_board(server: Server, tmp_path: Path) -> None:
    client = Client(server.address)
    sent = client.submit_program(PROBLEM, SOLUTION, name="gold", load=False, idempotency_key="once")
    assert client.submit_program(PROBLEM, SOLUTION, name="gold", load=False, idempotency_key="once") == sent
    body, kind = a_form({"intervals.py": b"def parse(text):\n    return None\n", "README.md": b"# Mine"})
    bad = send(server, body, f"{WHERE}&name=bad", Content_Type=kind)
    assert (bad.status, bad.json["status"]) == (202, "queued")
    good = client.wait_for_submission(sent.submission_id)
    assert good.card is not None, good.error
    assert (good.status, good.card.passed, good.card.submission_id) == ("completed", True, sent.submission_id)
    assert good.card.evidence.runner["is_isolated"] is True
    poor = client.wait_for_submission(bad.json["submission_id"])
    assert poor.card is not None
    assert not poor.card.passed
    ranked = [one for one in client.ranking(PROBLEM).ranked if one.name in ("gold", "bad")]
    assert [(one.name, one.submission_id) for one in ranked] == [
        ("gold", sent.submission_id), ("bad", bad.json["submission_id"])
    ]  # fmt: skip
    _, said, _ = server.cli("problems", "card", sent.submission_id, "-f", "json")
    assert f'"total": {good.card.total}' in said
    client.delete_submission(bad.json["submission_id"])
    with pytest.raises(NotFoundError):
        client.submission(bad.json["submission_id"])


def test_without_a_sandbox_nothing_is_run_and_the_reason_is_told(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a machine without bubblewrap: it is looked for, and not found."""
    monkeypatch.setattr(shutil, "which", lambda name, **_: None)
    marker, artifacts = tmp_path / "ran", FolderArtifacts(tmp_path / "artifacts")
    program = Submission({"intervals.py": f"open({str(marker)!r}, 'w')".encode()}, "zip")
    kept = accept_program(database, artifacts, find_problem(PROBLEM), program, name="mine", author="ann")

    async def mark() -> bool:
        worker = WorkerContext(database, PlanContext(tmp_path, {}, artifacts=artifacts))
        try:
            return await mark_next(worker)
        finally:
            await worker.close()

    assert asyncio.run(mark())
    found = read_submission(database, artifacts, kept)
    assert (found.status, found.card) == ("failed", None)
    assert found.error is not None
    assert "bwrap is not installed" in found.error
    assert not marker.exists()


def test_a_worker_marks_what_waits_behind_programs_that_nobody_may_try_again(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "which", lambda name, **_: None)
    artifacts = FolderArtifacts(tmp_path / "artifacts")
    program = Submission({"intervals.py": b""}, "zip")
    lost = [SubmissionQueue(database).add(WAITING) for _ in range(4)]
    with database.connection() as connection:
        connection.execute(
            "UPDATE submission_queue SET state = 'running', lease_until = 0, lost_leases = ?", [MAX_LOST - 1]
        )
    kept = accept_program(database, artifacts, find_problem(PROBLEM), program, name="mine", author="ann")

    async def mark() -> bool:
        worker = WorkerContext(database, PlanContext(tmp_path, {}, artifacts=artifacts))
        try:
            return await mark_next(worker)
        finally:
            await worker.close()

    assert asyncio.run(mark())
    assert [SubmissionQueue(database).get(one).state for one in (*lost, kept)] == ["failed"] * 5


def test_another_projects_programs_are_unknown(tmp_path: Path) -> None:
    with serving(tmp_path / "home", tmp_path, "--accounts", PATH=os.environ["PATH"]) as server:
        database = open_database(f"sqlite:///{server.home / 'proctor.db'}")
        for project in ("acme", "rival"):
            add_project(database, project, by="test")
        key = {"Authorization": f"Bearer {create_key(database, 'acme', ['run:write', 'results:read'], by='t').text}"}
        # One that no worker can have, so that it waits for as long as it is looked for.
        theirs = SubmissionQueue(database.within(Scope("rival"))).add(WAITING)
        with database.connection() as connection:
            connection.execute("UPDATE submission_queue SET state = 'failed', error = 'theirs'")
        for method in ("GET", "DELETE"):
            foreign = server.ask(method, f"{V1}/submissions/{theirs}", **key)
            unknown = server.ask(method, f"{V1}/submissions/s-0", **key)
            assert foreign.status == unknown.status == 404
            assert foreign.json["detail"].replace(theirs, "s-0") == unknown.json["detail"]
        assert SubmissionQueue(database.within(Scope("rival"))).get(theirs).error == "theirs"
        assert server.ask("GET", f"{V1}/submissions/waiting", **key).json["items"] == []
        assert server.ask("GET", f"{V1}/submissions/waiting?after={theirs}", **key).status == 404
        mine = [SubmissionQueue(database.within(Scope("acme"))).add(WAITING) for _ in range(3)]
        with database.connection() as connection:
            connection.execute("UPDATE submission_queue SET state = 'failed', error = 'no sandbox'")
        page = server.ask("GET", f"{V1}/submissions/waiting?limit=2", **key).json
        rest = server.ask("GET", f"{V1}/submissions/waiting?limit=2&after={page['next']}", **key).json
        assert [one["submission_id"] for one in page["items"] + rest["items"]] == mine[::-1]
        assert (rest["next"], rest["items"][0]["status"], rest["items"][0]["error"]) == (None, "failed", "no sandbox")
        assert server.ask("POST", WHERE, a_zip({"a.py": b""})).status == 401
        assert server.ask("GET", f"{V1}/submissions/{theirs}").status == 401
        database.dispose()


@needs_bubblewrap
def test_a_server_that_is_killed_marks_the_program_when_it_is_back(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with serving(home, tmp_path) as server:
        sent = Client(server.address).submit_program(PROBLEM, SOLUTION, load=False)
        until = time.monotonic() + 60
        while server.get(f"{V1}/submissions/{sent.submission_id}")["status"] == "queued":
            assert time.monotonic() < until
            time.sleep(0.05)
    # It was told to end while it marked: the program was given back.
    with serving(home, tmp_path) as server:
        found = Client(server.address).wait_for_submission(sent.submission_id)
        assert found.card is not None, found.error
        assert found.card.passed
