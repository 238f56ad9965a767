"""Scorecards by one name each: a submission's id, or a trial's run, sample, epoch and model."""

from __future__ import annotations

from proctor.domain.artifacts import Artifacts
from proctor.domain.documents.scorecard import ProgramCard
from proctor.domain.errors import NotFoundError
from proctor.runs.submissions.scorecards import card_of_trial
from proctor.runs.submissions.stored import card_of_submission
from proctor.stores.database import Database
from proctor.stores.submissions import PREFIX

PARTS = 4


def read_scorecard(database: Database, artifacts: Artifacts, reference: str) -> ProgramCard:
    """The scorecard of `s-…`, or of `RUN/SAMPLE/EPOCH/MODEL`, whose model may have slashes of its own."""
    if reference.startswith(PREFIX):
        return card_of_submission(database, artifacts, reference)
    parts = reference.split("/", PARTS - 1)
    if len(parts) != PARTS or not parts[2].isascii() or not parts[2].isdecimal() or len(parts[2]) > 9:
        raise NotFoundError(f"No scorecard {reference!r}: name a submission, or RUN/SAMPLE/EPOCH/MODEL.")
    run, sample, epoch, model = parts
    return card_of_trial(database, artifacts, run, sample, model=model, epoch=int(epoch))
