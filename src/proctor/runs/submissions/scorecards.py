"""Scorecards that were stored: of a trial in a run, or in a file. Marks are computed again from the evidence."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping
from pathlib import Path

import msgspec
import orjson
from msgspec.structs import replace

from proctor.benchmarks.problems.finding import find_problem
from proctor.domain.artifacts import Artifacts
from proctor.domain.documents.document import plain_values
from proctor.domain.documents.scorecard import ProgramCard
from proctor.domain.errors import NotFoundError, ProctorError, ScorerError, UserError, did_you_mean
from proctor.domain.message import Json
from proctor.domain.problem import Problem
from proctor.domain.scorecard import Scorecard
from proctor.programs.evidence import evidence_from_json
from proctor.programs.marks import scorecard_of
from proctor.programs.scorer import PASSED
from proctor.reports.scorecard_page import scorecard_page, verdict
from proctor.runs.submissions.scorecard import program_card
from proctor.stores.database import Database
from proctor.stores.result_rows import ResultRow
from proctor.stores.results import ResultStore
from proctor.stores.runs import RunStore

_MARKED = ("problem", "total", "covers", "passed", "reason", "grade", "dimensions", "requirements", "thresholds")
_PARTS = {*_MARKED, "evidence", "program"}
MAX_ON_A_PAGE = 2 * 1024 * 1024
PROBLEMS = "problems"
"""The benchmark's parameter that names a folder of the user's own problems."""


class StoredVerdict(msgspec.Struct, frozen=True):
    """What was said when a program was marked."""

    total: float | None
    covers: float
    passed: bool
    grade: str | None
    reason: str


def card_of_trial(
    database: Database,
    artifacts: Artifacts,
    reference: str,
    sample: str,
    *,
    model: str | None = None,
    epoch: int = 0,
    problems_folder: Path | None = None,
) -> ProgramCard:
    """The scorecard of one trial of a run, computed from its stored evidence."""
    run = RunStore(database).get(reference)
    where = {"sample": sample, **({"model": model} if model is not None else {})}
    rows = [row for row in ResultStore(database).results(run.id, where=where) if row.epoch == epoch]
    carded = [(row, details) for row in rows if (details := card_details(row)) is not None]
    if not carded:
        raise NotFoundError(_why_none(database, run.id, where, epoch))
    if len({row.model for row, _ in carded}) > 1:
        models = ", ".join(sorted({row.model for row, _ in carded}))
        raise UserError(
            f"Several models answered {sample} in run {run.id}: name one with --model. There are: {models}."
        )
    row, details = carded[-1]
    spec = next((one for one in run.plan.benchmarks if PROBLEMS in one.parameters), None)
    own = (
        run.folder / str(spec.parameters[PROBLEMS]) if spec is not None and problems_folder is None else problems_folder
    )
    problem = find_problem(str(details["evidence"]["problem"]), own)
    card = stored_card(details, problem, artifacts)
    return replace(card, run_id=run.id, model=row.model, sample_id=row.sample_id, epoch=row.epoch)


def card_details(row: ResultRow) -> Mapping[str, Json] | None:
    """What the scorer kept of a marking; None where there was no program."""
    for score in row.scores:
        if score.scorer == PASSED and score.details:
            details: Mapping[str, Json] = orjson.loads(score.details)
            return details if "evidence" in details else None
    return None


def stored_card(details: Mapping[str, Json], problem: Problem, artifacts: Artifacts) -> ProgramCard:
    """A stored marking as a whole scorecard; refuses one of another version of the problem."""
    evidence = evidence_from_json(details["evidence"])
    if evidence.problem_digest != problem.digest:
        raise UserError(
            f"The problem {problem.id} has changed since this program was marked; "
            "its requirements are no longer those that were measured."
        )
    files, refused = _program(evidence.program, artifacts), details.get("refused")
    card = whole_card(scorecard_of(problem, evidence), problem, files, artifacts, refused)
    said, remarks = msgspec.convert(details, StoredVerdict), None
    if (said.total, said.covers, said.passed, said.grade) != (card.total, card.covers, card.passed, card.grade):
        # The formula has changed since.
        remarks = [f"When it was marked, this was said: {verdict(said)} Its evidence comes to what is shown here."]
    return replace(card, remarks=remarks, note=details.get("note") or None)


def whole_card(
    card: Scorecard,
    problem: Problem,
    files: Mapping[str, bytes],
    artifacts: Artifacts,
    left_out: Mapping[str, str] | None = None,
) -> ProgramCard:
    """A scorecard with everything that its phases kept, where that is still there and not too large for a page."""
    kept = {}
    for key in (key for phase in card.evidence.phases for key in phase.artifacts.values()):
        size = artifacts.size(key)
        if size is not None and size <= MAX_ON_A_PAGE:
            kept[key] = artifacts.get(key)
    return program_card(card, problem, files, left_out, kept)


def _program(key: str | None, artifacts: Artifacts) -> dict[str, bytes]:
    """The program's files, where they are still kept."""
    if key is None:
        return {}
    try:
        content = artifacts.get(key)
    except NotFoundError:
        return {}
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def _why_none(database: Database, run_id: str, where: dict[str, str], epoch: int) -> str:
    rows = list(ResultStore(database).results(run_id, where=where))
    sample = where["sample"]
    if any(row.epoch == epoch for row in rows):
        return f"There is no scorecard of {sample} in run {run_id}: no program was marked there."
    if rows:
        epochs = ", ".join(str(one) for one in sorted({row.epoch for row in rows}))
        return f"Run {run_id} has no answer to {sample!r} of epoch {epoch}. There are: {epochs}."
    every = list(ResultStore(database).results(run_id))
    if any(row.sample_id == sample for row in every):
        models = sorted({row.model for row in every})
        return f"Run {run_id} has no model {where['model']!r}.{did_you_mean(where['model'], models)}"
    return f"Run {run_id} has no answer to {sample!r}.{did_you_mean(sample, {row.sample_id for row in every})}"


def read_card(path: Path, problems_folder: Path | None = None) -> ProgramCard:
    """A scorecard's JSON from a file, its marks computed again from its evidence; `remarks` says where that differs."""
    try:
        content = orjson.loads(path.read_bytes())
        is_card = isinstance(content, dict) and set(content) >= _PARTS
    except (OSError, ValueError) as fault:
        raise UserError(f"{path} is not a scorecard: {fault}.") from fault
    if not is_card:
        raise UserError(f"{path} is not a scorecard as 'proctor problems submit --report FILE.json' writes it.")
    try:
        found = _computed_again(
            msgspec.convert({"left_out": {}, "artifacts": {}, **content}, ProgramCard), problems_folder
        )
        scorecard_page(found)  # what cannot be shown was written by somebody else
    except (msgspec.ValidationError, ScorerError, LookupError, TypeError, AttributeError, ValueError) as fault:
        raise UserError(f"{path} is not a scorecard whose marks can be computed again: {fault}") from fault
    return found


def _computed_again(card: ProgramCard, problems_folder: Path | None) -> ProgramCard:
    """As the evidence has it, where the problem is at hand; as the file has it, and said so, where it is not."""
    name = card.problem.id
    try:
        problem = find_problem(name, problems_folder)
    except NotFoundError:
        problem = None
    if problem is None or problem.digest != card.evidence.problem_digest:
        what = f"{name} is not at hand" if problem is None else f"{name} has changed since"
        return replace(card, remarks=[f"{what}: these are the file's own marks, not computed from its evidence."])
    again = program_card(scorecard_of(problem, card.evidence), problem)
    fresh = {part: getattr(again, part) for part in _MARKED}
    others = [part for part in _MARKED if plain_values(fresh[part]) != plain_values(getattr(card, part))]
    remark = (
        f"The file says {verdict(card)} Its evidence comes to what is shown here; what differs: {', '.join(others)}."
    )
    return replace(card, **fresh, remarks=[remark] if others else [])


def short_card(details: Json) -> str | None:
    """The marks of a trial's program on one line, from what the scorer noted; None where there is no scorecard."""
    try:
        if "evidence" not in details:
            return None
        marks = ", ".join(
            f"{one['name']} {'–' if one['value'] is None else format(one['value'], '.2f')}"
            for one in details["dimensions"]
        )
        bad = [f"{one['id']} {one['status']}" for one in details["requirements"] if one["status"] != "verified"]
    except (KeyError, TypeError, ValueError, ProctorError):
        return None
    return f"{marks}" + (f"; {', '.join(bad)}" if bad else "; every requirement verified")
