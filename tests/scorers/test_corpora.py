"""Responses labelled by hand: what a careful reader says the answer is, and how often the scorers agree."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest

from proctor.domain.response import FinishReason, Response
from proctor.domain.sample import Sample
from proctor.scorers import choice, numeric
from scorers.scoring import HERE, rows

LEAST_RIGHT = 0.97
LEAST_RIGHT_UNSEEN = 0.90  # no rule was written with these responses in view: this is the honest estimate


def _response(row: Mapping[str, Any]) -> Response:
    reason = FinishReason.LENGTH if row.get("cut") else FinishReason.STOP
    return Response(row["response"], finish_reason=reason)


def _choice_is_right(row: Mapping[str, Any]) -> bool:
    sample = Sample("1", "?", "A", tuple(row["choices"]))
    return asyncio.run(choice.create().score(sample, _response(row))).answer == row["expect"]


def _number_is_right(row: Mapping[str, Any]) -> bool:
    tags = {"language": row["language"]} if "language" in row else {}
    # A number that is not in any response stands for 'none': it must not be found, whatever is read.
    target = row["expect"] or "-987654321"
    verdict = asyncio.run(numeric.create().score(Sample("1", "?", target, tags=tags), _response(row)))
    return verdict.value == 1 if row["expect"] else verdict.is_invalid or "a range" in verdict.reason


def _missed(file, is_right) -> tuple[int, int]:
    corpus = list(rows(HERE / file))
    missed = [row for row in corpus if not is_right(row)]
    print(f"\n{file}: {len(corpus) - len(missed)} of {len(corpus)} read as labelled")
    for row in missed:
        print(f"  missed (label {row['expect']}): {row['response']!r}")
    return len(missed), len(corpus)


BOTH = pytest.mark.parametrize(("name", "is_right"), [("choice", _choice_is_right), ("numeric", _number_is_right)])


@BOTH
def test_the_labelled_responses_are_read_as_a_person_reads_them(name, is_right):
    missed, total = _missed(f"corpus_{name}.jsonl", is_right)
    assert total >= 60
    assert missed <= (1 - LEAST_RIGHT) * total


@BOTH
def test_responses_that_no_rule_was_written_for_are_mostly_read_right(name, is_right):
    missed, total = _missed(f"heldout_{name}.jsonl", is_right)
    assert total == 40
    assert missed <= (1 - LEAST_RIGHT_UNSEEN) * total


@BOTH
def test_wrong_labels_would_be_noticed(name, is_right):
    corpus = [row for row in rows(HERE / f"corpus_{name}.jsonl") if row["expect"]]
    other = {"A": "B", "B": "C", "C": "D", "D": "E", "E": "A"}
    spoilt = [{**row, "expect": other.get(row["expect"], "-123456")} for row in corpus]
    assert sum(map(is_right, spoilt)) <= 0.01 * len(spoilt)
