"""A program's scorecard as one document: marks, requirements, measures, findings, phases and the program itself."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from hashlib import blake2b
from typing import Any

from proctor.domain.message import Json
from proctor.domain.problem import Problem
from proctor.domain.scorecard import Scorecard
from proctor.programs.evidence import scorecard_to_json
from proctor.programs.marks import MEASURED_AS, is_met, threshold_share

Document = dict[str, Any]


def scorecard_document(
    card: Scorecard,
    problem: Problem,
    files: Mapping[str, bytes] | None = None,
    left_out: Mapping[str, str] | None = None,
    kept: Mapping[str, bytes] | None = None,
) -> Document:
    """What every format of a scorecard is made from; `files` is the program where it is at hand.

    `left_out` is what was handed in and not taken: path -> why. `kept` is what phases kept, by its key.
    """
    return {
        "problem": {
            "id": problem.id,
            "title": problem.title,
            "version": problem.version,
            "digest": problem.digest,
            "difficulty": problem.difficulty,
            "area": problem.area,
            "kind": str(problem.interface.kind),
            "pass_score": problem.pass_score,
        },
        **scorecard_to_json(card),
        "thresholds": [_threshold(problem, place, card) for place in range(len(problem.thresholds))],
        "program": {path: _file(content) for path, content in sorted((files or {}).items())},
        "left_out": dict(left_out or {}),
        "artifacts": {key: _file(content) for key, content in (kept or {}).items()},
    }


def _threshold(problem: Problem, place: int, card: Scorecard) -> dict[str, Json]:
    threshold = problem.thresholds[place]
    name, factor = MEASURED_AS[threshold.measure]
    value, gold = card.evidence.measures.get(name), card.evidence.gold_measures.get(name)
    return {
        "measure": threshold.measure,
        "bound": threshold.value,
        "unit": threshold.unit,
        "is_upper": threshold.is_upper,
        "requirement": threshold.requirement,
        "value": None if value is None else value * factor,
        "gold": None if gold is None else gold * factor,
        "ratio": None if value is None or not gold else value / gold,
        "share": threshold_share(threshold, card.evidence),
        "is_met": is_met(threshold, card.evidence),
    }


def _file(content: bytes) -> dict[str, Json]:
    found: dict[str, Json] = {"bytes": len(content), "digest": blake2b(content, digest_size=16).hexdigest()}
    try:
        return {**found, "text": content.decode("utf-8")}
    except UnicodeDecodeError:
        return {**found, "base64": base64.b64encode(content).decode()}
