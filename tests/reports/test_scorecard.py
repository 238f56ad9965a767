"""Scorecards in every form."""

from __future__ import annotations

import base64
import io
import json
import re
import zipfile
from pathlib import Path
from typing import Any

import orjson
import pytest
from msgspec.structs import replace

from fakes.scorecards import HOSTILE, evidence_of, small_problem, unmeasured
from proctor.domain.documents.scorecard import ProgramCard
from proctor.domain.documents.scorecard_difference import ScorecardDifference
from proctor.domain.errors import UserError
from proctor.domain.scorecard import Phase, PhaseStatus
from proctor.programs.archive import program_zip
from proctor.programs.evidence import evidence_from_json, scorecard_to_json
from proctor.programs.marks import scorecard_of
from proctor.reports.formats import page_text
from proctor.reports.scorecard_diff_page import difference_page
from proctor.reports.scorecard_page import scorecard_page, verdict
from proctor.runs.submissions.scorecard import program_card
from proctor.runs.submissions.scorecard_diff import compare_scorecards
from proctor.runs.submissions.scorecards import stored_card, whole_card
from proctor.stores.artifacts.folder import FolderArtifacts

FILES = {"main.py": b"print(1)\n", "data/x.bin": b"\xff\x00", "README.md": b"# Words\n"}


@pytest.fixture
def good(tmp_path: Path) -> ProgramCard:
    problem = small_problem(tmp_path)
    return program_card(scorecard_of(problem, evidence_of(problem)), problem, FILES)


@pytest.fixture
def bad(tmp_path: Path) -> ProgramCard:
    problem = small_problem(tmp_path)
    evidence = evidence_of(problem, "adds_any_numbers", message=HOSTILE)
    files = {**FILES, "main.py": f"x = '''{HOSTILE}'''\n".encode()}
    return program_card(scorecard_of(problem, evidence), problem, files)


def numbers(text: str) -> set[str]:
    return set(re.findall(r"\d\.\d{3}\b", text))


def test_every_form_has_the_same_numbers(good: ProgramCard, bad: ProgramCard) -> None:
    for document in (good, bad):
        page = scorecard_page(document)
        html, markdown = page_text(page, document, "html"), page_text(page, document, "md")
        tables = [cell for section in page.sections for table in section.tables for row in table.rows for cell in row]
        assert numbers(" ".join(tables)) <= numbers(html)
        assert numbers(" ".join(tables)) <= numbers(markdown)
        total = f"{document.total:.3f}"
        assert total in verdict(document)
        assert total in html
        assert total in markdown
        assert orjson.loads(page_text(page, document, "json"))["total"] == document.total


def test_the_card_traces_requirements_to_checks_and_evidence(bad: ProgramCard) -> None:
    section = next(one for one in scorecard_page(bad).sections if one.title == "Requirements")
    row = {one[0]: one for one in section.tables[0].rows}["R1"]
    assert row[2] == "failed"
    assert "adds_two_numbers (visible), adds_any_numbers (property)" in row[4]
    assert "passed in 250 ms; failed: <script>" in row[5]
    assert section.text == ("3 verified, 1 failed, 0 untested.",)
    assert verdict(bad).startswith("Failed: ")
    assert "not every MUST requirement is verified: R1" in verdict(bad)


def test_gold_ratio_thresholds_findings_and_phases_are_shown(good: ProgramCard) -> None:
    markdown = page_text(scorecard_page(good), good, "md")
    assert "| work\\_seconds | 1.5 | 1 | 1.5 |" in markdown
    assert "at most 5 gold | 1.5 | yes | 0.933" in markdown
    assert "| main.py | 3 | bandit | LOW B101 assert 3 == 4 |" in markdown
    assert "not run: trivy is not on this machine" in markdown
    assert "log of readiness" in markdown
    assert "Tests that came with the program: run and shown, not scored." in markdown


def test_nothing_of_a_submission_becomes_markup(bad: ProgramCard) -> None:
    page = scorecard_page(bad)
    html = page_text(page, bad, "html")
    assert "<script>alert(1)" not in html
    assert "&lt;script&gt;alert(1)" in html
    markdown = page_text(page, bad, "md")
    outside = re.sub(r"^(`{3,})text\n.*?^\1$", "", markdown, flags=re.MULTILINE | re.DOTALL)
    assert "<script>" not in outside.replace("\\<script\\>", "")


def test_the_program_comes_along_as_a_zip(good: ProgramCard) -> None:
    html = page_text(scorecard_page(good), good, "html")
    link = re.search(r'href="data:application/zip;base64,([^"]+)" download="add-up.zip"', html)
    assert link is not None
    content = base64.b64decode(link[1].replace("&#43;", "+"))
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        assert {name: archive.read(name) for name in archive.namelist()} == FILES
    assert good.files == FILES
    assert program_zip(FILES) == program_zip(dict(reversed(FILES.items())))


def test_what_phases_kept_comes_along(tmp_path: Path) -> None:
    problem = small_problem(tmp_path)
    evidence = evidence_of(problem)
    artifacts = FolderArtifacts(tmp_path / "artifacts")
    key, lost = artifacts.put("profile.pstats", b"\x00profile\xff"), "0" * 40
    first = replace(evidence.phases[0], artifacts={"profile.pstats": key, "gone.txt": lost})
    card = scorecard_of(problem, replace(evidence, phases=(first, *evidence.phases[1:])))
    document = whole_card(card, problem, FILES, artifacts)
    html = page_text(scorecard_page(document), document, "html")
    links = re.findall(r'href="data:application/octet-stream;base64,([^"]+)" download="([^"]+)"', html)
    assert [(base64.b64decode(content), name) for content, name in links] == [(b"\x00profile\xff", "profile.pstats")]
    assert key in html
    assert lost in html


def test_a_kept_program_is_small() -> None:
    repeated = {"main.py": b"print(1)\n" * 10_000}
    assert len(program_zip(repeated)) < 1_000


def test_the_coverage_of_the_programs_own_tests_is_shown(tmp_path: Path) -> None:
    problem = small_problem(tmp_path)
    evidence = evidence_of(problem)
    covered = {"coverage": {"status": "ran", "version": "pytest 9", "percent": 81.25, "files": {"main.py": 81.25}}}
    document = program_card(scorecard_of(problem, replace(evidence, findings=covered)), problem)
    assert "| coverage | ran: 81.2 % of the lines | pytest 9 |" in page_text(scorecard_page(document), document, "md")


def test_what_the_place_saw_is_shown_in_every_form(tmp_path: Path) -> None:
    problem = small_problem(tmp_path)
    evidence = evidence_of(problem)
    seen = {"status": "ran", "version": None, "violations": {}, "egress": {}, "writes": {"/etc/<b>|x": 3}}
    listed = [{"file": "", "code": "write outside", "message": "/etc/<b>|x (3 times)"}]
    place = {**evidence.findings, "place": {**seen, "count": 1, "findings": listed}}
    document = program_card(scorecard_of(problem, replace(evidence, findings=place)), problem)
    page = scorecard_page(document)
    markdown = page_text(page, document, "md")
    assert r"|  |  | place | write outside /etc/\<b\>\|x (3 times) |" in markdown
    assert "| place | ran | – | 1 |" in markdown
    assert "write outside /etc/&lt;b&gt;|x (3 times)" in page_text(page, document, "html")
    assert json.loads(page_text(page, document, "json"))["evidence"]["findings"]["place"]["writes"] == {"/etc/<b>|x": 3}
    marks = {one.name: one.value for one in document.dimensions}
    assert marks["security"] == pytest.approx(1 - 0.02 - 0.2)


def test_what_the_place_could_not_see_is_shown_as_such(tmp_path: Path) -> None:
    problem = small_problem(tmp_path)
    evidence = evidence_of(problem)
    unseen = {"status": "ran", "version": None, "violations": {}, "egress": {}, "writes": None, "reason": "x not seen"}
    place = {**evidence.findings, "place": {**unseen, "count": 0, "findings": []}}
    document = program_card(scorecard_of(problem, replace(evidence, findings=place)), problem)
    markdown = page_text(scorecard_page(document), document, "md")
    assert "| place | ran: x not seen | – | 0 |" in markdown
    assert "not seen: attempts to write outside" in markdown


def test_what_was_left_out_of_a_program_is_said(tmp_path: Path) -> None:
    problem = small_problem(tmp_path)
    card = scorecard_of(problem, evidence_of(problem))
    many = {f"{number}.pyc": "left behind by a tool (compiled Python)" for number in range(25)}
    document = program_card(card, problem, FILES, many)
    notes = next(one for one in scorecard_page(document).sections if one.title == "Program").notes
    assert notes[0] == "Left out: 0.pyc, left behind by a tool (compiled Python)."
    assert notes[-1] == "5 more files left out."
    assert document.left_out == many
    without = scorecard_page(program_card(card, problem, {}, {"link.py": "it is a link"}))
    (section,) = (one for one in without.sections if one.title == "Program")
    assert section.notes == ("Left out: link.py, it is a link.",), "also where the program itself is not at hand"


def test_sizes_of_a_place_are_shown_with_a_unit(tmp_path: Path) -> None:
    problem = small_problem(tmp_path)
    limits = {"limits": {"memory_bytes": 805306368, "processes": 16}, "disk_bytes": None}
    card = scorecard_of(problem, replace(evidence_of(problem), runner=limits))
    section = scorecard_page(program_card(card, problem)).sections[-1]
    assert section.tables[0].rows[:2] == (("limits", "memory 768 MiB, processes 16"), ("disk_bytes", "None"))


def test_waiting_for_others_is_told_apart_from_the_time_of_a_phase(tmp_path: Path) -> None:
    problem = small_problem(tmp_path)
    evidence = evidence_of(problem)
    load = Phase("load", PhaseStatus.DONE, 0.0, 12.0, evidence={"waited_seconds": 13.0})
    quick = Phase("profile", PhaseStatus.DONE, 0.0, 2.0, evidence={"waited_seconds": 0.01})
    document = program_card(scorecard_of(problem, replace(evidence, phases=(load, quick))), problem)
    table = next(one for one in scorecard_page(document).sections if one.title == "Phases").tables[0]
    assert [row[-1] for row in table.rows] == ["12 s, after waiting 13 s", "2 s"]


def test_a_part_of_a_dimension_that_was_not_measured_is_said(tmp_path: Path) -> None:
    problem = small_problem(tmp_path)
    evidence = evidence_of(problem)
    failed = {**evidence.findings, "mypy": {"status": "not run", "version": None, "reason": "it failed"}}
    page = scorecard_page(program_card(scorecard_of(problem, replace(evidence, findings=failed)), problem))
    (note,) = page.sections[0].notes
    assert note == "Not everything was measured. The total covers 0.975 of the weight and is not scaled up."


def test_what_was_not_measured_is_a_dash_and_the_total_says_what_it_covers(tmp_path: Path) -> None:
    problem = small_problem(tmp_path)
    document = program_card(scorecard_of(problem, unmeasured(evidence_of(problem))), problem)
    page = scorecard_page(document)
    assert document.covers == pytest.approx(0.6)
    marks = {row[0]: row[2] for row in page.sections[0].tables[0].rows}
    assert marks["performance"] == marks["quality"] == marks["security"] == "–"
    assert "0.600 of 0.6" in verdict(document)
    assert "Not measured: performance, quality, security." in page.sections[0].notes[0]


def test_a_page_is_self_contained(good: ProgramCard) -> None:
    html = page_text(scorecard_page(good), good, "html")
    assert "http://" not in html.replace("http://www.w3.org/2000/svg", "")
    assert "https://" not in html
    assert html.count("<svg") == 2


def test_marks_follow_from_the_stored_evidence(good: ProgramCard, tmp_path: Path) -> None:
    stored = good.document
    problem = small_problem(tmp_path)
    again = program_card(scorecard_of(problem, evidence_from_json(stored["evidence"])), problem, FILES)
    assert again.document == good.document


def test_a_trial_that_was_marked_by_another_formula_says_so(tmp_path: Path) -> None:
    problem, artifacts = small_problem(tmp_path), FolderArtifacts(tmp_path / "kept")
    details = orjson.loads(orjson.dumps(scorecard_to_json(scorecard_of(problem, evidence_of(problem)))))
    assert stored_card(details, problem, artifacts).remarks is None
    document = stored_card({**details, "total": 0.5, "covers": 0.75, "grade": None}, problem, artifacts)
    assert document.total == details["total"], "the evidence decides"
    assert document.remarks is not None
    assert document.remarks[0].startswith("When it was marked, this was said: Passed: 0.500 of 0.75. Its evidence")
    assert document.remarks[0] in scorecard_page(document).sections[0].notes


def test_two_programs_are_compared(bad: ProgramCard, good: ProgramCard) -> None:
    document = compare_scorecards(bad, good)
    assert document.is_comparable
    assert [(one.id, one.a, one.b) for one in document.requirements] == [("R1", "failed", "verified")]
    (file,) = document.files
    assert (file.path, file.state) == ("main.py", "changed")
    assert "+print(1)" in file.diff
    html = page_text(difference_page(document), document, "html")
    assert "<script>alert" not in html
    assert "failed" in html


def differences(document: ScorecardDifference) -> dict[str, float | None]:
    return {one.name: one.difference for one in document.dimensions}


def without(card: ProgramCard, name: str, **changes: Any) -> ProgramCard:
    """The same card with another mark for one dimension, and the total that follows."""
    dimensions = [replace(one, **changes) if one.name == name else one for one in card.dimensions]
    total = sum(one.value * one.weight for one in dimensions if one.value is not None)
    covers = sum(one.weight for one in dimensions if one.value is not None)
    return replace(card, dimensions=dimensions, total=total, covers=covers)


def test_totals_of_the_same_coverage_are_subtracted(good: ProgramCard) -> None:
    worse = without(good, "functional", value=0.5)
    found = differences(compare_scorecards(good, worse))
    assert found["total"] == pytest.approx(worse.total - good.total)
    assert not any(name.startswith("of what both") for name in found)


def test_totals_of_different_coverage_are_not_subtracted(good: ProgramCard) -> None:
    """Without its security, the very same program has a lower total, and that is no difference."""
    partly = without(good, "security", value=None, reason="the source was not scanned")
    document = compare_scorecards(good, partly)
    found = differences(document)
    assert partly.total < good.total
    assert found["total"] is None
    assert found["security"] is None
    [shared] = [value for label, value in found.items() if label.startswith("of what both measured (functional")]
    assert shared == pytest.approx(0.0)
    page = difference_page(document)
    assert page.sections[0].notes[0].startswith("Not the same things were measured of A and B")
    assert page.sections[0].tables[0].rows[0][3] == "not comparable"


def test_a_dimension_measured_in_other_parts_is_not_subtracted(good: ProgramCard) -> None:
    a = without(good, "security", value=1.0, weight=0.1 * 2 / 3, reason="not run: pip-audit")
    b = without(good, "security", value=0.7, weight=0.1, reason="")
    found = differences(compare_scorecards(a, b))
    assert found["security"] is found["total"] is None


def test_programs_of_different_problems_are_not_compared(good: ProgramCard) -> None:
    other = replace(good, problem=replace(good.problem, id="other"))
    with pytest.raises(UserError, match="different problems, add-up and other"):
        compare_scorecards(good, other)
    changed = replace(good, problem=replace(good.problem, digest="0"))
    page = difference_page(compare_scorecards(good, changed))
    assert "not comparable" in page.sections[0].notes[0]
    assert {row[3] for row in page.sections[0].tables[0].rows} <= {"not comparable", "–"}
