"""A plan drafted from a sentence: offline by rules; a model, where one is named, reads what the rules did not."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import UNSET

from proctor.domain.documents.draft import (
    Assumption,
    CoverageGap,
    PlanChange,
    PlanDraft,
    UnderstoodPhrase,
    UnsupportedWish,
)
from proctor.planner.catalogue import PlannerCatalogue
from proctor.planner.drafting import Drafted, draft
from proctor.planner.reader import read_query
from proctor.planner.refining import refine
from proctor.planning.plan_file import plan_from

RULES = "rules"


def draft_plan(query: str, catalogue: PlannerCatalogue, *, base: Mapping[str, Any] | None = None) -> PlanDraft:
    """What a query means as a plan; with `base`, that plan with what the query changes."""
    reading = read_query(query, catalogue)
    if base is not None:
        plan_from(base)
        refined = refine(reading, catalogue, base)
        return to_document(refined.drafted, changes=[PlanChange(*change) for change in refined.changes])
    return to_document(draft(reading, catalogue))


def to_document(drafted: Drafted, *, changes: list[PlanChange] | None = None) -> PlanDraft:
    """The draft as `--json` shows it; its plan passes what every plan passes."""
    reading = drafted.reading
    gaps = [
        *(CoverageGap(gap.language, gap.subject, gap.sentence, gap.nearest) for gap in drafted.choice.gaps),
        *(CoverageGap(None, subject, told, near) for subject, told, near in reading.missing),
    ]
    # The plan says so itself: whoever is handed it, by whatever way, does not run it as what was asked for.
    # So does each alternative: it is near to what was asked for, and not that either.
    marked = {"gaps": [gap.sentence for gap in gaps]} if gaps else {}
    values = {**drafted.values, **marked}
    plan_from(values)
    return PlanDraft(
        plan=values,
        understood=[UnderstoodPhrase(one.text, one.field, one.value) for one in drafted.understood],
        assumed=[Assumption(one.field, one.value, one.why) for one in drafted.assumed],
        not_understood=drafted.not_understood,
        alternatives=[{**one, **marked} for one in drafted.alternatives],
        by=RULES,
        cost_usd=None,
        unsupported=[UnsupportedWish(one.text, one.why) for one in drafted.unsupported],
        gaps=gaps,
        fail_under=dict(reading.gates) if reading.gates else UNSET,
        then=reading.then or UNSET,
        changes=UNSET if changes is None else changes,
        notes=drafted.notes,
    )
