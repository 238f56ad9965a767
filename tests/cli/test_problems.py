"""`proctor problems`."""

from __future__ import annotations

import shutil
import tarfile
import zipfile
from pathlib import Path

import orjson
import pytest

from commands import Cli
from fakes.scorecards import evidence_of, small_problem
from proctor.benchmarks.problems.finding import problem_folders
from proctor.domain.documents.document import json_bytes
from proctor.programs.marks import scorecard_of
from proctor.runs.submissions.scorecard import program_card

pytestmark = pytest.mark.sqlite  # where results are kept makes no difference here

needs_bubblewrap = pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")


@pytest.fixture
def mine(cli: Cli) -> Path:
    assert cli("problems", "new", "mine/add-up").code == 0
    return Path("mine")


def test_problems_are_listed_with_their_figures(cli: Cli, mine: Path) -> None:
    listed = cli("problems", "--problems", mine)
    assert listed.code == 0
    assert "add-up" in listed.out
    assert "Add up numbers" in listed.out
    (one,) = cli("problems", "--problems", mine, "--json").json
    assert (one["requirements"], one["checks"], one["mutants"], one["kind"]) == (4, 5, 4, "command")
    assert cli("problems", "--problems", mine, "--language", "javascript", "--json").json == [one]
    assert (
        "No problem has the difficulty 'expert'. There are: basic."
        in cli("problems", "--problems", mine, "--difficulty", "expert").error
    )


def test_the_built_in_problems_are_listed(cli: Cli) -> None:
    assert {one["id"] for one in cli("problems", "--json").json} == set(problem_folders())


def test_a_problem_is_shown_with_its_requirements_and_checks(cli: Cli, mine: Path) -> None:
    shown = cli("problems", "show", mine / "add-up")
    assert "adds_two_numbers (visible), adds_any_numbers (property)" in shown.out
    assert "drops-signs" in shown.out
    document = cli("problems", "show", "add-up", "--problems", mine, "--json").json
    assert document["requirements"][0]["id"] == "R1"
    assert "solution" not in document
    assert "Did you mean 'add-up'" in cli("problems", "show", "add-upp", "--problems", mine).error


def test_lint_names_the_line_and_fails_on_errors(cli: Cli, mine: Path) -> None:
    clean = cli("problems", "lint", mine / "add-up")
    assert (clean.code, "0 errors, 1 warning." in clean.out) == (0, True)
    path = mine / "add-up/problem.yaml"
    path.write_text(path.read_text().replace("If a line is neither", "On a line that is neither"))
    dirty = cli("problems", "lint", mine / "add-up")
    assert dirty.code == 1
    assert "add-up/problem.yaml:17: error: R2: the sentence fits no EARS pattern" in dirty.out
    assert cli("problems", "lint", mine / "add-up", "--json").json["add-up"]["is_clean"] is False


def test_the_schema_is_printed(cli: Cli) -> None:
    schema = cli("problems", "schema").json
    assert schema["properties"]["weights"]
    assert cli("problems", "schema", "-o", "schema.json").code == 0
    assert orjson.loads(Path("schema.json").read_bytes()) == schema


def test_a_new_problem_needs_an_empty_folder(cli: Cli, mine: Path) -> None:
    assert "is not empty" in cli("problems", "new", mine / "add-up").error


def test_a_mistake_in_a_problem_is_one_clear_line(cli: Cli, mine: Path) -> None:
    path = mine / "add-up/problem.yaml"
    path.write_text(path.read_text().replace("level: SHOULD", "level: SHALL"))
    ended = cli("problems", "check", mine / "add-up")
    assert ended.code == 2
    assert "problem.yaml:24: requirements[3].level: 'SHALL' is not one of MUST, SHOULD, MAY" in ended.error


@needs_bubblewrap
def test_check_proves_a_problem_and_fails_on_a_spoilt_one(cli: Cli, mine: Path) -> None:
    good = cli("problems", "check", mine / "add-up", "--quick")
    assert good.code == 0, good.err
    assert "add-up: valid, gold 0.600 of 0.6, 2 mutants" in good.out
    assert "1 of 1 problem valid." in good.out
    assert "add-up: skips-words: as expected" in good.err
    path = mine / "add-up/mutants/drops-signs/main.py"
    path.write_text(path.read_text().replace("abs(number)", "number") + "# harmless\n")
    bad = cli("problems", "check", mine / "add-up", "--quick", "--json")
    assert bad.code == 1
    assert bad.json[0]["faults"] == ["drops-signs: R1 should fail and does not"]


@needs_bubblewrap
def test_a_program_is_submitted_as_a_folder_or_an_archive(cli: Cli, mine: Path) -> None:
    broken = mine / "add-up/mutants/prints-smallest"
    ended = cli(
        "problems",
        "submit",
        mine / "add-up",
        broken,
        "--short",
        "--no-load",
        "--report",
        "card.html",
        "--report",
        "card.json",
    )
    assert ended.code == 1
    assert "Failed: " in ended.out
    assert "not every MUST requirement is verified: R3" in ended.out
    assert "<svg" in Path("card.html").read_text()
    from_folder = orjson.loads(Path("card.json").read_bytes())
    with zipfile.ZipFile("program.zip", "w") as archive:
        archive.write(broken / "main.py", "words/main.py")
    zipped = cli("problems", "submit", mine / "add-up", "program.zip", "--no-load", "--json")
    assert zipped.code == 1
    assert zipped.json["program"] == from_folder["program"]
    assert [one["status"] for one in zipped.json["requirements"]] == [
        one["status"] for one in from_folder["requirements"]
    ]


def test_a_hostile_archive_is_refused_before_anything_runs(cli: Cli, mine: Path) -> None:
    with tarfile.open("evil.tar", "w") as archive:
        archive.addfile(tarfile.TarInfo("../../outside.py"))
    ended = cli("problems", "submit", mine / "add-up", "evil.tar")
    assert ended.code == 2
    assert "leads out of the folder" in ended.error
    assert "There is no file or folder nothing.zip" in cli("problems", "submit", mine / "add-up", "nothing.zip").error
    assert "ends in none of" in cli("problems", "submit", mine / "add-up", "evil.tar", "--report", "x.pdf").error


def test_the_unsafe_runner_must_be_asked_for_by_name_and_by_flag(cli: Cli, mine: Path) -> None:
    ended = cli("problems", "check", mine / "add-up", "--runner", "none")
    assert ended.code == 2
    assert "--unsafe-no-sandbox" in ended.error


@pytest.mark.parametrize(
    ("name", "said"), [("firejail", "No runner 'firejail'."), ("none", "Add --unsafe-no-sandbox if that is what you")]
)
def test_a_run_in_a_place_that_cannot_be_had_is_refused_before_it_is_written(
    cli: Cli, mine: Path, name: str, said: str
) -> None:
    ended = cli("run", f"requirements?problems={mine}", "-m", "demo/average", "--sandbox", name)
    assert (ended.code, said in ended.error) == (2, True), ended.error
    assert cli("runs", "--json").json == []


def test_two_scorecards_are_compared(cli: Cli, tmp_path: Path) -> None:
    problem = small_problem(tmp_path)
    for name, failing, text in (("a", ("refuses_words",), b"x = 1\n"), ("b", (), b"x = 2\n")):
        card = scorecard_of(problem, evidence_of(problem, *failing))
        Path(f"{name}.json").write_bytes(json_bytes(program_card(card, problem, {"main.py": text})))
    shown = cli("problems", "diff", "a.json", "b.json")
    assert shown.code == 0
    assert "R2  MUST   failed  verified" in shown.out
    assert "-x = 1\n+x = 2" in shown.out
    assert cli("problems", "diff", "a.json", "b.json", "-f", "json").json["requirements"][0]["id"] == "R2"
    assert cli("problems", "diff", "a.json", "b.json", "-o", "d.html").code == 0
    assert "<html" in Path("d.html").read_text()
    Path("c.json").write_text("[]")
    assert "is not a scorecard" in cli("problems", "diff", "a.json", "c.json").error
    steering = {"main.py": b"x = 1\n", "notes.txt": b"\x1b]0;mine\x07\x1b[2J"}
    card = scorecard_of(problem, evidence_of(problem))
    Path("d.json").write_bytes(json_bytes(program_card(card, problem, steering)))
    shown = cli("problems", "diff", "a.json", "d.json")
    assert "0;mine" in shown.out
    assert "\x1b" not in shown.out
    assert "\x07" not in shown.out


def test_a_comparison_computes_marks_again_from_their_evidence(cli: Cli, tmp_path: Path) -> None:
    problem = small_problem(tmp_path)
    shelf = ("--problems", problem.folder.parent)
    card = program_card(scorecard_of(problem, evidence_of(problem)), problem, {"main.py": b"x = 1\n"}).document
    Path("a.json").write_bytes(orjson.dumps(card))
    Path("boast.json").write_bytes(orjson.dumps({**card, "total": 0.1, "passed": False}))
    failing = [{**one, "status": "failed"} for one in card["evidence"]["checks"]]
    spoilt = {**card, "evidence": {**card["evidence"], "checks": failing}}
    Path("spoilt.json").write_bytes(orjson.dumps(spoilt))
    equal = cli("problems", "diff", "a.json", "a.json", *shelf, "-f", "json").json
    assert equal["remarks"] == []
    boast = cli("problems", "diff", "a.json", "boast.json", *shelf, "-f", "json").json
    assert boast["b"]["total"] == boast["a"]["total"] == card["total"]
    assert boast["remarks"][0].startswith("B: The file says Failed: 0.100 of ")
    changed = cli("problems", "diff", "a.json", "spoilt.json", *shelf, "-f", "json").json
    assert (changed["b"]["total"], changed["b"]["passed"]) == (0, False)
    assert "Its evidence comes to what is shown here" in changed["remarks"][0]
    unknown = cli("problems", "diff", "a.json", "boast.json", "-f", "json").json
    assert (unknown["b"]["total"], len(unknown["remarks"])) == (0.1, 2)
    assert "add-up is not at hand: these are the file's own marks" in unknown["remarks"][0]
    Path("bare.json").write_bytes(orjson.dumps({**card, "evidence": {"checks": 1}}))
    assert "bare.json is not a scorecard whose marks" in cli("problems", "diff", "a.json", "bare.json").error


def test_a_scorecard_in_a_file_is_shown_in_every_form_with_marks_that_follow_from_its_evidence(
    cli: Cli, tmp_path: Path
) -> None:
    problem = small_problem(tmp_path)
    shelf = ("--problems", problem.folder.parent)
    card = program_card(scorecard_of(problem, evidence_of(problem)), problem, {"main.py": b"x = 1\n"}).document
    Path("card.json").write_bytes(orjson.dumps(card))
    shown = cli("problems", "card", "card.json", *shelf, "-f", "json").json
    assert shown == {**orjson.loads(orjson.dumps(card)), "remarks": []}
    assert "Passed, gold: " in cli("problems", "card", "card.json", *shelf).out
    for name, start in (("again.html", "<!DOCTYPE html>"), ("again.md", "# Scorecard"), ("again.json", "{")):
        assert cli("problems", "card", "card.json", *shelf, "-o", name).code == 0
        assert Path(name).read_text().startswith(start)
    assert cli("problems", "card", "again.json", *shelf, "-f", "json").json == shown
    untold = {**card["requirements"][0], "status": "failed"}
    Path("boast.json").write_bytes(orjson.dumps({**card, "requirements": [untold, *card["requirements"][1:]]}))
    boast = cli("problems", "card", "boast.json", *shelf, "-f", "json").json
    assert boast["requirements"] == card["requirements"]
    (remark,) = boast["remarks"]
    assert remark.endswith("Its evidence comes to what is shown here; what differs: requirements.")
    assert "what differs: requirements." in " ".join(cli("problems", "card", "boast.json", *shelf).out.split())
    assert "what differs: requirements." in cli("problems", "card", "boast.json", *shelf, "-f", "md").out


def test_what_is_no_scorecard_in_a_file_is_refused_in_one_line(cli: Cli, tmp_path: Path) -> None:
    problem = small_problem(tmp_path)
    shelf = ("--problems", problem.folder.parent)
    card = program_card(scorecard_of(problem, evidence_of(problem)), problem, {"main.py": b"x = 1\n"}).document
    Path("torn.json").write_bytes(orjson.dumps({**card, "program": {"main.py": {"bytes": 6}}}))
    torn = cli("problems", "card", "torn.json", *shelf)
    assert (torn.code, "torn.json is not a scorecard whose marks" in torn.error) == (2, True)
    missing = cli("problems", "card", "latest")
    assert (missing.code, "proctor problems card latest SAMPLE" in missing.error) == (2, True)
    Path("card.json").write_bytes(orjson.dumps(card))
    named = cli("problems", "card", "card.json", "--model", "x", *shelf)
    assert (named.code, "a file holds one scorecard" in named.error) == (2, True)


def test_a_scorecard_has_no_junit_form(cli: Cli, mine: Path) -> None:
    ended = cli("problems", "submit", mine / "add-up", mine / "add-up" / "solution", "--report", "card.xml")
    assert ended.code == 2
    assert ended.error.startswith("Error: --report: card.xml ends in none of .html, .htm, .md, .markdown, .json.")


def test_problem_ids_are_completed(cli: Cli) -> None:
    from click import Context

    from proctor.cli.completing import complete_problem
    from proctor.cli.problems import problems

    some = next(iter(problem_folders()))
    context = Context(problems)
    assert some in [item.value for item in complete_problem(context, problems.params[0], some[:2])]
    assert [item.type for item in complete_problem(context, problems.params[0], "./")] == ["dir"]
