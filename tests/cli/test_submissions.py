"""`proctor problems submit` keeps what it marks: listed, shown again, ranked and deleted."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from msgspec.structs import replace

from commands import Cli
from fakes.scorecards import evidence_of, small_problem, unmeasured
from proctor.domain.problem import Problem
from proctor.domain.submission import Submission
from proctor.programs.archive import program_zip
from proctor.programs.marks import scorecard_of
from proctor.programs.scorer import REVISION
from proctor.runs.submissions.stored import keep_submission
from proctor.stores.artifacts.folder import FolderArtifacts
from proctor.stores.database import Database

needs_bubblewrap = pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")
PROGRAM = {"main.py": b"print(1)\n"}


@pytest.fixture
def problem(tmp_path: Path) -> Problem:
    return small_problem(tmp_path / "mine")


def kept_artifacts() -> FolderArtifacts:
    """Where the command line keeps artifacts: in the home."""
    return FolderArtifacts(Path(os.environ["PROCTOR_HOME"]) / "artifacts")


def keep(
    database: Database, problem: Problem, name: str, *failing: str, is_measured: bool = True, text: bytes = b""
) -> str:
    """Store a submission with evidence made by hand; its program is kept as an artifact."""
    files = {"main.py": text} if text else PROGRAM
    evidence = replace(evidence_of(problem, *failing), program=kept_artifacts().put("", program_zip(files)))
    card = scorecard_of(problem, evidence if is_measured else unmeasured(evidence))
    kept = keep_submission(database, kept_artifacts(), name, problem, Submission(files, "folder"), card)
    assert kept.submission_id is not None
    return kept.submission_id


def test_submissions_are_listed_newest_first_and_by_problem(cli: Cli, database: Database, problem: Problem) -> None:
    assert "There are no submissions yet" in cli("problems", "submissions").out
    ids = [keep(database, problem, "first", "refuses_words"), keep(database, problem, "second")]
    listed = cli("problems", "submissions", "--json").json
    assert [(one["submission_id"], one["name"], one["passed"]) for one in listed] == [
        (ids[1], "second", True),
        (ids[0], "first", False),
    ]
    assert cli("problems", "submissions", problem.folder, "--json").json == listed
    assert cli("problems", "submissions", "csv-rollup", "--json").json == []
    shown = cli("problems", "submissions").out
    assert all(name in shown for name in (*ids, "first", "second", "add-up"))


def test_a_submission_is_shown_again_from_its_evidence(cli: Cli, database: Database, problem: Problem) -> None:
    kept = keep(database, problem, "mine", "refuses_words")
    document = cli("problems", "card", kept, "-f", "json").json
    assert (document["submission_id"], document["name"], document["passed"]) == (kept, "mine", False)
    assert document["program"]["main.py"]["text"] == "print(1)\n"
    assert document["total"] == scorecard_of(problem, evidence_of(problem, "refuses_words")).total
    assert "not every MUST requirement is verified: R2" in cli("problems", "card", kept[:-1]).out
    assert "No submission 's-none'" in cli("problems", "card", "s-none").error
    with_model = cli("problems", "card", kept, "--model", "x")
    assert (with_model.code, "holds one scorecard" in with_model.error) == (2, True)


def test_two_submissions_are_compared_by_id_or_with_a_file(cli: Cli, database: Database, problem: Problem) -> None:
    a = keep(database, problem, "first", "refuses_words")
    b = keep(database, problem, "second", text=b"print(2)\n")
    document = cli("problems", "diff", a, b, "-f", "json").json
    assert [file["path"] for file in document["files"]] == ["main.py"]
    assert "-print(1)" in document["files"][0]["diff"]
    flipped = {one["id"] for one in document["requirements"]}
    assert flipped
    cli("problems", "card", a, "-o", "a.json")
    mixed = cli("problems", "diff", "a.json", b, "-f", "json", "--problems", problem.folder.parent)
    assert mixed.json["requirements"] == document["requirements"]
    assert "+print(2)" in cli("problems", "diff", a, b).out
    assert "There is no file nothing.json" in cli("problems", "diff", "nothing.json", b).err
    missing = cli("problems", "diff", f"{a[:4]}zzzzzzzzzz", b)
    assert missing.code == 2
    assert "Traceback" not in missing.err


def test_equal_marks_share_a_rank_and_what_was_measured_is_told(cli: Cli, database: Database, problem: Problem) -> None:
    for name, failing in (("poor", ("refuses_words",)), ("good", ()), ("as good", ())):
        keep(database, problem, name, *failing)
    keep(database, problem, "partly", is_measured=False)
    document = cli("problems", "ranking", problem.folder, "--json").json
    assert document["apart"] == []
    assert [(one["rank"], one["name"], one["kind"], one["passed"]) for one in document["ranked"][:2]] == [
        (1, "good", "submission", True),
        (1, "as good", "submission", True),
    ]
    assert {one["name"]: one["rank"] for one in document["ranked"]}.keys() == {"good", "as good", "poor", "partly"}
    assert {one["rank"] for one in document["ranked"]} == {1, 3, 4}
    (partly,) = [one for one in document["ranked"] if one["name"] == "partly"]
    assert partly["covers"] < 1
    assert "is not scaled up" in cli("problems", "ranking", problem.folder).out


def test_marks_of_another_formula_or_of_a_changed_problem_are_not_ranked_with_others(
    cli: Cli, database: Database, problem: Problem
) -> None:
    old, changed = keep(database, problem, "old"), keep(database, replace(problem, digest="0" * 32), "before")
    new = keep(database, problem, "new", "refuses_words")
    with database.connection() as connection:
        connection.execute("UPDATE submissions SET revision = '2' WHERE id = ?", [old])
    document = cli("problems", "ranking", problem.folder, "--json").json
    assert [(one["submission_id"], one["rank"]) for one in document["ranked"]] == [(new, 1)]
    apart = {(group["revision"], group["entries"][0]["submission_id"]) for group in document["apart"]}
    assert apart == {("2", old), (REVISION, changed)}
    shown = cli("problems", "ranking", problem.folder).out
    assert "Apart: marks of formula revision 2\n" in shown
    assert "Apart: marks of the problem before it changed\n" in shown


def test_deleting_takes_what_only_the_submission_refers_to(cli: Cli, database: Database, problem: Problem) -> None:
    twins = [keep(database, problem, name) for name in ("one", "two")]
    own = keep(database, problem, "own", text=b"print(2)\n")
    artifacts = kept_artifacts()

    def programs() -> int:
        return sum(path.is_file() for path in artifacts.folder.rglob("*"))

    assert programs() == 2
    assert "add --yes" in cli("delete", own).error
    assert cli("delete", own, "-y", "--json").json["deleted"]["artifacts"] == 1
    assert "0 artifacts" in cli("delete", twins[0], "-y").out
    assert programs() == 1
    assert cli("problems", "card", twins[1], "-f", "json").json["program"]
    assert "1 artifact " in cli("delete", twins[1], "-y").out
    assert cli("problems", "submissions", "--json").json == []


@needs_bubblewrap
def test_programs_of_people_and_models_stand_in_one_ranking_and_share_artifacts(cli: Cli) -> None:
    assert cli("problems", "new", "mine/add-up").code == 0
    program = Path("program")
    program.mkdir()
    shutil.copy("mine/add-up/solution/main.py", program)
    agent = Path("agent.sh")
    agent.write_text(f"#!/bin/sh\ncat > main.py <<'END'\n{(program / 'main.py').read_text()}END\n")
    agent.chmod(0o755)
    idle = Path("idle.sh")
    idle.write_text("#!/bin/sh\nexit 0\n")
    idle.chmod(0o755)
    models = ("-m", "command/./agent.sh", "-m", "command/./idle.sh")
    ran = cli("run", "requirements?problems=mine&measure=false", *models, "--json")
    submitted = cli("problems", "submit", "mine/add-up", program, "--no-load", "--name", "by hand", "--json")
    assert submitted.code == 0, submitted.err
    kept = submitted.json["submission_id"]
    assert f"Stored as submission {kept} (by hand)." in submitted.err
    ranked = cli("problems", "ranking", "mine/add-up", "--json").json["ranked"]
    assert [(one["rank"], one["kind"], one["name"], one["passed"]) for one in ranked] == [
        (1, "trial", "command/./agent.sh", True),
        (1, "submission", "by hand", True),
        (3, "trial", "command/./idle.sh", False),
    ]
    assert ranked[0]["run_id"] == ran.json["run_id"]
    assert (ranked[2]["total"], ranked[2]["covers"]) == (0.0, None)
    shown = cli("problems", "ranking", "mine/add-up").out
    assert f"submission {kept}" in shown
    assert "no program" in shown
    before = cli("problems", "card", kept, "-f", "json").json
    assert before["program"]
    trial = cli("problems", "card", "latest", "add-up", "--model", "command/./agent.sh", "-f", "json").json
    assert trial["evidence"]["program"] == before["evidence"]["program"]
    assert cli("delete", "latest", "-y").code == 0
    assert cli("problems", "card", kept, "-f", "json").json == before
